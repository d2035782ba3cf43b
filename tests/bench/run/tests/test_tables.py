import unittest

import budgets
import build
import summary
import tables
from tests.samples import relay, run
from works import all_works


def measured() -> dict:
    runs = {
        "consumer-10-0ms": {"floor": [run(80.0)], "oncebox": [run(100.0)], "oncebox-packed": [run(30.0)],
                            "powertools-python": [run(2400.0, calls_per_event=3.0)]},
        "relay-100-0ms": {"oncebox": [relay(20.0, 50_000.0)], "floor": [relay(16.0, 60_000.0)]},
    }
    return {"contestants": summary.contestants(runs), "ratios": summary.ratios(runs)}


class Tables(unittest.TestCase):
    def test_the_works_of_the_tables_are_measured_and_more_than_plots(self):
        kept = {work.name for work in all_works() if not work.plot_only}
        self.assertEqual(set(tables.WORKS), kept)
        self.assertEqual(set(tables.ORDER), {name for name, _ in build.names()})

    def test_a_table_has_ours_first(self):
        lines = tables.steady(measured(), "consumer-10-0ms").splitlines()
        self.assertEqual([line.split(" | ")[0].strip("| ") for line in lines[2:]],
                         ["oncebox", "oncebox-packed", "floor", "powertools-python"])
        self.assertIn("| 2,400 | 2,400–2,400 |", lines[-1])

    def test_the_terminal_shows_every_contestant_and_ratio(self):
        text = tables.terminal(measured())
        self.assertRegex(text, r"consumer-10-0ms +oncebox/floor +1\.00 +1\.25 +1\.00 ")
        self.assertRegex(text, r"relay-100-0ms +floor +60000 ")

    def test_a_curve_goes_up_in_batches_and_has_one_latency_and_no_variant(self):
        works = ("consumer-1000-0ms", "consumer-10-0ms", "consumer-10-5ms", "consumer-10-0ms-failing", "relay-10-0ms")
        rounds = [run(1.0, 900.0), run(1.0, 1100.0), run(1.0, 950.0)]
        by_work = summary.contestants({work: {"floor": rounds} for work in works})["floor"]
        self.assertEqual(tables.curve(by_work, "consumer", 0), [(10, 950.0, 900.0, 1100.0), (1000, 950.0, 900.0, 1100.0)])

    def test_text_goes_between_its_marks_alone(self):
        page = "a\n<!-- bench: x -->\nold\n<!-- end: x -->\nb\n<!-- bench: xy -->\nkeep\n<!-- end: xy -->\n"
        found = tables.put(page, "x", r"new \1")
        self.assertEqual(found, page.replace("old", r"new \1"))
        self.assertEqual(tables.put(found, "x", "old"), page)

    def test_a_page_without_marks_is_not_written(self):
        for page in ("", "<!-- bench: x -->\n", "<!-- bench: x -->\n<!-- end: x -->\n" * 2):
            with self.assertRaises(ValueError):
                tables.put(page, "x", "new")

    def test_the_pages_have_the_marks(self):
        page = (build.ROOT / "docs" / "performance.md").read_text()
        for name in ("conditions", "budgets", "start", "plots", *tables.WORKS):
            tables.put(page, name, "new")
        tables.put((build.ROOT / "docs" / "cost.md").read_text(), "cost", "new")


class Budgets(unittest.TestCase):
    def test_a_missed_budget_is_said_to_be_missed(self):
        lines = budgets.table(measured()).splitlines()
        self.assertIn("| consumer's CPU, of the floor's | consumer-10-0ms | ≤ 1.15 | 1.25 | **no** |", lines)
        self.assertIn("| packed consumer's CPU, of the floor's | consumer-10-0ms | ≤ 0.4 | 0.375 | yes |", lines)
        self.assertIn("| relay's CPU, of a floor's that deletes too | relay-100-0ms | ≤ 1.25 | 1.25 | yes |", lines)
        self.assertIn("| relay's delete calls per event | relay-100-0ms | ≤ 0.04 | 0.04 | yes |", lines)
        self.assertIn("| CPU of Powertools Python, of ours | consumer-10-0ms | ≥ 25 | 24 | **no** |", lines)

    def test_what_was_not_measured_is_not_called_met(self):
        self.assertIn("| packed consumer's calls per event | consumer-1000-0ms | ≤ 0.03 | – | not measured |",
                      budgets.table(measured()))


if __name__ == "__main__":
    unittest.main()
