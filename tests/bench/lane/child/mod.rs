//! The process that is measured.

mod settings;
mod usage;

use std::fs::File;
use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

pub(crate) use settings::Settings;
pub(crate) use usage::{Spent, Usage};

use crate::options::Options;
use crate::runtime::{Started, Window};

/// A process under the Runtime API. It ends with this value.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    /// Starts the command.
    ///
    /// # Errors
    /// When it cannot be started, or its log cannot be written.
    pub(crate) fn start(options: &Options, settings: &Settings) -> io::Result<(Self, Started)> {
        let Some((program, arguments)) = options.command.split_first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(settings.all()).stdin(Stdio::null());
        if let Some(path) = &options.log {
            let log = File::create(path)?;
            command.stdout(log.try_clone()?).stderr(log);
        } else {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let at = Instant::now();
        let child = command.spawn()?;
        let started = Started { pid: child.id(), at };
        Ok((Self(child), started))
    }

    /// Waits for what the servers say, for at most `limit`.
    ///
    /// # Errors
    /// What they say went wrong, or that the process has ended, or that the time is up.
    pub(crate) fn wait(
        &mut self,
        outcome: &Receiver<Result<Window, String>>,
        limit: Duration,
    ) -> Result<Window, String> {
        let start = Instant::now();
        while start.elapsed() < limit {
            match outcome.recv_timeout(Duration::from_millis(20)) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    if let Ok(Some(status)) = self.0.try_wait() {
                        return Err(format!(
                            "the process has ended by itself ({status}); see what --log FILE says"
                        ));
                    }
                }
            }
        }
        Err(format!("not done within {limit:?}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        for pid in usage::descendants(self.0.id()).into_iter().rev() {
            // One that has ended already is all the better.
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
