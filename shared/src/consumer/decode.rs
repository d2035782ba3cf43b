use std::borrow::Cow;

use serde::Deserialize;

use crate::event::{Envelope, Malformed};
use crate::json;

/// How deep a body may be wrapped: SNS around a string around the envelope.
const MAX_UNWRAPS: usize = 3;

#[derive(Deserialize)]
struct Notification<'a> {
    #[serde(borrow, rename = "Type")]
    kind: Cow<'a, str>,
    #[serde(borrow, rename = "TopicArn")]
    _topic: Cow<'a, str>,
    #[serde(borrow, rename = "Message")]
    message: Cow<'a, str>,
}

/// Finds the envelope in a body: the event itself, the event in an SNS notification, or either encoded once more as a
/// JSON string. All of them lead to one id.
///
/// A body that is an envelope is never unwrapped, even if it has fields named `Type` and `Message`.
///
/// # Errors
/// [`Malformed`], as [`Envelope::parse`] says.
///
/// # Examples
/// ```
/// use oncebox::consumer::decode;
///
/// let raw = r#"{"specversion":"1.0","id":"42","source":"/shop","type":"OrderPlaced","data":{}}"#;
/// let quoted = serde_json::to_string(raw)?;
/// let wrapped = format!(r#"{{"Type":"Notification","TopicArn":"arn:aws:sns:::t","Message":{quoted}}}"#);
/// assert_eq!(decode(&wrapped)?.key(), decode(raw)?.key());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decode(body: &str) -> Result<Envelope, Malformed> {
    let mut text = Cow::Borrowed(body);
    for _ in 0..MAX_UNWRAPS {
        let problem = match Envelope::parse(&text) {
            Ok(envelope) => return Ok(envelope),
            Err(problem @ (Malformed::Missing("specversion") | Malformed::NotAnEnvelope { .. })) => problem,
            Err(problem) => return Err(problem),
        };
        text = match unwrap(&text) {
            Some(inner) => Cow::Owned(inner),
            None => return Err(problem),
        };
    }
    Envelope::parse(&text)
}

fn unwrap(text: &str) -> Option<String> {
    if let Ok(Notification { kind, message, .. }) = json::object(text)
        && kind == "Notification"
    {
        return Some(message.into_owned());
    }
    serde_json::from_str::<String>(text).ok()
}
