"""The auditor must be able to fail: a world where all is right, and then each way in which it can be wrong."""

import dataclasses
import unittest
from collections import Counter

from auditor.audit import audit
from auditor.model import Account, Case, Event, Observed, Order, Status, Stock


def world(amounts=(1, 10, 100), rejected_amount=1000) -> Observed:
    """Three orders that fit and one that is rejected, on one account and one stock item; an order for nobody."""
    seen = Observed()
    placed = [Order(f"o{n}", "a", "s", n + 1, amount) for n, amount in enumerate(amounts)]
    placed += [Order("big", "a", "s", 99, rejected_amount), Order("nobody", "unknown", "s", 1, 7)]
    for order in placed:
        no = order.order_id == "big"
        second = "StockRejected" if no else "StockReserved"
        seen.accepted.append(order.order_id)
        seen.orders[order.order_id] = order
        for kind in ("OrderPlaced", second):
            event_id = f"{order.order_id}/{kind}"
            sequence = 1 if kind == "OrderPlaced" else 2
            seen.written.append(Event(event_id, kind, order.order_id, f'{{"id":"{event_id}"}}', sequence))
        seen.statuses[order.order_id] = Status("REJECTED" if no else "RESERVED", 2, f"{order.order_id}/{second}")
    # The FIFO topic has taken no second copy.
    seen.published = {"orders": list(seen.written) + seen.written[:2], "orders-fifo": list(seen.written)}
    seen.accounts["a"] = Account(10_000, 10_000 - sum(amounts), 5)
    taken = sum(o.quantity for o in placed if o.order_id != "big")
    seen.stock["s"] = Stock(50, 50 - taken, 4)
    seen.quarantined = [Case("billing", "e", "permanent", "the account does not exist")]
    seen.counters["billing"] = Counter(deliveries=9, duplicate=3)
    return seen


def publish(seen: Observed, event: Event) -> None:
    for copies in seen.published.values():
        copies.append(event)


def unpublish(seen: Observed, gone, topics=("orders", "orders-fifo")) -> None:
    for topic in topics:
        seen.published[topic] = [copy for copy in seen.published[topic] if not gone(copy)]


def change(seen: Observed, table: str, key: str, **values) -> None:
    rows = getattr(seen, table)
    rows[key] = dataclasses.replace(rows[key], **values)


class Auditor(unittest.TestCase):
    def check(self, seen: Observed, lost: int = 0, doubled: int = 0, unexplained: int = 0, names: str = ""):
        found = audit(seen)
        text = "\n".join(found.lost + found.doubled + found.unexplained)
        self.assertEqual((lost, doubled, unexplained),
                         (len(found.lost), len(found.doubled), len(found.unexplained)), text)
        self.assertEqual(found.clean, not (lost or doubled or unexplained))
        self.assertIn(names, text)
        return found

    def test_a_right_world_is_clean(self):
        keys = self.check(world()).keys
        self.assertEqual(keys["effects_expected"], 5 + 5 + 5)
        self.assertEqual(keys["effects_applied"], 15)
        self.assertEqual((keys["events_written"], keys["events_published"], keys["duplicate_publishes"]), (10, 10, 2))
        self.assertEqual((keys["deliveries"], keys["duplicates_absorbed"], keys["quarantined"]), (9, 3, 1))
        self.assertTrue(all(isinstance(value, int) for value in keys.values()))

    def test_a_lost_debit_names_its_order(self):
        seen = world()
        change(seen, "accounts", "a", balance_cents=seen.accounts["a"].balance_cents + 10, entries=4)
        found = self.check(seen, lost=1, names="order o1: billing of OrderPlaced")
        self.assertEqual(found.keys["effects_applied"], found.keys["effects_expected"] - 1)

    def test_a_double_debit_names_its_order(self):
        seen = world()
        change(seen, "accounts", "a", balance_cents=seen.accounts["a"].balance_cents - 200, entries=7)
        self.check(seen, doubled=2, names="order o2: billing of OrderPlaced on a: expected 1, found 3")

    def test_a_double_and_a_lost_debit_on_one_account_do_not_cancel_out(self):
        seen = world()
        change(seen, "accounts", "a", balance_cents=seen.accounts["a"].balance_cents + 1 - 10)
        found = self.check(seen, lost=1, doubled=1, names="order o0")
        self.assertEqual(found.keys["effects_applied"], found.keys["effects_expected"])

    def test_nor_where_the_amounts_do_not_tell_the_orders_apart(self):
        seen = world(amounts=(5, 6, 7))
        self.check(seen)
        change(seen, "accounts", "a", balance_cents=seen.accounts["a"].balance_cents + 5 - 6)
        self.check(seen, lost=1, doubled=1, names="account a")

    def test_a_credit_that_is_missing_and_one_that_came_twice(self):
        seen = world()
        change(seen, "accounts", "a", balance_cents=seen.accounts["a"].balance_cents - 1000, entries=4)
        self.check(seen, lost=1, names="order big: billing of StockRejected")
        seen = world()
        change(seen, "accounts", "a", balance_cents=seen.accounts["a"].balance_cents + 1000, entries=6)
        self.check(seen, doubled=1, names="order big: billing of StockRejected")

    def test_a_debit_with_its_credit_too_often_leaves_no_trace_in_the_balance(self):
        seen = world()
        change(seen, "accounts", "a", entries=7)
        self.check(seen, doubled=2, names="order big")
        change(seen, "accounts", "a", entries=3)
        self.check(seen, lost=2, names="order big")

    def test_a_reservation_that_came_twice(self):
        seen = world()
        second = Event("again", "StockReserved", "o2", "{}", 2)
        seen.written.append(second)
        publish(seen, second)
        change(seen, "stock", "s", available=seen.stock["s"].available - 3, entries=5)
        change(seen, "statuses", "o2", event_id="again")
        self.check(seen, doubled=1, unexplained=1, names="order o2: reservation")

    def test_stock_that_moved_without_an_event_and_an_event_without_stock(self):
        seen = world()
        change(seen, "stock", "s", available=0, entries=6)
        self.check(seen, doubled=2, names="stock s: entries without an event")
        seen = world()
        change(seen, "stock", "s", available=50, entries=3)
        self.check(seen, lost=1, names="4 reservations told, 3 entries")

    def test_stock_that_does_not_add_up(self):
        seen = world()
        change(seen, "stock", "s", available=seen.stock["s"].available + 1)
        self.check(seen, lost=1, doubled=1, names="what is left is not")

    def test_an_order_no_consumer_has_heard_of(self):
        seen = world()
        seen.written = [e for e in seen.written if e.order_id != "o1"]
        unpublish(seen, lambda copy: copy.order_id == "o1")
        del seen.statuses["o1"]
        change(seen, "accounts", "a", balance_cents=seen.accounts["a"].balance_cents + 10, entries=4)
        change(seen, "stock", "s", available=seen.stock["s"].available + 2, entries=3)
        self.check(seen, lost=3, unexplained=1, names="0 OrderPlaced on the stream")

    def test_a_reserved_order_that_should_have_been_rejected(self):
        seen = world()
        seen.written = [dataclasses.replace(e, event_type="StockReserved") if e.event_id == "big/StockRejected" else e
                        for e in seen.written]
        change(seen, "stock", "s", available=seen.stock["s"].available - 99, entries=5)
        change(seen, "statuses", "big", status="RESERVED")
        self.check(seen, lost=2, doubled=1, names="order big: rejection by inventory")

    def test_a_projection_that_is_missing_old_or_wrong(self):
        for row in (None, Status("PLACED", 1, "o0/OrderPlaced"), Status("REJECTED", 2, "o0/StockReserved"),
                    Status("RESERVED", 2, "another event")):
            seen = world()
            seen.statuses["o0"] = row
            if row is None:
                del seen.statuses["o0"]
            self.check(seen, lost=1, names="order o0: projection")

    def test_written_and_not_published(self):
        seen = world()
        unpublish(seen, lambda copy: copy.event_id == "o1/StockReserved")
        self.check(seen, lost=2, names="order o1: StockReserved o1/StockReserved was written and not published to orders")

    def test_published_to_one_topic_and_not_to_the_other(self):
        for topic in ("orders", "orders-fifo"):
            seen = world()
            unpublish(seen, lambda copy: copy.event_id == "o1/StockReserved", (topic,))
            keys = self.check(seen, lost=1, names=f"was written and not published to {topic}").keys
            self.assertEqual((keys["events_published"], keys["duplicate_publishes"]), (10, 2))

    def test_a_second_topic_is_no_second_publish_and_a_second_copy_there_is(self):
        seen = world()
        seen.published["orders"] = list(seen.written)
        self.assertEqual(self.check(seen).keys["duplicate_publishes"], 0)
        seen.published["orders-fifo"].append(seen.written[0])
        self.assertEqual(self.check(seen).keys["duplicate_publishes"], 1)

    def test_sequences_with_a_hole_a_double_or_from_zero(self):
        for at, sequence in ((0, 0), (1, 3), (1, 1)):
            seen = world()
            seen.written[at] = dataclasses.replace(seen.written[at], sequence=sequence)
            self.check(seen, unexplained=1, names="order o0: its events have the sequences")

    def test_an_order_whose_events_came_in_the_wrong_order(self):
        seen = world()
        seen.published["orders"].reverse()
        self.check(seen)
        fifo = seen.published["orders-fifo"]
        fifo[0], fifo[1] = fifo[1], fifo[0]
        self.check(seen, unexplained=1, names="order o0: OrderPlaced with sequence 1 came behind 2 on orders-fifo")
        # A late copy of what came in order says nothing.
        seen = world()
        seen.published["orders-fifo"].append(seen.written[0])
        self.check(seen)

    def test_published_and_never_written(self):
        seen = world()
        seen.published["orders"].append(Event("phantom", "OrderPlaced", "o9", "{}"))
        self.check(seen, unexplained=1, names="phantom")

    def test_a_body_that_changed_on_the_way(self):
        seen = world()
        copies = seen.published["orders-fifo"]
        copies[0] = dataclasses.replace(copies[0], body="{}")
        self.check(seen, unexplained=1, names="its published body")

    def test_an_event_without_its_business_change(self):
        seen = world()
        ghost = Event("ghost", "OrderPlaced", "never", "{}", 1)
        seen.written.append(ghost)
        publish(seen, ghost)
        self.check(seen, unexplained=1, names="its order never does not exist")

    def test_an_accepted_order_that_is_not_there(self):
        seen = world()
        seen.accepted.append("vanished")
        self.check(seen, lost=1, names="order vanished: accepted")

    def test_poison_that_fell_silent(self):
        seen = world()
        seen.quarantined = []
        self.check(seen, unexplained=1, names="some fell silent")

    def test_a_quarantined_case_without_a_reason(self):
        seen = world()
        seen.quarantined = [dataclasses.replace(seen.quarantined[0], detail="")]
        self.check(seen, unexplained=1, names="has no reason")

    def test_what_fell_on_a_dead_letter_queue(self):
        seen = world()
        seen.dead_letters = 2
        self.check(seen, unexplained=1, names="dead-letter queue")

    def test_rows_left_in_the_outbox(self):
        seen = world()
        seen.outbox_left = ["Order#o1 id"]
        self.check(seen, unexplained=1, names="Order#o1 id")

    def test_the_assumption_about_who_is_rejected_is_checked(self):
        seen = world()
        change(seen, "stock", "s", opening=6, available=6 - 7)
        self.check(seen, unexplained=1, names="depends on the order")


if __name__ == "__main__":
    unittest.main()
