//! The JSON of one stream record, read with tolerance. The stock event types reject a whole batch for a missing
//! `SizeBytes` or a null list, and read a KEYS_ONLY image as an empty item.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{self, Object};

/// A batch as the service sends it, read in one pass; about half of what a row costs is the passes over its JSON. Whatever
/// is odd in any field makes it unreadable in this way, and then each record is read with tolerance.
#[derive(Debug, Deserialize)]
pub(super) struct Straight<'a> {
    #[serde(borrow, rename = "Records")]
    pub(super) records: Vec<Object<StraightRecord<'a>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StraightRecord<'a> {
    #[serde(borrow, rename = "eventName")]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow, rename = "awsRegion")]
    pub(super) region: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) dynamodb: Object<StraightChange<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StraightChange<'a> {
    #[serde(borrow, rename = "SequenceNumber")]
    pub(super) sequence_number: Cow<'a, str>,
    #[serde(borrow, rename = "NewImage")]
    pub(super) new_image: Object<StraightImage<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StraightImage<'a> {
    #[serde(borrow)]
    pub(super) pk: Object<Text<'a>>,
    #[serde(borrow)]
    pub(super) sk: Object<Text<'a>>,
    #[serde(borrow)]
    pub(super) body: Object<Text<'a>>,
    #[serde(borrow)]
    pub(super) route: Object<Text<'a>>,
    #[serde(borrow)]
    pub(super) event_type: Object<Text<'a>>,
    #[serde(borrow)]
    pub(super) sequence: Option<Object<Number<'a>>>,
    #[serde(borrow)]
    pub(super) region: Option<Object<Text<'a>>>,
    #[serde(borrow)]
    pub(super) created_at: Option<Object<Number<'a>>>,
}

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

#[derive(Debug, Deserialize)]
pub(super) struct Text<'a> {
    #[serde(borrow, rename = "S")]
    pub(super) text: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Number<'a> {
    #[serde(borrow, rename = "N")]
    number: Cow<'a, str>,
}

impl Number<'_> {
    pub(super) fn parse<T: std::str::FromStr>(&self) -> Option<T> {
        self.number.parse().ok()
    }
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
    raw.and_then(|raw| json::object::<Number<'_>>(raw.get()).ok()).and_then(|number| number.parse())
}
