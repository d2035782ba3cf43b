use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

use super::call::{Kind, Remote};
use super::{NoReply, OnUnknown, Reply};
use crate::telemetry::chain;

/// What an attempt came to.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// An answer that the handler's `then` is about.
    Answered(Reply),
    /// The provider refuses the request, and would again.
    Refused(Reply, String),
    /// Worth another attempt with the same key; it may have been done.
    Again(String),
    /// Definitely not done.
    NotDone(String),
    /// It may have been done, and the provider cannot tell.
    Unknown(String),
}

impl Remote {
    pub(crate) fn judge(&self, answer: Result<Reply, NoReply>) -> Outcome {
        let reply = match answer {
            Ok(reply) => reply,
            Err(error @ NoReply::NotSent(_)) => return Outcome::NotDone(chain(&error)),
            Err(error @ NoReply::Lost(_)) => return self.open(chain(&error)),
        };
        let status = reply.status();
        if reply.is_success() || self.results.contains(&status) {
            return Outcome::Answered(reply);
        }
        let said = format!("the provider answered {status}");
        let keyed = matches!(self.kind, Kind::Keyed { .. });
        match status {
            _ if !keyed && self.not_done.contains(&status) => Outcome::NotDone(said),
            408 | 409 | 425 | 429 | 500.. => self.open(said),
            422 if keyed => Outcome::Refused(
                reply,
                format!("{said}: this key, with another body, or a body it cannot take"),
            ),
            _ => Outcome::Refused(reply, said),
        }
    }

    /// The same for an answer that was stored, or stated by a person: it is never asked for again.
    pub(crate) fn judge_stored(&self, reply: Reply) -> Outcome {
        let status = reply.status();
        if reply.is_success() || self.results.contains(&status) {
            return Outcome::Answered(reply);
        }
        Outcome::Refused(reply, format!("the provider answered {status} to an earlier delivery"))
    }

    fn open(&self, said: String) -> Outcome {
        match self.kind {
            Kind::Keyed { .. } => Outcome::Again(said),
            Kind::Unkeyed(OnUnknown::CallAgain) => {
                Outcome::Again(format!("{said}; it may have been done, and is called again"))
            }
            Kind::Unkeyed(OnUnknown::Quarantine) => Outcome::Unknown(said),
        }
    }
}

/// How long the provider asks to be left alone: `Retry-After`, in seconds or as a date.
pub(crate) fn retry_after(reply: &Reply, now: Timestamp) -> Option<Duration> {
    let value = reply.header("retry-after")?.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More than a number holds is still "not soon".
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let at = rfc2822::parse(value).ok()?.timestamp();
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::remote::Request;

    fn judged(remote: Remote, status: u16) -> &'static str {
        name(&remote.judge(Ok(Reply::new(status, ""))))
    }

    fn name(outcome: &Outcome) -> &'static str {
        match outcome {
            Outcome::Answered(_) => "answered",
            Outcome::Refused(..) => "refused",
            Outcome::Again(_) => "again",
            Outcome::NotDone(_) => "not done",
            Outcome::Unknown(_) => "unknown",
        }
    }

    fn keyed() -> Remote {
        Remote::keyed(Request::post("https://pay.example"), Duration::from_secs(60)).results([402])
    }

    fn unkeyed(on_unknown: OnUnknown) -> Remote {
        Remote::unkeyed(Request::post("https://mail.example"), on_unknown).results([402]).not_done([429])
    }

    #[test]
    fn each_status_has_its_meaning() {
        let (keep, again) = (OnUnknown::Quarantine, OnUnknown::CallAgain);
        for (status, with_key, without, at_least_once) in [
            (200, "answered", "answered", "answered"),
            (204, "answered", "answered", "answered"),
            (402, "answered", "answered", "answered"),
            (302, "refused", "refused", "refused"),
            (400, "refused", "refused", "refused"),
            (422, "refused", "refused", "refused"),
            (408, "again", "unknown", "again"),
            (409, "again", "unknown", "again"),
            (425, "again", "unknown", "again"),
            (429, "again", "not done", "not done"),
            (500, "again", "unknown", "again"),
            (503, "again", "unknown", "again"),
        ] {
            assert_eq!(judged(keyed(), status), with_key, "keyed {status}");
            assert_eq!(judged(unkeyed(keep), status), without, "unkeyed {status}");
            assert_eq!(judged(unkeyed(again), status), at_least_once, "unkeyed, called again {status}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        let after = |value: &str| retry_after(&Reply::new(429, "").with_header("retry-after", value), now);
        assert_eq!(after("120"), Some(Duration::from_secs(120)));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(37)));
        assert_eq!(after("Sun, 06 Nov 1994 08:48:37 GMT"), Some(Duration::ZERO));
        assert_eq!(after("99999999999999999999999"), Some(Duration::MAX.min(Duration::from_secs(u64::MAX))));
        for none in ["", "soon", "-1", "+1", "1.5", "1, 2"] {
            assert_eq!(after(none), None, "{none}");
        }
    }

    #[test]
    fn only_a_request_that_was_never_sent_is_definitely_not_done() {
        let lost = || Err(NoReply::Lost("reset".into()));
        let never = || Err(NoReply::NotSent("refused".into()));
        assert_eq!(name(&keyed().judge(lost())), "again");
        assert_eq!(name(&unkeyed(OnUnknown::Quarantine).judge(lost())), "unknown");
        assert_eq!(name(&unkeyed(OnUnknown::CallAgain).judge(lost())), "again");
        for remote in [keyed(), unkeyed(OnUnknown::Quarantine), unkeyed(OnUnknown::CallAgain)] {
            assert_eq!(name(&remote.judge(never())), "not done");
        }
    }
}
