//! The queue of one case: it hands out what is not acknowledged, and counts.

use aws_lambda_events::event::sqs::SqsBatchResponse;
use oncebox::consumer::InvocationError;
use serde_json::{Value, json};

use crate::scenario::{EventSpec, Mode, Oddity, Scenario};
use crate::world::{Told, spelled};

/// A message, what it holds, and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Queued {
    pub(crate) id: String,
    pub(crate) mode: Mode,
    /// What the effect is called: one for each body.
    pub(crate) name: String,
    pub(crate) account: Option<String>,
    pub(crate) group: String,
    pub(crate) body: String,
    /// Event type and data, as they are hashed.
    pub(crate) hashed: (String, String),
    pub(crate) key: String,
    pub(crate) oddity: Oddity,
    pub(crate) received: u32,
    pub(crate) place: Place,
    /// Whether it has been on the dead letter queue.
    pub(crate) died: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Waiting,
    Acked,
    Dead,
    /// It had no message id, so that nothing could be said about it.
    Gone,
}

pub(crate) struct Queue {
    pub(crate) fifo: bool,
    pub(crate) max_receive: Option<u32>,
    pub(crate) messages: Vec<Queued>,
    /// Whether messages are still handed out in odd shapes.
    pub(crate) odd: bool,
}

/// One delivery: which messages, in this order, and the Lambda event.
pub(crate) struct Batch {
    pub(crate) places: Vec<usize>,
    pub(crate) json: String,
}

pub(crate) type Answer = Result<SqsBatchResponse, InvocationError>;

impl Queue {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let events = &scenario.events;
        let messages = scenario.messages.iter().enumerate().map(|(number, spec)| {
            let event = spec.event.index(events.len());
            message(number, event, &events[event], spec.oddity)
        });
        Self {
            fifo: scenario.fifo,
            max_receive: scenario.max_receive,
            messages: messages.collect(),
            odd: true,
        }
    }

    /// Everything that waits, or nothing.
    pub(crate) fn batch(&mut self) -> Option<Batch> {
        let mut places = Vec::new();
        for (place, message) in self.messages.iter_mut().enumerate() {
            if message.place == Place::Waiting {
                message.received += 1;
                places.push(place);
                if self.odd && message.oddity == Oddity::Twice {
                    places.push(place);
                }
            }
        }
        let records: Vec<Value> = places.iter().map(|place| self.record(&self.messages[*place])).collect();
        let json = json!({ "Records": records }).to_string();
        (!places.is_empty()).then_some(Batch { places, json })
    }

    fn record(&self, message: &Queued) -> Value {
        let odd = |oddity| self.odd && message.oddity == oddity;
        let arn = if self.fifo { "arn:aws:sqs:eu-central-1:000000000000:q.fifo" } else { "arn:aws:sqs:::q" };
        let count = match message.oddity {
            Oddity::Count(count) if self.odd => count.to_owned(),
            _ => message.received.to_string(),
        };
        let mut record = json!({
            "messageId": message.id,
            "receiptHandle": format!("receipt-{}", message.id),
            "body": message.body,
            "attributes": { "ApproximateReceiveCount": count, "MessageGroupId": message.group },
            "eventSourceARN": arn,
        });
        if message.mode == Mode::NoBody {
            record["body"] = Value::Null;
        }
        if odd(Oddity::NoMessageId) {
            record["messageId"] = Value::Null;
        }
        if odd(Oddity::NoGroup) {
            record["attributes"]["MessageGroupId"] = Value::Null;
        }
        record
    }

    /// Takes the answers of all consumers that had the batch: what one of them acknowledged is gone.
    pub(crate) fn settle(&mut self, batch: &Batch, answers: &[Answer]) {
        for place in &batch.places {
            let message = &mut self.messages[*place];
            let listed = |answer: &SqsBatchResponse| {
                answer.batch_item_failures.iter().any(|failure| failure.item_identifier == message.id)
            };
            if answers.iter().flatten().any(|answer| !listed(answer)) {
                message.place = Place::Acked;
            } else if self.max_receive.is_some_and(|max| message.received >= max) {
                message.place = Place::Dead;
                message.died = true;
            }
        }
    }

    /// Ordinary messages only from here on, and the dead ones once more.
    pub(crate) fn redrive(&mut self) {
        self.odd = false;
        for message in &mut self.messages {
            if message.oddity == Oddity::NoMessageId && message.place != Place::Acked {
                message.place = Place::Gone;
            } else if message.place == Place::Dead {
                message.place = Place::Waiting;
                message.received = 0;
            }
        }
    }

    pub(crate) fn has_nameless(&self, batch: &Batch) -> bool {
        self.odd && batch.places.iter().any(|place| self.messages[*place].oddity == Oddity::NoMessageId)
    }
}

fn message(number: usize, event: usize, spec: &EventSpec, oddity: Oddity) -> Queued {
    let impostor = if oddity == Oddity::Impostor { "!" } else { "" };
    let name = format!("e{event}{impostor}");
    let account = spec.account.map(|account| format!("a{account}"));
    let (id, key) = if spec.uuid {
        let id = format!("01a3185c-5000-7000-8000-{event:012}");
        (id.clone(), id)
    } else {
        (format!("e{event}"), format!("/prop#e{event}"))
    };
    let (event_type, data) = content(spec.mode, &name, account.clone());
    let (time, version) = match spec.mode {
        Mode::TooOld => ("2026-01-01T00:00:00Z", "1"),
        Mode::UnknownVersion => ("2027-01-01T00:00:00Z", "9"),
        Mode::NewVersion => ("2027-01-15T07:59:59Z", "9"),
        _ => ("2027-01-15T07:59:00Z", "1"),
    };
    let envelope = format!(
        r#"{{"specversion":"1.0","id":"{id}","source":"/prop","type":"{event_type}","time":"{time}","schemaversion":"{version}","data":{data}}}"#
    );
    let body = match (spec.mode, oddity) {
        (Mode::NotJson, _) => format!("not json, {name}"),
        (_, Oddity::Wrapped) => {
            json!({ "Type": "Notification", "TopicArn": "arn:aws:sns:::t", "Message": envelope }).to_string()
        }
        _ => envelope,
    };
    Queued {
        id: format!("m{number}"),
        mode: spec.mode,
        name,
        account,
        group: format!("g{}", spec.group),
        body,
        hashed: (event_type.to_owned(), data),
        key,
        oddity,
        received: 0,
        place: Place::Waiting,
        died: false,
    }
}

fn content(mode: Mode, name: &str, account: Option<String>) -> (&'static str, String) {
    match mode {
        Mode::Upsert(version) => (
            "Moved",
            json!({ "account": account.unwrap_or_else(|| name.to_owned()), "version": version }).to_string(),
        ),
        Mode::Next(sequence) => {
            let account = account.unwrap_or_else(|| name.to_owned());
            ("Counted", json!({ "account": account, "sequence": sequence }).to_string())
        }
        Mode::Unhandled => ("SomethingElse", json!({ "name": name }).to_string()),
        Mode::BadData => ("Told", json!({ "name": name, "mode": 7 }).to_string()),
        _ => {
            let (word, number) = spelled(mode);
            let fuse = crate::world::Fuse(mode == Mode::PanicsInData);
            let told = Told { name: name.to_owned(), mode: word.to_owned(), number, account, fuse };
            ("Told", serde_json::to_string(&told).unwrap())
        }
    }
}
