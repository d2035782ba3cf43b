"""The consumers' own counters and lags, from their log lines.

A record counts as delivered when the batch is received, so that the batch of a killed process counts; its verdicts
are unknown and count nowhere, and neither do their lags. All sums are lower bounds on the emulator: it keeps the lines of a killed process, but
a line that reaches it after the answer is stored with the next invocation of that process, or not at all if there is
none. Nothing that decides between pass and fail is read from here.
"""

import json
from collections import Counter

# A metric with more values than a line may hold goes on in lines of its own.
RECEIVED, DONE, MORE = "batch received", "batch done", "more values"
VERDICTS = ("applied", "duplicate", "stale", "unhandled", "transient", "permanent", "malformed")
# AWS takes up to 100 streams in one question; the emulator makes one stream for each invocation.
STREAMS = 100


def lines(client, function: str) -> list[dict]:
    """The consumer's own lines, as objects."""
    group = f"/aws/lambda/{function}"
    found = []
    names = [s["logStreamName"] for page in client.get_paginator("describe_log_streams").paginate(logGroupName=group)
             for s in page["logStreams"]]
    for at in range(0, len(names), STREAMS):
        pages = client.get_paginator("filter_log_events").paginate(
            logGroupName=group, logStreamNames=names[at : at + STREAMS]
        )
        found += [fields for page in pages for event in page["events"] if (fields := read(event["message"], function))]
    return found


def read(line: str, consumer: str) -> dict | None:
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) and fields.get("consumer") == consumer else None


def counters(found: list[dict]) -> Counter:
    counted = Counter()
    for fields in found:
        if fields.get("message") == RECEIVED:
            counted["deliveries"] += int(fields.get("records", 0))
        elif fields.get("message") == DONE:
            counted.update({verdict: int(fields.get(verdict, 0)) for verdict in VERDICTS})
    return counted


def lags(found: list[dict]) -> list[float]:
    """Milliseconds from an event's time to the commit of its effect, one for each record that was applied."""
    return [float(value) for fields in found if fields.get("message") in (DONE, MORE)
            for value in fields.get("CommitToApplyLag", [])]
