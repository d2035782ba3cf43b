"""Expected against found. Expectations come from the orders and the rules of the system, written here once more.

The rules: an order debits its account; it reserves its stock, or is rejected if it asks for more than there is; a
rejected order is credited back; the projection ends at version 2 of the order. An unknown account is never booked.
"""

from collections import Counter, defaultdict

from auditor import lag, ledger
from auditor.model import CONSUMERS, Event, Findings, Observed, Order, Status, Tally

PLACED, RESERVED, REJECTED = "OrderPlaced", "StockReserved", "StockRejected"


def audit(seen: Observed, malformed: int = 0) -> Findings:
    """`malformed` is how many messages that no consumer can read were sent: they must be in quarantine."""
    rejected = {o.order_id for o in seen.orders.values() if is_rejected(o, seen)}
    events = {kind: Counter(e.order_id for e in seen.written if e.event_type == kind)
              for kind in (PLACED, RESERVED, REJECTED)}
    tallies = {
        "billing": _billing(seen, rejected),
        "inventory": _inventory(seen, rejected, events),
        "order-projection": _projection(seen, rejected),
    }
    written = {e.event_id: e for e in seen.written}
    published = {topic: {copy.event_id for copy in copies} for topic, copies in seen.published.items()}
    findings = Findings(
        keys={},
        tallies=tallies,
        unpublished=[f"order {e.order_id}: {e.event_type} {e.event_id} was written and not published to {topic}"
                     for e in written.values() for topic, ids in published.items() if e.event_id not in ids],
        missing_orders=[f"order {each}: accepted, and not in the orders table"
                        for each in seen.accepted if each not in seen.orders],
        unexplained=_unexplained(seen, rejected, events, malformed),
    )
    counters = [seen.counters.get(each, Counter()) for each in CONSUMERS]
    findings.keys = {
        "orders": len(seen.accepted),
        "events_written": len(seen.written),
        "events_published": len(set().union(*published.values())),
        # A second destination is no second publish: further copies are counted for each topic.
        "duplicate_publishes": sum(len(seen.published[topic]) - len(ids) for topic, ids in published.items()),
        "deliveries": sum(each["deliveries"] for each in counters),
        "duplicates_absorbed": sum(each["duplicate"] for each in counters),
        "quarantined": len(seen.quarantined),
        "dead_letters": seen.dead_letters,
        "effects_expected": sum(t.expected for t in tallies.values()),
        "effects_applied": sum(t.found for t in tallies.values()),
        "lost": len(findings.lost),
        "double_applied": len(findings.doubled),
        "unexplained": len(findings.unexplained),
    } | lag.keys(seen)
    return findings


def is_rejected(order: Order, seen: Observed) -> bool:
    # Only because all the others fit together (checked below) does this not depend on who came first.
    return order.sku not in seen.stock or order.quantity > seen.stock[order.sku].opening


def _billing(seen: Observed, rejected: set[str]) -> Tally:
    tally = Tally()
    for account_id, account in seen.accounts.items():
        orders = [o for o in seen.orders.values() if o.account_id == account_id]
        spent = account.opening_balance_cents - account.balance_cents
        booked = ledger.read(spent, account.entries, {o.order_id: o.amount_cents for o in orders}, rejected)
        if booked is not None:
            for order_id, found in booked.items():
                tally.count(f"order {order_id}: billing of OrderPlaced on {account_id}", 1, found.debits)
                tally.count(f"order {order_id}: billing of StockRejected on {account_id}",
                            int(order_id in rejected), found.credits)
            continue
        # The amounts do not spell the orders: all that can be said is said of the account.
        kept = [o for o in orders if o.order_id not in rejected]
        expected = len(orders) + sum(o.order_id in rejected for o in orders)
        tally.count(f"account {account_id}: entries", expected, account.entries)
        if account.entries == expected and spent != sum(o.amount_cents for o in kept):
            tally.swapped(f"account {account_id}: the entries are right and the balance is not")
    return tally


def _inventory(seen: Observed, rejected: set[str], events: dict[str, Counter]) -> Tally:
    tally = Tally()
    by_sku = defaultdict(list)
    for order in seen.orders.values():
        by_sku[order.sku].append(order)
        no = int(order.order_id in rejected)
        # The event is in the same transaction as the stock, so it says whose reservation an entry was.
        tally.count(f"order {order.order_id}: reservation of {order.sku}", 1 - no, events[RESERVED][order.order_id])
        tally.count(f"order {order.order_id}: rejection by inventory", no, events[REJECTED][order.order_id])
    for sku, stock in seen.stock.items():
        orders = by_sku.get(sku, [])
        told = sum(events[RESERVED][o.order_id] for o in orders)
        tally.count(f"stock {sku}: entries without an event", 0, max(0, stock.entries - told))
        if stock.entries < told:
            tally.found -= told - stock.entries
            tally.lost += [f"stock {sku}: {told} reservations told, {stock.entries} entries"] * (told - stock.entries)
        taken = sum(o.quantity * events[RESERVED][o.order_id] for o in orders)
        if stock.entries == told and stock.opening - stock.available != taken:
            tally.swapped(f"stock {sku}: the entries are right and what is left is not")
    return tally


def _projection(seen: Observed, rejected: set[str]) -> Tally:
    tally = Tally()
    last = {(e.order_id, e.event_type): e.event_id for e in seen.written}
    for order_id in seen.orders:
        kind, status = (REJECTED, "REJECTED") if order_id in rejected else (RESERVED, "RESERVED")
        right = Status(status, 2, last.get((order_id, kind), ""))
        row = seen.statuses.get(order_id)
        tally.count(f"order {order_id}: projection of {kind} (row is {row})", 1, int(row == right))
    return tally


def _unexplained(seen: Observed, rejected: set[str], events: dict[str, Counter], malformed: int) -> list[str]:
    """Whatever should not be there, or breaks what the expectations rest on."""
    lines = []
    written = {e.event_id: e for e in seen.written}
    for event in (copy for copies in seen.published.values() for copy in copies):
        row = written.get(event.event_id)
        if row is None:
            lines.append(f"event {event.event_id} ({event.event_type}) was published and never written to the outbox")
        elif row.body != event.body:
            lines.append(f"event {event.event_id}: its published body is not the one of its outbox row")
    lines += _out_of_order(seen) + _not_one_line(seen)
    if len(written) != len(seen.written):
        lines.append(f"{len(seen.written) - len(written)} outbox rows have an id that another row has")
    for event in seen.written:
        if event.order_id not in seen.orders:
            lines.append(f"event {event.event_id} ({event.event_type}): its order {event.order_id} does not exist")
    for order_id in seen.orders:
        if events[PLACED][order_id] != 1:
            lines.append(f"order {order_id}: {events[PLACED][order_id]} OrderPlaced on the stream instead of one")
    for sku, stock in seen.stock.items():
        wanted = sum(o.quantity for o in seen.orders.values() if o.sku == sku and o.order_id not in rejected)
        if wanted > stock.opening:
            lines.append(f"stock {sku}: {wanted} wanted of {stock.opening}, so who is rejected depends on the order")
    unknown = [o for o in seen.orders.values() if o.account_id not in seen.accounts]
    poison = malformed + len(unknown) + sum(o.order_id in rejected for o in unknown)
    cases = len(seen.quarantined)
    if cases < poison:
        lines.append(f"{poison} messages cannot succeed and {cases} are in quarantine: some fell silent")
    lines += [f"quarantined {case.subject} of {case.owner} has no reason" for case in seen.quarantined
              if not (case.reason and case.detail)]
    if seen.dead_letters:
        lines.append(f"{seen.dead_letters} messages fell on a dead-letter queue, which says no reason")
    lines += [f"outbox row {key} is still there" for key in seen.outbox_left]
    return lines


def _not_one_line(seen: Observed) -> list[str]:
    """The events of an order are numbered 1, 2, 3 …: a hole would stop the projection, and so would a double."""
    lines = defaultdict(list)
    for event in seen.written:
        lines[event.order_id].append(event.sequence)
    return [f"order {order_id}: its events have the sequences {sorted(found)}"
            for order_id, found in lines.items() if sorted(found) != list(range(1, len(found) + 1))]


def _out_of_order(seen: Observed) -> list[str]:
    """A FIFO topic passes the events of an order on as they came; so what is out of order was published so."""
    lines = []
    for topic in (topic for topic in seen.published if topic.endswith("-fifo")):
        last: dict[str, Event] = {}
        known = set()
        for event in seen.published[topic]:
            if event.event_id in known:
                continue
            known.add(event.event_id)
            before = last.setdefault(event.order_id, event)
            if event.sequence < before.sequence:
                lines.append(f"order {event.order_id}: {event.event_type} with sequence {event.sequence} came behind "
                             f"{before.sequence} on {topic}")
            else:
                last[event.order_id] = event
    return lines
