//! One endpoint for all AWS services, as `AWS_ENDPOINT_URL` names it: answers after a set time, counts calls and bytes.

mod dynamo;
mod sns;
mod sqs;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use dynamo::{Dynamo, Item, Tables, Units, Value};
pub(crate) use sns::{Published, Sns};

use crate::http::{Request, Response, Service};
use crate::outcome::Outcome;

/// What a service answers.
#[derive(Debug)]
pub(crate) struct Answer {
    status: u16,
    content_type: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn json(value: &serde_json::Value) -> Self {
        Self { status: 200, content_type: JSON, body: value.to_string().into_bytes() }
    }

    fn refusal(value: &serde_json::Value) -> Self {
        Self { status: 400, ..Self::json(value) }
    }

    fn xml(text: String) -> Self {
        Self { status: 200, content_type: "text/xml", body: text.into_bytes() }
    }
}

const JSON: &str = "application/x-amz-json-1.0";

/// What has been called so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) by_operation: BTreeMap<String, u64>,
    /// Bytes of requests on the wire, heads included.
    pub(crate) bytes_in: u64,
    /// Bytes of answers on the wire, heads included.
    pub(crate) bytes_out: u64,
    /// Of DynamoDB.
    pub(crate) units: Units,
}

impl Counts {
    /// What has come since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let earlier = |operation| before.by_operation.get(operation).copied().unwrap_or_default();
        let by_operation =
            self.by_operation.iter().map(|(operation, n)| (operation.clone(), n - earlier(operation)));
        Self {
            by_operation: by_operation.filter(|(_, n)| *n > 0).collect(),
            bytes_in: self.bytes_in - before.bytes_in,
            bytes_out: self.bytes_out - before.bytes_out,
            units: self.units.since(before.units),
        }
    }

    pub(crate) fn calls(&self) -> u64 {
        self.by_operation.values().sum()
    }

    fn count(&mut self, operation: &str, bytes_in: usize, bytes_out: usize) {
        match self.by_operation.get_mut(operation) {
            Some(calls) => *calls += 1,
            None => {
                self.by_operation.insert(operation.to_owned(), 1);
            }
        }
        self.bytes_in += bytes_in as u64;
        self.bytes_out += bytes_out as u64;
    }
}

/// The services.
pub(crate) struct Aws {
    pub(crate) dynamo: Dynamo,
    pub(crate) sns: Sns,
    latency: Duration,
    counts: Mutex<Counts>,
    connections: AtomicUsize,
    outcome: Outcome,
}

impl Aws {
    /// Every call is answered `latency` after it has come, or as soon as the answer is there.
    pub(crate) fn new(tables: Tables, latency: Duration, outcome: Outcome) -> Self {
        Self {
            dynamo: Dynamo::new(tables),
            sns: Sns::default(),
            latency,
            counts: Mutex::default(),
            connections: AtomicUsize::new(0),
            outcome,
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        let units = self.dynamo.tables().units();
        Counts { units, ..self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone() }
    }

    /// Connections that clients have opened.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    fn call(&self, request: &Request<'_>) -> (String, Result<Answer, String>) {
        match request.target.split_once('.') {
            Some(("DynamoDB_20120810", operation)) => {
                (operation.to_owned(), self.dynamo.answer(operation, request.body))
            }
            Some(("AmazonSQS", operation)) => (operation.to_owned(), sqs::answer(operation, request.body)),
            Some((other, operation)) => {
                (operation.to_owned(), Err(format!("the service {other} is not known here")))
            }
            None => {
                let operation = sns::action(request.body);
                let answer = self.sns.answer(&operation, request.body);
                (operation, answer)
            }
        }
    }
}

impl Service for Aws {
    fn answer(&self, request: &Request<'_>) -> Response {
        let started = Instant::now();
        let (operation, answer) = self.call(request);
        let response = match answer {
            Ok(Answer { status, content_type, body }) => {
                let id = "x-amzn-requestid: 5f3a0f0c7d3b4d7f9d5c1b2a3e4f5a6b";
                Response::new(status, &format!("content-type: {content_type}\r\n{id}\r\n"), &body)
            }
            Err(why) => {
                self.outcome.fail(format!("call {operation:?} ({} {}): {why}", request.method, request.path));
                Response::new(500, "", b"")
            }
        };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.count(&operation, request.bytes, response.len());
        drop(counts);
        thread::sleep(self.latency.saturating_sub(started.elapsed()));
        response
    }

    fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_the_window_is_not_counted_in_it() {
        let mut counts = Counts::default();
        counts.count("PutItem", 10, 1);
        counts.count("GetItem", 10, 1);
        let before = counts.clone();
        counts.count("PutItem", 5, 2);
        counts.count("Publish", 7, 2);
        let window = counts.since(&before);
        assert_eq!(window.calls(), 2);
        assert_eq!((window.bytes_in, window.bytes_out), (12, 4));
        assert_eq!(window.by_operation.keys().collect::<Vec<_>>(), ["Publish", "PutItem"]);
    }
}
