"""The small parts around the auditor: reading balances and log lines, paging a stream, planning the orders."""

import unittest

from auditor import lag, ledger, logs, stream
from auditor.ledger import Booked
from auditor.model import Event, Observed
from scenario import plan


class Ledger(unittest.TestCase):
    def test_digits(self):
        self.assertEqual(ledger.digits(111, [1, 10, 100]), [1, 1, 1])
        self.assertEqual(ledger.digits(208, [1, 10, 100]), [8, 0, 2])
        self.assertEqual(ledger.digits(-190, [1, 10, 100]), [0, 1, -2])

    def test_amounts_that_spell_nothing(self):
        for amounts in ([5, 6], [1, 4], [0, 10], [3, 3]):
            self.assertIsNone(ledger.digits(9, amounts), amounts)
        self.assertIsNone(ledger.digits(25, [10, 100]))

    def test_pairs_go_to_the_rejected_orders(self):
        amounts = {"kept": 1, "one": 10, "two": 100}
        found = ledger.read(1, 5, amounts, {"one", "two"})
        self.assertEqual(found, {"kept": Booked(1, 0), "one": Booked(1, 1), "two": Booked(1, 1)})
        self.assertEqual(ledger.read(11, 8, amounts, {"one"})["one"], Booked(4, 3))
        self.assertIsNone(ledger.read(1, 2, amounts, {"one"}))
        self.assertIsNone(ledger.read(0, 0, {}, set()))


class Logs(unittest.TestCase):
    LINES = (
        '{"message":"batch received","consumer":"billing","records":7}',
        '{"message":"batch done","consumer":"billing","records":7,"applied":4,"duplicate":3,"CommitToApplyLag":[1.5,20]}',
        '{"message":"more values","consumer":"billing","CommitToApplyLag":[300]}',
        '{"message":"something else","consumer":"billing","CommitToApplyLag":[9]}',
        '{"message":"batch done","consumer":"inventory","records":7,"duplicate":3,"CommitToApplyLag":[7]}',
        "START RequestId: 1", "[1]", "null", "{",
    )

    def test_its_consumer_and_nothing_else(self):
        lines = [fields for line in self.LINES if (fields := logs.read(line, "billing"))]
        found = logs.counters(lines)
        self.assertEqual((found["deliveries"], found["applied"], found["duplicate"]), (7, 4, 3))
        self.assertEqual(logs.lags(lines), [1.5, 20, 300])


class Lag(unittest.TestCase):
    def seen(self) -> Observed:
        row = lambda event_id, at: Event(event_id, "OrderPlaced", "o", "{}", 1, at)
        return Observed(
            written=[row("a", 1000), row("b", 2000), row("c", 3000)],
            # The second copy of `a` does not count, and `c` has not reached every topic.
            published={"orders": [row("a", 1010), row("a", 1900), row("b", 2005), row("c", 3001)],
                       "orders-fifo": [row("a", 1007), row("b", 2400)]},
            effect_lags={"billing": [30.0, 10.4], "inventory": [20.0]},
        )

    def test_publish_is_the_first_copy_behind_the_last_topic(self):
        self.assertEqual(lag.publish(self.seen()), [10, 400])

    def test_the_keys_are_whole_milliseconds(self):
        self.assertEqual(lag.keys(self.seen()), {"publish_lag_p50_ms": 10, "publish_lag_p99_ms": 400,
                                                 "effect_lag_p50_ms": 20, "effect_lag_p99_ms": 30})
        self.assertEqual({type(value) for value in lag.keys(self.seen()).values()}, {int})

    def test_what_was_not_measured_has_no_figure(self):
        self.assertEqual(lag.keys(Observed()), {})

    def test_percentiles_are_values_that_were_measured(self):
        for count, p50, p99 in ((1, 1, 1), (2, 1, 2), (3, 2, 3), (100, 50, 99), (101, 51, 100), (1000, 500, 990)):
            values = list(range(count, 0, -1))
            self.assertEqual((lag.percentile(values, 50), lag.percentile(values, 99)), (p50, p99), count)


class FakeStreams:
    """Two shards in two pages of the description; empty pages before and between the records."""

    pages = {"one": [[], ["a"], [], [], ["b"]], "two": [["c"]]}

    def describe_stream(self, StreamArn, ExclusiveStartShardId=None):  # noqa: N803 - the API's names
        last = {} if ExclusiveStartShardId else {"LastEvaluatedShardId": "one"}
        return {"StreamDescription": {"Shards": [{"ShardId": "two" if ExclusiveStartShardId else "one"}]} | last}

    def get_shard_iterator(self, ShardId, **_):  # noqa: N803
        return {"ShardIterator": (ShardId, 0)}

    def get_records(self, ShardIterator, **_):  # noqa: N803
        shard, at = ShardIterator
        return {"Records": self.pages[shard][at] if at < len(self.pages[shard]) else [],
                "NextShardIterator": (shard, at + 1)}


class Stream(unittest.TestCase):
    def test_reads_every_shard_to_its_end(self):
        self.assertEqual(list(stream.records(FakeStreams(), "arn")), ["a", "b", "c"])


class Plan(unittest.TestCase):
    def test_only_what_is_meant_to_be_rejected_is(self):
        for count in (10, 11, 25, 50, 199, 200, 1000):
            made = plan.make(count)
            too_many = [o for o in made.orders if o["quantity"] > made.stock.get(o["sku"], 0)]
            dear = [o for o in made.orders if o["amount_cents"] >= plan.DECLINED_FROM_CENTS and o not in too_many]
            self.assertEqual(len(dear), made.declined)
            self.assertGreaterEqual(made.declined, 2)
            self.assertEqual(made.events, 3 * count - made.rejected)
            credited = [o["account_id"] for o in too_many + dear]
            self.assertEqual(len(set(credited)), len(credited))
            self.assertEqual(len(made.orders), count)
            self.assertEqual(len(too_many), made.rejected)
            self.assertGreaterEqual(made.rejected, 2)
            self.assertEqual(sum(o["account_id"] not in made.accounts for o in made.orders), made.unknown_accounts)
            for sku, opening in made.stock.items():
                self.assertLessEqual(
                    sum(o["quantity"] for o in made.orders if o["sku"] == sku and o not in too_many), opening)

    def test_the_orders_of_an_account_can_be_told_apart(self):
        for count in (10, 200, 1000):
            made = plan.make(count)
            for account in made.accounts:
                amounts = sorted(o["amount_cents"] for o in made.orders if o["account_id"] == account)
                self.assertIsNotNone(ledger.digits(sum(amounts), amounts), (count, account))


if __name__ == "__main__":
    unittest.main()
