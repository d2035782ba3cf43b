//! W3C trace context: the `traceparent` that events carry.

use std::fmt;

use jiff::Timestamp;

use crate::time::Ids;

/// A span in a trace, as [W3C Trace Context](https://www.w3.org/TR/trace-context/) writes it in `traceparent`.
///
/// It says who belongs to whom, and needs no tracing backend: the ids stand in events and in log lines.
///
/// # Examples
/// ```
/// use oncebox::event::TraceContext;
/// use oncebox::time::{Clock, Ids, RandomIds, SystemClock};
///
/// let producer = TraceContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
/// let consumer = producer.child(&RandomIds, SystemClock.now());
/// assert_eq!(consumer.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
/// assert_ne!(consumer.span_id(), producer.span_id());
/// assert_eq!(TraceContext::parse("what is this"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace: u128,
    span: u64,
    flags: u8,
}

/// The flags that version 00 defines, and may be passed on: sampled, random trace id.
const KNOWN_FLAGS: u8 = 0b11;

impl TraceContext {
    /// Reads a `traceparent`. Anything that the specification calls invalid is `None`: a broken trace must never be in
    /// the way of an event.
    #[must_use]
    pub fn parse(traceparent: &str) -> Option<Self> {
        let mut fields = traceparent.splitn(5, '-');
        let version = hex(fields.next()?, 2)?;
        let trace = hex(fields.next()?, 32)?;
        let span = hex(fields.next()?, 16)?;
        let flags = hex(fields.next()?, 2)?;
        // A later version may add fields; this one must not.
        if version == 0xff || (version == 0 && fields.next().is_some()) {
            return None;
        }
        Self::new(trace, u64::try_from(span).ok()?, u8::try_from(flags).ok()?)
    }

    /// Reads an X-Ray header, such as `Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1`.
    /// `None` without a root, or without a parent.
    #[must_use]
    pub fn parse_xray(header: &str) -> Option<Self> {
        let field = |name: &str| {
            let mut fields = header.split(';').filter_map(|field| field.trim().split_once('='));
            fields.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let (seconds, rest) = field("Root")?.strip_prefix("1-")?.split_once('-')?;
        let trace = (hex(seconds, 8)? << 96) | hex(rest, 24)?;
        let span = u64::try_from(hex(field("Parent")?, 16)?).ok()?;
        Self::new(trace, span, u8::from(field("Sampled") == Some("1")))
    }

    /// The first span of a new trace. It is not marked as sampled: whoever has a tracing backend decides that.
    #[must_use]
    pub fn mint(ids: &dyn Ids, now: Timestamp) -> Self {
        Self { trace: ids.fresh(now).as_u128(), span: fresh_span(ids, now), flags: 0 }
    }

    /// A new span in the same trace.
    #[must_use]
    pub fn child(&self, ids: &dyn Ids, now: Timestamp) -> Self {
        Self { span: fresh_span(ids, now), ..*self }
    }

    /// A new span below `parent`, or the first one of a new trace.
    #[must_use]
    pub fn below(parent: Option<&Self>, ids: &dyn Ids, now: Timestamp) -> Self {
        parent.map_or_else(|| Self::mint(ids, now), |parent| parent.child(ids, now))
    }

    /// 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> String {
        super::hash::hex(&self.trace.to_be_bytes())
    }

    /// 16 hexadecimal digits.
    #[must_use]
    pub fn span_id(&self) -> String {
        super::hash::hex(&self.span.to_be_bytes())
    }

    fn new(trace: u128, span: u64, flags: u8) -> Option<Self> {
        (trace != 0 && span != 0).then_some(Self { trace, span, flags: flags & KNOWN_FLAGS })
    }
}

/// The `traceparent`.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

/// The second half of a fresh id: its random half, and never zero, since the variant bits are in it.
fn fresh_span(ids: &dyn Ids, now: Timestamp) -> u64 {
    ids.fresh(now).as_u64_pair().1
}

/// Exactly `digits` lower-case hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let plain = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    plain.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::RandomIds;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_is_read_is_written() {
        assert_eq!(TraceContext::parse(GOOD).unwrap().to_string(), GOOD);
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        let later = GOOD.replacen("00", "cc", 1).replace("-01", "-ff") + "-what-the-future-brings";
        assert_eq!(TraceContext::parse(&later).unwrap().to_string(), GOOD.replace("-01", "-03"));
    }

    #[test]
    fn whatever_is_invalid_is_no_context() {
        let swaps = [
            ("00-4bf9", "ff-4bf9"),
            ("4bf92f3577b34da6a3ce929d0e0e4736", "00000000000000000000000000000000"),
            ("00f067aa0ba902b7", "0000000000000000"),
            ("4bf9", "4BF9"),
            ("4bf9", "+bf9"),
            ("4bf9", "4bf"),
            ("4bf9", "é4f"),
            ("-01", "-1"),
            ("-01", "-01-"),
            ("-01", "-0g"),
            ("-01", ""),
            ("00-", " 00-"),
        ];
        for (old, new) in swaps {
            let odd = GOOD.replace(old, new);
            assert_eq!(TraceContext::parse(&odd), None, "{odd}");
        }
        for odd in ["", "-", "----", "00", "\u{0}"] {
            assert_eq!(TraceContext::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn an_x_ray_root_becomes_the_trace() {
        let header = "Self=1-0-0; Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=a";
        let context = TraceContext::parse_xray(header).unwrap();
        assert_eq!(context.to_string(), "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01");
        for odd in
            ["", "Root=1-5759e988-bd86;Parent=53995c3f42cd8ad8", "Root=2-5759e988-bd862e3fe1be46a994272793"]
        {
            assert_eq!(TraceContext::parse_xray(odd), None, "{odd}");
        }
    }

    #[test]
    fn fresh_ids_differ_and_a_child_keeps_its_trace_and_flags() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let (one, other) = (TraceContext::mint(&RandomIds, now), TraceContext::mint(&RandomIds, now));
        assert_ne!(one.trace_id(), other.trace_id());
        let parent = TraceContext::parse(GOOD).unwrap();
        let child = parent.child(&RandomIds, now);
        assert_eq!((child.trace, child.flags), (parent.trace, parent.flags));
        assert_ne!(child.span, parent.span);
        assert_eq!(TraceContext::parse(&one.to_string()), Some(one));
    }
}
