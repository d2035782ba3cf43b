//! Points at which a fault build (feature `fault-injection`) can be made to die or to misbehave. A shipped binary has
//! none of it: without the feature, [`point`] is empty.

#[cfg(all(not(feature = "fault-injection"), any(feature = "consumer", feature = "relay")))]
#[inline]
pub(crate) fn point(_name: &str) {}

#[cfg(all(not(feature = "fault-injection"), feature = "consumer"))]
#[inline]
pub(crate) fn panic_point(_name: &str) {}

#[cfg(feature = "fault-injection")]
pub use injected::{Hook, Sabotage, claim};
#[cfg(feature = "fault-injection")]
pub(crate) use injected::{panic_point, point};

#[cfg(feature = "fault-injection")]
mod injected {
    use std::collections::HashMap;
    use std::fmt;
    use std::fs::OpenOptions;
    use std::path::PathBuf;
    use std::sync::{Arc, Mutex, OnceLock};

    use futures::future::BoxFuture;

    /// Runs before a commit, with the record's receipt handle.
    pub type Hook = Arc<dyn Fn(Option<String>) -> BoxFuture<'static, ()> + Send + Sync>;

    /// Deliberate misbehaviour of a consumer.
    #[derive(Clone, Default)]
    pub struct Sabotage {
        /// Take no notice of the inbox key: it is neither looked up nor a condition of the transaction.
        pub no_inbox: bool,
        /// Called before every commit.
        pub before_commit: Option<Hook>,
    }

    impl Sabotage {
        pub(crate) async fn before_commit(&self, receipt: Option<&str>) {
            if let Some(hook) = &self.before_commit {
                hook(receipt.map(str::to_owned)).await;
            }
        }
    }

    impl fmt::Debug for Sabotage {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Sabotage").field("no_inbox", &self.no_inbox).finish_non_exhaustive()
        }
    }

    struct Plan {
        every: u32,
        max: u32,
        passed: u32,
    }

    /// `FAULTS` is a comma list of `point:every:max`: the process aborts at every `every`th passage, `max` times in
    /// all. `FAULT_DIR` holds a marker file for each abort, so that the count outlives the process.
    fn plans() -> &'static Mutex<HashMap<String, Plan>> {
        static PLANS: OnceLock<Mutex<HashMap<String, Plan>>> = OnceLock::new();
        PLANS.get_or_init(|| {
            let text = std::env::var("FAULTS").unwrap_or_default();
            let plans = text.split(',').filter_map(|entry| {
                let mut parts = entry.trim().split(':');
                let name = parts.next()?.to_owned();
                let every = parts.next()?.parse().ok()?;
                let max = parts.next()?.parse().ok()?;
                Some((name, Plan { every, max, passed: 0 }))
            });
            Mutex::new(plans.collect())
        })
    }

    /// Dies here if the plan says so.
    pub(crate) fn point(name: &str) {
        if due(name) {
            tracing::warn!(point = name, "fault injected: the process dies here");
            std::process::abort();
        }
    }

    /// Panics here if the plan says so.
    #[allow(clippy::panic, reason = "this is what it is for")]
    pub(crate) fn panic_point(name: &str) {
        if due(name) {
            panic!("fault injected: {name}");
        }
    }

    fn due(name: &str) -> bool {
        let max = {
            let Ok(mut plans) = plans().lock() else { return false };
            let Some(plan) = plans.get_mut(name) else { return false };
            plan.passed += 1;
            (plan.passed % plan.every.max(1) == 0).then_some(plan.max)
        };
        max.is_some_and(|max| claim(name, max))
    }

    /// Takes one of `max` marker files; false when all are taken.
    pub fn claim(name: &str, max: u32) -> bool {
        let Some(folder) = std::env::var_os("FAULT_DIR").map(PathBuf::from) else { return false };
        let function = std::env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
        (0..max).any(|number| {
            let marker = folder.join(format!("{function}.{name}.{number}"));
            OpenOptions::new().write(true).create_new(true).open(marker).is_ok()
        })
    }
}
