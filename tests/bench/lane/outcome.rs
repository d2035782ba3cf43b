use std::sync::mpsc::{self, Receiver, Sender};

use crate::runtime::Window;

/// Where the servers' threads tell how the run ended. The first word counts.
#[derive(Debug, Clone)]
pub(crate) struct Outcome(Sender<Result<Window, String>>);

impl Outcome {
    pub(crate) fn new() -> (Self, Receiver<Result<Window, String>>) {
        let (sender, receiver) = mpsc::channel();
        (Self(sender), receiver)
    }

    /// The last invocation was answered.
    pub(crate) fn done(&self, window: Window) {
        // Nobody listens any more: it has ended already.
        let _ = self.0.send(Ok(window));
    }

    /// The run is worth nothing.
    pub(crate) fn fail(&self, why: String) {
        let _ = self.0.send(Err(why));
    }
}
