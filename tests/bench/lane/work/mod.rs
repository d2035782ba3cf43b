//! What is to be done, and whether it was.

mod consumer;
mod event;
mod relay;

use std::str::FromStr;

use serde::Deserialize;

use crate::aws::{Aws, Tables};
use crate::child::Settings;
use crate::options::Options;

/// What the process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// SQS messages, each with one update of a balance.
    Consumer,
    /// Records of an outbox table's stream, each published to a topic.
    Relay,
}

/// What is special about the invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Nothing: every event comes for the first time.
    First,
    /// Every measured message was applied during the warm-up.
    Duplicates,
    /// One in ten names an account that does not exist.
    Failing,
}

impl FromStr for Work {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Consumer, Self::Relay].into_iter().find(|work| work.name() == name).ok_or(())
    }
}

impl FromStr for Variant {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let all = [Self::First, Self::Duplicates, Self::Failing];
        all.into_iter().find(|variant| variant.name() == name).ok_or(())
    }
}

impl Work {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Consumer => "consumer",
            Self::Relay => "relay",
        }
    }
}

impl Variant {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Duplicates => "duplicates",
            Self::Failing => "failing",
        }
    }
}

/// The whole run, made before the process starts.
pub(crate) struct Plan {
    pub(crate) invocations: Vec<Vec<u8>>,
    /// What the tables have before.
    pub(crate) tables: Tables,
    expected: Expected,
}

enum Expected {
    Consumer(consumer::Expected),
    Relay(relay::Expected),
}

/// What was found to be done, beyond what had to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Records that the measured answers list as failed.
    pub(crate) failures_reported: usize,
    /// Whether published rows were deleted.
    pub(crate) deletes: bool,
}

impl Plan {
    /// # Errors
    /// When the tables' names do not allow it.
    pub(crate) fn new(options: &Options, settings: &Settings) -> Result<Self, String> {
        let mut tables = settings.tables();
        let (invocations, expected) = match options.work {
            Work::Consumer => {
                let (invocations, expected) = consumer::plan(options, settings, &mut tables)?;
                (invocations, Expected::Consumer(expected))
            }
            Work::Relay => {
                let (invocations, expected) = relay::plan(options, settings, &mut tables)?;
                (invocations, Expected::Relay(expected))
            }
        };
        Ok(Self { invocations, tables, expected })
    }
}

/// The part of a plan that is looked at after the run.
pub(crate) struct Check(Expected);

impl Plan {
    /// Parts the plan into what is handed out, what the stub begins with, and what is checked in the end.
    pub(crate) fn split(self) -> (Vec<Vec<u8>>, Tables, Check) {
        (self.invocations, self.tables, Check(self.expected))
    }
}

impl Check {
    /// Compares what was done with what was to be done.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn verify(&self, aws: &Aws, answers: &[Vec<u8>], warmup: usize) -> Result<Found, String> {
        let reported = answers.iter().map(|answer| failures(answer)).collect::<Result<Vec<_>, _>>()?;
        let mut found = match &self.0 {
            Expected::Consumer(expected) => {
                expected.verify(&aws.dynamo.tables(), &reported.concat())?;
                Found::default()
            }
            Expected::Relay(expected) => {
                if let Some(first) = reported.iter().flatten().next() {
                    return Err(format!("record {first} was reported as failed"));
                }
                let deletes = expected.verify(&aws.dynamo.tables(), &aws.sns.published()?)?;
                Found { deletes, ..Found::default() }
            }
        };
        found.failures_reported = reported.iter().skip(warmup).map(Vec::len).sum();
        Ok(found)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BatchAnswer {
    batch_item_failures: Vec<ItemFailure>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemFailure {
    item_identifier: String,
}

/// The records that an answer lists as failed.
fn failures(answer: &[u8]) -> Result<Vec<String>, String> {
    let text = || String::from_utf8_lossy(answer.get(..answer.len().min(400)).unwrap_or_default());
    let answer: BatchAnswer =
        serde_json::from_slice(answer).map_err(|error| format!("no batch answer ({error}): {}", text()))?;
    Ok(answer.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect())
}
