//! JSON from outside.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads `T` from a JSON object and from nothing else. A derived `Deserialize` takes a list of the fields' values too, in
/// their order, which nobody means.
///
/// # Errors
/// Whatever makes the text no object with these fields.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, serde_json::Error> {
    serde_json::from_str(json).map(|Object(read)| read)
}

/// A field that is an object and nothing else, inside of another one.
#[derive(Debug)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Read<'a> {
        #[serde(borrow)]
        one: Option<&'a RawValue>,
    }

    #[test]
    fn an_object_is_read_and_a_list_is_not() {
        let read: Read<'_> = object(r#" {"one": [1.50] , "other": null} "#).unwrap();
        assert_eq!(read.one.map(RawValue::get), Some("[1.50]"));
        assert!(object::<Read<'_>>("{}").unwrap().one.is_none());
        for other in ["[]", "[1]", " [[]]", "null", "1", "\"one\"", "", "{", "{}{}"] {
            assert!(object::<Read<'_>>(other).is_err(), "{other}");
        }
        let error = object::<Read<'_>>("not json").unwrap_err();
        assert_eq!((error.line(), error.column()), (1, 2));
    }
}
