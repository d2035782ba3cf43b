use std::collections::VecDeque;
use std::future::Future;

use futures::FutureExt;
use futures::future::BoxFuture;

/// Something another actor does before a call.
pub(super) type Hook = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// The script of one operation.
pub(super) struct Queue<A> {
    lines: VecDeque<Line<A>>,
    /// Once the lines are spent.
    rest: A,
}

enum Line<A> {
    Before(Hook),
    Answer(A),
}

impl<A: Default> Default for Queue<A> {
    fn default() -> Self {
        Self { lines: VecDeque::new(), rest: A::default() }
    }
}

impl<A: Clone> Queue<A> {
    pub(super) fn always(&mut self, answer: A) {
        self.rest = answer;
    }

    pub(super) fn answer(&mut self, answer: A) {
        self.lines.push_back(Line::Answer(answer));
    }

    pub(super) fn before<F, R>(&mut self, hook: F)
    where
        F: FnOnce() -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        self.lines.push_back(Line::Before(Box::new(move || hook().boxed())));
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// What the next call runs first, and what it answers.
    pub(super) fn take(&mut self) -> (Vec<Hook>, A) {
        let mut hooks = Vec::new();
        loop {
            match self.lines.pop_front() {
                Some(Line::Before(hook)) => hooks.push(hook),
                Some(Line::Answer(answer)) => return (hooks, answer),
                None => return (hooks, self.rest.clone()),
            }
        }
    }
}
