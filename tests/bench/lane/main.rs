//! One measured run of one process: hands it invocations over the Lambda Runtime API, stands in for DynamoDB, SNS and SQS,
//! checks what it did, and prints one line of JSON. `tests/bench/README.md` says how to run it and what it measures.

mod aws;
mod child;
mod clock;
mod http;
mod options;
mod outcome;
mod runtime;
mod summary;
mod work;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use aws::Aws;
use child::{Process, Settings};
use options::Options;
use outcome::Outcome;
use runtime::Runtime;
use work::Plan;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args_os().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("lane: {why}\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("lane: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<String, Box<dyn Error>> {
    let mut settings = Settings::from_env();
    let (invocations, tables, check) = Plan::new(options, &settings)?.split();
    let (outcome, told) = Outcome::new();
    let aws = Arc::new(Aws::new(tables, options.latency, outcome.clone()));
    let runtime = Arc::new(Runtime::new(invocations, options.warmup, Arc::clone(&aws), outcome));
    settings.connect(http::serve(Arc::clone(&runtime))?, http::serve(Arc::clone(&aws))?);
    let (mut process, started) = Process::start(options, &settings)?;
    runtime.started(started);
    let window = process.wait(&told, options.limit)?;
    drop(process);
    let found = check.verify(&aws, &window.answers, options.warmup)?;
    Ok(summary::line(options, &window, found, aws.connections()))
}
