//! A table of expressions on which every store must agree.

mod conditions;
mod known;
mod updates;

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, TransactWriteItem, Update};
use oncebox::store::{CancelCode, Item, TransactError, WriteError};
use oncebox::testing::{item, number, text};

use crate::actions::{key, put};
use crate::subject::{Kind, SINGLES, Subject};

/// Attributes that an update changed, with their new value; `None` for those it removed.
pub(crate) type Changes = BTreeMap<String, Option<AttributeValue>>;

/// What a store makes of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// The condition is true.
    True,
    /// The condition is false.
    False,
    /// The update is carried out; the attributes it changed.
    Changed(Changes),
    /// The call is refused, whatever is stored.
    Refused,
    /// Refused because of what is stored: `ValidationError` at the action's position.
    Invalid,
    /// Carried out, and what it left behind cannot be read.
    Unreadable,
}

pub(crate) struct Case {
    pub(crate) expression: &'static str,
    pub(crate) expected: Outcome,
}

impl Case {
    fn new(expression: &'static str, expected: Outcome) -> Self {
        Self { expression, expected }
    }

    /// Says how `outcome` is not what this store was expected to make of the case in a transaction.
    fn differs(&self, kind: Kind, outcome: &Outcome, told: &str) -> Option<String> {
        let known = known::difference(kind, self.expression);
        let (expected, because) =
            known.as_ref().map_or((&self.expected, ""), |known| (&known.transaction, known.because));
        self.report(expected, because, outcome, told)
    }

    /// The same for the single call, which has no positions.
    fn differs_alone(&self, kind: Kind, outcome: &Outcome, told: &str) -> Option<String> {
        let known = known::difference(kind, self.expression);
        let (expected, because) =
            known.as_ref().map_or((&self.expected, ""), |known| (&known.alone, known.because));
        let expected = if *expected == Outcome::Invalid { &Outcome::Refused } else { expected };
        self.report(expected, because, outcome, &format!("alone: {told}"))
    }

    fn report(&self, expected: &Outcome, because: &str, outcome: &Outcome, told: &str) -> Option<String> {
        let text = || format!("{:?}: {outcome:?} instead of {expected:?} {because}; {told}", self.expression);
        (outcome != expected).then(text)
    }
}

pub(crate) async fn conditions_agree(subject: &Subject) {
    subject.store.transact(vec![put(specimen("specimen"))], "arrange").await.unwrap();
    let mut wrong = Vec::new();
    for (at, case) in conditions::cases().iter().enumerate() {
        let (names, values) = placeholders(case.expression);
        let check = ConditionCheck::builder()
            .table_name(SINGLES)
            .set_key(Some(key("specimen")))
            .condition_expression(case.expression)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values)
            .build()
            .unwrap();
        let check = TransactWriteItem::builder().condition_check(check).build();
        let answer = subject.store.transact(vec![check], &format!("case-{at}")).await;
        let told = format!("{answer:?}");
        wrong.extend(case.differs(subject.kind, &failure(answer).unwrap_or(Outcome::True), &told));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Each update within a transaction and alone: both come to the same, except that alone there is no position.
pub(crate) async fn updates_agree(subject: &Subject) {
    let mut wrong = Vec::new();
    for (at, case) in updates::cases().iter().enumerate() {
        let together = format!("together-{at}");
        subject.store.transact(vec![put(specimen(&together))], &format!("arrange-{together}")).await.unwrap();
        let action = TransactWriteItem::builder().update(update(&together, case.expression)).build();
        let answer = subject.store.transact(vec![action], &format!("case-{at}")).await;
        let told = format!("{answer:?}");
        let outcome = match failure(answer) {
            Some(failed) => failed,
            None => left_behind(subject, &together).await,
        };
        wrong.extend(case.differs(subject.kind, &outcome, &told));

        let alone = format!("alone-{at}");
        subject.store.transact(vec![put(specimen(&alone))], &format!("arrange-{alone}")).await.unwrap();
        let answer = subject.store.update(update(&alone, case.expression)).await;
        let told = format!("{answer:?}");
        let outcome = match answer {
            Ok(()) => left_behind(subject, &alone).await,
            Err(WriteError::Refused { .. }) => Outcome::Refused,
            Err(other) => panic!("{:?}: {other:?}", case.expression),
        };
        wrong.extend(case.differs_alone(subject.kind, &outcome, &told));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

async fn left_behind(subject: &Subject, pk: &str) -> Outcome {
    match subject.store.get(SINGLES, key(pk)).await {
        Ok(stored) => Outcome::Changed(changes(&stored.unwrap())),
        Err(_) => Outcome::Unreadable,
    }
}

fn update(pk: &str, expression: &str) -> Update {
    let (names, values) = placeholders(expression);
    Update::builder()
        .table_name(SINGLES)
        .set_key(Some(key(pk)))
        .update_expression(expression)
        .set_expression_attribute_names(names)
        .set_expression_attribute_values(values)
        .build()
        .unwrap()
}

fn changed<const N: usize>(changes: [(&str, Option<AttributeValue>); N]) -> Outcome {
    Outcome::Changed(changes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn set(name: &str, value: AttributeValue) -> Outcome {
    changed([(name, Some(value))])
}

fn failure(answer: Result<(), TransactError>) -> Option<Outcome> {
    match answer {
        Ok(()) => None,
        Err(TransactError::Refused { code, .. }) if code == "ValidationException" => Some(Outcome::Refused),
        Err(TransactError::Cancelled(reasons)) => match reasons.first().map(|reason| &reason.code) {
            Some(CancelCode::ConditionalCheckFailed) => Some(Outcome::False),
            Some(CancelCode::ValidationError) => Some(Outcome::Invalid),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// What became of the specimen: changed and new attributes with their value, removed ones without.
fn changes(stored: &Item) -> Changes {
    let before = specimen("");
    let names = before.keys().chain(stored.keys()).filter(|name| *name != "pk");
    let both = names.map(|name| (name, before.get(name).cloned(), stored.get(name).cloned().map(in_order)));
    both.filter(|(_, old, new)| old != new).map(|(name, _, new)| (name.clone(), new)).collect()
}

/// A set comes in any order; compare it in one.
fn in_order(value: AttributeValue) -> AttributeValue {
    match value {
        AttributeValue::Ss(mut members) => {
            members.sort();
            AttributeValue::Ss(members)
        }
        AttributeValue::Ns(mut members) => {
            members.sort();
            AttributeValue::Ns(members)
        }
        other => other,
    }
}

/// The item that every case starts from.
pub(crate) fn specimen(pk: &str) -> Item {
    let address = item([("city", text("Bern")), ("tags", list([text("a"), text("b")]))]);
    item([
        ("pk", text(pk)),
        ("amount", number(10)),
        ("price", number("12345678901234567890123456789.012345678")),
        ("title", text("order-17")),
        ("accent", text("é𝄞")),
        ("paid", AttributeValue::Bool(true)),
        ("nothing", AttributeValue::Null(true)),
        ("digest", AttributeValue::B(Blob::new([1, 2, 3]))),
        ("labels", strings(["blue", "red"])),
        ("sizes", numbers(["1", "2"])),
        ("address", AttributeValue::M(address)),
        ("pieces", list([number(1), text("two"), number(3)])),
    ])
}

pub(crate) fn list<const N: usize>(values: [AttributeValue; N]) -> AttributeValue {
    AttributeValue::L(values.into())
}

pub(crate) fn strings<const N: usize>(members: [&str; N]) -> AttributeValue {
    AttributeValue::Ss(members.map(str::to_owned).into())
}

pub(crate) fn numbers<const N: usize>(members: [&str; N]) -> AttributeValue {
    AttributeValue::Ns(members.map(str::to_owned).into())
}

type Placeholders = (Option<HashMap<String, String>>, Option<Item>);

/// The names and values that the expression mentions; `:unused` and `#unused` where it says so.
fn placeholders(expression: &str) -> Placeholders {
    let values = [
        (":n1", number(1)),
        (":n2", number(2)),
        (":n10", number(10)),
        (":n10s", number("1.00E+1")),
        (":half", number("0.5")),
        (":tiny", number("0.000000001")),
        (":price", number("12345678901234567890123456789.012345678")),
        (":more", number("12345678901234567890123456789.012345679")),
        (":order", text("order-")),
        (":red", text("red")),
        (":a", text("a")),
        (":true", AttributeValue::Bool(true)),
        (":null", AttributeValue::Null(true)),
        (":digest", AttributeValue::B(Blob::new([1, 2]))),
        (":labels", strings(["red", "blue"])),
        (":green", strings(["green", "red"])),
        (":sizes", numbers(["2.0", "3"])),
        (":list", list([text("c")])),
        (":map", AttributeValue::M(item([("city", text("Basel"))]))),
        (":typeS", text("S")),
        (":typeX", text("X")),
    ];
    let names = [("#amount", "amount"), ("#status", "status"), ("#pk", "pk"), ("#city", "city")];
    let mentioned = |placeholder: &str| {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '#' || c == ':' || c == '_';
        expression.split(|c| !word(c)).any(|found| found == placeholder)
    };
    let values: Item = values
        .into_iter()
        .filter(|(placeholder, _)| mentioned(placeholder))
        .map(|(placeholder, value)| (placeholder.to_owned(), value))
        .collect();
    let names: HashMap<_, _> = names
        .into_iter()
        .filter(|(placeholder, _)| mentioned(placeholder))
        .map(|(placeholder, name)| (placeholder.to_owned(), name.to_owned()))
        .collect();
    ((!names.is_empty()).then_some(names), (!values.is_empty()).then_some(values))
}
