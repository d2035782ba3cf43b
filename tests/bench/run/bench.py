"""`make bench`: every contestant on every work, paired and alternating, into target/bench/summary.json.

    REPEAT=5        rounds
    ONLY=A,B        only what has one of these in CONTESTANT/WORK, such as ONLY=powertools or ONLY=oncebox/relay
    QUICK=1         a smoke run: one round of short lanes, of which no document is made
    BENCH_BIN_DIR   take release-built programs from there (examples from its examples/) and compile nothing
"""

import datetime
import json
import os
import sys
import time

import build
import lanes
import sizes
import summary
import tables
from works import Contestant, Work, all_works, quick_works

SECONDS, QUICK_SECONDS = 2.0, 0.3
TRIES = 3


def main() -> int:
    quick = os.environ.get("QUICK", "") not in ("", "0")
    only = [part for part in os.environ.get("ONLY", "").split(",") if part]
    repeat = int(os.environ.get("REPEAT", "1" if quick else "5"))
    pairs = chosen(build.names(), quick_works() if quick else all_works(), only)
    if repeat < 1 or not pairs:
        print(f"bench: nothing to do with REPEAT={repeat} ONLY={','.join(only)}", file=sys.stderr)
        return 2
    ready = build.everything({name for _, names in pairs for name in names})
    bench = Bench(ready, QUICK_SECONDS if quick else SECONDS)
    for round_ in range(repeat):
        for work, names in pairs:
            # What plots alone show is repeated half as often.
            if not (work.plot_only and 2 * round_ >= repeat + 1):
                bench.round(work, names if round_ % 2 == 0 else names[::-1])
    result = bench.result() | {"repeat": repeat, "quick": quick, "only": only}
    path = build.OUT / "summary.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(tables.terminal(result))
    print(f"{path}: {len(result['contestants'])} contestants, {repeat} rounds")
    for failure in result["failures"]:
        print(f"FAILED {failure['contestant']} on {failure['work']}: {failure['reason']}", file=sys.stderr)
    return 1 if result["failures"] else 0


def chosen(names: list[tuple[str, str]], works: list[Work], only: list[str]) -> list[tuple[Work, list[str]]]:
    """Each work with its contestants, in the order of the first round."""
    pairs = []
    for work in works:
        mine = [name for name, kind in names if kind == work.kind]
        mine = [name for name in mine if not only or any(part in f"{name}/{work.name}" for part in only)]
        if mine:
            pairs.append((work, mine))
    return pairs


class Bench:
    """Runs lanes and keeps what they measured. A contestant that failed once on a work is not run on it again."""

    def __init__(self, ready: build.Ready, seconds: float):
        self.ready = ready
        self.seconds = seconds
        self.runs: summary.Runs = {}
        self.failures: dict[tuple[str, str], str] = {}
        self.rates: dict[tuple[str, Work], float] = {}
        self.start = time.monotonic()

    def round(self, work: Work, names: list[str]) -> None:
        for name in names:
            if (name, work.name) in self.failures:
                continue
            why_not = self.ready.missing.get((name, work.kind))
            try:
                if why_not:
                    raise lanes.LaneFailed(why_not)
                contestant = self.ready.contestants[name, work.kind]
                one = self._lane(contestant, work)
            except lanes.LaneFailed as failure:
                self.failures[name, work.name] = str(failure)
                print(f"{self._clock()} {work.name:28} {name:22} FAILED: {failure}", flush=True)
                continue
            one["zip_mb"] = self.ready.zip_mb[name, work.kind]
            self.runs.setdefault(work.name, {}).setdefault(name, []).append(one)
            print(f"{self._clock()} {work.name:28} {name:22} {one['events_per_s']:10.0f} events/s "
                  f"{one['cpu_us_per_event']:9.1f} us CPU/event {one['calls_per_event']:6.3f} calls/event", flush=True)

    def _lane(self, contestant: Contestant, work: Work) -> dict:
        invocations = self._invocations(contestant, work)
        for _ in range(TRIES):
            one = lanes.run(self.ready.lane, contestant, work, invocations, sizes.warmup(invocations, work.batch))
            if one["threads_ended"] == 0:
                return one
        # The kernel forgets what a thread has used when it ends.
        raise lanes.LaneFailed(f"{TRIES} times, threads ended while they were measured; their CPU time is not known")

    def _invocations(self, contestant: Contestant, work: Work) -> int:
        """From a short run of the same, once. Its figures are used for nothing else."""
        key = (contestant.name, work)
        if key not in self.rates:
            smaller = [rate for (name, other), rate in self.rates.items()
                       if name == contestant.name and (other.kind, other.latency_ms) == (work.kind, work.latency_ms)
                       and other.batch < work.batch]
            if sizes.needs_probe(min(smaller, default=None), work.batch, self.seconds):
                count = sizes.probe(work.batch)
                probe = lanes.run(self.ready.lane, contestant, work, count, min(count, 20))
                self.rates[key] = probe["events_per_s"]
            else:
                self.rates[key] = min(smaller)
        return sizes.measured(self.rates[key], work.batch, self.seconds)

    def _clock(self) -> str:
        return f"{time.monotonic() - self.start:6.0f} s"

    def result(self) -> dict:
        """Without anything of a contestant on a work where one of its lanes failed."""
        whole = {work: {name: runs for name, runs in by_name.items() if (name, work) not in self.failures}
                 for work, by_name in self.runs.items()}
        return {
            "taken": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "machine": build.machine(),
            "versions": self.ready.versions,
            "contestants": summary.contestants(whole),
            "ratios": summary.ratios(whole),
            "failures": [{"contestant": name, "work": work, "reason": why} for (name, work), why in self.failures.items()],
        }


if __name__ == "__main__":
    sys.exit(main())
