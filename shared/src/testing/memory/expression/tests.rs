use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use proptest::prelude::*;

use super::*;
use crate::store::Item;
use crate::testing::memory::refusal::Refusal;
use crate::testing::memory::value::canonical_item;
use crate::testing::{item, number, text};

fn strings(members: &[&str]) -> AttributeValue {
    AttributeValue::Ss(members.iter().map(|member| (*member).to_owned()).collect())
}

fn stored() -> Item {
    let address = item([("city", text("Bern")), ("tags", AttributeValue::L(vec![text("a"), text("b")]))]);
    canonical_item(&item([
        ("pk", text("p")),
        ("count", number(10)),
        ("title", text("order-17")),
        ("on", AttributeValue::Bool(true)),
        ("raw", AttributeValue::B(Blob::new([1, 2, 3]))),
        ("labels", strings(&["red", "blue"])),
        ("address", AttributeValue::M(address)),
    ]))
    .unwrap()
}

/// The placeholders of the tests; only those an expression mentions are passed along.
fn attributes(expression: &str) -> Attributes {
    let values = [
        (":ten", number("10.0")),
        (":two", number(2)),
        (":eleven", number("1.1e1")),
        (":order", text("order-")),
        (":r", text("red")),
        (":set", strings(&["red", "green"])),
        (":list", AttributeValue::L(vec![text("c")])),
        (":true", AttributeValue::Bool(true)),
        (":type", text("SS")),
    ];
    let mentioned = |key: &str| {
        expression.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':' && c != '#').any(|w| w == key)
    };
    let values: HashMap<_, _> = values
        .into_iter()
        .filter(|(key, _)| mentioned(key))
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    let names = HashMap::from([("#c".to_owned(), "count".to_owned())]);
    Attributes::new(mentioned("#c").then_some(names), (!values.is_empty()).then_some(values)).unwrap()
}

fn holds(expression: &str) -> Result<bool, Refusal> {
    let mut attributes = attributes(expression);
    let condition = Condition::parse(expression, &mut attributes)?;
    attributes.all_used()?;
    condition.holds(&stored())
}

fn updated(expression: &str) -> Result<Item, Refusal> {
    let mut attributes = attributes(expression);
    let update = UpdateExpression::parse(expression, &mut attributes)?;
    attributes.all_used()?;
    update.apply(&stored())
}

#[test]
fn conditions_over_a_stored_item() {
    for (expected, expression) in [
        (true, "#c = :ten AND attribute_exists(pk)"),
        (false, "#c <> :ten"),
        (true, "#c BETWEEN :two AND :eleven"),
        (true, "#c IN (:two, :ten)"),
        (true, "absent <> :ten"),
        (false, "absent = :ten"),
        (false, "absent < :ten"),
        (true, "NOT absent < :ten"),
        (true, "NOT (attribute_exists(absent) OR attribute_not_exists(pk))"),
        (true, "#c = :two OR #c > :two AND begins_with(title, :order)"),
        (false, "(#c = :two OR #c > :two) AND attribute_not_exists(title)"),
        (true, "contains(labels, :r) and attribute_type(labels, :type)"),
        (true, "size(labels) = :two"),
        (false, "size(#c) = :two"),
        (true, "address.tags[1] > address.tags[0]"),
        (true, "attribute_not_exists(address.tags[2])"),
        (false, "title < :ten"),
        (true, "size(address.tags) BETWEEN :two AND :ten"),
    ] {
        assert_eq!(holds(expression), Ok(expected), "{expression}");
    }
}

#[test]
fn conditions_that_are_refused() {
    for (message, expression) in [
        ("empty", ""),
        ("empty", "   "),
        ("syntax error at \"<EOF>\"", "pk ="),
        ("syntax error at \"!\"", "pk != :ten"),
        ("syntax error at \"_\"", "attribute_exists(_x)"),
        ("redundant parentheses", "((attribute_exists(pk)))"),
        ("not defined: :nobody", "pk = :nobody"),
        ("not defined: #nobody", "attribute_exists(#nobody)"),
        ("reserved keyword: status", "attribute_exists(status)"),
        ("invalid function name: matches", "matches(pk, :r)"),
        ("operand type: BOOL", "pk < :true"),
        ("operand type: N", "begins_with(title, :ten)"),
        ("upper bound", "#c BETWEEN :ten AND :two"),
        ("same type", "#c BETWEEN :ten AND :r"),
        ("distinct", "title = title"),
        ("type name", "attribute_type(pk, :r)"),
        ("does not evaluate the function if_not_exists", "pk = if_not_exists(title, :r)"),
    ] {
        let refused = holds(expression).unwrap_err().to_string();
        assert!(refused.contains(message), "{expression}: {refused}");
    }
}

#[test]
fn unused_placeholders_are_refused_by_name() {
    let mut attributes = attributes(":r :ten #c");
    Condition::parse("#c = :ten", &mut attributes).unwrap();
    assert!(attributes.all_used().unwrap_err().to_string().contains(":r"));
}

#[test]
fn updates_of_a_stored_item() {
    let at = |item: &Item, name: &str| item.get(name).cloned();
    let after = updated("SET #c = #c - :two, fresh = if_not_exists(fresh, :r) REMOVE title").unwrap();
    assert_eq!(at(&after, "count"), Some(number(8)));
    assert_eq!((at(&after, "fresh"), at(&after, "title")), (Some(text("red")), None));

    let after = updated("ADD #c :two, labels :set, started :two").unwrap();
    assert_eq!((at(&after, "count"), at(&after, "started")), (Some(number(12)), Some(number(2))));
    assert_eq!(at(&after, "labels"), Some(strings(&["blue", "green", "red"])));

    let after = updated("DELETE labels :set").unwrap();
    assert_eq!(at(&after, "labels"), Some(strings(&["blue"])));
    let emptied = UpdateExpression::parse("DELETE labels :set", &mut attributes(":set")).unwrap();
    assert_eq!(emptied.apply(&item([("labels", strings(&["red"]))])), Ok(Item::new()));
}

#[test]
fn every_clause_reads_the_item_as_it_was() {
    let after = updated("SET #c = :two, title = #c, fresh = #c + :two").unwrap();
    assert_eq!((after["count"].clone(), after["title"].clone()), (number(2), number(10)));
    assert_eq!(after["fresh"], number(12));
    let after = updated("SET address.tags[7] = :r REMOVE address.tags[0], address.city").unwrap();
    let address = item([("tags", AttributeValue::L(vec![text("b"), text("red")]))]);
    assert_eq!(after["address"], AttributeValue::M(address));
    let after = updated("SET address.tags = list_append(address.tags, :list)").unwrap();
    let address =
        item([("city", text("Bern")), ("tags", AttributeValue::L(vec![text("a"), text("b"), text("c")]))]);
    assert_eq!(after["address"], AttributeValue::M(address));
}

#[test]
fn updates_that_are_refused() {
    for (message, expression) in [
        ("syntax error", "title = :r"),
        ("only be used once", "SET title = :r SET fresh = :ten"),
        ("overlap", "SET address.city = :r REMOVE address"),
        ("overlap", "SET title = :r, title = :ten"),
        ("does not exist", "SET title = absent"),
        ("does not exist", "SET #c = absent + :two"),
        ("incorrect data type", "SET #c = title + :two"),
        ("operand type: S", "SET #c = #c + :r"),
        ("at most one", "SET #c = #c + :two + :ten"),
        ("incorrect data type", "ADD title :two"),
        ("operand type: S", "ADD title :r"),
        ("operand type: N", "DELETE #c :two"),
        ("incorrect data type", "DELETE title :set"),
        ("invalid for update", "SET nothing.here = :r"),
        ("invalid for update", "SET address[0] = :r"),
        ("operand type: S", "SET title = list_append(title, :r)"),
        ("parentheses in a SET", "SET #c = (:two)"),
        ("invalid function name: concat", "SET title = concat(title, :r)"),
    ] {
        let refused = updated(expression).unwrap_err().to_string();
        assert!(refused.contains(message), "{expression}: {refused}");
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = |levels: usize| format!("{}attribute_exists(pk)", "NOT ".repeat(levels));
    assert_eq!(holds(&deep(40)), Ok(true));
    assert!(holds(&deep(41)).unwrap_err().to_string().contains("nested deeper than 40 levels"));
    assert!(holds(&"(".repeat(4096)).is_err());
    assert!(holds(&"x".repeat(4097)).unwrap_err().to_string().contains("maximum allowed size"));
}

proptest! {
    #[test]
    fn no_text_panics(expression in "\\PC{0,200}") {
        let _ = (holds(&expression), updated(&expression));
    }

    #[test]
    fn no_mix_of_the_languages_words_panics(words in prop::collection::vec(prop::sample::select(vec![
        "(", ")", "[", "]", "0", "1", ".", ",", "=", "<", ">", "<>", "+", "-", "AND", "OR", "NOT", "BETWEEN", "IN",
        "SET", "REMOVE", "ADD", "DELETE", "size", "contains", "begins_with", "attribute_exists", "if_not_exists",
        "list_append", "pk", "address", "tags", "labels", "title", "#c", ":ten", ":two", ":r", ":set", ":list",
    ]), 0..30)) {
        let expression = words.join(" ");
        let _ = (holds(&expression), updated(&expression));
    }

    #[test]
    fn negation_turns_every_answer(left in 0_i64..20, comparator in prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="])) {
        let values = HashMap::from([(":v".to_owned(), number(left))]);
        let answer = |expression: String| {
            let mut attributes = Attributes::new(None, Some(values.clone())).unwrap();
            Condition::parse(&expression, &mut attributes).unwrap().holds(&item([("n", number(10))])).unwrap()
        };
        prop_assert_eq!(answer(format!("n {comparator} :v")), !answer(format!("NOT n {comparator} :v")));
    }
}
