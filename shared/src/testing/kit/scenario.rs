use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

#[cfg(feature = "consumer")]
use super::deliver::Delivery;
use super::{Kit, story};
use crate::store::Item;
use crate::testing::{Fault, GetFault, MemoryStore, StreamEntry, WriteFault};

/// A test under way: what is under test (`W`), what was done with it, and what came of it.
///
/// `with_…`, `meanwhile` and `deadline_in` prepare the next delivery or call; `when…` makes it; `then_…` looks at the
/// last one. A scripted answer that the delivery does not ask for fails the test: a fault that never happened proves
/// nothing.
#[derive(Debug)]
pub struct Scenario<W> {
    pub(super) kit: Kit,
    pub(super) work: W,
    pub(super) left: Duration,
    pub(super) mark: Mark,
    #[cfg(feature = "consumer")]
    pub(super) delivery: Delivery,
}

/// Where the last delivery or call began.
#[derive(Debug, Default)]
pub(super) struct Mark {
    calls: usize,
    changes: BTreeMap<String, usize>,
    #[cfg(feature = "consumer")]
    visibility: usize,
}

impl<W> Scenario<W> {
    #[cfg_attr(not(feature = "consumer"), allow(unused_variables, reason = "queues belong to consumers"))]
    pub(super) fn new(kit: Kit, work: W, fifo: bool) -> Self {
        let mut scenario = Self {
            kit,
            work,
            left: Duration::from_secs(10),
            mark: Mark::default(),
            #[cfg(feature = "consumer")]
            delivery: Delivery::none(fifo),
        };
        scenario.begin();
        scenario
    }

    /// The store, clock and ids of this test.
    #[must_use]
    pub fn kit(&self) -> &Kit {
        &self.kit
    }

    /// The answer to the next transaction. Several are answered in order.
    pub fn with_fault(self, fault: Fault) -> Self {
        self.kit.script().on_transact(fault);
        self
    }

    /// The answer to every transaction from now on; [`Fault::Pass`] ends it.
    pub fn with_constant_fault(self, fault: Fault) -> Self {
        self.kit.script().always_transact(fault);
        self
    }

    /// The answer to the next read.
    pub fn with_get_fault(self, fault: GetFault) -> Self {
        self.kit.script().on_get(fault);
        self
    }

    /// The answer to the next single put.
    pub fn with_put_fault(self, fault: WriteFault) -> Self {
        self.kit.script().on_put(fault);
        self
    }

    /// The answer to the next single update: an upsert, or a quarantine row.
    pub fn with_update_fault(self, fault: WriteFault) -> Self {
        self.kit.script().on_update(fault);
        self
    }

    /// What somebody else does to the tables just before the next transaction: after the handler has read, before its
    /// effect is written. After `.with_fault(Fault::Pass)`, before the transaction after that one.
    pub fn meanwhile(self, act: impl FnOnce(&MemoryStore) + Send + 'static) -> Self {
        let others = self.kit.memory().clone();
        self.kit.script().before_transact(move || async move { act(&others) });
        self
    }

    /// The time that each delivery has from now on. Default 10 s.
    pub fn deadline_in(mut self, millis: u64) -> Self {
        self.left = Duration::from_millis(millis);
        self
    }

    /// Lets time pass.
    pub fn later(self, span: Duration) -> Self {
        self.kit.advance(span);
        self
    }

    /// Everything from here on is of the next delivery or call.
    pub(super) fn begin(&mut self) {
        let lengths = |table: String| {
            let length = self.kit.memory().stream(&table).len();
            (table, length)
        };
        self.mark = Mark {
            calls: self.kit.script().calls().len(),
            changes: self.kit.tables().into_iter().map(lengths).collect(),
            #[cfg(feature = "consumer")]
            visibility: self.kit.memory_visibility().changes().len(),
        };
    }

    /// Fails when a scripted answer is left over.
    #[track_caller]
    pub(super) fn end(&self) {
        #[cfg(feature = "consumer")]
        let unused = self.kit.script().pending() + self.kit.memory_visibility().pending();
        #[cfg(not(feature = "consumer"))]
        let unused = self.kit.script().pending();
        if unused > 0 {
            self.fail(&format_args!("{unused} of the scripted answers and hooks were not asked for"));
        }
    }

    /// Changes of a table in the last delivery or call.
    pub(super) fn changes(&self, table: &str) -> Vec<StreamEntry> {
        let from = self.mark.changes.get(table).copied().unwrap_or_default();
        self.kit.memory().stream(table).split_off(from)
    }

    /// Items of a table that the last delivery or call put or changed, as they were then.
    pub(super) fn written(&self, table: &str) -> Vec<Item> {
        self.changes(table).into_iter().filter_map(|entry| entry.new_image).collect()
    }

    /// Receipt handles and seconds that the last delivery asked for.
    #[cfg(feature = "consumer")]
    pub(super) fn delays(&self) -> Vec<(String, u32)> {
        self.kit.memory_visibility().changes().split_off(self.mark.visibility)
    }

    /// Ends the test, saying what was expected and what happened.
    #[track_caller]
    pub(super) fn fail(&self, expected: &dyn Display) -> ! {
        panic!("{expected}\n\n{}", self.story())
    }

    pub(super) fn story(&self) -> String {
        let mut story = String::new();
        #[cfg(feature = "consumer")]
        story.push_str(&self.delivery.story());
        let calls = self.kit.script().calls().split_off(self.mark.calls);
        story::calls(&mut story, &calls);
        for table in self.kit.tables() {
            story::changes(&mut story, &table, &self.changes(&table));
        }
        story
    }
}
