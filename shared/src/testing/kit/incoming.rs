use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;

use super::Kit;
use crate::event::{Cause, Envelope, Event, EventId};

/// A message on its way to the consumer. `&event` converts into a plain one: a new id, from `/test`, of now, raw in the
/// body, received for the first time.
///
/// ```
/// use std::time::Duration;
///
/// use oncebox::testing::kit::Incoming;
///
/// Incoming::json("OrderPlaced", r#"{"order_id":"o-1"}"#).sequence(2).age(Duration::from_secs(60)).by_sns().received(3);
/// Incoming::body("no event at all");
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing comes in before .when(…)"]
pub struct Incoming {
    content: Content,
    wrapping: Wrapping,
    group: Option<String>,
    received: u32,
}

#[derive(Debug, Clone)]
enum Content {
    /// `id` and `time` are empty until the message is sent.
    Event {
        envelope: Box<Envelope>,
        age: Duration,
    },
    Text(String),
}

#[derive(Debug, Clone, Copy)]
enum Wrapping {
    Raw,
    Quoted,
    Sns,
    SnsQuoted,
}

/// A message as it lies in the queue.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) message_id: String,
    pub(super) body: String,
    /// The group that the test states.
    pub(super) group: Option<String>,
    /// The group that a relay would set.
    pub(super) aggregate: String,
    pub(super) received: u32,
    /// Event type and id, for whoever reads a failed test.
    pub(super) label: String,
}

impl Incoming {
    /// `event`, in an envelope.
    ///
    /// # Panics
    /// When `event` cannot be written as JSON.
    #[track_caller]
    pub fn of<E: Event>(event: &E) -> Self {
        let data = serde_json::value::to_raw_value(event).expect("the event can be written as JSON");
        let mut incoming = Self::typed(E::TYPE, data);
        if let Content::Event { envelope, .. } = &mut incoming.content {
            E::AGGREGATE_TYPE.clone_into(&mut envelope.aggregate_type);
            envelope.aggregate_id = event.aggregate_id().into_owned();
            envelope.schema_version = E::SCHEMA_VERSION;
        }
        incoming
    }

    /// An event that the test has no Rust type for: another type, or data of another shape.
    ///
    /// # Panics
    /// When `data` is no JSON.
    #[track_caller]
    pub fn json(event_type: &str, data: &str) -> Self {
        Self::typed(event_type, RawValue::from_string(data.to_owned()).expect("the data is JSON"))
    }

    /// A body as it stands.
    pub fn body(text: impl Into<String>) -> Self {
        Self { content: Content::Text(text.into()), wrapping: Wrapping::Raw, group: None, received: 1 }
    }

    fn typed(event_type: &str, data: Box<RawValue>) -> Self {
        let envelope = Box::new(Envelope {
            id: String::new(),
            source: "/test".to_owned(),
            event_type: event_type.to_owned(),
            aggregate_type: String::new(),
            aggregate_id: String::new(),
            time: String::new(),
            sequence: None,
            schema_version: 1,
            cause: Cause::default(),
            data,
        });
        let content = Content::Event { envelope, age: Duration::ZERO };
        Self { content, wrapping: Wrapping::Raw, group: None, received: 1 }
    }

    /// The event's id. Default: a new one for each message.
    pub fn id(self, id: &str) -> Self {
        self.envelope(|envelope| id.clone_into(&mut envelope.id))
    }

    /// The producer. Default `/test`.
    pub fn source(self, source: &str) -> Self {
        self.envelope(|envelope| source.clone_into(&mut envelope.source))
    }

    /// The aggregate's version after the event. Default none.
    pub fn sequence(self, sequence: u64) -> Self {
        self.envelope(|envelope| envelope.sequence = Some(sequence))
    }

    /// The version of the data's shape. Default: the event's own, 1 for [`json`](Self::json).
    pub fn schema_version(self, version: u32) -> Self {
        self.envelope(|envelope| envelope.schema_version = version)
    }

    /// Trace, correlation and causation. Default none.
    pub fn cause(self, cause: Cause) -> Self {
        self.envelope(|envelope| envelope.cause = cause)
    }

    /// How long before its delivery the event came to be. Default: just now.
    pub fn age(mut self, age: Duration) -> Self {
        if let Content::Event { age: own, .. } = &mut self.content {
            *own = age;
        }
        self
    }

    /// In an SNS notification, as without raw message delivery.
    pub fn by_sns(mut self) -> Self {
        self.wrapping = Wrapping::Sns;
        self
    }

    /// In an SNS notification, and encoded as a JSON string once more.
    pub fn by_sns_quoted(mut self) -> Self {
        self.wrapping = Wrapping::SnsQuoted;
        self
    }

    /// Encoded as a JSON string.
    pub fn quoted(mut self) -> Self {
        self.wrapping = Wrapping::Quoted;
        self
    }

    /// The message group: on a FIFO queue it keeps order, on a standard queue it means nothing.
    pub fn group(mut self, group: &str) -> Self {
        self.group = Some(group.to_owned());
        self
    }

    /// `ApproximateReceiveCount`. Default 1.
    pub fn received(mut self, count: u32) -> Self {
        self.received = count;
        self
    }

    fn envelope(mut self, change: impl FnOnce(&mut Envelope)) -> Self {
        if let Content::Event { envelope, .. } = &mut self.content {
            change(envelope);
        }
        self
    }

    pub(super) fn send(self, message_id: String, kit: &Kit) -> Sent {
        let Self { content, wrapping, group, received } = self;
        let (plain, label, aggregate) = match content {
            Content::Text(text) => (text, "a body of its own".to_owned(), String::new()),
            Content::Event { mut envelope, age } => {
                let born = kit.now().checked_sub(age).expect("the event is not older than time itself");
                envelope.time = born.to_string();
                if envelope.id.is_empty() {
                    envelope.id = EventId::new(kit.ids().fresh(born)).to_string();
                }
                let label = format!("{} {}", envelope.event_type, envelope.id);
                let aggregate = format!("{}#{}", envelope.aggregate_type, envelope.aggregate_id);
                (envelope.to_json().expect("an envelope can be written as JSON"), label, aggregate)
            }
        };
        let body = match wrapping {
            Wrapping::Raw => plain,
            Wrapping::Quoted => quote(&plain),
            Wrapping::Sns => notification(&plain),
            Wrapping::SnsQuoted => notification(&quote(&plain)),
        };
        Sent { message_id, body, group, aggregate, received, label }
    }
}

impl<E: Event> From<&E> for Incoming {
    #[track_caller]
    fn from(event: &E) -> Self {
        Self::of(event)
    }
}

fn quote(text: &str) -> String {
    json!(text).to_string()
}

fn notification(message: &str) -> String {
    json!({
        "Type": "Notification",
        "MessageId": "00000000-0000-0000-0000-000000000000",
        "TopicArn": "arn:aws:sns:eu-central-1:000000000000:events",
        "Message": message,
    })
    .to_string()
}
