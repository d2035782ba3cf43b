//! What an order does to a balance. No AWS types.

use oncebox::consumer::HandlerError;

/// The change of balance for a placed order.
pub(crate) fn charge(amount_cents: u64) -> Result<i64, HandlerError> {
    credit(amount_cents).map(|amount| -amount)
}

/// The change of balance for a rejected order.
pub(crate) fn credit(amount_cents: u64) -> Result<i64, HandlerError> {
    i64::try_from(amount_cents)
        .map_err(|_| HandlerError::permanent("the amount is larger than a balance can be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_order_costs_nothing() {
        assert_eq!(charge(450).unwrap() + credit(450).unwrap(), 0);
    }

    #[test]
    fn an_absurd_amount_is_permanent() {
        assert!(charge(u64::MAX).unwrap_err().is_permanent());
    }
}
