//! Scans and queries, of tables and of indexes.

use oncebox::store::{Item, Pages};
use oncebox::testing::{item, number, text};

use crate::subject::{BY_GROUP, ROWS, Subject};

const TABLE: Pages<'static> = Pages::Table(ROWS);
const INDEX: Pages<'static> = Pages::Index { table: ROWS, index: BY_GROUP };

fn of_partition(value: &str) -> Pages<'_> {
    Pages::Partition { table: ROWS, index: None, key: "pk", value }
}

fn of_group(value: &str) -> Pages<'_> {
    Pages::Partition { table: ROWS, index: Some(BY_GROUP), key: "group", value }
}

fn row(pk: &str, sk: &str, group: Option<(&str, i64)>) -> Item {
    let mut row = item([("pk", text(pk)), ("sk", text(sk))]);
    if let Some((group, rank)) = group {
        row.extend(item([("group", text(group)), ("rank", number(rank))]));
    }
    row
}

/// All pages, and how many there were.
async fn read(subject: &Subject, of: Pages<'_>) -> (Vec<Item>, usize) {
    let (mut items, mut pages, mut start) = (Vec::new(), 0, None);
    loop {
        let page = subject.store.page(of, start).await.unwrap();
        items.extend(page.items);
        pages += 1;
        start = page.next;
        if start.is_none() {
            return (items, pages);
        }
        assert!(pages < 20, "a page follows the other without an end");
    }
}

fn sks(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item["sk"].as_s().unwrap().as_str()).collect()
}

pub(crate) async fn an_empty_table_has_one_empty_page(subject: &Subject) {
    for of in [TABLE, INDEX, of_partition("a"), of_group("a")] {
        assert_eq!(read(subject, of).await, (vec![], 1));
    }
}

pub(crate) async fn a_query_answers_one_partition_in_order(subject: &Subject) {
    subject
        .arrange_rows([row("a", "2", None), row("b", "1", None), row("a", "1", None), row("ab", "1", None)])
        .await;
    assert_eq!(sks(&read(subject, of_partition("a")).await.0), ["1", "2"]);
    assert_eq!(read(subject, TABLE).await.0.len(), 4);
}

pub(crate) async fn an_index_holds_what_has_its_key_in_the_order_of_numbers(subject: &Subject) {
    let rows = [
        row("a", "ten", Some(("g", 10))),
        row("b", "nine", Some(("g", 9))),
        row("c", "other", Some(("h", 1))),
        row("d", "none", None),
    ];
    subject.arrange_rows(rows).await;
    assert_eq!(sks(&read(subject, of_group("g")).await.0), ["nine", "ten"]);
    let mut all = sks(&read(subject, INDEX).await.0).join(" ");
    // Which partition comes first is DynamoDB's business.
    if all.starts_with("other") {
        all = "nine ten other".to_owned();
    }
    assert_eq!(all, "nine ten other");
}

pub(crate) async fn pages_have_no_hole_and_nothing_twice(subject: &Subject) {
    let rows = (0..450).map(|n| row("a", &format!("{n:03}"), Some(("g", n / 2))));
    subject.arrange_rows(rows).await;
    for of in [TABLE, INDEX, of_partition("a"), of_group("g")] {
        let (items, pages) = read(subject, of).await;
        let mut sks = sks(&items);
        sks.sort_unstable();
        sks.dedup();
        assert_eq!((items.len(), sks.len(), pages), (450, 450, 3), "{of:?}");
    }
}

pub(crate) async fn a_page_starts_behind_any_key(subject: &Subject) {
    subject.arrange_rows(["1", "2", "3"].map(|sk| row("a", sk, None))).await;
    let start = item([("pk", text("a")), ("sk", text("1"))]);
    for of in [TABLE, of_partition("a")] {
        let page = subject.store.page(of, Some(start.clone())).await.unwrap();
        assert_eq!(sks(&page.items), ["2", "3"]);
    }
}

pub(crate) async fn an_unknown_index_fails(subject: &Subject) {
    let of = Pages::Index { table: ROWS, index: "nowhere" };
    assert_eq!(subject.store.page(of, None).await.unwrap_err().kind, "ValidationException");
}

pub(crate) async fn a_query_by_another_attribute_fails(subject: &Subject) {
    let of = Pages::Partition { table: ROWS, index: None, key: "sk", value: "a" };
    assert_eq!(subject.store.page(of, None).await.unwrap_err().kind, "ValidationException");
}
