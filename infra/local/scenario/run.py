"""One run: seed, arm the faults, place the orders, wait until nothing moves, audit."""

from dataclasses import dataclass, field
from pathlib import Path

from auditor.audit import audit
from auditor.audit_queue import AuditQueues
from auditor.model import CONSUMERS, Findings, Observed
from auditor.observe import observe
from scenario import faults, seed
from scenario.duplicates import Duplicates
from scenario.load import Load
from scenario.plan import Plan
from scenario.progress import bars
from scenario.watch import Watch


@dataclass
class Outcome:
    seen: Observed
    findings: Findings
    thrown: list[tuple[str, int]]
    complaints: list[str] = field(default_factory=list)
    at_rest: bool = True

    @property
    def status(self) -> int:
        if not self.at_rest:
            return 3
        return 0 if self.findings.clean and not self.complaints else 1


def run(clients, names, plan: Plan, fault_dir: Path, sabotage: str) -> Outcome:
    # A second copy of an event would heal what ack-first loses, so it runs without the faults that make copies.
    copies = sabotage != "ack-first"
    seed.seed(clients, names, plan)
    faults.arm(clients, fault_dir, sabotage, kill=copies)
    audit_queues = AuditQueues(clients, names.topics)
    duplicates = Duplicates(clients, names) if copies else None
    try:
        load, malformed, at_rest, last = _drive(clients, names, plan, audit_queues, duplicates)
        seen = observe(clients, names, load.accepted, audit_queues.stop())
    finally:
        audit_queues.close()
        if duplicates:
            duplicates.close()
    outcome = Outcome(seen, audit(seen, malformed), _thrown(plan, malformed, duplicates, fault_dir), at_rest=at_rest)
    outcome.complaints += [f"order not accepted: {each}" for each in load.refused]
    if not at_rest:
        outcome.complaints.append(f"it did not come to rest; still there: {last}")
    # A fault that did not happen proves nothing, and neither does one that left no trace.
    outcome.complaints += [f"this fault never happened: {what}" for what, times in outcome.thrown if times == 0]
    if copies:
        outcome.complaints += [f"{key} is 0" for key in ("duplicates_absorbed", "duplicate_publishes")
                               if outcome.findings.keys[key] == 0]
    return outcome


def _drive(clients, names, plan: Plan, audit_queues: AuditQueues, duplicates: Duplicates | None):
    """The orders, and the wait for their effects; a bound each on the way to rest."""
    watch = Watch(clients, names, audit_queues)
    seconds = 90 + len(plan.orders) / 4
    load = Load(clients, plan.orders)
    try:
        with bars(plan, load) as show:
            malformed = faults.send_malformed(clients, names)
            while not load.done():
                show(watch.look())
            watch.until_quiet(seconds, show, plan.effects)
            if duplicates:
                # Only now: a late duplicate is one that comes when its event is long done.
                duplicates.send_late()
            at_rest, last = watch.until_quiet(seconds, show)
    finally:
        load.stop()
    return load, malformed, at_rest, last


def _thrown(plan: Plan, malformed: int, duplicates: Duplicates | None, fault_dir: Path) -> list[tuple[str, int]]:
    thrown = [
        ("malformed messages", malformed),
        ("orders for an unknown account", plan.unknown_accounts),
        ("orders for more than there is in stock", plan.rejected),
    ]
    if duplicates:
        kills = faults.kills(fault_dir)
        thrown += [
            ("duplicate deliveries sent to consumers", duplicates.sent),
            ("outbox-relay killed after publish, before delete", kills["outbox-relay"]),
            *((f"{each} killed after commit, before its answer", kills[each]) for each in CONSUMERS),
        ]
    return thrown
