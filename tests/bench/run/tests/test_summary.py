import unittest

import summary
from tests.samples import run


class Summary(unittest.TestCase):
    def test_a_figure_is_the_median_and_the_spread_its_ends(self):
        rounds = [run(90.0), run(70.0), run(200.0)]
        one = summary.contestants({"consumer-10-0ms": {"floor": rounds}})["floor"]["consumer-10-0ms"]
        self.assertEqual(one["cpu_us_per_event"], 90.0)
        self.assertEqual(one["spread"]["cpu_us_per_event"], [70.0, 200.0])
        self.assertEqual((one["rounds"], one["write_units_per_event"]), (3, 4.0))

    def test_every_metric_of_the_summary_is_there(self):
        one = summary.contestants({"w": {"floor": [run(1.0)]}})["floor"]["w"]
        wanted = {"events_per_s", "cpu_us_per_event", "calls_per_event", "init_ms", "first_ms", "peak_mb", "zip_mb", "spread"}
        self.assertLessEqual(wanted, one.keys())

    def test_operations_are_counted_over_rounds_of_different_length(self):
        rounds = [run(1.0, events=100, calls_by_operation={"PutItem": 100}), run(1.0, events=300, calls_by_operation={})]
        self.assertEqual(summary.operations(rounds), {"PutItem": 0.25})

    def test_a_ratio_is_taken_within_each_round(self):
        # In the second round everything was ten times slower. The medians alone (100 / 30) would say 3.33.
        runs = {"w": {"oncebox": [run(20.0), run(600.0), run(100.0)], "floor": [run(10.0), run(300.0), run(30.0)]}}
        self.assertEqual(summary.ratios(runs)["w"]["cpu oncebox/floor"], 2.0)

    def test_we_are_measured_against_the_floor_and_the_peers_against_us(self):
        names = ("oncebox", "oncebox-packed", "floor", "floor-no-delete", "powertools-python")
        found = summary.ratios({"w": {name: [run(float(at + 1))] for at, name in enumerate(names)}})["w"]
        pairs = {name.partition(" ")[2] for name in found}
        self.assertEqual(pairs, {"oncebox/floor", "oncebox-packed/floor", "powertools-python/oncebox"})
        self.assertEqual(found["cpu powertools-python/oncebox"], 5.0)

    def test_without_a_floor_there_is_no_ratio_to_it(self):
        found = summary.ratios({"w": {"oncebox": [run(2.0)], "boto3": [run(3.0)]}})["w"]
        self.assertEqual(found["cpu boto3/oncebox"], 1.5)
        self.assertFalse([name for name in found if "floor" in name])

    def test_rounds_that_do_not_pair_are_not_divided(self):
        with self.assertRaises(ValueError):
            summary.ratios({"w": {"oncebox": [run(2.0), run(2.0)], "floor": [run(3.0)]}})

    def test_a_metric_of_zero_divides_nothing(self):
        found = summary.ratios({"w": {"oncebox": [run(2.0)], "floor": [run(3.0, calls_per_event=0.0)]}})["w"]
        self.assertNotIn("calls oncebox/floor", found)


if __name__ == "__main__":
    unittest.main()
