use std::fmt;

use sha2::{Digest, Sha256};

/// SHA-256 over an event's type and the exact bytes of its `data`, in lower-case hex.
///
/// It is a check, not an identity: two events may carry equal data. It tells a redelivered event from another
/// event that was given the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyHash(String);

impl BodyHash {
    /// Hashes `event_type`, a zero byte and `data`.
    #[must_use]
    pub fn of(event_type: &str, data: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(event_type.as_bytes());
        digest.update([0]);
        digest.update(data.as_bytes());
        Self(hex(&digest.finalize()))
    }

    /// The hash as stored: 64 characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `text` where it has at most `max` bytes and is all letters, digits and punctuation of ASCII, as headers and FIFO ids
/// want it; else its hash.
#[cfg(any(feature = "relay", feature = "remote", test))]
pub(crate) fn graphic_or_hash(text: &str, max: usize) -> String {
    if text.len() <= max && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        text.to_owned()
    } else {
        sha256_hex(text)
    }
}

/// SHA-256 in lower-case hex.
pub(crate) fn sha256_hex(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Lower-case digits. Digit by digit: every record has a hash and a trace, and formatting each byte costs twice as much as
/// computing it.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 0xf] {
            text.push(char::from(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit }));
        }
    }
    text
}

impl fmt::Display for BodyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_and_data_do_not_run_into_each_other() {
        assert_ne!(BodyHash::of("A", "B1"), BodyHash::of("AB", "1"));
        assert_eq!(
            BodyHash::of("", "").as_str(),
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
        );
    }
}
