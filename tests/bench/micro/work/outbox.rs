use std::sync::Arc;

use aws_sdk_dynamodb::types::{AttributeValue, Put};
use oncebox::event::Emit;
use oncebox::outbox::{Outbox, Transaction};
use oncebox::testing::{CountedIds, TestClock};

use super::inputs::OrderPlaced;
use super::instant::Instant;
use super::{Rounds, runtime};

/// An order and its event in one transaction, so many times: the envelope is built and the row is frozen.
pub(super) fn commit(orders: usize) -> Rounds {
    let store = Instant::default();
    let routes = r#"{"Order": ["arn:aws:sns:us-east-1:123456789012:orders"]}"#.parse().expect("routes");
    let outbox = Outbox::new(Arc::new(store.clone()), "outbox", "/shop/order-api")
        .routes(routes)
        .region("us-east-1")
        .with_time(Arc::new(TestClock::default()), Arc::new(CountedIds::default()));
    Box::new(move |_| {
        for number in 0..orders {
            let order = OrderPlaced::of(number);
            let put = Put::builder()
                .table_name("orders")
                .item("order_id", AttributeValue::S(order.order_id.clone()))
                .condition_expression("attribute_not_exists(order_id)")
                .build()
                .expect("a put");
            let transaction = Transaction::new().put(put).emit(Emit::new(&order).sequence(1));
            runtime().block_on(outbox.commit(transaction)).expect("a commit");
        }
        assert_eq!(store.take(), 2 * orders, "an order and a row each");
    })
}
