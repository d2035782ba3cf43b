use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use oncebox::testing::PausedClock;
use oncebox::time::Clock;
use oncebox_tests::mapping::{Mapping, Poller, Record};
use serde_json::{Value, json};

const ARN: &str = "arn:aws:dynamodb:eu-central-1:1:table/outbox/stream/1";

/// A function that fails on command.
#[derive(Debug, Default)]
pub(crate) struct Function {
    /// The sequence numbers of each invocation.
    calls: Mutex<Vec<Vec<String>>>,
    commands: Mutex<VecDeque<Command>>,
    /// Batches with this record fail as a whole.
    bad: Mutex<Option<String>>,
}

#[derive(Debug)]
enum Command {
    Answer(String),
    Fail,
}

impl Function {
    /// Later invocations answer this, one after the other; then all is well.
    pub(crate) fn answers(self, answers: &[&str]) -> Self {
        self.commands
            .lock()
            .unwrap()
            .extend(answers.iter().map(|answer| Command::Answer((*answer).to_owned())));
        self
    }

    /// Reports these as failed, in one answer.
    pub(crate) fn reports(self, sequences: &[&str]) -> Self {
        let failures: Vec<Value> =
            sequences.iter().map(|number| json!({ "itemIdentifier": number })).collect();
        self.answers(&[&json!({ "batchItemFailures": failures }).to_string()])
    }

    /// So many later invocations fail.
    pub(crate) fn fails(self, times: usize) -> Self {
        self.commands.lock().unwrap().extend((0..times).map(|_| Command::Fail));
        self
    }

    pub(crate) fn fails_with(self, sequence: &str) -> Self {
        *self.bad.lock().unwrap() = Some(sequence.to_owned());
        self
    }

    pub(crate) async fn call(&self, event: String) -> Result<String, String> {
        let event: Value = serde_json::from_str(&event).unwrap();
        let records = event["Records"].as_array().unwrap();
        let numbers: Vec<String> = records
            .iter()
            .map(|record| record["dynamodb"]["SequenceNumber"].as_str().unwrap().to_owned())
            .collect();
        self.calls.lock().unwrap().push(numbers.clone());
        // Others may run in between.
        tokio::task::yield_now().await;
        if self.bad.lock().unwrap().as_ref().is_some_and(|bad| numbers.contains(bad)) {
            return Err("told to fail".to_owned());
        }
        match self.commands.lock().unwrap().pop_front() {
            Some(Command::Answer(answer)) => Ok(answer),
            Some(Command::Fail) => Err("told to fail".to_owned()),
            None => Ok(String::new()),
        }
    }

    /// The sequence numbers of each invocation, as one text.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|call| call.join(" ")).collect()
    }
}

/// A mapping over a paused clock.
pub(crate) fn poller(mapping: Mapping) -> (Poller, PausedClock) {
    let clock = PausedClock::start();
    (Poller::new(mapping, Arc::new(clock)), clock)
}

/// An insertion, just now.
pub(crate) fn record(sequence: usize, pk: &str, sk: &str, clock: &PausedClock) -> Record {
    record_of("INSERT", sequence, pk, sk, clock)
}

pub(crate) fn record_of(name: &str, sequence: usize, pk: &str, sk: &str, clock: &PausedClock) -> Record {
    let change = json!({
        "ApproximateCreationDateTime": clock.now().as_second(),
        "Keys": { "pk": { "S": pk }, "sk": { "S": sk } },
        "SequenceNumber": sequence.to_string(),
    });
    Record::of_json(json!({ "eventName": name, "dynamodb": change }), "pk", ARN).unwrap()
}

/// Records 1 to `last` of one aggregate.
pub(crate) fn records(last: usize, clock: &PausedClock) -> Vec<Record> {
    (1..=last).map(|number| record(number, "Order#a", &number.to_string(), clock)).collect()
}
