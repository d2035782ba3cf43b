use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// Why an emulator is not there to test against.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// It was never installed in this checkout.
    #[error("{} is not installed: `make test` installs it", .0.display())]
    NotInstalled(PathBuf),
    /// No port, no log file, or no process.
    #[error("the emulator could not be started")]
    Io(#[from] io::Error),
    /// It stopped by itself before it answered.
    #[error("the emulator ended with {status}; it wrote {}:\n{tail}", log.display())]
    Ended {
        /// How it ended.
        status: ExitStatus,
        /// The file that has all it said.
        log: PathBuf,
        /// The end of that file.
        tail: String,
    },
    /// It runs, and does not answer its health check.
    #[error("the emulator did not answer within {waited:?}; it wrote {}:\n{tail}", log.display())]
    NotReady {
        /// How long it was waited for.
        waited: Duration,
        /// The file that has all it said.
        log: PathBuf,
        /// The end of that file.
        tail: String,
    },
}
