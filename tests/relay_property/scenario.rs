//! What a case is made of, and how one is drawn.

use proptest::prelude::*;
use proptest::sample::Index;

/// What is tested: with the stream or without, deleting rows or keeping them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) stream: bool,
    pub(crate) keep: bool,
}

/// One case: what is written, who publishes it, and what goes wrong.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) kind: Kind,
    /// The sweepers' grace period in milliseconds, also the relay's.
    pub(crate) grace: u64,
    pub(crate) max_attempts: u32,
    /// Items of a page.
    pub(crate) page: usize,
    pub(crate) mapping: MappingSpec,
    pub(crate) aggregates: Vec<AggregateSpec>,
    pub(crate) transactions: Vec<TransactionSpec>,
    /// For each shard.
    pub(crate) invocations: Vec<Vec<Run>>,
    /// For each sweeper.
    pub(crate) sweeps: Vec<Vec<Run>>,
    pub(crate) weather: Weather,
}

/// The event source mapping.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MappingSpec {
    /// Records of a batch.
    pub(crate) batch: usize,
    pub(crate) retries: u32,
    /// Whether only insertions come through.
    pub(crate) filter: bool,
    /// Whether the records of one transaction come in another order than they were written in.
    pub(crate) reverse: bool,
    /// Whether the relay has a quarantine.
    pub(crate) quarantine: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct AggregateSpec {
    pub(crate) route: usize,
    pub(crate) numbering: Numbering,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    All,
    None,
    Every2nd,
}

/// One transaction of the producer.
#[derive(Debug, Clone)]
pub(crate) struct TransactionSpec {
    /// Milliseconds before it.
    pub(crate) wait: u64,
    pub(crate) fate: Fate,
    pub(crate) rows: Vec<RowSpec>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Committed,
    /// Committed; the producer asks again with the same token.
    LostAnswer,
    /// A condition is false.
    Cancelled,
    /// It never reached the table.
    NotTaken,
}

#[derive(Debug, Clone)]
pub(crate) struct RowSpec {
    pub(crate) aggregate: Index,
    pub(crate) second_type: bool,
    /// By how many milliseconds its id and time are older than its commit.
    pub(crate) late: u64,
    pub(crate) bad: Option<Bad>,
}

/// What one destination, counted round, always says to a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bad {
    Refused(usize),
    NotNow(usize),
}

/// An invocation or a sweep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// Milliseconds before it.
    pub(crate) wait: u64,
    /// Milliseconds to its deadline.
    pub(crate) deadline: u64,
    /// Milliseconds until the process dies. Its calls are on their way all the same.
    pub(crate) dies: Option<u64>,
    /// Whether it is the first of its instance.
    pub(crate) cold: bool,
}

/// What goes wrong with the calls, in the order in which they are made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weather {
    pub(crate) publishes: Vec<Call<Said>>,
    pub(crate) deletes: Vec<Call<Left>>,
    pub(crate) moves: Vec<Call<Cut>>,
    pub(crate) updates: Vec<Call<Write>>,
    pub(crate) reads: Vec<Call<Read>>,
    pub(crate) pages: Vec<Call<Read>>,
}

/// One call: how long until it is carried out, how long until the answer is there, and what the answer is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<T> {
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) answer: T,
}

/// What a destination says to a call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Said {
    #[default]
    Accepted,
    Failed,
    /// All accepted, and nobody told.
    LostAnswer,
    /// All accepted; the answer mentions the first so many.
    Short(usize),
    /// One of these for each entry, counted round.
    Each([Entry; 4]),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Entry {
    Accepted,
    NotNow,
    Refused,
    LostAnswer,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Left {
    #[default]
    Nothing,
    Unprocessed(usize),
    Failed,
    LostAnswer,
}

/// What becomes of a move to the quarantine.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Cut {
    #[default]
    Pass,
    Conflict,
    NoReasons,
    Throttled,
    Refused,
    Unknown,
    LostAnswer,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Write {
    #[default]
    Pass,
    LostAnswer,
    Unknown,
    Throttled,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Read {
    #[default]
    Pass,
    TimedOut,
    Throttled,
}

/// The default grace period, in milliseconds.
pub(crate) const GRACE: u64 = 300_000;

fn aggregates() -> impl Strategy<Value = AggregateSpec> {
    let numbering = prop_oneof![
        3 => Just(Numbering::All),
        2 => Just(Numbering::None),
        1 => Just(Numbering::Every2nd),
    ];
    (0_usize..5, numbering).prop_map(|(route, numbering)| AggregateSpec { route, numbering })
}

fn rows() -> impl Strategy<Value = RowSpec> {
    let late = prop_oneof![12 => Just(0_u64), 3 => 1_u64..120_000, 1 => 300_000_u64..2_000_000];
    let bad = prop_oneof![(0_usize..3).prop_map(Bad::Refused), (0_usize..3).prop_map(Bad::NotNow)];
    (any::<Index>(), any::<bool>(), late, prop::option::weighted(0.06, bad))
        .prop_map(|(aggregate, second_type, late, bad)| RowSpec { aggregate, second_type, late, bad })
}

fn transactions() -> impl Strategy<Value = TransactionSpec> {
    let fate = prop_oneof![
        10 => Just(Fate::Committed),
        1 => Just(Fate::LostAnswer),
        1 => Just(Fate::Cancelled),
        1 => Just(Fate::NotTaken),
    ];
    let wait = prop_oneof![3 => Just(0_u64), 4 => 1_u64..2_000, 1 => 10_000_u64..200_000];
    (wait, fate, prop::collection::vec(rows(), 1..4)).prop_map(|(wait, fate, rows)| TransactionSpec {
        wait,
        fate,
        rows,
    })
}

fn runs(longest: u64) -> impl Strategy<Value = Run> {
    let wait = prop_oneof![3 => 0_u64..300, 3 => 300_u64..5_000, 1 => 10_000_u64..400_000];
    let deadline = prop_oneof![1 => 200_u64..2_000, 3 => 2_000..longest];
    let dies = prop::option::weighted(0.25, prop_oneof![0_u64..60, 60_u64..1_500]);
    (wait, deadline, dies, prop::bool::weighted(0.3)).prop_map(|(wait, deadline, dies, cold)| Run {
        wait,
        deadline,
        dies,
        cold,
    })
}

fn calls<T: std::fmt::Debug>(answers: impl Strategy<Value = T>) -> impl Strategy<Value = Call<T>> {
    let wait = || prop_oneof![4 => Just(0_u64), 2 => 1_u64..60, 1 => 60_u64..900];
    (wait(), wait(), answers).prop_map(|(before, after, answer)| Call { before, after, answer })
}

fn weather() -> impl Strategy<Value = Weather> {
    let entry = prop_oneof![
        6 => Just(Entry::Accepted),
        5 => Just(Entry::NotNow),
        1 => Just(Entry::Refused),
        2 => Just(Entry::LostAnswer),
    ];
    let said = prop_oneof![
        6 => Just(Said::Accepted),
        4 => Just(Said::Failed),
        2 => Just(Said::LostAnswer),
        1 => (0_usize..3).prop_map(Said::Short),
        5 => prop::array::uniform4(entry).prop_map(Said::Each),
    ];
    let left = prop_oneof![
        4 => Just(Left::Nothing),
        2 => (1_usize..4).prop_map(Left::Unprocessed),
        2 => Just(Left::Failed),
        2 => Just(Left::LostAnswer),
    ];
    let cut = prop::sample::select(vec![
        Cut::Pass,
        Cut::Conflict,
        Cut::NoReasons,
        Cut::Throttled,
        Cut::Refused,
        Cut::Unknown,
        Cut::LostAnswer,
    ]);
    let write = prop_oneof![
        6 => Just(Write::Pass),
        1 => Just(Write::LostAnswer),
        1 => Just(Write::Unknown),
        1 => Just(Write::Throttled),
    ];
    let read = || prop_oneof![6 => Just(Read::Pass), 1 => Just(Read::TimedOut), 1 => Just(Read::Throttled)];
    // Outages outlast the four tries that an invocation gives an entry; single bad calls rarely do.
    let spell = (calls(said), prop_oneof![3 => Just(1_usize), 1 => 4_usize..9]);
    let publishes = prop::collection::vec(spell, 0..10)
        .prop_map(|spells| spells.into_iter().flat_map(|(call, times)| vec![call; times]).collect());
    (
        publishes,
        prop::collection::vec(calls(left), 0..8),
        prop::collection::vec(calls(cut), 0..5),
        prop::collection::vec(calls(write), 0..10),
        prop::collection::vec(calls(read()), 0..4),
        prop::collection::vec(calls(read()), 0..6),
    )
        .prop_map(|(publishes, deletes, moves, updates, reads, pages)| Weather {
            publishes,
            deletes,
            moves,
            updates,
            reads,
            pages,
        })
}

/// Cases of one kind.
pub(crate) fn scenarios(kind: Kind) -> impl Strategy<Value = Scenario> {
    let mapping = (1_usize..8, 0_u32..4, any::<bool>(), prop::bool::weighted(0.3), prop::bool::weighted(0.8))
        .prop_map(|(batch, retries, filter, reverse, quarantine)| MappingSpec {
            batch,
            retries,
            filter,
            reverse,
            quarantine,
        });
    let shards = if kind.stream { 1_usize..3 } else { 0..1 };
    let sweepers = if kind.stream { 0_usize..3 } else { 1..4 };
    // Without a stream the sweeper may be told to wait for nobody.
    let grace = if kind.stream { Just(GRACE).boxed() } else { prop_oneof![Just(0), Just(GRACE)].boxed() };
    let settings = (grace, 1_u32..5, 1_usize..6, mapping);
    let written = (prop::collection::vec(aggregates(), 1..4), prop::collection::vec(transactions(), 1..7));
    let publishing = (
        prop::collection::vec(prop::collection::vec(runs(9_000), 1..6), shards),
        prop::collection::vec(prop::collection::vec(runs(20_000), 1..4), sweepers),
    );
    (settings, written, publishing, weather()).prop_map(move |(settings, written, publishing, weather)| {
        let (grace, max_attempts, page, mapping) = settings;
        let (aggregates, transactions) = written;
        let (invocations, sweeps) = publishing;
        Scenario {
            kind,
            grace,
            max_attempts,
            page,
            mapping,
            aggregates,
            transactions,
            invocations,
            sweeps,
            weather,
        }
    })
}
