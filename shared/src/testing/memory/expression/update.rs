use aws_sdk_dynamodb::types::AttributeValue;

use super::attributes::Attributes;
use super::lexer::Token;
use super::parser::Parser;
use super::path::Path;
use crate::store::Item;
use crate::testing::memory::refusal::Refusal;
use crate::testing::memory::value::type_name;

mod apply;

/// An update expression, placeholders resolved.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct UpdateExpression {
    sets: Vec<(Path, Source)>,
    removes: Vec<Path>,
    adds: Vec<(Path, AttributeValue)>,
    deletes: Vec<(Path, AttributeValue)>,
}

/// The right-hand side of a SET.
#[derive(Debug, Clone, PartialEq)]
enum Source {
    One(Operand),
    Plus(Operand, Operand),
    Minus(Operand, Operand),
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(Path),
    Value(AttributeValue),
    IfNotExists(Path, Box<Operand>),
    ListAppend(Box<Operand>, Box<Operand>),
}

impl UpdateExpression {
    /// Reads an update; `attributes` remembers which placeholders it used.
    pub(crate) fn parse(expression: &str, attributes: &mut Attributes) -> Result<Self, Refusal> {
        let mut parser = Parser::new(expression, attributes)?;
        let mut update = Self::default();
        let mut seen = Vec::new();
        while !parser.at_end() {
            let clause = update.clause(&mut parser)?;
            if seen.contains(&clause) {
                return Err(Refusal::invalid(format!("the {clause:?} section can only be used once")));
            }
            seen.push(clause);
        }
        update.no_overlaps()?;
        Ok(update)
    }

    fn clause(&mut self, parser: &mut Parser<'_>) -> Result<&'static str, Refusal> {
        if parser.take_keyword("SET") {
            self.sets = list(parser, assignment)?;
            Ok("SET")
        } else if parser.take_keyword("REMOVE") {
            self.removes = list(parser, |parser| parser.path())?;
            Ok("REMOVE")
        } else if parser.take_keyword("ADD") {
            self.adds = list(parser, |parser| with_value(parser, "ADD", &["N", "SS", "NS", "BS"]))?;
            Ok("ADD")
        } else if parser.take_keyword("DELETE") {
            self.deletes = list(parser, |parser| with_value(parser, "DELETE", &["SS", "NS", "BS"]))?;
            Ok("DELETE")
        } else {
            Err(parser.unexpected())
        }
    }

    fn no_overlaps(&self) -> Result<(), Refusal> {
        let paths: Vec<_> = self.targets().collect();
        let clash = paths.iter().enumerate().find_map(|(at, one)| {
            paths.iter().skip(at + 1).find(|other| one.overlaps(other)).map(|other| (one, other))
        });
        match clash {
            Some((one, other)) => Err(Refusal::invalid(format!(
                "two document paths overlap with each other: {one:?} and {other:?}"
            ))),
            None => Ok(()),
        }
    }

    fn targets(&self) -> impl Iterator<Item = &Path> {
        let with_values = self.adds.iter().chain(&self.deletes).map(|(path, _)| path);
        self.sets.iter().map(|(path, _)| path).chain(&self.removes).chain(with_values)
    }

    /// The top-level attributes that the update may change.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &str> {
        self.targets().map(|path| path.root.as_str())
    }

    /// The item after the update. Everything it reads, it reads from `before`.
    pub(crate) fn apply(&self, before: &Item) -> Result<Item, Refusal> {
        apply::apply(self, before)
    }
}

fn list<T>(
    parser: &mut Parser<'_>,
    one: impl Fn(&mut Parser<'_>) -> Result<T, Refusal>,
) -> Result<Vec<T>, Refusal> {
    let mut found = vec![one(parser)?];
    while parser.take_sign(",") {
        found.push(one(parser)?);
    }
    Ok(found)
}

fn with_value(
    parser: &mut Parser<'_>,
    clause: &str,
    allowed: &[&str],
) -> Result<(Path, AttributeValue), Refusal> {
    let path = parser.path()?;
    let value = parser.value()?;
    of_type(clause, &value, allowed)?;
    Ok((path, value))
}

fn assignment(parser: &mut Parser<'_>) -> Result<(Path, Source), Refusal> {
    let path = parser.path()?;
    parser.expect_sign("=")?;
    let left = operand(parser)?;
    let sign = parser.take_any(&["+", "-"]);
    let Some(sign) = sign else { return Ok((path, Source::One(left))) };
    let right = operand(parser)?;
    for side in [&left, &right] {
        if let Operand::Value(value) = side {
            of_type(sign, value, &["N"])?;
        }
    }
    if parser.take_any(&["+", "-"]).is_some() {
        return Err(Refusal::invalid("a SET takes at most one + or -"));
    }
    Ok((path, if sign == "+" { Source::Plus(left, right) } else { Source::Minus(left, right) }))
}

fn operand(parser: &mut Parser<'_>) -> Result<Operand, Refusal> {
    match (parser.function().as_deref(), parser.peek()) {
        (Some("if_not_exists"), _) => {
            parser.open_function();
            let path = parser.path()?;
            parser.expect_sign(",")?;
            let otherwise = parser.nested(operand)?;
            parser.expect_sign(")")?;
            Ok(Operand::IfNotExists(path, Box::new(otherwise)))
        }
        (Some("list_append"), _) => {
            parser.open_function();
            let first = parser.nested(operand)?;
            parser.expect_sign(",")?;
            let second = parser.nested(operand)?;
            parser.expect_sign(")")?;
            for side in [&first, &second] {
                if let Operand::Value(value) = side {
                    of_type("list_append", value, &["L"])?;
                }
            }
            Ok(Operand::ListAppend(Box::new(first), Box::new(second)))
        }
        (Some(other), _) => Err(Refusal::invalid(format!("invalid function name: {other}"))),
        (None, Some(Token::Value(_))) => Ok(Operand::Value(parser.value()?)),
        (None, Some(Token::Sign("("))) => Err(Refusal::unsupported("parentheses in a SET")),
        (None, _) => Ok(Operand::Path(parser.path()?)),
    }
}

fn of_type(operator: &str, value: &AttributeValue, allowed: &[&str]) -> Result<(), Refusal> {
    if allowed.contains(&type_name(value)) {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "incorrect operand type for operator or function: {operator}, operand type: {}",
        type_name(value)
    )))
}
