//! Where a request comes from: its place in a trace, and what it is correlated with.

use lambda_http::{Request, RequestExt};
use oncebox::event::{Cause, TraceContext};
use oncebox::telemetry::SPANS;
use oncebox::time::{Clock, Ids};

/// Longest correlation id that is taken over.
const MAX_CORRELATION: usize = 128;

/// What the events of a request have in common.
#[derive(Debug)]
pub(crate) struct Origin {
    trace: TraceContext,
    correlation: Option<String>,
}

impl Origin {
    /// Continues the request's `traceparent`; else the trace that X-Ray has put on the invocation; else starts one.
    pub(crate) fn of(request: &Request, clock: &dyn Clock, ids: &dyn Ids) -> Self {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let xray = || request.lambda_context_ref().and_then(|context| context.xray_trace_id.as_deref());
        let caller = header("traceparent")
            .and_then(TraceContext::parse)
            .or_else(|| xray().and_then(TraceContext::parse_xray))
            .or_else(|| header("x-amzn-trace-id").and_then(TraceContext::parse_xray));
        Self {
            trace: TraceContext::below(caller.as_ref(), ids, clock.now()),
            correlation: header("x-correlation-id").filter(|id| is_sane(id)).map(str::to_owned),
        }
    }

    /// The span that the request is worked on in.
    pub(crate) fn span(&self) -> tracing::Span {
        tracing::info_span!(
            target: SPANS,
            "request",
            otel.kind = "server",
            trace_id = self.trace.trace_id(),
            span_id = self.trace.span_id(),
            correlation_id = self.correlation.as_deref(),
        )
    }

    /// What the event of order `order_id` was caused by. Without a correlation id, the order's stands in.
    pub(crate) fn cause(&self, order_id: &str) -> Cause {
        Cause {
            traceparent: Some(self.trace.to_string()),
            correlation_id: Some(self.correlation.clone().unwrap_or_else(|| order_id.to_owned())),
            causation_id: None,
        }
    }
}

/// It goes into events, logs and message attributes of others: letters, digits and a few marks, nothing to interpret.
fn is_sane(id: &str) -> bool {
    (1..=MAX_CORRELATION).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/=+".contains(&byte))
}

#[cfg(test)]
mod tests {
    use lambda_http::Context;
    use lambda_http::http::Request as HttpRequest;

    use oncebox::time::{RandomIds, SystemClock};

    use super::*;

    const W3C: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const XRAY: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0";

    fn origin(headers: &[(&str, &str)], xray: Option<&str>) -> Origin {
        let mut request = HttpRequest::builder();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut context = Context::default();
        context.xray_trace_id = xray.map(str::to_owned);
        let request = request.body(lambda_http::Body::Empty).unwrap().with_lambda_context(context);
        Origin::of(&request, &SystemClock, &RandomIds)
    }

    #[test]
    fn a_traceparent_comes_before_x_ray_and_both_before_a_new_trace() {
        let w3c = origin(&[("traceparent", W3C), ("x-amzn-trace-id", XRAY)], Some(XRAY));
        assert_eq!(w3c.trace.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_ne!(w3c.trace.span_id(), "00f067aa0ba902b7");
        let broken = origin(&[("traceparent", "00-0-0-0")], Some(XRAY));
        assert_eq!(broken.trace.trace_id(), "5759e988bd862e3fe1be46a994272793");
        let header = origin(&[("x-amzn-trace-id", XRAY)], None);
        assert_eq!(header.trace.trace_id(), "5759e988bd862e3fe1be46a994272793");
        assert_ne!(origin(&[], None).trace.trace_id(), origin(&[], None).trace.trace_id());
    }

    #[test]
    fn a_correlation_id_is_taken_over_if_it_is_sane() {
        let cause = |id: &str| origin(&[("x-correlation-id", id)], None).cause("o-1").correlation_id.unwrap();
        assert_eq!(cause("cart-7:a/b"), "cart-7:a/b");
        for odd in ["", "a b", "{\"x\":1}", "é", &"x".repeat(129)] {
            assert_eq!(cause(odd), "o-1", "{odd}");
        }
    }
}
