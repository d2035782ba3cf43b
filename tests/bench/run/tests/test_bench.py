import contextlib
import io
import json
import unittest
from pathlib import Path

import bench
import build
import lanes
import sizes
from tests.samples import run
from works import Contestant, Work, all_works, quick_works

WORK = Work("consumer", 10, 0)


def script(text: str) -> Contestant:
    """A stand-in for lane and contestant: what comes after `--` is the contestant, which is not started."""
    return Contestant("floor", "consumer", (text,))


class Sizes(unittest.TestCase):
    def test_fast_and_slow_contestants_take_as_long(self):
        self.assertEqual(sizes.measured(10_000, 10, 2.0), 2000)
        self.assertEqual(sizes.measured(400, 10, 2.0), 80)

    def test_a_lane_has_bounds(self):
        self.assertEqual(sizes.measured(1, 10, 2.0), 2)
        self.assertEqual(sizes.measured(60, 1000, 2.0), 1)
        self.assertEqual(sizes.measured(1e9, 100, 2.0), sizes.MOST_EVENTS // 100)

    def test_what_takes_a_whole_lane_anyway_is_not_tried_before(self):
        self.assertFalse(sizes.needs_probe(60, 1000, 2.0))
        self.assertTrue(sizes.needs_probe(60, 100, 2.0))
        self.assertTrue(sizes.needs_probe(12_000, 1000, 2.0))
        self.assertTrue(sizes.needs_probe(None, 1000, 2.0))


class Chosen(unittest.TestCase):
    def test_names_of_works_are_those_of_the_documents(self):
        names = {work.name for work in all_works()}
        self.assertEqual(len(names), len(all_works()))
        for name in ("consumer-10-0ms", "consumer-1000-5ms", "consumer-10-0ms-duplicates", "consumer-10-5ms-failing",
                     "relay-100-0ms", "relay-1000-5ms"):
            self.assertIn(name, names)

    def test_each_work_has_the_contestants_of_its_kind(self):
        for work, names in bench.chosen(build.names(), all_works(), []):
            self.assertEqual("powertools-python" in names, work.kind == "consumer")
            self.assertEqual("floor-no-delete" in names, work.kind == "relay")

    def test_only_looks_at_contestant_and_work(self):
        found = bench.chosen(build.names(), all_works(), ["floor/relay-100-", "packed/consumer-1000-0ms"])
        self.assertEqual([(work.name, names) for work, names in found], [
            ("consumer-1000-0ms", ["oncebox-packed"]), ("relay-100-0ms", ["floor"]), ("relay-100-5ms", ["floor"])])
        self.assertEqual(bench.chosen(build.names(), all_works(), ["nobody"]), [])

    def test_a_smoke_run_is_a_part_of_the_whole(self):
        self.assertLess(set(quick_works()), set(all_works()))


class Lanes(unittest.TestCase):
    def test_a_line_of_json_is_the_result(self):
        found = lanes.run(Path("/bin/echo"), script('\n{"events": 7}'), WORK, 1, 1)
        self.assertEqual(found, {"events": 7})

    def test_a_lane_that_ends_badly_is_no_figure(self):
        with self.assertRaisesRegex(lanes.LaneFailed, "to see more: .*false.* --log FILE -- program"):
            lanes.run(Path("/bin/false"), script("program"), WORK, 1, 1)


class Failures(unittest.TestCase):
    def setUp(self):
        ready = build.Ready(lane=Path("/bin/false"))
        ready.contestants["floor", "consumer"] = script("program")
        ready.missing["powertools-python", "consumer"] = "not installed: no network"
        self.bench = bench.Bench(ready, 1.0)
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))

    def test_a_contestant_that_fails_once_has_no_figure_of_that_work(self):
        self.bench.runs = {WORK.name: {"floor": [run(1.0)], "oncebox": [run(1.0)]}}
        self.bench.round(WORK, ["floor"])
        result = self.bench.result()
        self.assertEqual(list(result["contestants"]), ["oncebox"])
        self.assertEqual([failure["contestant"] for failure in result["failures"]], ["floor"])
        self.assertEqual(result["ratios"][WORK.name], {})

    def test_a_run_that_lost_the_time_of_a_thread_is_no_figure(self):
        line = json.dumps(run(1.0, threads_ended=1))
        self.bench.ready.contestants["floor", "consumer"] = script(f"\n{line}")
        self.bench.ready.lane = Path("/bin/echo")
        self.bench.round(WORK, ["floor"])
        self.assertIn("threads ended", self.bench.result()["failures"][0]["reason"])
        self.assertEqual(self.bench.result()["contestants"], {})

    def test_a_run_that_went_well_is_kept(self):
        self.bench.ready.contestants["floor", "consumer"] = script("\n" + json.dumps(run(7.0, threads_ended=0)))
        self.bench.ready.zip_mb["floor", "consumer"] = 3.5
        self.bench.ready.lane = Path("/bin/echo")
        self.bench.round(WORK, ["floor"])
        kept = self.bench.result()["contestants"]["floor"][WORK.name]
        self.assertEqual((kept["cpu_us_per_event"], kept["zip_mb"]), (7.0, 3.5))

    def test_a_peer_that_is_not_installed_is_reported(self):
        self.bench.round(WORK, ["powertools-python"])
        self.assertEqual(self.bench.result()["failures"], [
            {"contestant": "powertools-python", "work": WORK.name, "reason": "not installed: no network"}])


if __name__ == "__main__":
    unittest.main()
