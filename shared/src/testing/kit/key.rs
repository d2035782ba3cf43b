use aws_sdk_dynamodb::types::AttributeValue;

use crate::store::Item;

/// A primary key as a test writes it: `"a-1"`, `("a-1", "2027")` with a sort key, or the attributes themselves.
///
/// ```
/// use oncebox::testing::kit::Given;
/// use oncebox::testing::{item, text};
///
/// let seats = item([("show", text("hamlet")), ("seat", text("4")), ("sold_to", text("ann"))]);
/// Given::new()
///     .table_with_sort_key("seats", "show", "seat")
///     .item("seats", seats)
///     .producer(|_kit| ())
///     .then_item("seats", ("hamlet", "4"), |seat| assert_eq!(seat["sold_to"], text("ann")))
///     .then_no_item("seats", ("hamlet", "5"));
/// ```
#[derive(Debug, Clone)]
pub struct TableKey(Written);

#[derive(Debug, Clone)]
enum Written {
    Partition(String),
    Both(String, String),
    Attributes(Item),
}

impl TableKey {
    #[track_caller]
    pub(super) fn attributes(self, table: &str, partition: String, sort: Option<String>) -> Item {
        match (self.0, sort) {
            (Written::Attributes(item), _) => item,
            (Written::Partition(value), None) => Item::from([(partition, AttributeValue::S(value))]),
            (Written::Both(value, other), Some(sort)) => {
                Item::from([(partition, AttributeValue::S(value)), (sort, AttributeValue::S(other))])
            }
            (Written::Partition(_), Some(sort)) => panic!("table {table:?} has the sort key {sort:?} too"),
            (Written::Both(..), None) => panic!("table {table:?} has no sort key"),
        }
    }
}

impl From<&str> for TableKey {
    fn from(partition: &str) -> Self {
        Self(Written::Partition(partition.to_owned()))
    }
}

impl From<&String> for TableKey {
    fn from(partition: &String) -> Self {
        Self(Written::Partition(partition.clone()))
    }
}

impl From<(&str, &str)> for TableKey {
    fn from((partition, sort): (&str, &str)) -> Self {
        Self(Written::Both(partition.to_owned(), sort.to_owned()))
    }
}

impl From<Item> for TableKey {
    fn from(attributes: Item) -> Self {
        Self(Written::Attributes(attributes))
    }
}
