//! What a case is made of, and how one is drawn.

use oncebox::store::CancelCode;
use proptest::prelude::*;

/// One case: a queue, what lies in it, and what goes wrong.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) fifo: bool,
    pub(crate) packing: bool,
    pub(crate) concurrency: usize,
    pub(crate) max_receive: Option<u32>,
    pub(crate) quarantine: bool,
    /// A second consumer of the same name takes the same batches at the same time.
    pub(crate) racing: bool,
    pub(crate) events: Vec<EventSpec>,
    pub(crate) messages: Vec<MessageSpec>,
    /// The deliveries in bad weather.
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) weather: Weather,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivery {
    /// Milliseconds to the deadline.
    pub(crate) deadline: u64,
    /// Milliseconds until the process dies. Its calls are on their way all the same, and nobody is answered.
    pub(crate) dies: Option<u64>,
}

/// What goes wrong with the calls, in the order in which they are made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weather {
    pub(crate) transacts: Vec<Call<Cut>>,
    pub(crate) gets: Vec<Call<Read>>,
    pub(crate) updates: Vec<Call<Write>>,
}

/// One call: how long until the store takes it, how long until the answer is there, and what the answer is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<T> {
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) answer: T,
}

#[derive(Debug, Clone)]
pub(crate) struct EventSpec {
    pub(crate) mode: Mode,
    /// An account that several events write to.
    pub(crate) account: Option<u8>,
    pub(crate) group: u8,
    /// Whether the id is a UUID; else it is only unique within its source.
    pub(crate) uuid: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Ok,
    Empty,
    Slow(u16),
    /// Fails for a passing reason, so many times.
    Fails(u8),
    Panics(u8),
    /// Reading its data panics.
    PanicsInData,
    Permanent,
    Emit,
    /// Writes on the condition that nobody else has written since it read.
    Careful,
    Stale,
    NeverTrue,
    /// Calls itself impossible once its own effect is there.
    OnlyOnce,
    Upsert(u8),
    Next(u8),
    NotJson,
    BadData,
    UnknownVersion,
    NewVersion,
    TooOld,
    Unhandled,
    NoBody,
}

/// More than any number of deliveries.
pub(crate) const FOREVER: u8 = 255;

#[derive(Debug, Clone)]
pub(crate) struct MessageSpec {
    pub(crate) event: prop::sample::Index,
    pub(crate) oddity: Oddity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Oddity {
    None,
    NoMessageId,
    NoGroup,
    /// Another body under the same event id.
    Impostor,
    /// The same message twice in one batch.
    Twice,
    Count(&'static str),
    Wrapped,
}

/// What becomes of a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    Pass,
    LostAnswer,
    Unknown,
    InProgress,
    Throttled,
    Refused,
    NoReasons,
    /// This code at the n-th action, counted round.
    At(usize, Code),
    /// The reasons end early, or go on for too long.
    Short(usize, Code),
    Long(Code),
    /// The store's own answer, without the items that it was asked for.
    NoItems,
    /// No answer at all.
    Hangs,
}

impl Cut {
    /// Whether the same transaction is not to be tried again.
    pub(crate) fn is_for_good(self) -> bool {
        matches!(self, Self::Refused | Self::At(_, Code::Invalid | Code::Condition))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Conflict,
    Throughput,
    Throttling,
    Invalid,
    Unheard,
    /// A condition of an effect or an outbox row. Never of an inbox key: that answer is the truth or nothing.
    Condition,
}

impl Code {
    pub(crate) fn of(self) -> CancelCode {
        match self {
            Self::Conflict => CancelCode::TransactionConflict,
            Self::Throughput => CancelCode::ProvisionedThroughputExceeded,
            Self::Throttling => CancelCode::ThrottlingError,
            Self::Invalid => CancelCode::ValidationError,
            Self::Unheard => CancelCode::Other("Unheard".to_owned()),
            Self::Condition => CancelCode::ConditionalCheckFailed,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Read {
    Pass,
    TimedOut,
    Throttled,
    Hangs,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Write {
    Pass,
    LostAnswer,
    Throttled,
    Refused,
    Hangs,
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![
        12 => Just(Mode::Ok),
        1 => Just(Mode::Empty),
        3 => (1_u16..600).prop_map(Mode::Slow),
        3 => prop_oneof![4 => 1_u8..4, 1 => Just(FOREVER)].prop_map(Mode::Fails),
        2 => prop_oneof![4 => 1_u8..4, 1 => Just(FOREVER)].prop_map(Mode::Panics),
        1 => Just(Mode::PanicsInData),
        2 => Just(Mode::Permanent),
        3 => Just(Mode::Emit),
        3 => Just(Mode::Careful),
        1 => Just(Mode::Stale),
        1 => Just(Mode::NeverTrue),
        2 => Just(Mode::OnlyOnce),
        2 => (1_u8..4).prop_map(Mode::Upsert),
        2 => (1_u8..4).prop_map(Mode::Next),
        1 => Just(Mode::NotJson),
        1 => Just(Mode::BadData),
        1 => Just(Mode::UnknownVersion),
        1 => Just(Mode::NewVersion),
        1 => Just(Mode::TooOld),
        1 => Just(Mode::Unhandled),
        1 => Just(Mode::NoBody),
    ]
}

fn events() -> impl Strategy<Value = EventSpec> {
    (modes(), prop::option::of(0_u8..2), 0_u8..3, prop::bool::weighted(0.7))
        .prop_map(|(mode, account, group, uuid)| EventSpec { mode, account, group, uuid })
}

fn messages() -> impl Strategy<Value = MessageSpec> {
    let oddity = prop_oneof![
        24 => Just(Oddity::None),
        1 => Just(Oddity::NoMessageId),
        1 => Just(Oddity::NoGroup),
        2 => Just(Oddity::Impostor),
        1 => Just(Oddity::Twice),
        2 => prop::sample::select(vec!["0", "many", "4294967295", "99999999999999999999", "-1", ""])
            .prop_map(Oddity::Count),
        3 => Just(Oddity::Wrapped),
    ];
    (any::<prop::sample::Index>(), oddity).prop_map(|(event, oddity)| MessageSpec { event, oddity })
}

fn codes() -> impl Strategy<Value = Code> {
    prop::sample::select(vec![
        Code::Conflict,
        Code::Conflict,
        Code::Throughput,
        Code::Throttling,
        Code::Invalid,
        Code::Unheard,
        Code::Condition,
        Code::Condition,
    ])
}

fn cuts() -> impl Strategy<Value = Cut> {
    prop_oneof![
        8 => Just(Cut::Pass),
        3 => Just(Cut::LostAnswer),
        2 => Just(Cut::Unknown),
        2 => Just(Cut::InProgress),
        2 => Just(Cut::Throttled),
        1 => Just(Cut::Refused),
        1 => Just(Cut::NoReasons),
        6 => (0_usize..12, codes()).prop_map(|(at, code)| Cut::At(at, code)),
        1 => (1_usize..4, codes()).prop_map(|(short, code)| Cut::Short(short, code)),
        1 => codes().prop_map(Cut::Long),
        2 => Just(Cut::NoItems),
        1 => Just(Cut::Hangs),
    ]
}

fn calls<T: std::fmt::Debug>(answers: impl Strategy<Value = T>) -> impl Strategy<Value = Call<T>> {
    let wait = || prop_oneof![3 => Just(0_u64), 2 => 1_u64..40, 1 => 40_u64..400];
    (wait(), wait(), answers).prop_map(|(before, after, answer)| Call { before, after, answer })
}

fn weather() -> impl Strategy<Value = Weather> {
    let reads = prop_oneof![6 => Just(Read::Pass), 1 => Just(Read::TimedOut), 1 => Just(Read::Throttled), 1 => Just(Read::Hangs)];
    let writes = prop_oneof![
        4 => Just(Write::Pass),
        1 => Just(Write::LostAnswer),
        1 => Just(Write::Throttled),
        1 => Just(Write::Refused),
        1 => Just(Write::Hangs),
    ];
    (
        prop::collection::vec(calls(cuts()), 0..10),
        prop::collection::vec(calls(reads), 0..5),
        prop::collection::vec(calls(writes), 0..5),
    )
        .prop_map(|(transacts, gets, updates)| Weather { transacts, gets, updates })
}

/// Cases of one kind of queue, packed or not.
pub(crate) fn scenarios(fifo: bool, packing: bool) -> impl Strategy<Value = Scenario> {
    let consumer = (
        1_usize..6,
        prop::option::weighted(0.7, 1_u32..4),
        prop::bool::weighted(0.85),
        prop::bool::weighted(0.25),
    );
    let content = (prop::collection::vec(events(), 1..6), prop::collection::vec(messages(), 1..9));
    let deadline = prop_oneof![1 => 1_u64..400, 2 => 400_u64..3000, 2 => 3000_u64..9000];
    let delivery = (deadline, prop::option::weighted(0.15, 0_u64..1000));
    let delivery = delivery.prop_map(|(deadline, dies)| Delivery { deadline, dies });
    let deliveries = prop::collection::vec(delivery, 1..4);
    (consumer, content, deliveries, weather()).prop_map(move |(consumer, content, deliveries, weather)| {
        let (concurrency, max_receive, quarantine, racing) = consumer;
        let (events, messages) = content;
        Scenario {
            fifo,
            packing,
            concurrency,
            max_receive,
            quarantine,
            racing,
            events,
            messages,
            deliveries,
            weather,
        }
    })
}
