//! The relay over the in-memory store.

use std::sync::Arc;

use oncebox::relay::{InvocationError, PublishError, Relay};
use oncebox::testing::{
    DeleteFault, MemoryPublisher, MemoryStore, PausedClock, ScriptedStore, item, number, text,
};
use serde_json::{Value, json};

struct Bench {
    memory: MemoryStore,
    store: ScriptedStore,
    publisher: MemoryPublisher,
    relay: Relay,
    clock: PausedClock,
}

fn bench() -> Bench {
    let clock = PausedClock::start();
    let memory = MemoryStore::new().with_clock(Arc::new(clock)).table("outbox", "pk", Some("sk"));
    let store = ScriptedStore::new(Arc::new(memory.clone()));
    let publisher = MemoryPublisher::default();
    let routes = r#"{"Order": ["arn:aws:sns:::orders", "https://sqs/audit"]}"#.parse().unwrap();
    let relay = Relay::new(Arc::new(store.clone()), Arc::new(publisher.clone()), "outbox", routes)
        .with_time(Arc::new(clock), Arc::new(oncebox::testing::CountedIds::default()));
    Bench { memory, store, publisher, relay, clock }
}

fn image(id: u32) -> Value {
    json!({"pk": {"S": "Order#o"}, "sk": {"S": format!("e{id}")}, "body": {"S": format!("body {id}")},
        "route": {"S": "Order"}, "event_type": {"S": "OrderPlaced"}, "created_at": {"N": "1800000000000"}, "schema": {"N": "1"}})
}

fn insert(id: u32) -> Value {
    json!({"eventID": format!("x{id}"), "eventName": "INSERT", "awsRegion": "eu-central-1",
        "dynamodb": {"SequenceNumber": format!("seq-{id}"), "NewImage": image(id), "StreamViewType": "NEW_IMAGE"}})
}

impl Bench {
    fn write(&self, ids: std::ops::RangeInclusive<u32>) {
        for id in ids {
            let row = item([("pk", text("Order#o")), ("sk", text(format!("e{id}"))), ("schema", number(1))]);
            self.memory.put_item("outbox", row).unwrap();
        }
    }

    async fn deliver(&self, records: &[Value]) -> Result<Vec<String>, InvocationError> {
        let event = json!({ "Records": records }).to_string();
        let answer = self.relay.handle(&event, self.clock.deadline_in(5_000)).await?;
        Ok(answer.batch_item_failures.into_iter().map(|failure| failure.item_identifier.unwrap()).collect())
    }

    fn left(&self) -> usize {
        self.memory.items("outbox").len()
    }
}

#[tokio::test(start_paused = true)]
async fn rows_go_to_every_destination_and_are_deleted() {
    let bench = bench();
    bench.write(1..=23);
    let records: Vec<_> = (1..=23).map(insert).collect();
    assert!(bench.deliver(&records).await.unwrap().is_empty());
    assert_eq!(bench.publisher.accepted().len(), 46);
    let mut calls = bench.publisher.calls();
    calls.sort_unstable();
    assert_eq!(calls, [3, 3, 10, 10, 10, 10]);
    assert_eq!(bench.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn c03_only_the_lowest_failed_sequence_number_is_answered() {
    let bench = bench();
    bench.write(1..=5);
    for id in ["e4", "e2"] {
        bench.publisher.refuse(id, PublishError::NotNow("throttled".into()), 100);
    }
    let records: Vec<_> = (1..=5).map(insert).collect();
    let event = json!({ "Records": records }).to_string();
    let answer = bench.relay.handle(&event, bench.clock.deadline_in(5_000)).await.unwrap();
    assert_eq!(
        serde_json::to_string(&answer).unwrap(),
        include_str!("golden/stream-response.json").trim_end()
    );
    assert_eq!(bench.left(), 2, "the failed rows stay");
}

#[tokio::test(start_paused = true)]
async fn a_row_that_one_destination_refused_is_not_deleted() {
    let bench = bench();
    bench.write(1..=1);
    bench.publisher.refuse_at("e1", Some("https://sqs/audit"), PublishError::NotNow("throttled".into()), 100);
    assert_eq!(bench.deliver(&[insert(1)]).await.unwrap(), ["seq-1"]);
    assert_eq!(bench.left(), 1);
    assert_eq!(bench.publisher.accepted().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn c29_an_insert_without_image_is_an_error_and_a_remove_is_nothing() {
    let bench = bench();
    let keys_only = json!({"eventName": "INSERT", "dynamodb": {"SequenceNumber": "seq-9", "StreamViewType": "KEYS_ONLY",
        "Keys": {"pk": {"S": "Order#o"}, "sk": {"S": "e9"}}}});
    let null_image =
        json!({"eventName": "INSERT", "dynamodb": {"SequenceNumber": "seq-9", "NewImage": null}});
    let empty_image = json!({"eventName": "INSERT", "dynamodb": {"SequenceNumber": "seq-9", "NewImage": {}}});
    for broken in [keys_only, null_image, empty_image] {
        assert_eq!(bench.deliver(&[broken]).await.unwrap(), ["seq-9"]);
    }
    let removed = json!({"eventName": "REMOVE", "dynamodb": {"SequenceNumber": "seq-1", "Keys": {}}});
    let expired = json!({"eventName": "REMOVE", "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        "dynamodb": {"SequenceNumber": "seq-2", "OldImage": image(1)}});
    let mut modified = insert(3);
    modified["eventName"] = json!("MODIFY");
    assert!(bench.deliver(&[removed, expired, modified]).await.unwrap().is_empty());
    assert!(bench.publisher.accepted().is_empty());
}

#[tokio::test(start_paused = true)]
async fn odd_stream_records_do_not_touch_their_neighbours() {
    let bench = bench();
    bench.write(1..=1);
    let mut lists = insert(1);
    lists["dynamodb"]["SizeBytes"] = json!(null);
    lists["dynamodb"]["ApproximateCreationDateTime"] = json!("soon");
    lists["dynamodb"]["NewImage"]["extra"] = json!({"L": null});
    // Serde reads a struct from a list of its fields too.
    let list = json!(["INSERT", "eu-central-1", insert(2)["dynamodb"]]);
    let odd = [json!({}), json!({"eventName": "REMOVE"}), json!({"eventName": 7, "dynamodb": []}), list];
    assert!(bench.deliver(&[&odd[..], &[lists]].concat()).await.unwrap().is_empty());
    assert_eq!((bench.left(), bench.publisher.accepted().len()), (0, 2), "one row, two destinations");
}

#[tokio::test(start_paused = true)]
async fn a_record_of_another_region_is_left_to_that_region() {
    let bench = bench();
    let mut foreign = insert(1);
    foreign["dynamodb"]["NewImage"]["region"] = json!({"S": "us-east-1"});
    assert!(bench.deliver(&[foreign]).await.unwrap().is_empty());
    assert!(bench.publisher.accepted().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_cannot_be_named_fails_the_batch_and_says_why() {
    for nameless in [json!(null), json!(""), json!(5)] {
        let bench = bench();
        bench.write(1..=1);
        let mut broken = insert(2);
        broken["dynamodb"]["SequenceNumber"] = nameless;
        broken["dynamodb"]["NewImage"]["route"] = json!({"S": "Unknown"});
        let error = bench.deliver(&[insert(1), broken]).await.unwrap_err();
        assert!(error.to_string().contains("\"Unknown\""), "{error}");
        assert_eq!(bench.left(), 0, "the good one is published");
    }
}

#[tokio::test(start_paused = true)]
async fn a_delete_that_fails_costs_a_duplicate_and_no_failure() {
    let bench = bench();
    bench.write(1..=1);
    for _ in 0..1_000 {
        bench.store.on_delete_batch(DeleteFault::Unprocessed(1));
    }
    assert!(bench.deliver(&[insert(1)]).await.unwrap().is_empty());
    assert_eq!((bench.left(), bench.publisher.accepted().len()), (1, 2));
}
