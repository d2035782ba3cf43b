//! The JSON of one stream record, read with tolerance. The stock event types reject a whole batch for a missing
//! `SizeBytes` or a null list, and read a KEYS_ONLY image as an empty item.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json;

#[derive(Debug, Deserialize)]
pub(super) struct Batch<'a> {
    #[serde(borrow, rename = "Records")]
    pub(super) records: Vec<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outer<'a> {
    #[serde(borrow, rename = "eventName")]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, rename = "awsRegion")]
    pub(super) region: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) dynamodb: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Change<'a> {
    #[serde(borrow, rename = "SequenceNumber")]
    pub(super) sequence_number: Option<&'a RawValue>,
    #[serde(borrow, rename = "NewImage")]
    pub(super) new_image: Option<&'a RawValue>,
}

/// The attributes that the relay needs, in DynamoDB's JSON. Others are not looked at.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Image<'a> {
    #[serde(borrow)]
    pub(super) pk: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) sk: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) body: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) route: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) event_type: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) sequence: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) region: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) created_at: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow, rename = "S")]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Number<'a> {
    #[serde(borrow, rename = "N")]
    number: Cow<'a, str>,
}

/// A JSON string.
pub(super) fn plain(raw: Option<&RawValue>) -> Option<String> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// `{"S": …}`.
pub(super) fn text(raw: Option<&RawValue>) -> Option<String> {
    raw.and_then(|raw| json::object::<Text<'_>>(raw.get()).ok()).map(|text| text.text.into_owned())
}

/// `{"N": "…"}`, if it is a number of type `T`.
pub(super) fn number<T: std::str::FromStr>(raw: Option<&RawValue>) -> Option<T> {
    raw.and_then(|raw| json::object::<Number<'_>>(raw.get()).ok())
        .and_then(|number| number.number.parse().ok())
}
