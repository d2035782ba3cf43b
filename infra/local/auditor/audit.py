"""Expected (`expect.py`) against found, effect by effect (`effects.py`); and whatever should not be there."""

import math
from collections import Counter, defaultdict

from auditor import effects, lag
from auditor.expect import PLACED, Expected, expect
from auditor.model import CONSUMERS, UNKNOWN, Event, Findings, Observed


def audit(seen: Observed, malformed: int = 0, declined_from_cents: float = math.inf) -> Findings:
    """`malformed` is how many messages that no consumer can read were sent: they must be in quarantine. The payment
    provider declines what costs `declined_from_cents` or more."""
    expected = expect(seen, declined_from_cents)
    tallies = effects.tallies(seen, expected)
    written = {e.event_id: e for e in seen.written}
    published = {topic: {copy.event_id for copy in copies} for topic, copies in seen.published.items()}
    findings = Findings(
        keys={},
        tallies=tallies,
        unpublished=[f"order {e.order_id}: {e.event_type} {e.event_id} was written and not published to {topic}"
                     for e in written.values() for topic, ids in published.items() if e.event_id not in ids],
        missing_orders=[f"order {each}: accepted, and not in the orders table"
                        for each in seen.accepted if each not in seen.orders],
        unexplained=_unexplained(seen, expected, malformed),
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


def _unexplained(seen: Observed, expected: Expected, malformed: int) -> list[str]:
    """Whatever should not be there, or breaks what the expectations rest on."""
    lines = []
    written = {e.event_id: e for e in seen.written}
    for event in (copy for copies in seen.published.values() for copy in copies):
        row = written.get(event.event_id)
        if row is None:
            lines.append(f"event {event.event_id} ({event.event_type}) was published and never written to the outbox")
        elif row.body != event.body:
            lines.append(f"event {event.event_id}: its published body is not the one of its outbox row")
    lines += _out_of_order(seen) + _not_one_line(seen) + effects.odd_calls(seen, expected)
    if len(written) != len(seen.written):
        lines.append(f"{len(seen.written) - len(written)} outbox rows have an id that another row has")
    for event in seen.written:
        if event.order_id not in seen.orders:
            lines.append(f"event {event.event_id} ({event.event_type}): its order {event.order_id} does not exist")
    for order_id in seen.orders:
        if expected.events[PLACED][order_id] != 1:
            lines.append(f"order {order_id}: {expected.events[PLACED][order_id]} OrderPlaced on the stream instead of one")
    for sku, stock in seen.stock.items():
        wanted = sum(o.quantity for o in seen.orders.values() if o.sku == sku and o.order_id not in expected.rejected)
        if wanted > stock.opening:
            lines.append(f"stock {sku}: {wanted} wanted of {stock.opening}, so who is rejected depends on the order")
    unknown = [o for o in seen.orders.values() if o.account_id not in seen.accounts]
    poison = malformed + len(unknown) + sum(o.order_id in expected.credited for o in unknown)
    # A call with an unknown outcome is no poison.
    cases = sum(case.reason != UNKNOWN for case in seen.quarantined)
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
