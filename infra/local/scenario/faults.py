"""The faults that are thrown at a run, apart from duplicates: killed processes, unreadable messages, sabotage.

The fault points exist only in binaries built with the feature `fault-injection`; they are armed here by variables of
the deployed functions. `point:every:most` kills the process at every nth pass, at most so often; marker files in
FAULT_DIR make `most` hold although each kill starts a new process.
"""

from collections import Counter
from pathlib import Path

from auditor.model import CONSUMERS
from cloud.functions import add_environment
from scenario.send import send

SABOTAGE = ("no-inbox", "ack-first")
KILLS = 3
RELAY_POINT = "relay-after-publish"
CONSUMER_POINT = "consumer-after-commit"
# The provider has captured, and nothing of it is committed.
PAYMENT_POINT = "remote-after-call"
# The mail's answer is stored, and not committed. What else its process had begun to mail is unknown by that, so once will do.
NOTIFICATION_POINT = "remote-after-answer"
KILLED_USUALLY = "killed after commit, before its answer"
KILLED = {"payment": "killed after the capture, before its commit",
          "notification": "killed after the stored answer, before its commit"}
# No JSON at all; and JSON, with everything but the identity that a consumer must never make up.
MALFORMED = (
    "not json, and no event either",
    '{"specversion":"1.0","source":"demo","type":"OrderPlaced","subject":"order-without-event-id","data":{}}',
)


def arm(clients, fault_dir: Path, sabotage: str, kill: bool) -> None:
    """Sets the variables of all functions with a fault point. Before the load: a change restarts the function."""
    points = {
        "outbox-relay": f"{RELAY_POINT}:2:{KILLS}",
        "billing": f"{CONSUMER_POINT}:7:{KILLS}",
        "inventory": f"{CONSUMER_POINT}:6:{KILLS}",
        "payment": f"{PAYMENT_POINT}:4:{KILLS}",
        "notification": f"{NOTIFICATION_POINT}:2:1",
        "order-projection": f"{CONSUMER_POINT}:9:{KILLS}",
    }
    for function, faults in points.items():
        # A folder each: a function must not use up the kills of another.
        folder = fault_dir / function
        folder.mkdir(parents=True, exist_ok=True)
        variables = {"FAULT_DIR": str(folder)}
        if kill:
            variables["FAULTS"] = faults
        if sabotage and function == "billing":
            variables["SABOTAGE"] = sabotage
        add_environment(clients, function, variables)


def kills(fault_dir: Path) -> Counter:
    """Kills that have happened, by function, read from their marker files."""
    return Counter({folder.name: sum(1 for _ in folder.iterdir()) for folder in fault_dir.iterdir() if folder.is_dir()})


def send_malformed(clients, names) -> int:
    for consumer in CONSUMERS:
        for body in MALFORMED:
            send(clients["sqs"], names.queues[consumer], body, group="malformed")
    return len(CONSUMERS) * len(MALFORMED)
