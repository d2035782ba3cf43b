use tracing_subscriber::filter::{LevelFilter, Targets};

use super::{METRICS, SPANS};

/// Libraries that log requests and answers, bodies included, below `info`.
const HANDLE_REQUESTS: [&str; 7] = ["aws_", "lambda_", "hyper", "h2", "reqwest", "rustls", "tower"];

/// What [`init`](super::init) lets through, for a subscriber of your own: `levels` as in `RUST_LOG`; what cannot be read
/// counts as `info`.
#[must_use]
pub fn filter(levels: &str) -> Targets {
    let wanted: Targets = levels
        .parse()
        .ok()
        .filter(|_| !levels.trim().is_empty())
        .unwrap_or_else(|| default(LevelFilter::INFO));
    let general = wanted.default_level().unwrap_or(LevelFilter::ERROR);
    let mut all =
        default(general).with_targets(HANDLE_REQUESTS.map(|target| (target, general.min(LevelFilter::INFO))));
    for (target, level) in wanted.iter() {
        let handles_requests = HANDLE_REQUESTS.iter().any(|name| target.starts_with(name));
        all = all.with_target(target, if handles_requests { level.min(LevelFilter::INFO) } else { level });
    }
    all.with_target(METRICS, LevelFilter::INFO).with_target(SPANS, LevelFilter::INFO)
}

fn default(level: LevelFilter) -> Targets {
    Targets::new().with_default(level)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn metrics_and_spans_pass_at_any_level() {
        for levels in ["off", "error", "info", "oncebox=off", "nonsense=="] {
            assert!(filter(levels).would_enable(METRICS, &Level::INFO), "{levels}");
            assert!(filter(levels).would_enable(SPANS, &Level::INFO), "{levels}");
        }
    }

    #[test]
    fn libraries_that_log_bodies_stay_at_info() {
        for levels in ["trace", "debug,aws_smithy_runtime::client=trace", "lambda_runtime=trace"] {
            for target in
                ["aws_smithy_runtime::client::orchestrator", "lambda_runtime::layers", "hyper::proto"]
            {
                assert!(!filter(levels).would_enable(target, &Level::DEBUG), "{levels}: {target}");
            }
        }
        assert!(filter("trace").would_enable("aws_config", &Level::INFO));
        assert!(!filter("warn").would_enable("aws_config", &Level::INFO));
    }

    #[test]
    fn the_default_is_info() {
        for levels in ["", " ", "nonsense=="] {
            let filter = filter(levels);
            assert!(filter.would_enable("billing", &Level::INFO), "{levels:?}");
            assert!(!filter.would_enable("billing", &Level::DEBUG), "{levels:?}");
        }
        assert!(filter("billing=debug,warn").would_enable("billing", &Level::DEBUG));
    }
}
