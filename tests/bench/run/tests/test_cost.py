import unittest

import build
import cost
import summary
from tests.samples import powertools, relay, run

OUTBOX_ROW = 2.0


def measured() -> dict:
    """1 ms an event of waiting alone for the relay, and 4 ms for the consumers, to keep the arithmetic short."""
    return {"contestants": summary.contestants({
        "relay-100-5ms": {name: [relay(0.0, 1000.0)] for name in ("oncebox", "boto3")},
        "consumer-10-5ms": {"oncebox": [run(0.0, 250.0)], "powertools-python": [powertools(0.0, 250.0)]},
    })}


def scheme(begin: str) -> cost.Scheme:
    return next(each for each in cost.SCHEMES if each.name.startswith(begin))


class Cost(unittest.TestCase):
    def test_a_scheme_costs_what_its_parts_cost(self):
        parts = cost.dollars(scheme("oncebox"), measured(), OUTBOX_ROW)
        self.assertAlmostEqual(parts["Lambda requests"], 0.2 * (1 / 100 + 1 / 10))
        self.assertAlmostEqual(parts["Lambda time"], 5000 * 0.25 * 0.0000166667)
        self.assertAlmostEqual(parts["SNS"], 0.05)
        self.assertAlmostEqual(parts["Write units"], 7 * 0.625)
        self.assertAlmostEqual(parts["Total"], sum(value for name, value in parts.items() if name != "Total"))

    def test_the_writes_of_the_peers_are_those_counted(self):
        parts = cost.dollars(scheme("boto3"), measured(), OUTBOX_ROW)
        self.assertAlmostEqual(parts["Write units"], (2 + 1 + 3) * 0.625)

    def test_a_pipe_has_no_relay_and_no_delete(self):
        parts = cost.dollars(scheme("a Pipe"), measured(), OUTBOX_ROW)
        self.assertAlmostEqual(parts["Pipe"], 0.4)
        self.assertAlmostEqual(parts["Write units"], 6 * 0.625)
        self.assertAlmostEqual(parts["Lambda requests"], 0.2 / 10)

    def test_cpu_is_stretched_to_the_share_that_the_memory_buys_and_waiting_is_not(self):
        half_waiting = {"events_per_s": 1000.0, "cpu_us_per_event": 500.0}
        self.assertAlmostEqual(cost.billed_seconds(half_waiting), 0.0005 + 0.0005 * 1769 / 256)
        # Two threads may use more CPU than time has passed.
        self.assertAlmostEqual(cost.billed_seconds({"events_per_s": 1000.0, "cpu_us_per_event": 2000.0}), 0.002 * 1769 / 256)

    def test_the_units_of_a_row_are_those_of_the_measured_table(self):
        self.assertEqual(cost.outbox_row_units((build.ROOT / "docs" / "cost.md").read_text()), OUTBOX_ROW)
        with self.assertRaisesRegex(ValueError, "relay"):
            cost.outbox_row_units("no table")

    def test_a_scheme_that_was_not_measured_whole_has_no_figure(self):
        lines = cost.table(measured(), (build.ROOT / "docs" / "cost.md").read_text()).splitlines()
        floor = next(line for line in lines if "two-row floor" in line)
        self.assertEqual(floor.count("| – "), 6)
        self.assertEqual(len(lines), 2 + len(cost.SCHEMES))


if __name__ == "__main__":
    unittest.main()
