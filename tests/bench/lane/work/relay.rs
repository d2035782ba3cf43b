//! Records of an outbox table's stream.

use std::collections::HashMap;

use serde_json::json;

use super::event::Event;
use crate::aws::{Item, Published, Tables, Value};
use crate::child::Settings;
use crate::clock::now_millis;
use crate::options::Options;

/// What is right in the end.
#[derive(Debug)]
pub(super) struct Expected {
    outbox_table: String,
    /// The messages; their bytes are the rows' bodies.
    bodies: Vec<String>,
}

/// Makes the invocations, and writes the rows that they tell of.
pub(super) fn plan(
    options: &Options,
    settings: &Settings,
    tables: &mut Tables,
) -> Result<(Vec<Vec<u8>>, Expected), String> {
    let outbox_table = settings.get("OUTBOX_TABLE");
    let now = now_millis();
    let mut expected = Expected { outbox_table, bodies: Vec::new() };
    let mut invocations = Vec::with_capacity(options.warmup + options.invocations);
    let mut number: u32 = 0;
    for _ in 0..options.warmup + options.invocations {
        let mut records = Vec::with_capacity(options.batch);
        for _ in 0..options.batch {
            let event = Event::new(number, now, &format!("account-{:06}", number % 1000));
            let text = |value: &str| Value::S(value.to_owned());
            let pk = format!("Order#{}", event.order_id);
            let key = Item::from([("pk".to_owned(), text(&pk)), ("sk".to_owned(), text(&event.id))]);
            tables.seed(&expected.outbox_table, key.clone())?;
            records.push(record(&key, &pk, &event, number, now));
            expected.bodies.push(event.body);
            number += 1;
        }
        invocations.push(json!({ "Records": records }).to_string().into_bytes());
    }
    Ok((invocations, expected))
}

fn record(key: &Item, pk: &str, event: &Event, number: u32, now: u64) -> serde_json::Value {
    json!({
        "eventID": format!("{number:032x}"),
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": now / 1000,
            "Keys": key,
            "NewImage": {
                "pk": { "S": pk },
                "sk": { "S": event.id },
                "pending": { "S": pk },
                "body": { "S": event.body },
                "route": { "S": "Order" },
                "event_type": { "S": "OrderPlaced" },
                "sequence": { "N": "1" },
                "created_at": { "N": now.to_string() },
                "schema": { "N": "1" },
            },
            "SequenceNumber": format!("17000000000{number:011}"),
            "SizeBytes": event.body.len() + 250,
            "StreamViewType": "NEW_IMAGE",
        },
        "eventSourceARN": "arn:aws:dynamodb:us-east-1:123456789012:table/outbox/stream/2026-11-30T11:59:00.000",
    })
}

impl Expected {
    /// Every row was published once, byte for byte, to one topic, and all rows or none are deleted. Answers which.
    pub(super) fn verify(&self, tables: &Tables, published: &[Published]) -> Result<bool, String> {
        let mut times: HashMap<&str, u32> = self.bodies.iter().map(|body| (body.as_str(), 0)).collect();
        let topic = published.first().map(|first| first.topic.as_str()).unwrap_or_default();
        for message in published {
            if message.topic != topic || !topic.starts_with("arn:") {
                return Err(format!("a message went to {:?}, another one to {topic:?}", message.topic));
            }
            let known = times.get_mut(message.message.as_str());
            *known.ok_or(format!("a message is no row's body: {}", message.message))? += 1;
        }
        for body in &self.bodies {
            let times = times.get(body.as_str()).copied().unwrap_or_default();
            if times != 1 {
                return Err(format!("a row was published {times} times: {body}"));
            }
        }
        let left = tables.rows(&self.outbox_table).count();
        if left == 0 || left == self.bodies.len() {
            Ok(left == 0)
        } else {
            Err(format!(
                "{left} of {} rows are left: some were deleted, and some were not",
                self.bodies.len()
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned() -> (Expected, Tables) {
        let line = "--work relay --batch 4 --invocations 2 --warmup 1 -- a";
        let options = Options::parse(line.split(' ').map(Into::into)).unwrap();
        let settings = Settings::default();
        let mut tables = settings.tables();
        let (_, expected) = plan(&options, &settings, &mut tables).unwrap();
        (expected, tables)
    }

    fn published(expected: &Expected) -> Vec<Published> {
        let message = |body: &String| Published { topic: "arn:t".into(), message: body.clone() };
        expected.bodies.iter().map(message).collect()
    }

    #[test]
    fn each_row_is_published_once() {
        let (expected, tables) = planned();
        let all = published(&expected);
        assert_eq!(expected.verify(&tables, &all), Ok(false));
        assert!(expected.verify(&tables, &all[1..]).unwrap_err().contains("0 times"));
        assert!(expected.verify(&tables, &[]).unwrap_err().contains("0 times"));
        let twice = [&all[..], &all[..1]].concat();
        assert!(expected.verify(&tables, &twice).unwrap_err().contains("2 times"));
    }

    #[test]
    fn a_message_is_the_row_s_body_and_goes_to_the_topic() {
        let (expected, tables) = planned();
        let mut all = published(&expected);
        all[2].message.push(' ');
        assert!(expected.verify(&tables, &all).unwrap_err().contains("no row's body"));
        let mut all = published(&expected);
        all[2].topic = "arn:other".into();
        assert!(expected.verify(&tables, &all).unwrap_err().contains("arn:other"));
    }

    #[test]
    fn rows_are_deleted_all_or_none() {
        let (expected, _) = planned();
        let mut tables = Settings::default().tables();
        assert_eq!(expected.verify(&tables, &published(&expected)), Ok(true));
        let left = serde_json::from_str(r#"{"pk": {"S": "a"}, "sk": {"S": "b"}}"#).unwrap();
        tables.seed("outbox", left).unwrap();
        assert!(expected.verify(&tables, &published(&expected)).unwrap_err().contains("1 of 12"));
    }
}
