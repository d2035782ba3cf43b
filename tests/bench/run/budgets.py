"""What this project holds itself to, beside what was measured."""

from dataclasses import dataclass

import tables

CONSUMERS = ("consumer-10-0ms", "consumer-1000-0ms")
RELAYS = ("relay-100-0ms", "relay-1000-0ms")
BOTH = ("consumer-10-0ms", "relay-100-0ms")


@dataclass(frozen=True)
class Budget:
    """`value` is the name of a ratio, or (contestant, metric) or (contestant, operation)."""

    what: str
    works: tuple[str, ...]
    value: str | tuple[str, str]
    limit: float
    at_least: bool = False

    def measured(self, summary: dict, work: str) -> float | None:
        if isinstance(self.value, str):
            return summary["ratios"].get(work, {}).get(self.value)
        name, metric = self.value
        one = summary["contestants"].get(name, {}).get(work)
        return None if one is None else one.get(metric, one["operations_per_event"].get(metric))

    def is_met(self, measured: float) -> bool:
        return measured >= self.limit if self.at_least else measured <= self.limit


BUDGETS = (
    Budget("consumer's CPU, of the floor's", CONSUMERS, "cpu oncebox/floor", 1.15),
    Budget("packed consumer's CPU, of the floor's", CONSUMERS, "cpu oncebox-packed/floor", 0.4),
    Budget("packed consumer's calls per event", CONSUMERS[1:], ("oncebox-packed", "calls_per_event"), 0.03),
    Budget("relay's CPU, of a floor's that deletes too", RELAYS, "cpu oncebox/floor", 1.25),
    Budget("relay's publish calls per event", RELAYS, ("oncebox", "PublishBatch"), 0.1),
    Budget("relay's delete calls per event", RELAYS, ("oncebox", "BatchWriteItem"), 0.04),
    Budget("init, of the floor's", BOTH, "init oncebox/floor", 1.3),
    Budget("peak memory, of the floor's", (*CONSUMERS, *RELAYS), "peak oncebox/floor", 1.5),
    Budget("zip, of the floor's", BOTH, "zip oncebox/floor", 1.1),
    Budget("CPU of Powertools Python, of ours", CONSUMERS, "cpu powertools-python/oncebox", 25, at_least=True),
    Budget("CPU of Powertools TypeScript, of ours", CONSUMERS, "cpu powertools-typescript/oncebox", 12, at_least=True),
)


def table(summary: dict) -> str:
    rows = [["Budget", "Work", "Limit", "Measured", "Met"]]
    for budget in BUDGETS:
        for work in budget.works:
            measured = budget.measured(summary, work)
            limit = f"{'≥' if budget.at_least else '≤'} {budget.limit:g}"
            if measured is None:
                rows.append([budget.what, work, limit, "–", "not measured"])
            else:
                rows.append([budget.what, work, limit, f"{measured:.3g}", "yes" if budget.is_met(measured) else "**no**"])
    return tables.markdown(rows)
