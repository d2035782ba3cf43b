//! Where an emulator answers otherwise than this suite expects, with the reason.
//!
//! The suite follows AWS's documentation and error messages; nothing in it was compared with a real account. The
//! wrong answers are asserted, so that a corrected emulator is noticed.

use oncebox::testing::{number, text};

use super::Outcome::{self, False, Invalid, Refused, True, Unreadable};
use super::{changed, list, numbers, set};
use crate::subject::Kind::{self, Dynoxide, MiniStack};

pub(crate) struct Known {
    pub(crate) on: Kind,
    pub(crate) expression: &'static str,
    /// What it answers within a transaction.
    pub(crate) transaction: Outcome,
    /// What it answers to the single call; of no meaning for a condition.
    pub(crate) alone: Outcome,
    pub(crate) because: &'static str,
}

pub(crate) fn difference(on: Kind, expression: &str) -> Option<Known> {
    differences().into_iter().find(|known| known.on == on && known.expression == expression)
}

/// The same answer within a transaction and alone.
fn always(on: Kind, expression: &'static str, answer: Outcome, because: &'static str) -> Known {
    Known { on, expression, transaction: answer.clone(), alone: answer, because }
}

/// Another answer within a transaction only; alone it is refused, as it should be.
fn in_transactions(on: Kind, expression: &'static str, answer: Outcome, because: &'static str) -> Known {
    Known { on, expression, transaction: answer, alone: Refused, because }
}

pub(crate) fn differences() -> Vec<Known> {
    [conditions(), dynoxide_updates(), ministack_arithmetic(), ministack_leniency()]
        .into_iter()
        .flatten()
        .collect()
}

fn conditions() -> Vec<Known> {
    let any_case = "function names are documented as case-sensitive";
    let unchecked = "does not check a literal operand's type or order in a transaction's condition";
    let distinct = "does not insist on distinct operands";
    let underscore = "the guide does not say whether a bare name may begin with _; the twin is strict";
    vec![
        always(Dynoxide, "ATTRIBUTE_EXISTS(pk)", True, any_case),
        always(Dynoxide, "attribute_type(title, :typeX)", False, unchecked),
        always(Dynoxide, "begins_with(title, :n1)", False, unchecked),
        always(Dynoxide, "amount BETWEEN :n10 AND :n2", False, unchecked),
        always(Dynoxide, "amount BETWEEN :n1 AND :red", False, unchecked),
        always(Dynoxide, "paid < :true", False, unchecked),
        always(Dynoxide, "title = title", True, distinct),
        always(Dynoxide, "contains(title, title)", True, distinct),
        always(Dynoxide, "_amount = :n1", False, underscore),
        always(MiniStack, "ATTRIBUTE_EXISTS(pk)", True, any_case),
        always(MiniStack, "attribute_type(title, :typeX)", False, unchecked),
        always(MiniStack, "amount BETWEEN :n1 AND :red", False, unchecked),
        always(MiniStack, "paid < :true", False, unchecked),
        always(MiniStack, "title = title", True, distinct),
        always(MiniStack, "_amount = :n1", False, underscore),
        always(MiniStack, "begins_with(amount, :order)", Refused, "refuses a stored value of another type"),
        always(MiniStack, "amount != :n10", True, "skips a character that the language does not have"),
    ]
}

fn dynoxide_updates() -> Vec<Known> {
    let members = "compares the members of number sets as text";
    let position = "reports at the position what the request alone shows";
    vec![
        always(Dynoxide, "ADD sizes :sizes", Invalid, members),
        always(Dynoxide, "DELETE sizes :sizes", changed([]), members),
        in_transactions(Dynoxide, "SET amount = amount + :red", Invalid, position),
        in_transactions(Dynoxide, "SET fresh = list_append(pieces, :red)", Invalid, position),
        in_transactions(Dynoxide, "SET fresh = :undefined", Invalid, position),
        in_transactions(Dynoxide, "ADD amount :red", Invalid, position),
        in_transactions(Dynoxide, "DELETE labels :red", Invalid, position),
    ]
}

fn ministack_arithmetic() -> Vec<Known> {
    let rounds = "rounds sums to 28 digits";
    let members = "compares the members of number sets as text";
    let appended = list([number(1), text("two"), number(3), number(2), number(1)]);
    let rounded = || set("price", number("12345678901234567890123456790"));
    vec![
        always(MiniStack, "SET price = price + :tiny", rounded(), rounds),
        Known {
            on: MiniStack,
            expression: "ADD price :tiny",
            transaction: set("price", number("1.234567890123456789012345679E+28")),
            alone: rounded(),
            because: rounds,
        },
        Known {
            on: MiniStack,
            expression: "SET fresh = :n10s",
            transaction: set("fresh", number("1.00E+1")),
            alone: set("fresh", number(10)),
            because: "stores a number as it was spelt when a transaction's update sets it",
        },
        in_transactions(
            MiniStack,
            "ADD sizes :sizes",
            set("sizes", numbers(["1", "2", "2.0", "3"])),
            members,
        ),
        always(MiniStack, "DELETE sizes :sizes", changed([]), members),
        always(
            MiniStack,
            "SET pieces[9] = :n2, pieces[7] = :n1",
            set("pieces", appended),
            "appends as written",
        ),
        always(
            MiniStack,
            "REMOVE pieces[0], pieces[1]",
            set("pieces", list([text("two")])),
            "the first removal moves what the second one names",
        ),
    ]
}

fn ministack_leniency() -> Vec<Known> {
    let types = "does not check operand types";
    let syntax = "carries out what it can read of an update and skips the rest";
    let overlap = "does not look for overlapping paths";
    let position = "reports at the position what the request alone shows";
    vec![
        always(MiniStack, "SET amount = title + :n1", set("amount", text("order-17")), types),
        always(MiniStack, "SET title = list_append(title, :list)", set("title", list([text("c")])), types),
        always(MiniStack, "SET amount = amount + :red", changed([]), types),
        always(
            MiniStack,
            "SET fresh = list_append(pieces, :red)",
            set("fresh", list([number(1), text("two"), number(3)])),
            types,
        ),
        in_transactions(MiniStack, "SET title.city = :red", Unreadable, types),
        always(MiniStack, "SET address[0] = :red", changed([]), types),
        always(MiniStack, "REMOVE nobody.city", changed([]), "does not insist on the path's parent"),
        in_transactions(MiniStack, "amount = :n1", changed([]), syntax),
        always(MiniStack, "SET amount", changed([]), syntax),
        always(MiniStack, "SET amount = :n1,", set("amount", number(1)), syntax),
        always(MiniStack, "SET amount = :n1 SET title = :a", set("title", text("a")), syntax),
        always(MiniStack, "SET amount = amount + :n1 + :n2", set("amount", number(13)), syntax),
        always(MiniStack, "SET amount = amount * :n2", changed([]), syntax),
        always(MiniStack, "ADD amount title", changed([]), syntax),
        always(MiniStack, "SET amount = :n1, amount = :n2", set("amount", number(2)), overlap),
        always(MiniStack, "SET address.city = :red REMOVE address", changed([("address", None)]), overlap),
        in_transactions(MiniStack, "SET status = :red", Invalid, position),
        in_transactions(MiniStack, "SET fresh = size(pieces)", Invalid, position),
        in_transactions(MiniStack, "SET fresh = concat(title, :red)", Invalid, position),
        in_transactions(MiniStack, "ADD amount :red", Invalid, position),
        in_transactions(MiniStack, "DELETE labels :red", Invalid, position),
        in_transactions(MiniStack, "INCREMENT amount :n1", Invalid, position),
    ]
}

#[test]
fn every_known_difference_is_about_a_case() {
    let cases: Vec<_> = super::conditions::cases().into_iter().chain(super::updates::cases()).collect();
    for known in differences() {
        assert!(cases.iter().any(|case| case.expression == known.expression), "{}", known.expression);
    }
}
