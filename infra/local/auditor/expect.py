"""What should have happened, from the orders and the rules of the system, written here once more.

The rules: an order debits its account; it reserves its stock, or is rejected if it asks for more than there is. What is
reserved is captured once, or is declined if it costs more than the payment provider gives; what is captured is mailed once.
A rejected or declined order is credited back, and the stock of a declined one is released. The projection ends at version 2
of a rejected order and at version 3 of the others. An unknown account is never booked.
"""

from collections import Counter
from dataclasses import dataclass

from auditor.model import UNKNOWN, Observed, Order

PLACED, RESERVED, REJECTED = "OrderPlaced", "StockReserved", "StockRejected"
CAPTURED, DECLINED = "PaymentCaptured", "PaymentDeclined"


@dataclass(frozen=True)
class Expected:
    rejected: set[str]  # by inventory
    declined: set[str]  # by the payment provider
    captured: set[str]  # all others
    mail_unknown: set[str]  # of which notification has said that nobody knows whether the mail was sent
    events: dict[str, Counter]  # found, by type: how often for each order

    @property
    def credited(self) -> set[str]:
        return self.rejected | self.declined

    def last(self, order_id: str) -> tuple[str, str, int]:
        """The last event of an order, and the status and version that it leads to."""
        if order_id in self.rejected:
            return REJECTED, "REJECTED", 2
        return (DECLINED, "DECLINED", 3) if order_id in self.declined else (CAPTURED, "PAID", 3)


def expect(seen: Observed, declined_from_cents: float) -> Expected:
    rejected = {o.order_id for o in seen.orders.values() if _is_rejected(o, seen)}
    declined = {o.order_id for o in seen.orders.values() if o.amount_cents >= declined_from_cents} - rejected
    return Expected(
        rejected,
        declined,
        set(seen.orders) - rejected - declined,
        {case.order_id for case in seen.quarantined if (case.owner, case.reason) == ("notification", UNKNOWN)},
        {kind: Counter(e.order_id for e in seen.written if e.event_type == kind)
         for kind in (PLACED, RESERVED, REJECTED, CAPTURED, DECLINED)},
    )


def _is_rejected(order: Order, seen: Observed) -> bool:
    # Only because all the others fit together (checked in audit.py) does this not depend on who came first.
    return order.sku not in seen.stock or order.quantity > seen.stock[order.sku].opening
