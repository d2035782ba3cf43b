use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use oncebox::testing::PausedClock;
use oncebox::time::Clock;
use oncebox_tests::poller::{Invocation, Mapping, Poller, StreamRecord};
use serde_json::{Value, json};

/// What the function is told to do with one invocation.
pub(crate) type Command = Box<dyn Fn(&[String]) -> Invocation>;

/// A function that fails on command, and what it was invoked with.
#[derive(Clone, Default)]
pub(crate) struct Function {
    commands: Rc<RefCell<VecDeque<Command>>>,
    always: Rc<RefCell<Option<Command>>>,
    invoked: Rc<RefCell<Vec<Vec<String>>>>,
}

impl Function {
    /// For the next invocation without a command; then it succeeds.
    pub(crate) fn answers(self, invocation: Invocation) -> Self {
        self.commands.borrow_mut().push_back(Box::new(move |_| invocation.clone()));
        self
    }

    pub(crate) fn errs(self) -> Self {
        self.answers(Invocation::FunctionError)
    }

    pub(crate) fn reports(self, failed: &[&str]) -> Self {
        let failures: Vec<_> = failed.iter().map(|number| json!({ "itemIdentifier": number })).collect();
        self.answers(Invocation::Answered(json!({ "batchItemFailures": failures })))
    }

    /// For every invocation.
    pub(crate) fn always(self, command: impl Fn(&[String]) -> Invocation + 'static) -> Self {
        *self.always.borrow_mut() = Some(Box::new(command));
        self
    }

    /// Sequence numbers of each invocation, joined.
    pub(crate) fn invoked(&self) -> Vec<String> {
        self.invoked.borrow().iter().map(|numbers| numbers.join(" ")).collect()
    }

    pub(crate) fn invoke(&self, event: &Value) -> Invocation {
        let records = event["Records"].as_array().unwrap();
        let number = |record: &Value| record["dynamodb"]["SequenceNumber"].as_str().unwrap().to_owned();
        let numbers: Vec<String> = records.iter().map(number).collect();
        self.invoked.borrow_mut().push(numbers.clone());
        let command = self.commands.borrow_mut().pop_front();
        match (command, &*self.always.borrow()) {
            (Some(command), _) => command(&numbers),
            (None, Some(command)) => command(&numbers),
            (None, None) => Invocation::Answered(json!({ "batchItemFailures": [] })),
        }
    }
}

/// An item with the partition key `pk`, inserted `age` ago.
pub(crate) fn record(number: &str, pk: &str, created: jiff::Timestamp) -> StreamRecord {
    let json = json!({ "eventName": "INSERT", "dynamodb": {
        "SequenceNumber": number,
        "ApproximateCreationDateTime": created.as_second(),
        "Keys": { "pk": { "S": pk }, "sk": { "S": number } } } });
    StreamRecord::read("shard", json).unwrap()
}

/// Records of one aggregate, written just now, through the mapping.
pub(crate) async fn deliver(mapping: Mapping, function: &Function, numbers: &[&str]) -> Vec<Value> {
    let clock = PausedClock::start();
    let records = numbers.iter().map(|number| record(number, "a", clock.now())).collect();
    deliver_all(mapping, function, clock, records).await
}

/// These records through the mapping, until it is done; answers what it has given up.
pub(crate) async fn deliver_all(
    mapping: Mapping,
    function: &Function,
    clock: PausedClock,
    records: Vec<StreamRecord>,
) -> Vec<Value> {
    let mut poller = Poller::new(mapping, async |event: Value| function.invoke(&event), Arc::new(clock));
    poller.take(records);
    assert!(poller.run(Duration::from_secs(48 * 3600)).await, "records are left");
    poller.discarded()
}

/// Start, end, number of records and condition of each on-failure record.
pub(crate) fn told(discarded: &[Value]) -> Vec<String> {
    let line = |record: &Value| {
        let info = &record["DDBStreamBatchInfo"];
        let (start, end) = (&info["startSequenceNumber"], &info["endSequenceNumber"]);
        let (start, end) = (start.as_str().unwrap(), end.as_str().unwrap());
        let condition = record["requestContext"]["condition"].as_str().unwrap();
        format!("{start}-{end} ({}) {condition}", info["batchSize"])
    };
    discarded.iter().map(line).collect()
}
