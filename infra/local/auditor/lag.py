"""How long events are on their way. One clock: everything runs on this machine.

* Publish lag: from the time in the outbox row, which the producer takes just before its commit, to the arrival behind
  the last of the topics. One value for each event; the first copy counts.
* Effect lag: from the time in the event (the same moment) to the end of the consumer's commit, as the consumer logs it.
  One value for each effect; those of a killed process are missing (see logs.py).
"""

import math

from auditor.model import Observed


def publish(seen: Observed) -> list[float]:
    """Milliseconds; only events that every topic has passed on."""
    first = [_first(copies) for copies in seen.published.values()]
    return [max(at[row.event_id] for at in first) - row.at
            for row in seen.written if first and all(row.event_id in at for at in first)]


def _first(copies) -> dict[str, int]:
    found: dict[str, int] = {}
    for copy in copies:
        found[copy.event_id] = min(copy.at, found.get(copy.event_id, copy.at))
    return found


def percentile(values: list[float], percent: int) -> int:
    """By nearest rank: a value that was measured, and not one between two."""
    return round(sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)])


def keys(seen: Observed) -> dict[str, int]:
    """Nothing for what was not measured."""
    effects = [value for values in seen.effect_lags.values() for value in values]
    return {f"{what}_lag_p{percent}_ms": percentile(values, percent)
            for what, values in (("publish", publish(seen)), ("effect", effects)) if values for percent in (50, 99)}
