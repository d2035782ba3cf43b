//! What a destination would refuse later is refused when the row is written.

use super::route::Destination;
use super::{Row, RowError};

/// Names and types of the two message attributes that every event carries.
const ATTRIBUTES: [&str; 4] = ["event_type", "String", "aggregate_type", "String"];
/// Characters of a FIFO message group id or deduplication id. Source: SQS and SNS API reference.
#[cfg(any(feature = "relay", test))]
const MAX_FIFO_ID: usize = 128;

/// Bytes that count against a destination's bound: the body, and name, type and value of each attribute.
pub(crate) fn message_bytes(row: &Row) -> usize {
    let names: usize = ATTRIBUTES.iter().map(|text| text.len()).sum();
    row.body.len() + row.event_type.len() + row.aggregate_type().len() + names
}

/// A FIFO message group id or deduplication id: `text`, or the hash of it where it is too long or has other characters than
/// letters, digits and punctuation.
#[cfg(any(feature = "relay", test))]
pub(crate) fn fifo_id(text: &str) -> String {
    crate::event::graphic_or_hash(text, MAX_FIFO_ID)
}

/// Checks a row against each of its destinations.
pub(super) fn check(row: &Row, destinations: &[Destination]) -> Result<(), RowError> {
    let bytes = message_bytes(row);
    if let Some(destination) = destinations.iter().find(|destination| bytes > destination.max_bytes()) {
        return Err(RowError::TooLarge {
            event_type: row.event_type.clone(),
            bytes,
            max: destination.max_bytes(),
            destination: destination.name().to_owned(),
        });
    }
    for (place, text) in
        [("body", &*row.body), ("event type", &*row.event_type), ("aggregate type", row.aggregate_type())]
    {
        if let Some(character) = text.chars().find(|character| !is_accepted(*character)) {
            let event_type = row.event_type.clone();
            return Err(RowError::Character { event_type, place, code: character as u32 });
        }
    }
    Ok(())
}

/// The characters that SQS accepts. Source: `SendMessage` in the SQS API reference.
fn is_accepted(character: char) -> bool {
    matches!(character, '\u{9}' | '\u{A}' | '\u{D}' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_the_aggregate_or_its_hash() {
        assert_eq!(fifo_id("Order#o-1"), "Order#o-1");
        for odd in ["Order#o 1".to_owned(), "Order#ü".to_owned(), format!("Order#{}", "x".repeat(123))] {
            let group = fifo_id(&odd);
            assert_eq!((group.len(), group == fifo_id(&odd)), (64, true));
        }
        assert_eq!(fifo_id(&format!("Order#{}", "x".repeat(122))).len(), 128);
    }
}
