"""What a person reads at the end of a run: the pair side by side, effects by consumer, and what went wrong."""

from collections import Counter

from rich.console import Console
from rich.table import Table

from auditor import lag
from auditor.model import CONSUMERS, Findings, Observed

FEW = 10
console = Console(width=116, highlight=False)


def print_all(outcome, sabotage: str, seconds: float) -> None:
    pair(outcome.seen, outcome.findings)
    consumers(outcome.seen, outcome.findings)
    lags(outcome.seen)
    quarantine(outcome.seen)
    faults(outcome.thrown)
    verdict(outcome.findings, outcome.complaints)
    if sabotage:
        console.print(f"SABOTAGE={sabotage} was on: the audit is meant to fail.")
    console.print(f"{outcome.findings.keys['orders']} orders in {seconds:.0f} s, the wait for the last retry included.")


def pair(seen: Observed, findings: Findings) -> None:
    keys = findings.keys
    table = Table(title="The pair: an event leaves at least once, its effect happens exactly once", title_style="bold")
    for name in ("OUTBOX table", "", "INBOX table", ""):
        table.add_column(name, justify="right" if not name else "left")
    verdicts = sum((seen.counters[each] for each in CONSUMERS), Counter())
    left = [
        ("rows written with their business change", keys["events_written"]),
        (f"events published to each of {len(seen.published)} topics", keys["events_published"]),
        ("further copies published after a crash", keys["duplicate_publishes"]),
        ("rows removed once published", seen.removed),
        ("rows left", len(seen.outbox_left)),
    ]
    right = [
        ("records delivered to consumers", keys["deliveries"]),
        ("effects applied", keys["effects_applied"]),
        ("duplicates removed", keys["duplicates_absorbed"]),
        ("older versions removed (stale)", verdicts["stale"]),
        ("keys held", sum(seen.inbox_keys.values())),
    ]
    for (what, count), (what_too, count_too) in zip(left, right):
        table.add_row(what, str(count), what_too, str(count_too))
    console.print(table)


def consumers(seen: Observed, findings: Findings) -> None:
    table = Table(title="By consumer")
    names = ("consumer", "effects expected", "found", "lost", "double", "deliveries", "duplicate", "stale", "failed")
    for name in names:
        table.add_column(name, justify="left" if name == "consumer" else "right")
    for name in CONSUMERS:
        tally, logged = findings.tallies[name], seen.counters[name]
        failed = logged["transient"] + logged["permanent"] + logged["malformed"]
        numbers = (tally.expected, tally.found, len(tally.lost), len(tally.doubled), logged["deliveries"],
                   logged["duplicate"], logged["stale"], failed)
        table.add_row(name, *(str(n) for n in numbers))
    console.print(table)


def lags(seen: Observed) -> None:
    table = Table(title="Lag in ms, from the time in the outbox row until")
    for name in ("", "measured", "p50", "p99"):
        table.add_column(name, justify="right" if name else "left")
    rows = [("the last topic has passed it on", lag.publish(seen))]
    rows += [(f"{each} has committed its effect", seen.effect_lags[each]) for each in CONSUMERS]
    for what, values in rows:
        shown = (str(lag.percentile(values, percent)) if values else "-" for percent in (50, 99))
        table.add_row(what, str(len(values)), *shown)
    console.print(table)


def quarantine(seen: Observed) -> None:
    table = Table(title="In quarantine, for a person to decide")
    for name in ("owner", "reason", "why", "cases"):
        table.add_column(name, justify="right" if name == "cases" else "left")
    cases = Counter((case.owner, case.reason, case.detail) for case in seen.quarantined)
    for (owner, reason, detail), times in sorted(cases.items()):
        table.add_row(owner, reason, detail, str(times))
    console.print(table)


def faults(thrown: list[tuple[str, int]]) -> None:
    table = Table(title="Faults thrown at it")
    table.add_column("fault")
    table.add_column("times", justify="right")
    for what, times in thrown:
        table.add_row(what, str(times))
    console.print(table)


def verdict(findings: Findings, complaints: list[str]) -> None:
    for title, lines in (("lost", findings.lost), ("applied twice", findings.doubled),
                         ("unexplained", findings.unexplained), ("not as it should be", complaints)):
        if lines:
            console.print(f"[bold red]{title}[/]: {len(lines)}")
            once = list(dict.fromkeys(lines))
            for line in once[:FEW]:
                console.print(f"  {line}", markup=False)
            if len(once) > FEW:
                console.print(f"  and {len(once) - FEW} more like these")
    if findings.clean and not complaints:
        console.print("[bold green]Nothing lost, nothing applied twice.[/]")
