//! The CloudEvents 1.0 structured JSON form: what is written, and what is read with tolerance.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Written form; the order of fields is the order in the JSON, pinned by a snapshot test.
#[derive(Debug, Serialize)]
pub(super) struct Written<'a> {
    pub(super) specversion: &'static str,
    pub(super) id: &'a str,
    pub(super) source: &'a str,
    #[serde(rename = "type")]
    pub(super) event_type: &'a str,
    pub(super) subject: &'a str,
    pub(super) time: &'a str,
    pub(super) datacontenttype: &'static str,
    pub(super) aggregatetype: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sequence: Option<String>,
    pub(super) schemaversion: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) traceparent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) correlationid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) causationid: Option<&'a str>,
    pub(super) data: &'a RawValue,
}

/// Read form. Unknown fields are ignored. Whatever is not needed to identify the event is optional, and a field of
/// an odd type is kept as it stands until somebody asks for it.
#[derive(Debug, Deserialize)]
pub(super) struct Read<'a> {
    #[serde(borrow)]
    pub(super) specversion: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) source: Option<Text<'a>>,
    #[serde(borrow, rename = "type")]
    pub(super) event_type: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) subject: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) time: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) aggregatetype: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) sequence: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) schemaversion: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) traceparent: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) correlationid: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) causationid: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) data: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) data_base64: Option<&'a RawValue>,
}

/// A string that is borrowed where the JSON has no escapes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// A number, or a number written as a string (CloudEvents extensions are often stringly typed).
pub(super) fn number(raw: Option<&RawValue>) -> Result<Option<u64>, ()> {
    let Some(text) = raw.map(RawValue::get) else { return Ok(None) };
    if text == "null" {
        return Ok(None);
    }
    text.trim_matches('"').parse().map(Some).map_err(|_| ())
}

/// A string, or nothing when the field is absent or of another type.
pub(super) fn optional_text(raw: Option<&RawValue>) -> Option<String> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}
