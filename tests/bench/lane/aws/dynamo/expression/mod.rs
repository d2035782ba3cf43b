//! The part of DynamoDB's expressions that the contestants use. What is not known is an error, and ends the run: a stub that
//! took a condition for true would measure something else.

mod condition;
mod tokens;
mod update;

use std::collections::HashMap;

pub(super) use condition::holds;
pub(super) use update::update;

use super::value::{Item, Value};
use tokens::Tokens;

/// What stands behind the placeholders of an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) names: &'a HashMap<String, String>,
    pub(super) values: &'a Item,
}

impl<'a> Scope<'a> {
    /// The attribute that a token names.
    fn name(&self, token: &'a str) -> Result<&'a str, String> {
        let plain = |c: char| c.is_alphanumeric() || c == '_';
        if token.starts_with('#') {
            self.names.get(token).map(String::as_str).ok_or(format!("the name {token} is not given"))
        } else if !token.is_empty() && token.chars().all(plain) {
            Ok(token)
        } else {
            Err(format!("{token:?} is no attribute's name"))
        }
    }

    /// The value of a token, which is a placeholder or an attribute of `item`.
    fn operand<'v>(&self, token: &'a str, item: Option<&'v Item>) -> Result<Option<&'v Value>, String>
    where
        'a: 'v,
    {
        if token.starts_with(':') {
            self.values.get(token).map(Some).ok_or(format!("the value {token} is not given"))
        } else {
            let name = self.name(token)?;
            Ok(item.and_then(|item| item.get(name)))
        }
    }
}
