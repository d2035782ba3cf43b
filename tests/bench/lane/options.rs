use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::work::{Variant, Work};

pub(crate) const USAGE: &str = "usage: lane --work consumer|relay --batch N --invocations N \
    [--variant first|duplicates|failing] [--warmup N] [--latency-ms N] [--log FILE] [--limit-seconds N] -- COMMAND ARG...";

/// What one run is asked for.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) work: Work,
    /// Default `first`.
    pub(crate) variant: Variant,
    /// Records of one invocation.
    pub(crate) batch: usize,
    /// Invocations that are measured.
    pub(crate) invocations: usize,
    /// Invocations before those, at least 1. Default 20.
    pub(crate) warmup: usize,
    /// How long a call to a service takes at least. Default 0.
    pub(crate) latency: Duration,
    /// Where the process's output goes. Default: nowhere, since writing it costs time.
    pub(crate) log: Option<PathBuf>,
    /// How long the run may take. Default 300 s.
    pub(crate) limit: Duration,
    /// The process.
    pub(crate) command: Vec<OsString>,
}

impl Options {
    /// # Errors
    /// When something is missing or cannot be used.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let mut given = Vec::new();
        let command = loop {
            match arguments.next() {
                Some(name) if name == "--" => break arguments.collect::<Vec<_>>(),
                Some(name) => given.push((name.to_string_lossy().into_owned(), arguments.next())),
                None => break Vec::new(),
            }
        };
        let mut given = Given(given);
        let options = Self {
            work: given.take("--work")?.ok_or("--work is missing")?,
            variant: given.take("--variant")?.unwrap_or(Variant::First),
            batch: given.take("--batch")?.ok_or("--batch is missing")?,
            invocations: given.take("--invocations")?.ok_or("--invocations is missing")?,
            warmup: given.take("--warmup")?.unwrap_or(20),
            latency: Duration::from_millis(given.take("--latency-ms")?.unwrap_or_default()),
            log: given.take("--log")?,
            limit: Duration::from_secs(given.take("--limit-seconds")?.unwrap_or(300)),
            command,
        };
        if let Some((unknown, _)) = given.0.first() {
            return Err(format!("{unknown} is not known"));
        }
        if options.batch == 0 || options.invocations == 0 || options.warmup == 0 || options.command.is_empty()
        {
            return Err(
                "--batch, --invocations and --warmup are at least 1, and there is a command".to_owned()
            );
        }
        if options.work == Work::Relay && options.variant != Variant::First {
            return Err("the relay has only the variant first".to_owned());
        }
        Ok(options)
    }
}

struct Given(Vec<(String, Option<OsString>)>);

impl Given {
    fn take<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, String> {
        let Some(place) = self.0.iter().position(|(given, _)| given == name) else { return Ok(None) };
        let (_, value) = self.0.remove(place);
        let value = value.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
        value.parse().map(Some).map_err(|_| format!("{name} cannot be {value:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split(' ').map(OsString::from))
    }

    #[test]
    fn options_end_where_the_command_begins() {
        let options =
            parse("--work relay --batch 100 --invocations 5 --latency-ms 5 -- node --batch 7").unwrap();
        assert_eq!(
            (options.work, options.batch, options.latency),
            (Work::Relay, 100, Duration::from_millis(5))
        );
        assert_eq!(options.command, ["node", "--batch", "7"]);
    }

    #[test]
    fn a_slip_is_not_passed_over() {
        for slip in [
            "--work relay --batch 100 --invocations 5",
            "--work relay --batch 100 --invocations 5 --latency 5 -- a",
            "--work relay --batch 0 --invocations 5 -- a",
            "--work relay --batch ten --invocations 5 -- a",
            "--work relay --variant duplicates --batch 10 --invocations 5 -- a",
            "--work consumer --batch 10 --invocations 5 --warmup 0 -- a",
        ] {
            assert!(parse(slip).is_err(), "{slip}");
        }
    }
}
