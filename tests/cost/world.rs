use std::sync::Arc;

use aws_sdk_dynamodb::types::ScalarAttributeType;
use oncebox::outbox::names;
use oncebox::store::{DynamoStore, Store};
use oncebox_tests::{CapacityMeter, Dynoxide, IndexSpec, TableSpec, create_table, dynamo_client};

/// Tables on an emulator, and what the calls on them consume.
pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) meter: CapacityMeter,
    _emulator: Dynoxide,
}

impl World {
    /// `kept` adds the index that kept rows need.
    pub(crate) async fn new(kept: bool) -> Self {
        let emulator = Dynoxide::start().unwrap();
        let meter = CapacityMeter::default();
        let client = dynamo_client(&emulator.endpoint(), "000000000001");
        let pending = IndexSpec {
            name: names::PENDING_INDEX,
            partition_key: names::PENDING,
            sort_key: names::SK,
            sort_type: ScalarAttributeType::S,
        };
        let outbox = ("outbox", names::PK, Some(names::SK), kept.then_some(pending));
        let others = [
            ("inbox", "pk", Some("sk"), None),
            ("quarantine", "pk", Some("sk"), None),
            ("accounts", "id", None, None),
        ];
        for (name, partition_key, sort_key, index) in [outbox].into_iter().chain(others) {
            create_table(&client, TableSpec { name, partition_key, sort_key, index }).await.unwrap();
        }
        let config = client.config().to_builder().interceptor(meter.clone()).build();
        let client = aws_sdk_dynamodb::Client::from_conf(config);
        Self { store: Arc::new(DynamoStore::new(client)), meter, _emulator: emulator }
    }
}

/// Two decimals, or more for what is small, and no zeros behind.
pub(crate) fn each(total: f64, events: u32) -> String {
    let text = format!("{:.3}", total / f64::from(events));
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.trim_start_matches("-").to_owned()
}

pub(crate) fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}
