//! The events of an order. All of them carry aggregate `Order` and share one sequence per order, so that one order has
//! one version line: `OrderPlaced` is 1, and an event that another one leads to has that one's sequence plus 1.

use std::borrow::Cow;

use oncebox::event::Event;
use serde::{Deserialize, Serialize};

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// What every event of an order repeats, so that no consumer has to look an order up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLine {
    /// The order.
    pub order_id: String,
    /// The account that pays.
    pub account_id: String,
    /// The article.
    pub sku: String,
    /// Pieces, at least 1.
    pub quantity: u32,
    /// Price of the whole order in cents, at least 1.
    pub amount_cents: u64,
}

/// An order was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPlaced {
    /// The order.
    #[serde(flatten)]
    pub line: OrderLine,
}

/// The pieces of an order were set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockReserved {
    /// The order.
    #[serde(flatten)]
    pub line: OrderLine,
}

/// An order could not be served from stock; what was charged for it is credited back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockRejected {
    /// The order.
    #[serde(flatten)]
    pub line: OrderLine,
    /// Why.
    pub reason: Rejection,
}

/// Why an order could not be served from stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// The article is not kept.
    UnknownSku,
    /// There are fewer pieces than ordered.
    OutOfStock,
}

/// The price of an order was captured; the last event of an order that goes well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentCaptured {
    /// The order.
    #[serde(flatten)]
    pub line: OrderLine,
    /// What the payment provider calls the capture.
    pub capture_id: String,
}

/// The payment provider declined; what was charged is credited back, and what was set aside is released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentDeclined {
    /// The order.
    #[serde(flatten)]
    pub line: OrderLine,
    /// Why, in the provider's words.
    pub reason: String,
}

macro_rules! order_event {
    ($event:ident) => {
        impl Event for $event {
            const TYPE: &'static str = stringify!($event);
            const AGGREGATE_TYPE: &'static str = "Order";

            fn aggregate_id(&self) -> Cow<'_, str> {
                Cow::Borrowed(&self.line.order_id)
            }
        }
    };
}

order_event!(OrderPlaced);
order_event!(StockReserved);
order_event!(StockRejected);
order_event!(PaymentCaptured);
order_event!(PaymentDeclined);

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> OrderLine {
        OrderLine {
            order_id: "o-1".into(),
            account_id: "a-1".into(),
            sku: "pen".into(),
            quantity: 3,
            amount_cents: 450,
        }
    }

    /// The stored and published shapes: a change here needs a new schema version.
    #[test]
    fn shapes() {
        insta::assert_json_snapshot!(OrderPlaced { line: line() }, @r#"
        {
          "order_id": "o-1",
          "account_id": "a-1",
          "sku": "pen",
          "quantity": 3,
          "amount_cents": 450
        }
        "#);
        insta::assert_json_snapshot!(StockRejected { line: line(), reason: Rejection::OutOfStock }, @r#"
        {
          "order_id": "o-1",
          "account_id": "a-1",
          "sku": "pen",
          "quantity": 3,
          "amount_cents": 450,
          "reason": "out_of_stock"
        }
        "#);
        insta::assert_json_snapshot!(PaymentCaptured { line: line(), capture_id: "c-1".into() }, @r#"
        {
          "order_id": "o-1",
          "account_id": "a-1",
          "sku": "pen",
          "quantity": 3,
          "amount_cents": 450,
          "capture_id": "c-1"
        }
        "#);
        insta::assert_json_snapshot!(PaymentDeclined { line: line(), reason: "no funds".into() }, @r#"
        {
          "order_id": "o-1",
          "account_id": "a-1",
          "sku": "pen",
          "quantity": 3,
          "amount_cents": 450,
          "reason": "no funds"
        }
        "#);
    }

    #[test]
    fn every_event_of_an_order_is_of_one_aggregate() {
        let placed = OrderPlaced { line: line() };
        let reserved = StockReserved { line: line() };
        assert_eq!(placed.aggregate_id(), reserved.aggregate_id());
        assert_eq!(OrderPlaced::AGGREGATE_TYPE, StockRejected::AGGREGATE_TYPE);
    }
}
