"""How many invocations a lane takes, so that fast and slow contestants are each measured for about as long."""

# A lane's invocations are all made before the process starts, so their number is bounded by memory: about 1.5 KB each.
MOST_EVENTS = 150_000
PROBE_EVENTS = 200


def measured(events_per_s: float, batch: int, seconds: float) -> int:
    """Invocations of a lane of about `seconds`: at least 2, or 1 of a thousand records."""
    least = 1 if batch >= 1000 else 2
    return max(least, min(MOST_EVENTS // batch, round(events_per_s * seconds / batch)))


def warmup(invocations: int, batch: int) -> int:
    """A quarter as many again, and not fewer than 20 small ones: a just-in-time compiler takes its time."""
    return max(1 if batch >= 100 else 20, invocations // 4)


def probe(batch: int) -> int:
    return max(1, -(-PROBE_EVENTS // batch))


def needs_probe(slower: float | None, batch: int, seconds: float) -> bool:
    """False where even the rate at a smaller batch says that the least number of invocations takes long enough."""
    return slower is None or batch < 1000 or slower * seconds * 3 > batch
