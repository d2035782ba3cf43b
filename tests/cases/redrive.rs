//! Cases that leave the quarantine: a relay's go to the destinations still owed, a consumer's to its queue.

use oncebox::event::EventKey;
use oncebox::quarantine::{Case, CaseKey, Reason, SettleError};
use oncebox::relay::{PublishError, RetryError};
use oncebox::store::Store;
use oncebox::testing::Fault;

use crate::keep::{Bench, bench};

const TOPIC: &str = "arn:aws:sns:r:1:orders";
const FIFO: &str = "arn:aws:sns:r:1:orders.fifo";
const EVENT: &str = "0190a3e4-7b1c-7def-8a00-000000000001";

fn body(padding: usize) -> String {
    let data = "x".repeat(padding);
    format!(
        r#"{{"specversion":"1.0","id":"{EVENT}","source":"/shop","type":"OrderPlaced","subject":"o-1","aggregatetype":"Order","sequence":1,"data":"{data}"}}"#
    )
}

fn case(owner: &str, destinations: &[&str], body: String) -> Case {
    Case {
        owner: owner.into(),
        source: "outbox".into(),
        event_key: Some(EventKey::of("", EVENT)),
        message_id: EVENT.into(),
        event_type: "OrderPlaced".into(),
        aggregate_id: "o-1".into(),
        group: None,
        reason: Reason::Permanent,
        detail: "refused".into(),
        attempts: 1,
        traceparent: None,
        destinations: destinations.iter().map(|name| (*name).to_owned()).collect(),
        body,
    }
}

async fn keep(bench: &Bench, case: &Case) -> CaseKey {
    let actions =
        bench.quarantine().actions(case, jiff::Timestamp::from_second(1_700_000_000).unwrap()).unwrap();
    bench
        .memory
        .transact(actions, &format!("keep-{}", bench.memory.stream("quarantine").len()))
        .await
        .unwrap();
    bench.quarantine().list(&case.owner, None).await.unwrap().cases.remove(0).key
}

async fn retry(bench: &Bench, key: &CaseKey) -> Result<(), RetryError> {
    bench.replay().quarantined(&bench.quarantine(), key, bench.clock.deadline_in(5_000)).await
}

fn left(bench: &Bench) -> usize {
    bench.memory.items("quarantine").len()
}

#[tokio::test(start_paused = true)]
async fn only_the_destinations_that_are_owed_get_it_and_the_case_is_closed() {
    let bench = bench();
    let key = keep(&bench, &case("outbox-relay", &[FIFO], body(0))).await;
    retry(&bench, &key).await.unwrap();
    let sent = bench.publisher.accepted();
    assert_eq!((sent.len(), sent[0].0.name(), left(&bench)), (1, FIFO, 0));
    let entry = &sent[0].1;
    assert_eq!((&*entry.event_id, &*entry.dedup_id, &*entry.group), (EVENT, EVENT, "Order#o-1"));
    assert_eq!(
        (&*entry.body, &*entry.event_type, &*entry.aggregate_type),
        (&*body(0), "OrderPlaced", "Order")
    );
    assert!(matches!(retry(&bench, &key).await, Err(RetryError::Gone)));
}

#[tokio::test(start_paused = true)]
async fn a_split_body_goes_out_whole_and_all_its_parts_are_removed() {
    let bench = bench();
    let large = body(800_000);
    let key = keep(&bench, &case("outbox-relay", &[TOPIC], large.clone())).await;
    assert_eq!(left(&bench), 4);
    let routes = format!(r#"{{"Order": [{{"to": "{TOPIC}", "max_bytes": 1048576}}]}}"#);
    let replay = oncebox::relay::Replay::new(
        bench.shared(),
        std::sync::Arc::new(bench.publisher.clone()),
        "outbox",
        routes.parse().unwrap(),
    );
    replay.quarantined(&bench.quarantine(), &key, bench.clock.deadline_in(5_000)).await.unwrap();
    assert_eq!((bench.publisher.accepted()[0].1.body.len(), left(&bench)), (large.len(), 0));
}

#[tokio::test(start_paused = true)]
async fn what_one_destination_has_accepted_is_not_sent_there_again() {
    let bench = bench();
    let key = keep(&bench, &case("outbox-relay", &[TOPIC, FIFO], body(0))).await;
    bench.publisher.refuse_at(EVENT, Some(FIFO), PublishError::NotNow("throttled".into()), 4);
    let Err(RetryError::NotAccepted(why)) = retry(&bench, &key).await else { panic!("accepted") };
    assert!(why.contains(FIFO) && why.contains("throttled"), "{why}");
    let stored = bench.quarantine().load(&key).await.unwrap().unwrap();
    assert_eq!((stored.case.destinations, stored.case.attempts), (vec![FIFO.to_owned()], 2));
    assert_eq!(stored.first_failed_at, 1_700_000_000_000);
    retry(&bench, &key).await.unwrap();
    let names: Vec<String> = bench.publisher.accepted().iter().map(|(to, _)| to.name().to_owned()).collect();
    assert_eq!(names, [TOPIC, FIFO]);
}

#[tokio::test(start_paused = true)]
async fn a_consumer_s_case_goes_to_its_queue_and_nowhere_else() {
    let bench = bench();
    let key = keep(&bench, &case("billing", &[], body(0))).await;
    let Err(RetryError::Consumers { owner }) = retry(&bench, &key).await else { panic!("sent") };
    assert_eq!((&*owner, bench.accepted().len()), ("billing", 0));
    let queue = "https://sqs/1/billing.fifo".parse().unwrap();
    bench.replay().redrive(&bench.quarantine(), &key, &queue, bench.clock.deadline_in(5_000)).await.unwrap();
    let (to, entry) = bench.publisher.accepted().remove(0);
    assert_eq!((to, &*entry.body, left(&bench)), (queue, &*body(0), 0));
    assert!(
        entry.dedup_id.starts_with(&format!("{EVENT}~")),
        "the queue has seen the event: {}",
        entry.dedup_id
    );
}

#[tokio::test(start_paused = true)]
async fn a_case_that_fails_again_at_once_is_not_lost() {
    let bench = bench();
    let case = case("billing", &[], body(0));
    let key = keep(&bench, &case).await;
    // The consumer has had it, and quarantined it once more, before the redrive lets go of it.
    let (quarantine, memory) = (bench.quarantine(), bench.memory.clone());
    bench.store.before_transact(move || async move {
        let now = jiff::Timestamp::from_second(1_700_000_009).unwrap();
        memory.transact(quarantine.actions(&case, now).unwrap(), "again").await.unwrap();
    });
    let queue = "https://sqs/1/billing".parse().unwrap();
    let redriven =
        bench.replay().redrive(&bench.quarantine(), &key, &queue, bench.clock.deadline_in(5_000)).await;
    assert!(matches!(redriven, Err(RetryError::Settle(SettleError::FailedAgain))), "{redriven:?}");
    assert_eq!((left(&bench), bench.accepted().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_removal_whose_answer_is_lost_is_confirmed_by_the_next_try() {
    let bench = bench();
    let key = keep(&bench, &case("outbox-relay", &[TOPIC], body(0))).await;
    bench.store.on_transact(Fault::LostAnswer);
    retry(&bench, &key).await.unwrap();
    assert_eq!((left(&bench), bench.accepted().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_is_never_confirmed_costs_a_second_publish() {
    let bench = bench();
    let key = keep(&bench, &case("outbox-relay", &[TOPIC], body(0))).await;
    bench.store.always_transact(Fault::Unknown);
    assert!(matches!(retry(&bench, &key).await, Err(RetryError::Settle(SettleError::Transact(_)))));
    bench.store.always_transact(Fault::Pass);
    retry(&bench, &key).await.unwrap();
    assert_eq!((left(&bench), bench.accepted().len()), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn cases_are_listed_by_owner_the_longest_waiting_first() {
    let bench = bench();
    for (at, owner) in [(3, "billing"), (1, "billing"), (2, "inventory")] {
        let case = Case { event_key: Some(EventKey::of("/s", &at.to_string())), ..case(owner, &[], body(0)) };
        let time = jiff::Timestamp::from_second(at).unwrap();
        bench
            .memory
            .transact(bench.quarantine().actions(&case, time).unwrap(), &at.to_string())
            .await
            .unwrap();
    }
    let cases = bench.quarantine().list("billing", None).await.unwrap();
    let times: Vec<i64> = cases.cases.iter().map(|stored| stored.last_failed_at).collect();
    assert_eq!((times, cases.odd.len(), cases.next), (vec![1_000, 3_000], 0, None));
}
