"""Dollars for a million events: measured calls and times, counted write units, list prices."""

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


@dataclass(frozen=True)
class Units:
    """Write units of an event, from the measured tables of docs/cost.md."""

    outbox_row: float
    delete: float
    inbox_and_update: float
    packed: float


def units(document: str) -> Units:
    """Read from the document. Raises ValueError when a line of it is missing."""
    relay = _line(document, "relay", ["topic", "Delete", str(RELAY_BATCH)])
    plain = _line(document, "consumer", ["inbox and an update", "first", str(CONSUMER_BATCH)])
    packed = _line(document, "consumer", ["the same, packed", "first", str(CONSUMER_BATCH)])
    return Units(float(relay[5]), float(relay[6]), float(plain[4]), float(packed[4]))


def _line(document: str, table: str, begins: list[str]) -> list[str]:
    text = document.partition(f"<!-- measured: {table} -->\n")[2].partition("\n\n")[0]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[: len(begins)] == begins:
            return cells
    raise ValueError(f"docs/cost.md, table {table!r} has no line {begins}")


def billed_seconds(one: dict) -> float:
    """Of an event. Its CPU time is stretched to the share of a vCPU that the memory buys; its waiting is not."""
    wall, cpu = 1 / one["events_per_s"], one["cpu_us_per_event"] / 1e6
    return max(wall - cpu, 0) + cpu * ONE_VCPU_MB / MEMORY_MB


def consumer_units(name: str, one: dict, known: Units) -> float:
    if name == "oncebox-packed":
        return known.packed
    if "TransactWriteItems" in one["operations_per_event"]:
        return known.inbox_and_update
    # Rows below a KB, one at a time: a unit for each write.
    return sum(one["operations_per_event"].get(write, 0) for write in ("PutItem", "UpdateItem", "DeleteItem"))


def dollars(scheme: Scheme, summary: dict, known: Units) -> dict[str, float] | None:
    """By what is paid for, for a million events; None when a part of the scheme was not measured."""
    consumer = summary["contestants"].get(scheme.consumer, {}).get(CONSUMER_WORK)
    relay = summary["contestants"].get(scheme.relay or "", {}).get(RELAY_WORK)
    if consumer is None or (scheme.relay and relay is None):
        return None
    requests, seconds = 1 / CONSUMER_BATCH, billed_seconds(consumer)
    writes = known.outbox_row + consumer_units(scheme.consumer, consumer, known)
    if relay:
        requests, seconds = requests + 1 / RELAY_BATCH, seconds + billed_seconds(relay)
        publishes, pipe = relay["operations_per_event"]["PublishBatch"], 0.0
        writes += known.delete
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
    known = units(document)
    rows = [["Scheme", "Lambda requests", "Lambda time", "SNS", "Pipe", "Write units", "Total", "An effect happens"]]
    for scheme in SCHEMES:
        parts = dollars(scheme, summary, known)
        cells = ["–"] * 6 if parts is None else [f"{value:.2f}" if value else "–" for value in parts.values()]
        rows.append([scheme.name, *cells, scheme.effect])
    return tables.markdown(rows)
