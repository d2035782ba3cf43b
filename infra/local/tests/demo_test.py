"""The demo as a test: it passes as it is, and the audit catches each sabotage. Needs the built functions.

Not named test_*.py: it takes half a minute and a build, so `make test` runs it by name (`python -m tests.demo_test`).
"""

import json
import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from bootstrap import HERE, ROOT

BINARIES = os.environ.get("BINARIES") or str(ROOT / "target" / "debug")
SECONDS = 400


def demo(sabotage: str) -> tuple[int, dict, str]:
    done = subprocess.run(
        [sys.executable, str(HERE / "demo.py"), "--binaries", BINARIES],
        env=os.environ | {"ORDERS": "60", "SABOTAGE": sabotage, "KEEP": ""},
        capture_output=True, text=True, timeout=SECONDS,
    )
    text = done.stdout + done.stderr
    last = done.stdout.strip().splitlines()[-1:]
    return done.returncode, json.loads(last[0]) if last and last[0].startswith("{") else {}, text


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # At once: most of each run is waiting for retries.
        with ThreadPoolExecutor(3) as pool:
            cls.runs = dict(zip(("", "no-inbox", "ack-first"), pool.map(demo, ("", "no-inbox", "ack-first"))))

    def test_nothing_is_lost_and_nothing_applied_twice(self):
        status, keys, text = self.runs[""]
        self.assertEqual(status, 0, text)
        self.assertEqual((keys["orders"], keys["lost"], keys["double_applied"]), (60, 0, 0))
        self.assertEqual(keys["effects_applied"], keys["effects_expected"])
        self.assertEqual(keys["events_published"], keys["events_written"])
        self.assertGreater(keys["duplicates_absorbed"], 0)
        self.assertGreater(keys["duplicate_publishes"], 0)
        for what in ("publish", "effect"):
            self.assertLess(0, keys[f"{what}_lag_p50_ms"], text)
            self.assertLessEqual(keys[f"{what}_lag_p50_ms"], keys[f"{what}_lag_p99_ms"], text)

    def test_without_the_inbox_effects_are_doubled_and_the_audit_says_so(self):
        status, keys, text = self.runs["no-inbox"]
        self.assertEqual(status, 1, text)
        self.assertGreater(keys["double_applied"], 0, text)
        # Doubled, and nothing else: what is wrong is that one thing.
        self.assertEqual((keys["lost"], keys["unexplained"]), (0, 0), text)

    def test_with_the_ack_before_the_commit_effects_are_lost_and_the_audit_says_so(self):
        status, keys, text = self.runs["ack-first"]
        self.assertEqual(status, 1, text)
        self.assertGreater(keys["lost"], 0, text)


if __name__ == "__main__":
    unittest.main()
