use std::fmt;
use std::fmt::Write;

use super::Scenario;
use super::incoming::{Incoming, Sent};
use crate::consumer::{Consumer, Verdict};
use crate::testing::SqsBatch;
use crate::time::Deadline;

/// The last delivery to the consumer.
#[derive(Debug)]
pub(super) struct Delivery {
    fifo: bool,
    number: usize,
    messages: usize,
    pub(super) records: Vec<Delivered>,
}

/// A message and what became of it.
#[derive(Debug, Clone)]
pub(super) struct Delivered {
    pub(super) sent: Sent,
    pub(super) verdict: Verdict,
    pub(super) quarantined: bool,
    /// Whether Lambda was told to let it come again.
    pub(super) listed: bool,
}

impl<S: Clone + Send + Sync + 'static> Scenario<Consumer<S>> {
    /// One message comes in: `&event`, or an [`Incoming`].
    #[track_caller]
    pub fn when(self, message: impl Into<Incoming>) -> Self {
        self.when_batch([message.into()])
    }

    /// Several messages come in as one batch.
    #[track_caller]
    pub fn when_batch<M: Into<Incoming>>(mut self, messages: impl IntoIterator<Item = M>) -> Self {
        let sent = messages.into_iter().map(|message| {
            let message_id = self.delivery.fresh_id();
            message.into().send(message_id, &self.kit)
        });
        let sent = sent.collect();
        self.deliver(sent)
    }

    /// The same events come in once more in messages of their own, as when they were published twice.
    #[track_caller]
    pub fn when_again(mut self) -> Self {
        let mut sent = self.last();
        for message in &mut sent {
            message.message_id = self.delivery.fresh_id();
            message.received = 1;
        }
        self.deliver(sent)
    }

    /// The same messages come in once more, whatever was answered, as when the answer did not reach Lambda. Their
    /// receive counts rise.
    #[track_caller]
    pub fn redelivered(self) -> Self {
        let mut sent = self.last();
        sent.iter_mut().for_each(|message| message.received += 1);
        self.deliver(sent)
    }

    /// The messages that were listed come in once more, and no others, as SQS does it. Their receive counts rise.
    #[track_caller]
    pub fn retried(self) -> Self {
        let listed = self.delivery.records.iter().filter(|record| record.listed);
        let mut sent: Vec<Sent> = listed.map(|record| record.sent.clone()).collect();
        if sent.is_empty() {
            self.fail(&"nothing was listed, so nothing comes again");
        }
        sent.iter_mut().for_each(|message| message.received += 1);
        self.deliver(sent)
    }

    #[track_caller]
    fn last(&self) -> Vec<Sent> {
        if self.delivery.records.is_empty() {
            self.fail(&"nothing has come in yet: it starts with .when(…)");
        }
        self.delivery.records.iter().map(|record| record.sent.clone()).collect()
    }

    #[track_caller]
    fn deliver(mut self, sent: Vec<Sent>) -> Self {
        self.begin();
        let deadline = Deadline::after(self.kit.now(), self.left);
        let event = self.delivery.batch(self.work.name(), &sent).to_json();
        let observed = self.kit.run(self.work.observe(&event, deadline)).map_err(|error| error.to_string());
        let failed = |error: &dyn fmt::Display| -> ! { panic!("the invocation failed: {error}") };
        let observed = observed.unwrap_or_else(|error| failed(&error));
        let answer = observed.answer.unwrap_or_else(|error| failed(&error));
        let listed =
            |id: &str| answer.batch_item_failures.iter().any(|failure| failure.item_identifier == id);
        let records = sent.into_iter().zip(observed.settled).map(|(sent, settled)| Delivered {
            listed: listed(&sent.message_id),
            sent,
            verdict: settled.verdict,
            quarantined: settled.quarantined,
        });
        self.delivery.records = records.collect();
        self.delivery.number += 1;
        self.end();
        self
    }
}

impl Delivery {
    pub(super) fn none(fifo: bool) -> Self {
        Self { fifo, number: 0, messages: 0, records: Vec::new() }
    }

    fn fresh_id(&mut self) -> String {
        self.messages += 1;
        format!("m-{}", self.messages)
    }

    fn batch(&self, queue: &str, sent: &[Sent]) -> SqsBatch {
        let empty = if self.fifo { SqsBatch::fifo(queue) } else { SqsBatch::standard(queue) };
        sent.iter().fold(empty, |batch, message| {
            let batch = batch.received(&message.message_id, &message.body, message.received);
            match (&message.group, self.fifo) {
                (Some(group), _) => batch.in_group(group),
                (None, true) => batch.in_group(&message.aggregate),
                (None, false) => batch,
            }
        })
    }

    pub(super) fn story(&self) -> String {
        let mut story = String::new();
        if self.number > 0 {
            let queue = if self.fifo { "FIFO" } else { "standard" };
            let _ = writeln!(story, "delivery {} from a {queue} queue:", self.number);
        }
        for record in &self.records {
            let _ = writeln!(story, "  {record}");
        }
        story
    }
}

impl fmt::Display for Delivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sent { message_id, label, received, .. } = &self.sent;
        write!(f, "{message_id} ({label}), receive {received}: {}", self.verdict)?;
        if self.quarantined {
            f.write_str(", quarantined")?;
        }
        if self.listed {
            f.write_str(", comes again")?;
        }
        match self.verdict.reason() {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}
