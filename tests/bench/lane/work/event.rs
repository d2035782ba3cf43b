use uuid::Builder;

/// An `OrderPlaced` as the outbox writes it, of an order of its own.
#[derive(Debug, Clone)]
pub(super) struct Event {
    /// The event id.
    pub(super) id: String,
    /// The aggregate.
    pub(super) order_id: String,
    pub(super) amount_cents: u64,
    /// The envelope, of about 500 bytes.
    pub(super) body: String,
}

/// What an id is of.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(super) enum Kind {
    Event = 1,
    Order,
    Message,
    Request,
}

impl Event {
    /// The `number`th event of a run, born at `millis`.
    pub(super) fn new(number: u32, millis: u64, account: &str) -> Self {
        let id = uuid(Kind::Event, number, millis);
        let order_id = uuid(Kind::Order, number, millis);
        let request = uuid(Kind::Request, number, millis);
        let time =
            i64::try_from(millis).ok().and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
        let time = time.unwrap_or_default();
        let (trace, span) = (scattered(number), scattered(number ^ 0x8000_0000));
        let amount_cents = 100 + u64::from(number % 900);
        let (sku, quantity) = (number % 100, 1 + number % 5);
        let body = format!(
            r#"{{"specversion":"1.0","id":"{id}","source":"order-api","type":"OrderPlaced","subject":"{order_id}","time":"{time}","datacontenttype":"application/json","aggregatetype":"Order","sequence":"1","schemaversion":"1","traceparent":"00-{trace:016x}{span:016x}-{span:016x}-01","correlationid":"{request}","data":{{"order_id":"{order_id}","account_id":"{account}","sku":"sku-{sku:02}","quantity":{quantity},"amount_cents":{amount_cents}}}}}"#
        );
        Self { id, order_id, amount_cents, body }
    }
}

/// A UUID of version 7 that a run has once: the number stands in it.
pub(super) fn uuid(kind: Kind, number: u32, millis: u64) -> String {
    let mut random = [0; 10];
    let parts =
        [kind as u8].into_iter().chain(scattered(number).to_be_bytes()).take(6).chain(number.to_be_bytes());
    for (byte, part) in random.iter_mut().zip(parts) {
        *byte = part;
    }
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
}

/// Bits that look like chance, the same for the same number (SplitMix64).
pub(super) fn scattered(number: u32) -> u64 {
    let mut bits = u64::from(number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_id_comes_twice() {
        let mut ids = HashSet::new();
        for number in 0..20_000 {
            let event = Event::new(number, 1_796_040_000_000, "account-1");
            assert!(ids.insert(event.id) && ids.insert(event.order_id), "{number}");
            assert!(ids.insert(uuid(Kind::Message, number, 1_796_040_000_000)), "{number}");
        }
    }

    #[test]
    fn the_library_reads_the_event_and_its_shape() {
        let event = Event::new(7, 1_796_040_000_000, "account-0007");
        let envelope = oncebox::event::Envelope::parse(&event.body).unwrap();
        assert_eq!(envelope.key().as_str(), event.id);
        assert_eq!(envelope.time, "2026-11-30T12:00:00Z");
        // What the outbox would write for it, byte for byte.
        assert_eq!(envelope.to_json().unwrap(), event.body);
        let placed: order_events::OrderPlaced = serde_json::from_str(envelope.data.get()).unwrap();
        assert_eq!(placed.line.account_id, "account-0007");
        assert_eq!(placed.line.amount_cents, event.amount_cents);
        assert!((480..=620).contains(&event.body.len()), "{}", event.body.len());
    }
}
