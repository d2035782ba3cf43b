//! `FilterCriteria`.

use oncebox::testing::PausedClock;
use oncebox::time::Clock;
use oncebox_tests::poller::{Filter, FilterError, Mapping};
use serde_json::json;

use crate::bench::{Function, deliver_all, record, told};

#[tokio::test(start_paused = true)]
async fn only_inserts_reach_the_function_and_filtered_records_fill_no_batch() {
    let clock = PausedClock::start();
    let mut records: Vec<_> = (1..=6).map(|number| record(&number.to_string(), "a", clock.now())).collect();
    for (index, name) in [(1, "REMOVE"), (3, "MODIFY"), (5, "REMOVE")] {
        records[index].json["eventName"] = json!(name);
    }
    let filters = vec![Filter::parse(r#"{"eventName":["INSERT"]}"#).unwrap()];
    let function = Function::default().errs();
    let mapping = Mapping { filters, batch_size: 3, max_retries: Some(0), ..Mapping::default() };
    let discarded = deliver_all(mapping, &function, clock, records).await;
    assert_eq!(function.invoked(), ["1 3 5"]);
    assert_eq!(told(&discarded), ["1-5 (3) RetryAttemptsExhausted"]);
}

#[tokio::test(start_paused = true)]
async fn one_of_several_patterns_is_enough() {
    let clock = PausedClock::start();
    let records = ["a", "b", "c"].map(|pk| record(pk, pk, clock.now())).into();
    let pattern =
        |pk: &str| Filter::parse(&format!(r#"{{"dynamodb":{{"Keys":{{"pk":{{"S":["{pk}"]}}}}}}}}"#)).unwrap();
    let function = Function::default();
    let mapping = Mapping { filters: vec![pattern("a"), pattern("c")], ..Mapping::default() };
    deliver_all(mapping, &function, clock, records).await;
    assert_eq!(function.invoked(), ["a c"]);
}

#[test]
fn rules() {
    let record = json!({ "name": "order-7", "kind": "x", "gone": null, "inner": { "count": 3 } });
    let yes = [
        r#"{"kind":["w","x"],"name":[{"prefix":"order-"}]}"#,
        r#"{"name":[{"suffix":"-7"}]}"#,
        r#"{"gone":[null]}"#,
        r#"{"gone":[{"exists":true}],"absent":[{"exists":false}]}"#,
        r#"{"kind":[{"anything-but":["y"]}]}"#,
        r#"{"inner":{"count":[3]}}"#,
        "{}",
    ];
    let no = [
        r#"{"kind":["w"],"name":[{"prefix":"order-"}]}"#,
        r#"{"name":[{"prefix":"7"}]}"#,
        r#"{"absent":[null]}"#,
        r#"{"absent":[{"exists":true}]}"#,
        r#"{"kind":[{"anything-but":["x"]}]}"#,
        r#"{"inner":{"count":["3"]}}"#,
        r#"{"absent":{"count":[3]}}"#,
    ];
    for (patterns, expected) in [(&yes, true), (&no, false)] {
        for pattern in patterns {
            assert_eq!(Filter::parse(pattern).unwrap().matches(&record), expected, "{pattern}");
        }
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    assert!(matches!(Filter::parse("INSERT"), Err(FilterError::NotAnObject(_))));
    assert!(
        matches!(Filter::parse(r#"{"eventName":"INSERT"}"#), Err(FilterError::NoList(name)) if name == "eventName")
    );
    for pattern in
        [r#"{"a":[{"numeric":[">",3]}]}"#, r#"{"a":[["x"]]}"#, r#"{"a":[{"prefix":"x","suffix":"y"}]}"#]
    {
        assert!(matches!(Filter::parse(pattern), Err(FilterError::Unknown(_))), "{pattern}");
    }
}
