"""The auditor must be able to fail: a world where all is right, and then each way in which it can be wrong."""

import dataclasses
import unittest
from collections import Counter

from auditor.audit import audit
from auditor.model import Account, Call, Case, Event, Observed, Order, Status, Stock


# The provider of these tests declines from here on.
DECLINED_FROM = 5_000


def world(amounts=(1, 10, 100), rejected_amount=1000) -> Observed:
    """Three orders that fit and one that is rejected, on one account and one stock item; one that is declined, on an
    account of its own; an order for nobody."""
    seen = Observed()
    placed = [Order(f"o{n}", "a", "s", n + 1, amount) for n, amount in enumerate(amounts)]
    placed += [Order("big", "a", "s", 99, rejected_amount), Order("nobody", "unknown", "s", 1, 7),
               Order("poor", "b", "s", 4, DECLINED_FROM)]
    for order in placed:
        no = order.order_id == "big"
        poor = order.order_id == "poor"
        kinds = ["OrderPlaced", "StockRejected"] if no else ["OrderPlaced", "StockReserved"]
        kinds += [] if no else ["PaymentDeclined" if poor else "PaymentCaptured"]
        seen.accepted.append(order.order_id)
        seen.orders[order.order_id] = order
        for sequence, kind in enumerate(kinds, 1):
            event_id = f"{order.order_id}/{kind}"
            seen.written.append(Event(event_id, kind, order.order_id, f'{{"id":"{event_id}"}}', sequence))
        seen.statuses[order.order_id] = Status(
            "REJECTED" if no else "DECLINED" if poor else "PAID", len(kinds), f"{order.order_id}/{kinds[-1]}")
        if not no:
            capture = Call(order.order_id, "declined" if poor else "done", f"{order.order_id}/StockReserved",
                           order.account_id, order.amount_cents)
            # The provider has failed before its work, and has answered its first answer once more.
            seen.captures += [dataclasses.replace(capture, work="none"), capture,
                              dataclasses.replace(capture, work="repeated")]
            seen.mails += [] if poor else [Call(order.order_id, "none"), Call(order.order_id, "done")]
    # The FIFO topic has taken no second copy.
    seen.published = {"orders": list(seen.written) + seen.written[:2], "orders-fifo": list(seen.written)}
    seen.accounts["a"] = Account(10_000, 10_000 - sum(amounts), 5)
    seen.accounts["b"] = Account(10_000, 10_000, 2)
    taken = sum(o.quantity for o in placed if o.order_id not in ("big", "poor"))
    seen.stock["s"] = Stock(50, 50 - taken, 6)
    seen.quarantined = [Case("billing", "e", "permanent", "the account does not exist")]
    seen.counters["billing"] = Counter(deliveries=9, duplicate=3)
    return seen


def publish(seen: Observed, event: Event) -> None:
    for copies in seen.published.values():
        copies.append(event)


def unpublish(seen: Observed, gone, topics=("orders", "orders-fifo")) -> None:
    for topic in topics:
        seen.published[topic] = [copy for copy in seen.published[topic] if not gone(copy)]


def recall(seen: Observed, order_id: str, work: str, **values) -> None:
    """Changes the capture that was done."""
    seen.captures = [dataclasses.replace(each, **{"work": work} | values) if each.order_id == order_id
                     and each.work in ("done", "declined") else each for each in seen.captures]


def change(seen: Observed, table: str, key: str, **values) -> None:
    rows = getattr(seen, table)
    rows[key] = dataclasses.replace(rows[key], **values)


class Auditor(unittest.TestCase):
    def check(self, seen: Observed, lost: int = 0, doubled: int = 0, unexplained: int = 0, names: str = ""):
        found = audit(seen, declined_from_cents=DECLINED_FROM)
        text = "\n".join(found.lost + found.doubled + found.unexplained)
        self.assertEqual((lost, doubled, unexplained),
                         (len(found.lost), len(found.doubled), len(found.unexplained)), text)
        self.assertEqual(found.clean, not (lost or doubled or unexplained))
        self.assertIn(names, text)
        return found

    def test_a_right_world_is_clean(self):
        keys = self.check(world()).keys
        # Billing 5 and 2; inventory 6 and a release; payment 4 and a decline; 4 mails; a row each.
        self.assertEqual(keys["effects_expected"], 7 + 7 + 5 + 4 + 6)
        self.assertEqual(keys["effects_applied"], 29)
        self.assertEqual((keys["events_written"], keys["events_published"], keys["duplicate_publishes"]), (17, 17, 2))
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
        change(seen, "stock", "s", available=seen.stock["s"].available - 3, entries=7)
        self.check(seen, doubled=1, unexplained=2, names="order o2: reservation")

    def test_stock_that_moved_without_an_event_and_an_event_without_stock(self):
        seen = world()
        change(seen, "stock", "s", available=0, entries=8)
        self.check(seen, doubled=2, names="stock s: entries without an event")
        seen = world()
        change(seen, "stock", "s", available=50, entries=4)
        self.check(seen, lost=2, names="5 reservations told, 4 entries")

    def test_a_release_that_is_missing_and_one_that_came_twice(self):
        for entries, available, lost, doubled in ((5, -4, 1, 0), (7, 4, 0, 1), (6, 4, 1, 1)):
            seen = world()
            change(seen, "stock", "s", entries=entries, available=seen.stock["s"].available + available)
            self.check(seen, lost=lost, doubled=doubled, names="stock s: ")

    def test_a_decline_that_was_not_credited_back(self):
        seen = world()
        change(seen, "accounts", "b", balance_cents=10_000 - DECLINED_FROM, entries=1)
        self.check(seen, lost=1, names="order poor: billing of PaymentDeclined")

    def test_a_capture_that_is_missing_and_one_that_came_twice(self):
        seen = world()
        recall(seen, "o1", "none")
        # The event says what is not so.
        self.check(seen, lost=1, unexplained=1, names="order o1: capture by the payment provider: expected 1, found 0")
        seen = world()
        seen.captures.append(next(call for call in seen.captures if (call.order_id, call.work) == ("o1", "done")))
        found = self.check(seen, doubled=1, names="order o1: capture by the payment provider: expected 1, found 2")
        self.assertEqual((found.keys["double_applied"], found.tallies["payment"].found), (1, 6))

    def test_a_decline_that_was_captured_and_a_capture_that_was_declined(self):
        seen = world()
        recall(seen, "poor", "done")
        self.check(seen, doubled=1, unexplained=1, names="PaymentDeclined, and the provider has not declined")
        seen = world()
        recall(seen, "o0", "declined")
        self.check(seen, lost=1, unexplained=2, names="order o0: the provider has declined what it gives")

    def test_a_capture_of_something_else_than_the_order(self):
        for values, names in (({"amount_cents": 11}, "order o1: the capture asked for"),
                              ({"account_id": "b"}, "order o1: the capture asked for"),
                              ({"key": "made-up"}, "order o1: the idempotency key")):
            seen = world()
            recall(seen, "o1", "done", **values)
            self.check(seen, unexplained=1, names=names)
        seen = world()
        seen.captures.append(Call("o9", "done", "o9/StockReserved", "a", 1))
        self.check(seen, unexplained=1, names="'o9', which does not exist")
        seen = world()
        seen.captures.append(Call("o1", "mismatch", "o1/StockReserved", "a", 10))
        self.check(seen, unexplained=1, names="order o1: its idempotency key came again with another body")

    def test_a_mail_that_is_missing_and_one_that_came_twice_or_for_nothing(self):
        seen = world()
        seen.mails = [call for call in seen.mails if call.order_id != "o2"]
        self.check(seen, lost=1, names="order o2: mail")
        for order_id in ("o2", "poor", "big"):
            seen = world()
            seen.mails.append(Call(order_id, "done"))
            self.check(seen, doubled=1, names=f"order {order_id}: mail")

    def test_a_mail_of_which_nobody_knows_is_in_quarantine_and_not_lost(self):
        for sent, doubled in ((0, 0), (1, 0), (2, 1)):
            seen = world()
            seen.mails = [call for call in seen.mails if call.order_id != "o2"] + [Call("o2", "done")] * sent
            seen.quarantined.append(Case("notification", "e", "unknown", "the provider did not answer", "o2"))
            found = self.check(seen, doubled=doubled)
            self.assertEqual((found.keys["quarantined"], found.keys["effects_expected"]), (2, 28 + min(sent, 1)))
        # Another's case, or one for another reason, explains no missing mail.
        for owner, reason in (("payment", "unknown"), ("notification", "exhausted")):
            seen = world()
            seen.mails = [call for call in seen.mails if call.order_id != "o2"]
            seen.quarantined.append(Case(owner, "e", reason, "detail", "o2"))
            self.check(seen, lost=1, names="order o2: mail")

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
        change(seen, "stock", "s", available=seen.stock["s"].available + 2, entries=5)
        seen.captures, seen.mails = ([call for call in calls if call.order_id != "o1"]
                                     for calls in (seen.captures, seen.mails))
        self.check(seen, lost=5, unexplained=1, names="0 OrderPlaced on the stream")

    def test_a_reserved_order_that_should_have_been_rejected(self):
        seen = world()
        seen.written = [dataclasses.replace(e, event_type="StockReserved") if e.event_id == "big/StockRejected" else e
                        for e in seen.written]
        change(seen, "stock", "s", available=seen.stock["s"].available - 99, entries=7)
        change(seen, "statuses", "big", status="RESERVED")
        self.check(seen, lost=2, doubled=1, names="order big: rejection by inventory")

    def test_a_projection_that_is_missing_old_or_wrong(self):
        for row in (None, Status("PLACED", 1, "o0/OrderPlaced"), Status("RESERVED", 2, "o0/StockReserved"),
                    Status("DECLINED", 3, "o0/PaymentCaptured"), Status("PAID", 3, "another event")):
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
            self.assertEqual((keys["events_published"], keys["duplicate_publishes"]), (17, 2))

    def test_a_second_topic_is_no_second_publish_and_a_second_copy_there_is(self):
        seen = world()
        seen.published["orders"] = list(seen.written)
        self.assertEqual(self.check(seen).keys["duplicate_publishes"], 0)
        seen.published["orders-fifo"].append(seen.written[0])
        self.assertEqual(self.check(seen).keys["duplicate_publishes"], 1)

    def test_sequences_with_a_hole_a_double_or_from_zero(self):
        for at, sequence in ((0, 0), (1, 3), (1, 1), (2, 4)):
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

    def test_a_call_with_an_unknown_outcome_does_not_stand_in_for_poison(self):
        seen = world()
        seen.quarantined = [Case("notification", "e", "unknown", "the provider did not answer", "o2")]
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
        change(seen, "stock", "s", opening=10, available=10 - 7)
        self.check(seen, unexplained=1, names="depends on the order")


if __name__ == "__main__":
    unittest.main()
