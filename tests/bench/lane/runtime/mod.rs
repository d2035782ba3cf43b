//! The Lambda Runtime API, which hands out the invocations and takes the times.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::aws::{Aws, Counts};
use crate::child::{Spent, Usage};
use crate::clock::now_millis;
use crate::http::{Request, Response, Service};
use crate::outcome::Outcome;

/// What an invocation may take, as its context states it.
const TIMEOUT_MILLIS: u64 = 60_000;
/// A process that has asked for more is on its way to sleep; the kernel settles a thread's account when it sleeps.
const SETTLING: Duration = Duration::from_millis(3);

/// What was measured.
#[derive(Debug)]
pub(crate) struct Window {
    /// From the start of the process until it asked for its first invocation.
    pub(crate) init: Duration,
    /// From handing out the first invocation until its answer.
    pub(crate) first: Duration,
    /// From handing out the first measured invocation until the last answer.
    pub(crate) measured: Duration,
    /// CPU time between the question for the first measured invocation and the one after the last.
    pub(crate) spent: Spent,
    /// Calls in the same time.
    pub(crate) counts: Counts,
    /// At the end.
    pub(crate) peak_kib: u64,
    /// All answers, those of the warm-up too.
    pub(crate) answers: Vec<Vec<u8>>,
}

/// The process that asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Started {
    pub(crate) pid: u32,
    pub(crate) at: Instant,
}

/// The Runtime API of one process.
pub(crate) struct Runtime {
    invocations: Vec<Vec<u8>>,
    warmup: usize,
    aws: Arc<Aws>,
    started: OnceLock<Started>,
    progress: Mutex<Progress>,
    outcome: Outcome,
}

#[derive(Debug, Default)]
struct Progress {
    init: Duration,
    first: Duration,
    /// When the newest invocation was handed out.
    handed_out: Option<Instant>,
    is_answered: bool,
    answers: Vec<Vec<u8>>,
    window: Option<Opened>,
    last_answer: Option<Instant>,
}

/// The state at the beginning of the measured window.
#[derive(Debug)]
struct Opened {
    at: Instant,
    usage: Usage,
    counts: Counts,
}

impl Runtime {
    /// Hands out all of `invocations`, of which the first `warmup` are not measured.
    pub(crate) fn new(invocations: Vec<Vec<u8>>, warmup: usize, aws: Arc<Aws>, outcome: Outcome) -> Self {
        Self { invocations, warmup, aws, started: OnceLock::new(), progress: Mutex::default(), outcome }
    }

    /// Tells which process asks.
    pub(crate) fn started(&self, started: Started) {
        // It is told once.
        let _ = self.started.set(started);
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Result<Response, String> {
        let asked = Instant::now();
        let started = self.started.wait();
        let mut progress = self.progress();
        if progress.handed_out.is_some() && !progress.is_answered {
            return Err("it asked for another invocation before it had answered the last".to_owned());
        }
        let index = progress.answers.len();
        if index == 0 {
            progress.init = asked.duration_since(started.at);
        }
        if index == self.warmup || index == self.invocations.len() {
            thread::sleep(SETTLING);
            let usage = Usage::of(started.pid).map_err(|error| format!("its accounts: {error}"))?;
            let counts = self.aws.counts();
            if index == self.warmup {
                progress.window = Some(Opened { at: Instant::now(), usage, counts });
            } else {
                self.finish(&mut progress, &usage, &counts)?;
                drop(progress);
                loop {
                    thread::park();
                }
            }
        }
        let body = self.invocations.get(index).map(Vec::as_slice).unwrap_or_default();
        let headers = format!(
            "content-type: application/json\r\nlambda-runtime-aws-request-id: {}\r\nlambda-runtime-deadline-ms: {}\r\n\
             lambda-runtime-invoked-function-arn: arn:aws:lambda:us-east-1:123456789012:function:bench\r\n\
             lambda-runtime-trace-id: Root=1-6b0d6540-4bf92f3577b34da6a3ce929d;Parent=00f067aa0ba902b7;Sampled=0\r\n",
            request_id(index),
            now_millis() + TIMEOUT_MILLIS,
        );
        let response = Response::new(200, &headers, body);
        progress.is_answered = false;
        progress.handed_out = Some(Instant::now());
        Ok(response)
    }

    fn finish(&self, progress: &mut Progress, usage: &Usage, counts: &Counts) -> Result<(), String> {
        let opened = progress.window.take().ok_or("nothing was measured")?;
        let last = progress.last_answer.ok_or("nothing was answered")?;
        self.outcome.done(Window {
            init: progress.init,
            first: progress.first,
            measured: last.duration_since(opened.at),
            spent: usage.since(&opened.usage),
            counts: counts.since(&opened.counts),
            peak_kib: usage.peak_kib,
            answers: std::mem::take(&mut progress.answers),
        });
        Ok(())
    }

    fn answered(&self, request: &Request<'_>) -> Result<Response, String> {
        let now = Instant::now();
        let mut progress = self.progress();
        let index = progress.answers.len();
        let handed_out = progress.handed_out.filter(|_| !progress.is_answered);
        let handed_out = handed_out.ok_or("it answered without an invocation")?;
        if !request.path.contains(&request_id(index)) {
            return Err(format!("it answered another invocation: {}", request.path));
        }
        if index == 0 {
            progress.first = now.duration_since(handed_out);
        }
        progress.is_answered = true;
        progress.last_answer = Some(now);
        progress.answers.push(request.body.to_vec());
        Ok(Response::new(202, "", b"{\"status\":\"OK\"}"))
    }
}

impl Service for Runtime {
    fn answer(&self, request: &Request<'_>) -> Response {
        let path = request.path.strip_prefix("/2018-06-01/runtime/").unwrap_or_default();
        let text =
            || String::from_utf8_lossy(request.body.get(..request.body.len().min(4096)).unwrap_or_default());
        let answer = match path {
            "invocation/next" => self.next(),
            "init/error" => Err(format!("it could not start: {}", text())),
            _ if path.ends_with("/response") => self.answered(request),
            _ if path.ends_with("/error") => Err(format!("an invocation failed: {}", text())),
            _ => Err(format!("the Runtime API has no {} {}", request.method, request.path)),
        };
        answer.unwrap_or_else(|why| {
            self.outcome.fail(why);
            Response::new(500, "", b"")
        })
    }
}

fn request_id(index: usize) -> String {
    format!("8476a536-e9f4-11e8-9739-{index:012x}")
}
