"""The effects of each consumer, expected and found."""

from collections import Counter, defaultdict

from auditor import ledger
from auditor.expect import CAPTURED, DECLINED, REJECTED, RESERVED, Expected
from auditor.model import Observed, Status, Tally

DONE = "done"


def tallies(seen: Observed, expected: Expected) -> dict[str, Tally]:
    return {
        "billing": _billing(seen, expected),
        "inventory": _inventory(seen, expected),
        "payment": _payment(seen, expected),
        "notification": _notification(seen, expected),
        "order-projection": _projection(seen, expected),
    }


def _billing(seen: Observed, expected: Expected) -> Tally:
    tally = Tally()
    for account_id, account in seen.accounts.items():
        orders = [o for o in seen.orders.values() if o.account_id == account_id]
        back = {o.order_id for o in orders} & expected.credited
        spent = account.opening_balance_cents - account.balance_cents
        booked = ledger.read(spent, account.entries, {o.order_id: o.amount_cents for o in orders}, back)
        if booked is not None:
            for order_id, found in booked.items():
                cause = DECLINED if order_id in expected.declined else REJECTED
                tally.count(f"order {order_id}: billing of OrderPlaced on {account_id}", 1, found.debits)
                tally.count(f"order {order_id}: billing of {cause} on {account_id}", int(order_id in back), found.credits)
            continue
        # The amounts do not spell the orders: all that can be said is said of the account.
        entries = len(orders) + len(back)
        tally.count(f"account {account_id}: entries", entries, account.entries)
        if account.entries == entries and spent != sum(o.amount_cents for o in orders if o.order_id not in back):
            tally.swapped(f"account {account_id}: the entries are right and the balance is not")
    return tally


def _inventory(seen: Observed, expected: Expected) -> Tally:
    tally = Tally()
    reserved = expected.events[RESERVED]
    by_sku = defaultdict(list)
    for order in seen.orders.values():
        by_sku[order.sku].append(order)
        no = int(order.order_id in expected.rejected)
        # The event is in the same transaction as the stock, so it says whose reservation an entry was.
        tally.count(f"order {order.order_id}: reservation of {order.sku}", 1 - no, reserved[order.order_id])
        tally.count(f"order {order.order_id}: rejection by inventory", no, expected.events[REJECTED][order.order_id])
    for sku, stock in seen.stock.items():
        orders = by_sku.get(sku, [])
        told = sum(reserved[o.order_id] for o in orders)
        released = [o for o in orders if o.order_id in expected.declined]
        # A release has no event of its own.
        others = max(0, stock.entries - told)
        tally.count(f"stock {sku}: entries without an event, which are releases of declined orders", len(released), others)
        if stock.entries < told:
            tally.found -= told - stock.entries
            tally.lost += [f"stock {sku}: {told} reservations told, {stock.entries} entries"] * (told - stock.entries)
        taken = sum(o.quantity * reserved[o.order_id] for o in orders) - sum(o.quantity for o in released)
        if stock.entries == told + len(released) and stock.opening - stock.available != taken:
            tally.swapped(f"stock {sku}: the entries are right and what is left is not")
    return tally


def _payment(seen: Observed, expected: Expected) -> Tally:
    tally = Tally()
    done = Counter(call.order_id for call in seen.captures if call.work == DONE)
    for order_id in seen.orders:
        tally.count(f"order {order_id}: capture by the payment provider", int(order_id in expected.captured), done[order_id])
        # The provider is left as it was: what there is of a decline is the event.
        tally.count(f"order {order_id}: decline by payment", int(order_id in expected.declined),
                    expected.events[DECLINED][order_id])
    return tally


def _notification(seen: Observed, expected: Expected) -> Tally:
    tally = Tally()
    done = Counter(call.order_id for call in seen.mails if call.work == DONE)
    for order_id in seen.orders:
        wanted = int(order_id in expected.captured)
        # Sent or not: what counts is that a person is told. A second mail is one too many all the same.
        if order_id in expected.mail_unknown:
            wanted = min(wanted, done[order_id])
        tally.count(f"order {order_id}: mail", wanted, done[order_id])
    return tally


def _projection(seen: Observed, expected: Expected) -> Tally:
    tally = Tally()
    last = {(e.order_id, e.event_type): e.event_id for e in seen.written}
    for order_id in seen.orders:
        kind, status, version = expected.last(order_id)
        right = Status(status, version, last.get((order_id, kind), ""))
        row = seen.statuses.get(order_id)
        tally.count(f"order {order_id}: projection of {kind} (row is {row})", 1, int(row == right))
    return tally


def odd_calls(seen: Observed, expected: Expected) -> list[str]:
    """What a provider was asked and should not have been, and what was told of it and is not so."""
    lines = [f"a provider was asked for order {call.order_id!r}, which does not exist"
             for call in seen.captures + seen.mails if call.order_id not in seen.orders]
    keys = defaultdict(set)
    for event in seen.written:
        if event.event_type == RESERVED:
            keys[event.order_id].add(event.event_id)
    refused = {call.order_id for call in seen.captures if call.work == "declined"}
    lines += [f"order {order_id}: the provider has declined what it gives" for order_id in refused & expected.captured]
    lines += [f"order {order_id}: PaymentDeclined, and the provider has not declined"
              for order_id in expected.events[DECLINED] if order_id not in refused]
    captured = {call.order_id for call in seen.captures if call.work == DONE}
    lines += [f"order {order_id}: PaymentCaptured, and the provider has not captured"
              for order_id in expected.events[CAPTURED] if order_id not in captured]
    for call in seen.captures:
        order = seen.orders.get(call.order_id)
        if order and (call.account_id, call.amount_cents) != (order.account_id, order.amount_cents):
            lines.append(f"order {call.order_id}: the capture asked for is not the order's amount from its account")
        if order and call.key not in keys[call.order_id]:
            lines.append(f"order {call.order_id}: the idempotency key is not the id of its StockReserved")
    return lines + [f"order {call.order_id}: its idempotency key came again with another body"
                    for call in seen.captures if call.work == "mismatch"]
