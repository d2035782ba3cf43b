//! Shorthand for the SDK's builders, on the table of single keys.

use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
    Update,
};
use oncebox::store::Item;
use oncebox::testing::{item, number, text};

use crate::subject::SINGLES;

pub(crate) const EXISTS: &str = "attribute_exists(pk)";
pub(crate) const ABSENT: &str = "attribute_not_exists(pk)";

pub(crate) fn key(pk: &str) -> Item {
    item([("pk", text(pk))])
}

pub(crate) fn row(pk: &str, amount: i64) -> Item {
    item([("pk", text(pk)), ("amount", number(amount))])
}

pub(crate) fn put(item: Item) -> TransactWriteItem {
    put_into(SINGLES, item)
}

pub(crate) fn put_into(table: &str, item: Item) -> TransactWriteItem {
    let put = Put::builder().table_name(table).set_item(Some(item)).build().unwrap();
    TransactWriteItem::builder().put(put).build()
}

/// A put that asks for the old item, or not.
pub(crate) fn put_if(item: Item, condition: &str, all_old: bool) -> TransactWriteItem {
    let put = Put::builder()
        .table_name(SINGLES)
        .set_item(Some(item))
        .condition_expression(condition)
        .set_return_values_on_condition_check_failure(
            all_old.then_some(ReturnValuesOnConditionCheckFailure::AllOld),
        );
    TransactWriteItem::builder().put(put.build().unwrap()).build()
}

pub(crate) fn check(pk: &str, condition: &str) -> TransactWriteItem {
    let check =
        ConditionCheck::builder().table_name(SINGLES).set_key(Some(key(pk))).condition_expression(condition);
    TransactWriteItem::builder().condition_check(check.build().unwrap()).build()
}

pub(crate) fn delete(pk: &str) -> TransactWriteItem {
    let delete = Delete::builder().table_name(SINGLES).set_key(Some(key(pk))).build().unwrap();
    TransactWriteItem::builder().delete(delete).build()
}

/// `ADD amount`.
pub(crate) fn add(pk: &str, amount: i64) -> Update {
    update(pk, "ADD amount :amount", [(":amount", number(amount))])
}

pub(crate) fn update<const N: usize>(
    pk: &str,
    expression: &str,
    values: [(&str, AttributeValue); N],
) -> Update {
    let update = Update::builder()
        .table_name(SINGLES)
        .set_key(Some(key(pk)))
        .update_expression(expression)
        .set_expression_attribute_values((N > 0).then(|| item(values)));
    update.build().unwrap()
}

pub(crate) fn only_if(mut update: Update, condition: &str) -> Update {
    update.condition_expression = Some(condition.to_owned());
    update
}

pub(crate) fn action(update: Update) -> TransactWriteItem {
    TransactWriteItem::builder().update(update).build()
}
