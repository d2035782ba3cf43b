use aws_sdk_dynamodb::types::AttributeValue;
use oncebox::testing::{item, number, text};

use super::Outcome::{self, Invalid, Refused};
use super::{Case, changed, list, numbers, set, strings};

fn removed(name: &str) -> Outcome {
    changed([(name, None)])
}

fn address(city: Option<&str>, tags: AttributeValue) -> AttributeValue {
    let mut fields = item([("tags", tags)]);
    fields.extend(city.map(|city| ("city".to_owned(), text(city))));
    AttributeValue::M(fields)
}

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    let tags = || list([text("a"), text("b")]);
    vec![
        // SET.
        Case::new("SET amount = :n2", set("amount", number(2))),
        Case::new("SET fresh = :n10s", set("fresh", number(10))),
        Case::new("set #amount = :n2", set("amount", number(2))),
        Case::new("SET amount = amount + :half", set("amount", number("10.5"))),
        Case::new("SET amount = amount - :n10", set("amount", number(0))),
        Case::new("SET amount = :n1 - amount", set("amount", number(-9))),
        Case::new("SET price = price + :tiny", set("price", number("12345678901234567890123456789.012345679"))),
        Case::new("SET price = price - :price", set("price", number(0))),
        Case::new("SET fresh = if_not_exists(fresh, :n1)", set("fresh", number(1))),
        Case::new("SET amount = if_not_exists(amount, :n1)", changed([])),
        Case::new("SET amount = if_not_exists(amount, :n1) + :n1", set("amount", number(11))),
        Case::new("SET fresh = if_not_exists(fresh, :n1) + :n1", set("fresh", number(2))),
        Case::new("SET fresh = if_not_exists(nobody, amount)", set("fresh", number(10))),
        Case::new("SET pieces = list_append(pieces, :list)", set("pieces", list([number(1), text("two"), number(3), text("c")]))),
        Case::new("SET pieces = list_append(:list, pieces)", set("pieces", list([text("c"), number(1), text("two"), number(3)]))),
        Case::new("SET fresh = list_append(if_not_exists(fresh, :list), :list)", set("fresh", list([text("c"), text("c")]))),
        Case::new("SET fresh = title", set("fresh", text("order-17"))),
        Case::new("SET amount = pieces[2], title = amount",
            changed([("amount", Some(number(3))), ("title", Some(number(10)))])),
        Case::new("SET address.#city = :red", set("address", address(Some("red"), tags()))),
        Case::new("SET address.tags[0] = :red", set("address", address(Some("Bern"), list([text("red"), text("b")])))),
        Case::new("SET pieces[9] = :n2", set("pieces", list([number(1), text("two"), number(3), number(2)]))),
        Case::new("SET pieces[9] = :n2, pieces[7] = :n1",
            set("pieces", list([number(1), text("two"), number(3), number(1), number(2)]))),
        // REMOVE.
        Case::new("REMOVE title", removed("title")),
        Case::new("REMOVE nobody", changed([])),
        Case::new("REMOVE title, amount", changed([("title", None), ("amount", None)])),
        Case::new("REMOVE address.city", set("address", address(None, tags()))),
        Case::new("REMOVE pieces[0], pieces[1]", set("pieces", list([number(3)]))),
        Case::new("REMOVE pieces[9]", changed([])),
        Case::new("SET pieces[9] = :n2 REMOVE pieces[0]", set("pieces", list([text("two"), number(3), number(2)]))),
        // ADD and DELETE.
        Case::new("ADD amount :n2", set("amount", number(12))),
        Case::new("ADD fresh :n2", set("fresh", number(2))),
        Case::new("ADD price :tiny", set("price", number("12345678901234567890123456789.012345679"))),
        Case::new("ADD labels :green", set("labels", strings(["blue", "green", "red"]))),
        Case::new("ADD fresh :green", set("fresh", strings(["green", "red"]))),
        Case::new("ADD sizes :sizes", set("sizes", numbers(["1", "2", "3"]))),
        Case::new("DELETE labels :green", set("labels", strings(["blue"]))),
        Case::new("DELETE labels :labels", removed("labels")),
        Case::new("DELETE sizes :sizes", set("sizes", numbers(["1"]))),
        Case::new("DELETE nobody :green", changed([])),
        Case::new("SET title = :a REMOVE paid ADD amount :n1 DELETE labels :green", changed([
            ("title", Some(text("a"))),
            ("paid", None),
            ("amount", Some(number(11))),
            ("labels", Some(strings(["blue"]))),
        ])),
        // Refused because of what is stored.
        Case::new("SET fresh = nobody", Invalid),
        Case::new("SET amount = nobody + :n1", Invalid),
        Case::new("SET amount = title + :n1", Invalid),
        Case::new("SET title = list_append(title, :list)", Invalid),
        Case::new("SET nobody.city = :red", Invalid),
        Case::new("SET title.city = :red", Invalid),
        Case::new("SET address[0] = :red", Invalid),
        Case::new("REMOVE nobody.city", Invalid),
        Case::new("ADD title :n1", Invalid),
        Case::new("ADD amount :green", Invalid),
        Case::new("DELETE title :green", Invalid),
        Case::new("DELETE sizes :green", Invalid),
        // Refused, whatever is stored.
        Case::new("amount = :n1", Refused),
        Case::new("SET amount", Refused),
        Case::new("SET amount = :n1,", Refused),
        Case::new("SET amount = :n1 SET title = :a", Refused),
        Case::new("SET amount = :n1, amount = :n2", Refused),
        Case::new("SET address.city = :red REMOVE address", Refused),
        Case::new("SET amount = amount + :red", Refused),
        Case::new("SET amount = amount + :n1 + :n2", Refused),
        Case::new("SET amount = amount * :n2", Refused),
        Case::new("SET fresh = list_append(pieces, :red)", Refused),
        Case::new("SET fresh = :undefined", Refused),
        Case::new("SET status = :red", Refused),
        Case::new("SET #status = :red", set("status", text("red"))),
        Case::new("SET fresh = size(pieces)", Refused),
        Case::new("SET fresh = concat(title, :red)", Refused),
        Case::new("ADD amount :red", Refused),
        Case::new("ADD amount title", Refused),
        Case::new("DELETE labels :red", Refused),
        Case::new("INCREMENT amount :n1", Refused),
    ]
}
