"""The consumers' own counters, summed over their log lines.

A record counts as delivered when the batch is received, so that the batch of a killed process counts; its verdicts
are unknown and count nowhere. Both sums are lower bounds on the emulator: it keeps the lines of a killed process, but
a line that reaches it after the answer is stored with the next invocation of that process, or not at all if there is
none. Nothing that decides between pass and fail is read from here.
"""

import json
from collections import Counter

RECEIVED, DONE = "batch received", "batch done"
VERDICTS = ("applied", "duplicate", "stale", "unhandled", "transient", "permanent", "malformed")
# AWS takes up to 100 streams in one question; the emulator makes one stream for each invocation.
STREAMS = 100


def counters(client, function: str) -> Counter:
    group = f"/aws/lambda/{function}"
    found = Counter()
    names = [s["logStreamName"] for page in client.get_paginator("describe_log_streams").paginate(logGroupName=group)
             for s in page["logStreams"]]
    for at in range(0, len(names), STREAMS):
        pages = client.get_paginator("filter_log_events").paginate(
            logGroupName=group, logStreamNames=names[at : at + STREAMS]
        )
        for page in pages:
            for event in page["events"]:
                count_line(event["message"], function, found)
    return found


def count_line(line: str, consumer: str, found: Counter) -> None:
    try:
        fields = json.loads(line)
    except ValueError:
        return
    if not isinstance(fields, dict) or fields.get("consumer") != consumer:
        return
    if fields.get("message") == RECEIVED:
        found["deliveries"] += int(fields.get("records", 0))
    elif fields.get("message") == DONE:
        for verdict in VERDICTS:
            found[verdict] += int(fields.get(verdict, 0))
