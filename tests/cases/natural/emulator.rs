//! The same on an emulator of DynamoDB, through the real store.

use std::sync::Arc;

use oncebox::consumer::Consumer;
use oncebox::store::{DynamoStore, Store};
use oncebox::testing::{SqsBatch, item, number, text};
use oncebox::time::{Clock, Deadline, SystemClock};
use oncebox_tests::{Dynoxide, TableSpec, create_table, dynamo_client};

use super::verdicts::Verdicts;
use super::world::{Handlers, Sent, key};
use super::{insert, next, upsert};

#[tokio::test]
async fn conditions_mean_the_same_on_an_emulator() {
    let emulator = Dynoxide::start().unwrap();
    let client = dynamo_client(&emulator.endpoint(), "000000000001");
    create_table(&client, TableSpec { name: "things", partition_key: "id", sort_key: None, index: None })
        .await
        .unwrap();
    let store: Arc<dyn Store> = Arc::new(DynamoStore::new(client));
    let (verdicts, _listening) = Verdicts::listen();
    let rival = |event: Sent| Sent { variant: 1, ..event };
    let ignored = Sent { event_type: "Ignored", ..Sent::moved(2, 3) };
    let stories: [(Handlers, Vec<Sent>, Vec<&str>); 3] = [
        (
            |builder| builder.on(upsert::newer),
            vec![
                Sent::moved(1, 2),
                Sent::moved(1, 1),
                Sent::moved(1, 2),
                rival(Sent::moved(1, 2)),
                Sent::moved(1, 7),
            ],
            vec!["applied", "stale", "duplicate", "permanent", "applied"],
        ),
        (
            next::handlers,
            vec![
                Sent::moved(2, 2),
                Sent::moved(2, 1),
                Sent::moved(2, 2),
                ignored,
                Sent::moved(2, 4),
                Sent::moved(2, 4),
                Sent::moved(2, 2),
            ],
            vec!["transient", "applied", "applied", "unhandled", "applied", "duplicate", "stale"],
        ),
        (
            |builder| builder.on(insert::once),
            vec![Sent::moved(3, 1), Sent::moved(3, 1), rival(Sent::moved(3, 1))],
            vec!["applied", "duplicate", "permanent"],
        ),
    ];
    for (handlers, events, expected) in stories {
        let consumer = handlers(Consumer::builder("test", Arc::clone(&store))).build().unwrap();
        for event in events {
            let batch = SqsBatch::standard("q").record("m", &event.body());
            let deadline = Deadline::after(SystemClock.now(), std::time::Duration::from_secs(30));
            consumer.handle(&batch.to_json(), deadline).await.unwrap();
        }
        let told: Vec<_> = verdicts.take().into_iter().map(|logged| logged.verdict).collect();
        assert_eq!(told, expected);
    }
    let sum = Sent::moved(2, 1).amount() + Sent::moved(2, 2).amount() + Sent::moved(2, 4).amount();
    let stored = store.get("things", key("2")).await.unwrap().unwrap();
    assert_eq!((&stored["sum"], &stored["version"]), (&number(sum), &number(4)));
    let inserted = item([("id", text("3")), ("amount", number(Sent::moved(3, 1).amount()))]);
    let stored = store.get("things", key("3")).await.unwrap().unwrap();
    assert!(inserted.iter().all(|(name, value)| stored[name] == *value));
}
