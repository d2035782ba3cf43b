"""From single runs to medians, spreads and ratios."""

from statistics import median

METRICS = ("events_per_s", "cpu_us_per_event", "calls_per_event", "init_ms", "first_ms", "peak_mb", "zip_mb")
# Names of ratios -> metric. Of all but "speed", less is better.
RATIOS = {
    "speed": "events_per_s",
    "cpu": "cpu_us_per_event",
    "calls": "calls_per_event",
    "init": "init_ms",
    "first": "first_ms",
    "peak": "peak_mb",
    "zip": "zip_mb",
}
OURS = ("oncebox", "oncebox-packed")
FLOOR = "floor"

# work -> contestant -> one run per round, in the order of the rounds
Runs = dict[str, dict[str, list[dict]]]


def contestants(runs: Runs) -> dict:
    """Median and spread (least and most) of each metric, by contestant and work."""
    found: dict = {}
    for work, by_contestant in runs.items():
        for name, rounds in by_contestant.items():
            values = {metric: [one[metric] for one in rounds] for metric in METRICS}
            found.setdefault(name, {})[work] = {
                **{metric: round(median(each), 3) for metric, each in values.items()},
                "spread": {metric: [round(min(each), 3), round(max(each), 3)] for metric, each in values.items()},
                "operations_per_event": operations(rounds),
                "write_units_per_event": round(median(one["write_units"] / one["events"] for one in rounds), 4),
                "bytes_per_event": round(median((one["bytes_in"] + one["bytes_out"]) / one["events"] for one in rounds)),
                "rounds": len(rounds),
                "events": rounds[-1]["events"],
            }
    return found


def operations(rounds: list[dict]) -> dict[str, float]:
    """Calls of each operation for an event, over all rounds."""
    names = sorted({name for one in rounds for name in one["calls_by_operation"]})
    events = sum(one["events"] for one in rounds)
    return {name: round(sum(one["calls_by_operation"].get(name, 0) for one in rounds) / events, 4) for name in names}


def ratios(runs: Runs) -> dict:
    """Of each work: ours against the floor, and everybody else against ours.

    Rounds are paired: the ratio is taken within each and the median is of those, so that what slows a whole round down
    slows both down.
    """
    return {work: dict(_of_work(by_contestant)) for work, by_contestant in runs.items()}


def _of_work(by_contestant: dict[str, list[dict]]):
    present = [name for name in OURS if name in by_contestant]
    others = [name for name in by_contestant if name not in OURS and not name.startswith(FLOOR)]
    pairs = [(name, FLOOR) for name in present if FLOOR in by_contestant]
    pairs += [(other, "oncebox") for other in others if "oncebox" in present]
    for above, below in pairs:
        for short, metric in RATIOS.items():
            rounds = list(zip(by_contestant[above], by_contestant[below], strict=True))
            if all(lower[metric] > 0 for _, lower in rounds):
                ratio = median(upper[metric] / lower[metric] for upper, lower in rounds)
                yield f"{short} {above}/{below}", round(ratio, 3)
