"""Dollars for a million events: measured calls, write units and times, list prices."""

from dataclasses import dataclass

import tables

# On-demand list prices of us-east-1 in USD, x86-64. Sources: the price pages of Lambda, SNS, DynamoDB and EventBridge.
LAMBDA_GB_SECOND = 0.0000166667
LAMBDA_REQUEST = 0.20e-6
SNS_REQUEST = 0.50e-6
WRITE_UNIT = 0.625e-6
PIPE_REQUEST = 0.40e-6

MEMORY_MB = 256
# The memory at which a function has one whole vCPU. Source: Lambda developer guide, "Configure Lambda function memory".
ONE_VCPU_MB = 1769
MILLION = 1_000_000
RELAY_WORK, RELAY_BATCH = "relay-100-5ms", 100
CONSUMER_WORK, CONSUMER_BATCH = "consumer-10-5ms", 10
# The most that the topic takes in a call.
PIPE_BATCH = 10


@dataclass(frozen=True)
class Scheme:
    """A relay (None: a Pipe) and a consumer, by the names of contestants."""

    name: str
    relay: str | None
    consumer: str
    effect: str


SCHEMES = (
    Scheme("oncebox", "oncebox", "oncebox", "once"),
    Scheme("oncebox, packed", "oncebox", "oncebox-packed", "once"),
    Scheme("two-row floor: outbox and inbox by hand", "floor", "floor", "once"),
    Scheme("a Pipe, and oncebox's consumer", None, "oncebox", "once"),
    Scheme("boto3 relay, Powertools Python", "boto3", "powertools-python", "again after a crash between two commits"),
    Scheme("SDK relay, Powertools TypeScript", "sdk-typescript", "powertools-typescript",
           "again after a crash between two commits"),
)


def outbox_row_units(document: str) -> float:
    """Write units of an outbox row in the producer's transaction, from the measured table of docs/cost.md.

    Raises ValueError when its line is missing.
    """
    begins = ["topic", "Delete", str(RELAY_BATCH)]
    text = document.partition("<!-- measured: relay -->\n")[2].partition("\n\n")[0]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[: len(begins)] == begins:
            return float(cells[5])
    raise ValueError(f"docs/cost.md, table 'relay' has no line {begins}")


def billed_seconds(one: dict) -> float:
    """Of an event. Its CPU time is stretched to the share of a vCPU that the memory buys; its waiting is not."""
    wall, cpu = 1 / one["events_per_s"], one["cpu_us_per_event"] / 1e6
    return max(wall - cpu, 0) + cpu * ONE_VCPU_MB / MEMORY_MB


def dollars(scheme: Scheme, summary: dict, outbox_row: float) -> dict[str, float] | None:
    """By what is paid for, for a million events; None when a part of the scheme was not measured."""
    consumer = summary["contestants"].get(scheme.consumer, {}).get(CONSUMER_WORK)
    relay = summary["contestants"].get(scheme.relay or "", {}).get(RELAY_WORK)
    if consumer is None or (scheme.relay and relay is None):
        return None
    requests, seconds = 1 / CONSUMER_BATCH, billed_seconds(consumer)
    writes = outbox_row + consumer["write_units_per_event"]
    if relay:
        requests, seconds = requests + 1 / RELAY_BATCH, seconds + billed_seconds(relay)
        publishes, pipe = relay["operations_per_event"]["PublishBatch"], 0.0
        writes += relay["write_units_per_event"]
    else:
        # The row is left to its TTL, whose deletes are free.
        publishes, pipe = 1 / PIPE_BATCH, 1.0
    parts = {
        "Lambda requests": requests * LAMBDA_REQUEST * MILLION,
        "Lambda time": seconds * MEMORY_MB / 1024 * LAMBDA_GB_SECOND * MILLION,
        "SNS": publishes * SNS_REQUEST * MILLION,
        "Pipe": pipe * PIPE_REQUEST * MILLION,
        "Write units": writes * WRITE_UNIT * MILLION,
    }
    return parts | {"Total": sum(parts.values())}


def table(summary: dict, document: str) -> str:
    outbox_row = outbox_row_units(document)
    rows = [["Scheme", "Lambda requests", "Lambda time", "SNS", "Pipe", "Write units", "Total", "An effect happens"]]
    for scheme in SCHEMES:
        parts = dollars(scheme, summary, outbox_row)
        cells = ["–"] * 6 if parts is None else [f"{value:.2f}" if value else "–" for value in parts.values()]
        rows.append([scheme.name, *cells, scheme.effect])
    return tables.markdown(rows)
