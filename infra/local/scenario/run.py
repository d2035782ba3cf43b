"""One run: seed, arm the faults, place the orders, wait until nothing moves, audit."""

from dataclasses import dataclass, field
from pathlib import Path

from auditor.audit import audit
from auditor.audit_queue import AuditQueues
from auditor.model import CONSUMERS, Findings, Observed
from auditor.observe import observe
from scenario import faults, providers, seed
from scenario.duplicates import Duplicates
from scenario.load import Load
from scenario.plan import DECLINED_FROM_CENTS, Plan
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


def run(clients, names, plan: Plan, fault_dir: Path, sabotage: str, stand_ins: dict) -> Outcome:
    # A second copy of an event would heal what ack-first loses, so it runs without the faults that make copies.
    copies = sabotage != "ack-first"
    seed.seed(clients, names, plan)
    faults.arm(clients, fault_dir, sabotage, kill=copies)
    providers.misbehave(stand_ins, DECLINED_FROM_CENTS)
    urls = {each: stand_in.url for each, stand_in in stand_ins.items()}
    audit_queues = AuditQueues(clients, names.topics)
    duplicates = Duplicates(clients, names) if copies else None
    try:
        load, malformed, at_rest, last = _drive(Watch(clients, names, audit_queues, urls), clients, names, plan, duplicates)
        seen = observe(clients, names, load.accepted, audit_queues.stop(), urls)
    finally:
        audit_queues.close()
        if duplicates:
            duplicates.close()
    thrown = _thrown(plan, malformed, duplicates, fault_dir) + providers.thrown(stand_ins)
    outcome = Outcome(seen, audit(seen, malformed, DECLINED_FROM_CENTS), thrown, at_rest=at_rest)
    outcome.complaints += [f"order not accepted: {each}" for each in load.refused]
    if not at_rest:
        outcome.complaints.append(f"it did not come to rest; still there: {last}")
    # A fault that did not happen proves nothing, and neither does one that left no trace.
    outcome.complaints += [f"this fault never happened: {what}" for what, times in outcome.thrown if times == 0]
    if copies:
        outcome.complaints += [f"{key} is 0" for key in ("duplicates_absorbed", "duplicate_publishes")
                               if outcome.findings.keys[key] == 0]
    return outcome


def _drive(watch: Watch, clients, names, plan: Plan, duplicates: Duplicates | None):
    """The orders, and the wait for their effects; a bound each on the way to rest."""
    seconds = 90 + len(plan.orders) / 3
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
        ("orders that the payment provider declines", plan.declined),
    ]
    if duplicates:
        kills = faults.kills(fault_dir)
        thrown += [
            ("duplicate deliveries sent to consumers", duplicates.sent),
            ("outbox-relay killed after publish, before delete", kills["outbox-relay"]),
            *((f"{each} {faults.KILLED.get(each, faults.KILLED_USUALLY)}", kills[each]) for each in CONSUMERS),
        ]
    return thrown
