import unittest

from check import compare, instructions


class Check(unittest.TestCase):
    def wrong(self, baseline: dict, counted: dict) -> list[str]:
        return compare(baseline, counted)[1]

    def test_a_growth_of_more_than_ten_per_cent_is_wrong(self):
        self.assertEqual(self.wrong({"parse": 1000}, {"parse": 1100}), [])
        (problem,) = self.wrong({"parse": 1000, "plan": 50}, {"parse": 1101, "plan": 50})
        self.assertIn("parse takes 10.1 % more", problem)

    def test_what_shrinks_is_told_and_not_wrong(self):
        lines, wrong = compare({"parse": 1000}, {"parse": 500})
        self.assertEqual(wrong, [])
        self.assertIn("-50.0 %  far fewer: bless it", lines[-1])

    def test_a_work_without_a_baseline_is_wrong(self):
        for baseline in ({}, {"parse": 0}):
            self.assertEqual(self.wrong(baseline, {"parse": 10}), ["parse is not in the baseline"])

    def test_a_work_that_is_gone_is_wrong(self):
        (problem,) = self.wrong({"parse": 10, "plan": 10}, {"parse": 10})
        self.assertIn("plan is in the baseline", problem)

    def test_callgrind_s_count_is_read(self):
        self.assertEqual(instructions("==7== Events    : Ir\n==7== Collected : 24190322\n==7== "), 24_190_322)
        with self.assertRaises(SystemExit):
            instructions("valgrind: failed to start tool")


if __name__ == "__main__":
    unittest.main()
