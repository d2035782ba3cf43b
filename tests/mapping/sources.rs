//! Where records come from.

use std::sync::Arc;

use oncebox::store::Item;
use oncebox::testing::{MemoryStore, item, number, text};
use oncebox::time::SystemClock;
use oncebox_tests::mapping::{EmulatorStream, Filter, Mapping, Poller, Record};
use oncebox_tests::{Dynoxide, TableSpec, create_table, dynamo_client};
use serde_json::{Value, json};

const ARN: &str = "arn:aws:dynamodb:eu-central-1:1:table/rows/stream/1";

fn row(id: &str, count: u64) -> Item {
    item([("pk", text("A")), ("sk", text(id)), ("n", number(count))])
}

#[tokio::test]
async fn a_record_of_the_memory_store_looks_like_lambdas() {
    let store = MemoryStore::new().table("rows", "pk", Some("sk"));
    store.put_item("rows", row("1", 1)).unwrap();
    store.put_item("rows", row("1", 2)).unwrap();
    let entries = store.stream("rows");
    let mut poller = Poller::new(Mapping::default(), Arc::new(SystemClock));
    poller.offer(entries.iter().map(|entry| Record::of_memory(entry, "pk", ARN).unwrap()));
    let seen = std::sync::Mutex::new(Value::Null);
    let look = async |event: String| {
        *seen.lock().unwrap() = serde_json::from_str(&event).unwrap();
        Ok(String::new())
    };
    poller.settle(&look, 1).await.unwrap();
    let seen = seen.lock().unwrap().clone();
    let image = |count: &str| json!({ "pk": { "S": "A" }, "sk": { "S": "1" }, "n": { "N": count } });
    let expected = json!({
        "eventID": entries[1].sequence,
        "eventName": "MODIFY",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "eventSourceARN": ARN,
        "awsRegion": "eu-central-1",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_800_000_000,
            "Keys": { "pk": { "S": "A" }, "sk": { "S": "1" } },
            "SequenceNumber": entries[1].sequence,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
            "NewImage": image("2"),
            "OldImage": image("1"),
        },
    });
    assert_eq!(seen["Records"][1], expected);
    assert_eq!(seen["Records"][0]["eventName"], "INSERT");
}

#[tokio::test]
async fn an_emulators_stream_is_read_from_its_beginning_and_then_on() {
    let emulator = Dynoxide::start().unwrap();
    let client = dynamo_client(&emulator.endpoint(), "test");
    let spec = TableSpec { name: "rows", partition_key: "pk", sort_key: Some("sk"), index: None };
    create_table(&client, spec).await.unwrap();
    let table = client.describe_table().table_name("rows").send().await.unwrap().table.unwrap();
    let arn = table.latest_stream_arn.unwrap();
    let mut stream = EmulatorStream::new(&emulator.endpoint(), "test", &arn, "pk");
    let mapping = Mapping::default().filter(Filter::new(r#"{"eventName": ["INSERT"]}"#).unwrap());
    let mut poller = Poller::new(mapping, Arc::new(SystemClock));
    let seen = std::sync::Mutex::new(Vec::new());
    let look = async |event: String| {
        let event: Value = serde_json::from_str(&event).unwrap();
        let records = event["Records"].as_array().unwrap();
        let names = records.iter().map(|record| {
            assert_eq!(record["eventSourceARN"], json!(arn));
            record["dynamodb"]["NewImage"]["sk"]["S"].as_str().unwrap().to_owned()
        });
        seen.lock().unwrap().extend(names);
        Ok(String::new())
    };
    for ids in [["1", "2"], ["3", "4"]] {
        for id in ids {
            client.put_item().table_name("rows").set_item(Some(row(id, 1))).send().await.unwrap();
            client.put_item().table_name("rows").set_item(Some(row(id, 2))).send().await.unwrap();
        }
        poller.offer(stream.read().await.unwrap());
        poller.settle(&look, 10).await.unwrap();
    }
    assert_eq!(*seen.lock().unwrap(), ["1", "2", "3", "4"]);
    assert!(stream.read().await.unwrap().is_empty());
}
