//! Whether an order can be served. No AWS types.

use order_events::Rejection;

/// What to do about an order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Reserve,
    Reject(Rejection),
}

/// `available` is `None` for an article that is not kept.
pub(crate) fn decide(available: Option<u64>, quantity: u32) -> Decision {
    match available {
        None => Decision::Reject(Rejection::UnknownSku),
        Some(available) if available < u64::from(quantity) => Decision::Reject(Rejection::OutOfStock),
        Some(_) => Decision::Reserve,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_piece_can_be_sold_and_the_next_one_cannot() {
        assert_eq!(decide(Some(3), 3), Decision::Reserve);
        assert_eq!(decide(Some(2), 3), Decision::Reject(Rejection::OutOfStock));
        assert_eq!(decide(None, 1), Decision::Reject(Rejection::UnknownSku));
    }
}
