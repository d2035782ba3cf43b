use std::cmp::Ordering;

use aws_sdk_dynamodb::types::AttributeValue;

use super::attributes::Attributes;
use super::evaluate;
use super::parser::Parser;
use super::path::Path;
use crate::store::Item;
use crate::testing::memory::refusal::Refusal;
use crate::testing::memory::value::type_name;

/// Operands DynamoDB takes in one `IN`.
const MAX_IN: usize = 100;
/// What `attribute_type` may be asked for.
const TYPES: &[&str] = &["S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL"];

/// A condition expression, placeholders resolved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    Exists(Path),
    NotExists(Path),
    HasType(Path, String),
    BeginsWith(Operand, Operand),
    Contains(Operand, Operand),
    Compare(Operand, Comparator, Operand),
    Between(Operand, Operand, Operand),
    In(Operand, Vec<Operand>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Path(Path),
    Value(AttributeValue),
    Size(Path),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparator {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Condition {
    /// Reads a condition; `attributes` remembers which placeholders it used.
    pub(crate) fn parse(expression: &str, attributes: &mut Attributes) -> Result<Self, Refusal> {
        let mut parser = Parser::new(expression, attributes)?;
        let condition = either(&mut parser)?;
        if parser.at_end() { Ok(condition) } else { Err(parser.unexpected()) }
    }

    /// Whether the condition holds; an absent item is an empty one.
    pub(crate) fn holds(&self, item: &Item) -> Result<bool, Refusal> {
        evaluate::holds(self, item)
    }
}

fn either(parser: &mut Parser<'_>) -> Result<Condition, Refusal> {
    let mut left = both(parser)?;
    while parser.take_keyword("OR") {
        left = Condition::Or(Box::new(left), Box::new(both(parser)?));
    }
    Ok(left)
}

fn both(parser: &mut Parser<'_>) -> Result<Condition, Refusal> {
    let mut left = negation(parser)?;
    while parser.take_keyword("AND") {
        left = Condition::And(Box::new(left), Box::new(negation(parser)?));
    }
    Ok(left)
}

fn negation(parser: &mut Parser<'_>) -> Result<Condition, Refusal> {
    if parser.take_keyword("NOT") {
        return Ok(Condition::Not(Box::new(parser.nested(negation)?)));
    }
    if parser.redundant_parenthesis() {
        return Err(Refusal::invalid("the expression has redundant parentheses"));
    }
    if parser.take_sign("(") {
        let inner = parser.nested(either)?;
        parser.expect_sign(")")?;
        return Ok(inner);
    }
    match parser.function().as_deref() {
        None | Some("size") => comparison(parser),
        Some(name) => function(parser, name),
    }
}

fn function(parser: &mut Parser<'_>, name: &str) -> Result<Condition, Refusal> {
    parser.open_function();
    let condition = match name {
        "attribute_exists" => Condition::Exists(parser.path()?),
        "attribute_not_exists" => Condition::NotExists(parser.path()?),
        "attribute_type" => {
            let path = parser.path()?;
            parser.expect_sign(",")?;
            Condition::HasType(path, wanted_type(&parser.value()?)?)
        }
        "begins_with" | "contains" => {
            let first = operand(parser)?;
            parser.expect_sign(",")?;
            let second = operand(parser)?;
            distinct(name, &first, &second)?;
            if name == "contains" {
                Condition::Contains(first, second)
            } else {
                literal_type(name, &second, &["S", "B"])?;
                Condition::BeginsWith(first, second)
            }
        }
        "if_not_exists" | "list_append" => {
            return Err(Refusal::invalid(format!("the function is not allowed in a condition: {name}")));
        }
        other => return Err(Refusal::invalid(format!("invalid function name: {other}"))),
    };
    parser.expect_sign(")")?;
    Ok(condition)
}

fn wanted_type(value: &AttributeValue) -> Result<String, Refusal> {
    match value {
        AttributeValue::S(name) if TYPES.contains(&name.as_str()) => Ok(name.clone()),
        other => Err(Refusal::invalid(format!("invalid attribute type name found: {other:?}"))),
    }
}

fn comparison(parser: &mut Parser<'_>) -> Result<Condition, Refusal> {
    let left = operand(parser)?;
    if parser.take_keyword("BETWEEN") {
        let low = operand(parser)?;
        if !parser.take_keyword("AND") {
            return Err(parser.unexpected());
        }
        let high = operand(parser)?;
        bounds(&low, &high)?;
        return Ok(Condition::Between(left, low, high));
    }
    if parser.take_keyword("IN") {
        return membership(parser, left);
    }
    let Some(sign) = parser.take_any(&["=", "<>", "<=", "<", ">=", ">"]) else {
        return Err(parser.unexpected());
    };
    let right = operand(parser)?;
    distinct(sign, &left, &right)?;
    let comparator = match sign {
        "=" => Comparator::Equal,
        "<>" => Comparator::Different,
        "<=" => Comparator::LessOrEqual,
        "<" => Comparator::Less,
        ">=" => Comparator::GreaterOrEqual,
        _ => Comparator::Greater,
    };
    if !matches!(comparator, Comparator::Equal | Comparator::Different) {
        for side in [&left, &right] {
            literal_type(sign, side, &["S", "N", "B"])?;
        }
    }
    Ok(Condition::Compare(left, comparator, right))
}

fn membership(parser: &mut Parser<'_>, left: Operand) -> Result<Condition, Refusal> {
    parser.expect_sign("(")?;
    let mut candidates = vec![operand(parser)?];
    while parser.take_sign(",") {
        candidates.push(operand(parser)?);
    }
    parser.expect_sign(")")?;
    if candidates.len() > MAX_IN {
        return Err(Refusal::invalid(format!("IN takes at most {MAX_IN} operands")));
    }
    Ok(Condition::In(left, candidates))
}

fn operand(parser: &mut Parser<'_>) -> Result<Operand, Refusal> {
    match parser.function().as_deref() {
        Some("size") => {
            parser.open_function();
            let path = parser.path()?;
            parser.expect_sign(")")?;
            Ok(Operand::Size(path))
        }
        Some(other) => Err(Refusal::unsupported(format_args!("the function {other} as an operand"))),
        None if matches!(parser.peek(), Some(super::lexer::Token::Value(_))) => {
            Ok(Operand::Value(parser.value()?))
        }
        None => Ok(Operand::Path(parser.path()?)),
    }
}

/// DynamoDB refuses `a = a`: the operands of one operator must differ.
fn distinct(operator: &str, first: &Operand, second: &Operand) -> Result<(), Refusal> {
    match (first, second) {
        (Operand::Path(one), Operand::Path(other)) if one == other => Err(Refusal::invalid(format!(
            "the first operand must be distinct from the remaining operands of {operator}"
        ))),
        _ => Ok(()),
    }
}

fn literal_type(operator: &str, operand: &Operand, allowed: &[&str]) -> Result<(), Refusal> {
    match operand {
        Operand::Value(value) if !allowed.contains(&type_name(value)) => Err(Refusal::invalid(format!(
            "incorrect operand type for operator or function: {operator}, operand type: {}",
            type_name(value)
        ))),
        _ => Ok(()),
    }
}

fn bounds(low: &Operand, high: &Operand) -> Result<(), Refusal> {
    let (Operand::Value(low_value), Operand::Value(high_value)) = (low, high) else { return Ok(()) };
    for bound in [low, high] {
        literal_type("BETWEEN", bound, &["S", "N", "B"])?;
    }
    match evaluate::order(low_value, high_value)? {
        Some(Ordering::Less | Ordering::Equal) => Ok(()),
        Some(Ordering::Greater) => Err(Refusal::invalid(
            "BETWEEN requires the upper bound to be greater than or equal to the lower bound",
        )),
        None => Err(Refusal::invalid("BETWEEN requires bounds of the same type")),
    }
}
