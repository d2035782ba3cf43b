"""Where a run stands, and the wait until nothing moves any more."""

import math
import time
from dataclasses import dataclass

from auditor import providers
from auditor.audit_queue import AuditQueues
from auditor.model import CONSUMERS, UNKNOWN
from auditor.observe import depth, scan

POLL_SECONDS = 0.5
# So many looks in a row: one look reads queues and tables one after the other, and something may pass between them.
QUIET_LOOKS = 4
FINISHED = ("REJECTED", "DECLINED", "PAID")


@dataclass(frozen=True)
class Look:
    queued: dict[str, int]  # messages on each consumer's queue, in flight ones included
    outbox: int  # rows not yet published and deleted
    published: int  # events that every topic has passed on
    further: int  # copies of them beyond the first
    effects: int
    quarantined: int

    @property
    def quiet(self) -> bool:
        return self.outbox == 0 and not any(self.queued.values())

    def __str__(self) -> str:
        waiting = [f"{count} messages for {name}" for name, count in self.queued.items() if count]
        return ", ".join([*waiting, *([f"{self.outbox} rows in the outbox"] if self.outbox else [])]) or "nothing"


class Watch:
    def __init__(self, clients, names, audit_queues: AuditQueues, provider_urls: dict[str, str]):
        self._clients, self._names, self._audit_queues = clients, names, audit_queues
        self._provider_urls = provider_urls

    def look(self) -> Look:
        db, tables, sqs = self._clients["dynamodb"], self._names.tables, self._clients["sqs"]
        # Queues before the outbox: an event on its way from one to the other is then seen in the second.
        queued = {each: depth(sqs, self._names.queues[each]) for each in CONSUMERS}
        outbox = sum(page["Count"] for page in db.get_paginator("scan").paginate(
            TableName=tables["outbox"], Select="COUNT", ConsistentRead=True))
        entries = sum(int(row["entries"]) for name in ("accounts", "stock") for row in scan(db, tables[name]))
        finished = sum(row["status"] in FINISHED for row in scan(db, tables["order_status"]))
        cases = [row for row in scan(db, tables["quarantine"]) if "owner" in row]
        done = {each: {call.order_id for call in providers.calls(url) if call.work == "done"}
                for each, url in self._provider_urls.items()}
        # Of some nobody knows, and a person is told.
        mailed = done["mail"] | {row["aggregate_id"] for row in cases
                                 if (row["owner"], row["reason"]) == ("notification", UNKNOWN)}
        return Look(
            queued=queued,
            outbox=outbox,
            published=self._audit_queues.everywhere(),
            further=self._audit_queues.further(),
            effects=entries + finished + len(done["payment"]) + len(mailed),
            quarantined=len(cases),
        )

    def until_quiet(self, seconds: float, show, enough_effects: float = math.inf) -> tuple[bool, Look]:
        """Looks until `QUIET_LOOKS` in a row are quiet and the same, or until there are enough effects and nothing is
        left to publish; False if that takes more than `seconds`."""
        deadline = time.monotonic() + seconds
        before, same = None, 0
        while True:
            now = self.look()
            show(now)
            same = same + 1 if now.quiet and now == before else 0
            if same >= QUIET_LOOKS or (now.effects >= enough_effects and now.outbox == 0):
                return True, now
            if time.monotonic() > deadline:
                return False, now
            before = now
            time.sleep(POLL_SECONDS)
