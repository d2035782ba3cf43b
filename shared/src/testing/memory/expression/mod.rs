//! The part of DynamoDB's expression language that the twin evaluates; [`super`] lists it.

mod attributes;
mod condition;
mod evaluate;
mod lexer;
mod parser;
mod path;
mod reserved;
#[cfg(test)]
mod tests;
mod update;

pub(crate) use attributes::Attributes;
pub(crate) use condition::Condition;
pub(crate) use update::UpdateExpression;
