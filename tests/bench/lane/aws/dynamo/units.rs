use super::value::{Item, Value};

/// What on-demand capacity bills, without the copies in indexes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Units {
    /// One per started KB and write, two in a transaction. A write whose condition is false is billed as well.
    pub(crate) write: u64,
    /// One per started 4 KB and consistent read.
    pub(crate) read: u64,
}

const KB: usize = 1024;

impl Units {
    /// A write of an item of so many bytes, before or after, whichever are more.
    pub(super) fn wrote(&mut self, bytes: usize, in_transaction: bool) {
        let each = if in_transaction { 2 } else { 1 };
        self.write += started(bytes, KB) * each;
    }

    /// A consistent read of an item of so many bytes; 0 where there is none.
    pub(super) fn has_read(&mut self, bytes: usize) {
        self.read += started(bytes, 4 * KB);
    }

    /// What has come since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self { write: self.write - before.write, read: self.read - before.read }
    }
}

fn started(bytes: usize, each: usize) -> u64 {
    bytes.div_ceil(each).max(1) as u64
}

/// An item's bytes, names included, by the rules of DynamoDB's developer guide ("item sizes and formats").
pub(super) fn bytes(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::S(text) => text.len(),
        // A byte for two digits, and one more.
        Value::N(digits) => digits.len().div_ceil(2) + 1,
        Value::B(base64) => base64.len() / 4 * 3,
        Value::Bool(_) | Value::Null(_) => 1,
        Value::M(fields) => 3 + bytes(fields) + fields.len(),
        Value::L(values) => 3 + values.iter().map(|value| 1 + value_bytes(value)).sum::<usize>(),
        Value::Texts(texts) => texts.iter().map(String::len).sum(),
        Value::Numbers(numbers) => numbers.iter().map(|digits| digits.len().div_ceil(2) + 1).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_started_kb_counts_and_a_transaction_doubles() {
        let mut units = Units::default();
        units.wrote(0, false);
        units.wrote(1024, false);
        units.wrote(1025, true);
        assert_eq!(units.write, 1 + 1 + 4);
        units.has_read(0);
        units.has_read(4097);
        assert_eq!(units.read, 1 + 2);
    }

    #[test]
    fn names_and_values_have_bytes() {
        let item = r#"{"ab": {"S": "xyz"}, "n": {"N": "1234"}, "l": {"L": [{"BOOL": true}]}}"#;
        assert_eq!(bytes(&serde_json::from_str(item).unwrap()), (2 + 3) + (1 + 3) + (1 + 3 + 1 + 1));
    }
}
