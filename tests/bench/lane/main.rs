//! Runs one process and says what it used. The Runtime API and the AWS services that it is to be given are not here yet.

mod child;

use std::error::Error;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lane: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).skip_while(|argument| argument != "--").skip(1);
    let program = arguments.next().ok_or("usage: lane -- COMMAND ARG...")?;
    let mut child = Command::new(program).args(arguments).stdin(Stdio::null()).spawn()?;
    let mut last = child::Usage::default();
    while child.try_wait()?.is_none() {
        if let Ok(usage) = child::Usage::of(child.id()) {
            last = usage;
        }
        thread::sleep(Duration::from_millis(1));
    }
    println!("{}", serde_json::json!({"cpu_us": last.cpu_ns / 1000, "peak_kib": last.peak_kib}));
    Ok(())
}
