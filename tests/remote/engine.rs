//! What the engine does with each answer, on the memory store and paused time.

use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::Consumer;
use oncebox::effect::remote::{OnUnknown, Reply, Resolution, ResolveError, StartedCalls};
use oncebox::quarantine::Reason;
use oncebox::store::Store;
use oncebox::testing::{
    CountedIds, MemoryStore, PausedClock, ScriptedStore, ScriptedTransport, Sends, SqsBatch,
};

use crate::bench::{self, App, Mode, SECRET, TABLES, cases, event, payment, rows};

struct Bench {
    clock: PausedClock,
    script: ScriptedStore,
    store: Arc<dyn Store>,
    provider: ScriptedTransport,
    consumer: Consumer<App>,
}

impl Bench {
    fn new(mode: Mode) -> Self {
        let clock = PausedClock::start();
        let mut memory = MemoryStore::new().with_clock(Arc::new(clock));
        for (table, pk, sk) in TABLES {
            memory = memory.table(table, pk, sk);
        }
        let script = ScriptedStore::new(Arc::new(memory));
        let store: Arc<dyn Store> = Arc::new(script.clone());
        let provider = ScriptedTransport::default();
        let app = App {
            mode,
            url: "https://pay.test".into(),
            timeout: Duration::from_secs(2),
            runs: Arc::default(),
        };
        let consumer =
            bench::consumer(&store, Arc::new(provider.clone()), Arc::new(clock), app, |consumer| consumer);
        Self { clock, script, store, provider, consumer }
    }

    /// Delivers the event; whether it comes again.
    async fn deliver(&self, received: u32) -> bool {
        let batch = SqsBatch::standard("q").received("m", &bench::body(1), received).to_json();
        let answer = self.consumer.handle(&batch, self.clock.deadline_in(10_000)).await.unwrap();
        !answer.batch_item_failures.is_empty()
    }

    async fn left(&self, table: &str) -> usize {
        rows(&self.store, table).await.len()
    }
}

const QUARANTINE: Mode = Mode::Unkeyed(OnUnknown::Quarantine);
const CALL_AGAIN: Mode = Mode::Unkeyed(OnUnknown::CallAgain);

#[tokio::test(start_paused = true)]
async fn a_call_its_effect_and_the_inbox_key_and_nothing_is_left_of_the_call() {
    for mode in [Mode::Keyed, QUARANTINE, CALL_AGAIN] {
        let bench = Bench::new(mode);
        assert!(!bench.deliver(1).await);
        assert_eq!(payment(&bench.store, 1).await, Some(("CAPTURED".into(), "1".into())));
        assert_eq!((bench.left("inbox").await, bench.left("remote").await), (1, 0));
        let sent = bench.provider.sent();
        assert_eq!(sent.len(), 1);
        let key = (mode == Mode::Keyed).then(|| event(1));
        assert_eq!(sent[0].header("idempotency-key"), key.as_deref());
        assert_eq!(sent[0].header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
        // What the relay publishes again comes with receive count 1.
        assert!(!bench.deliver(1).await);
        assert_eq!(bench.provider.sent().len(), 1);
    }
}

/// The answer comes, and the process dies before the commit.
#[tokio::test(start_paused = true)]
async fn c16_a_redelivery_sends_the_same_key_and_the_same_bytes() {
    for first in [
        Sends::Hangs,
        Sends::Lost,
        Sends::Reply(Reply::new(409, "")),
        Sends::Reply(Reply::new(425, "")),
        Sends::Reply(Reply::new(429, "").with_header("retry-after", "1")),
        Sends::Reply(Reply::new(503, "")),
    ] {
        let bench = Bench::new(Mode::Keyed);
        bench.provider.on_send(first.clone());
        assert!(bench.deliver(1).await, "{first:?}");
        assert_eq!(bench.left("inbox").await, 0);
        assert!(!bench.deliver(2).await, "{first:?}");
        let sent = bench.provider.sent();
        assert_eq!(sent.len(), 2);
        for attempt in &sent {
            assert_eq!(attempt.header("idempotency-key"), Some(event(1).as_str()));
            assert_eq!((&attempt.body, &attempt.headers), (&sent[0].body, &sent[0].headers), "{first:?}");
        }
        assert_eq!(payment(&bench.store, 1).await, Some(("CAPTURED".into(), "1".into())));
        assert_eq!(bench.left("remote").await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn c16_another_body_under_this_key_is_permanent() {
    let bench = Bench::new(Mode::Keyed);
    bench.provider.on_send(Sends::Reply(Reply::new(422, "")));
    assert!(!bench.deliver(1).await);
    let case = &cases(&bench.store).await[0];
    assert_eq!(case.reason, Reason::Permanent);
    assert!(case.detail.contains("422"), "{}", case.detail);
    assert_eq!((payment(&bench.store, 1).await, bench.provider.sent().len()), (None, 1));
}

#[tokio::test(start_paused = true)]
async fn no_credentials_are_stored() {
    let bench = Bench::new(Mode::Keyed);
    bench.provider.on_send(Sends::Lost);
    assert!(bench.deliver(1).await);
    let stored = format!("{:?}", rows(&bench.store, "remote").await);
    assert!(stored.contains("pay.test") && !stored.contains(SECRET) && !stored.contains("authorization"));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_call_waits_for_a_person_who_says_what_happened() {
    for done in [true, false] {
        let bench = Bench::new(QUARANTINE);
        bench.provider.on_send(Sends::Lost);
        assert!(!bench.deliver(1).await, "quarantined");
        let case = cases(&bench.store).await.remove(0);
        assert_eq!(case.reason, Reason::Unknown);
        // Sent again without a decision: nothing is called.
        assert!(!bench.deliver(1).await);
        assert_eq!(bench.provider.sent().len(), 1);
        let calls = StartedCalls::new(Arc::clone(&bench.store), "remote");
        let resolution = if done { Resolution::Done(Reply::new(402, "")) } else { Resolution::NotDone };
        let (ids, clock) = (CountedIds::default(), bench.clock);
        let deadline = clock.deadline_in(1000);
        calls.resolve_case(&case, resolution.clone(), &ids, &clock, deadline).await.unwrap();
        assert!(!bench.deliver(1).await);
        let state = if done { "DECLINED" } else { "CAPTURED" };
        assert_eq!(payment(&bench.store, 1).await, Some((state.into(), "1".into())));
        assert_eq!(bench.provider.sent().len(), if done { 1 } else { 2 });
        assert_eq!(bench.left("remote").await, 0);
        let again = calls.resolve_case(&case, resolution, &ids, &clock, deadline).await;
        assert!(matches!(again, Err(ResolveError::NoCall)), "{again:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_the_provider_may_have_forgotten_is_not_used_again() {
    let bench = Bench::new(Mode::Keyed);
    bench.provider.on_send(Sends::Lost);
    assert!(bench.deliver(1).await);
    tokio::time::advance(bench::LIFETIME - Duration::from_secs(1)).await;
    assert!(!bench.deliver(2).await);
    assert_eq!(cases(&bench.store).await[0].reason, Reason::Unknown);
    assert_eq!(bench.provider.sent().len(), 1);
    assert!(bench.script.pending() == 0);
}
