use std::collections::HashMap;

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::refusal::Refusal;

/// How long DynamoDB remembers a client request token, from the end of the request that used it first.
const MEMORY_MS: i64 = 10 * 60 * 1000;
/// Characters DynamoDB takes in a token.
const MAX_LENGTH: usize = 36;

/// The client request tokens of transactions that were applied.
///
/// A cancelled or refused transaction is not remembered: the same token may be tried again.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    applied: HashMap<String, Applied>,
}

#[derive(Debug)]
struct Applied {
    items: Vec<TransactWriteItem>,
    at_ms: i64,
}

impl Tokens {
    /// Whether `token` has already applied these very items.
    pub(crate) fn replays(
        &mut self,
        token: &str,
        items: &[TransactWriteItem],
        now_ms: i64,
    ) -> Result<bool, Refusal> {
        if !(1..=MAX_LENGTH).contains(&token.len()) {
            return Err(Refusal::invalid(format!(
                "a token has 1 to {MAX_LENGTH} characters, not {}",
                token.len()
            )));
        }
        self.applied.retain(|_, applied| now_ms.saturating_sub(applied.at_ms) < MEMORY_MS);
        match self.applied.get(token) {
            None => Ok(false),
            Some(applied) if applied.items == items => Ok(true),
            Some(_) => Err(Refusal::token_mismatch(token)),
        }
    }

    pub(crate) fn remember(&mut self, token: &str, items: Vec<TransactWriteItem>, at_ms: i64) {
        self.applied.insert(token.to_owned(), Applied { items, at_ms });
    }
}
