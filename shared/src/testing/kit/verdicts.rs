use std::ops::RangeInclusive;

use super::Scenario;
use super::deliver::Delivered;
use super::story::OnPanic;
use crate::consumer::{Consumer, Verdict};
use crate::quarantine::{self, Case, Reason, names};

/// What became of the messages. Each of these says it of *every* message of the last delivery, unless it takes a list.
impl<S: Clone + Send + Sync + 'static> Scenario<Consumer<S>> {
    /// The effect was committed now.
    #[track_caller]
    pub fn then_applied(self) -> Self {
        self.each("applied", |record| record.verdict == Verdict::Applied)
    }

    /// The consumer had applied the event before.
    #[track_caller]
    pub fn then_duplicate(self) -> Self {
        self.each("duplicate", |record| record.verdict == Verdict::Duplicate)
    }

    /// Something newer had been applied before.
    #[track_caller]
    pub fn then_stale(self) -> Self {
        self.each("stale", |record| record.verdict == Verdict::Stale)
    }

    /// The consumer does not handle this event type.
    #[track_caller]
    pub fn then_unhandled(self) -> Self {
        self.each("unhandled", |record| record.verdict == Verdict::Unhandled)
    }

    /// It did not work this time, for a reason that has `because` in it (`""` for any), and comes again.
    #[track_caller]
    pub fn then_transient(self, because: &str) -> Self {
        let expected = format!("transient because of {because:?}, and to come again");
        self.each(&expected, |record| match &record.verdict {
            Verdict::Transient(reason) => reason.contains(because) && record.listed,
            _ => false,
        })
    }

    /// It is in quarantine for this reason, with `detail` in its detail, and does not come again.
    #[track_caller]
    pub fn then_quarantined(self, reason: Reason, detail: &str) -> Self {
        let this = self.each("quarantined", |record| record.quarantined && !record.listed);
        let cases = this.cases();
        let other = cases.iter().find(|case| case.reason != reason || !case.detail.contains(detail));
        if let Some(other) = other {
            let found = format_args!("{}: {:?}", other.reason, other.detail);
            this.fail(&format_args!("expected the case to be {reason}, with {detail:?}, but it is {found}"));
        }
        if cases.is_empty() {
            this.fail(&"expected a case in the quarantine table, but this delivery wrote none");
        }
        this
    }

    /// Looks at the one case that the last delivery has put into quarantine.
    #[track_caller]
    pub fn then_case(self, check: impl FnOnce(&Case)) -> Self {
        match self.cases().as_slice() {
            [case] => {
                let _story = OnPanic(self.story());
                check(case);
            }
            cases => {
                self.fail(&format_args!("expected one case in quarantine, but there are {}", cases.len()))
            }
        }
        self
    }

    /// The verdicts in the order of the batch, by their names in logs: `applied`, `duplicate`, `stale`, `unhandled`,
    /// `transient`, `permanent`, `malformed`, `too_old`, `unknown`, `held_back`, `not_started`.
    #[track_caller]
    pub fn then_verdicts<'a>(self, expected: impl IntoIterator<Item = &'a str>) -> Self {
        let expected: Vec<&str> = expected.into_iter().collect();
        let found: Vec<&str> = self.delivery.records.iter().map(|record| record.verdict.name()).collect();
        if expected != found {
            self.fail(&format_args!("expected the verdicts {expected:?}, but they are {found:?}"));
        }
        self
    }

    /// The positions in the batch, from 0, of the messages that come again.
    #[track_caller]
    pub fn then_listed(self, expected: impl IntoIterator<Item = usize>) -> Self {
        let expected: Vec<usize> = expected.into_iter().collect();
        let records = self.delivery.records.iter().enumerate();
        let found: Vec<usize> = records.filter(|(_, record)| record.listed).map(|(at, _)| at).collect();
        if expected != found {
            self.fail(&format_args!("expected {expected:?} to come again, but it is {found:?}"));
        }
        self
    }

    /// Every message that comes again does so after so many seconds.
    #[track_caller]
    pub fn then_comes_again_in(self, seconds: RangeInclusive<u32>) -> Self {
        let delays = self.delays();
        for record in self.delivery.records.iter().filter(|record| record.listed) {
            let receipt = SqsReceipt::of(&record.sent.message_id);
            let delay = delays.iter().find(|(handle, _)| *handle == receipt.0).map(|(_, seconds)| *seconds);
            if !delay.is_some_and(|delay| seconds.contains(&delay)) {
                let found = delay.map_or("when the queue says".to_owned(), |delay| format!("in {delay} s"));
                self.fail(&format_args!("expected {record} in {seconds:?} s, but it comes {found}"));
            }
        }
        if self.delivery.records.iter().all(|record| !record.listed) {
            self.fail(&"nothing was listed, so nothing comes again");
        }
        self
    }

    /// The cases that the last delivery has put into quarantine, in order.
    #[must_use]
    #[track_caller]
    pub fn cases(&self) -> Vec<Case> {
        let table = self.kit.setting("QUARANTINE_TABLE");
        let all = self.kit.memory().items(&table);
        let rows = self.written(&table).into_iter().filter(|row| row.contains_key(names::REASON));
        rows.map(|row| quarantine::read(&row, &all).expect("a quarantine row can be read")).collect()
    }

    /// The verdicts in the order of the batch.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.delivery.records.iter().map(|record| record.verdict.clone()).collect()
    }

    #[track_caller]
    fn each(self, expected: &str, holds: impl Fn(&Delivered) -> bool) -> Self {
        if self.delivery.records.is_empty() {
            self.fail(&"nothing has come in yet: it starts with .when(…)");
        }
        if let Some(other) = self.delivery.records.iter().find(|record| !holds(record)) {
            self.fail(&format_args!("expected {expected}, but {other}"));
        }
        self
    }
}

/// The receipt handle that `SqsBatch` gives a message.
struct SqsReceipt(String);

impl SqsReceipt {
    fn of(message_id: &str) -> Self {
        Self(format!("receipt-of-{message_id}"))
    }
}
