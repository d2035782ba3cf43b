"""What the auditor looks at, and what it finds. No AWS here: tests fill these by hand."""

from collections import Counter
from dataclasses import dataclass, field

CONSUMERS = ("billing", "inventory", "payment", "notification", "order-projection")
# The reason of a case of which nobody knows whether its call was done.
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Order:
    """A row of the orders table."""

    order_id: str
    account_id: str
    sku: str
    quantity: int
    amount_cents: int


@dataclass(frozen=True)
class Event:
    """An envelope, as it stood in the outbox row or as it came out of a topic."""

    event_id: str
    event_type: str
    order_id: str
    body: str
    sequence: int = 0
    at: int = 0  # epoch ms: when the row was written, or when the copy arrived behind the topic


@dataclass(frozen=True)
class Account:
    opening_balance_cents: int
    balance_cents: int
    entries: int


@dataclass(frozen=True)
class Stock:
    opening: int
    available: int
    entries: int


@dataclass(frozen=True)
class Status:
    status: str
    version: int
    event_id: str


@dataclass(frozen=True)
class Case:
    """A row of the quarantine table."""

    owner: str
    subject: str
    reason: str
    detail: str
    order_id: str = ""


@dataclass(frozen=True)
class Call:
    """A request in a provider's ledger."""

    order_id: str
    work: str  # done, repeated (the first answer once more), declined, mismatch (the key came with another body), none
    key: str = ""
    account_id: str = ""
    amount_cents: int = 0


@dataclass
class Observed:
    accepted: list[str] = field(default_factory=list)  # order ids order-api has answered 201 with
    orders: dict[str, Order] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    stock: dict[str, Stock] = field(default_factory=dict)
    statuses: dict[str, Status] = field(default_factory=dict)
    written: list[Event] = field(default_factory=list)  # INSERTs of the outbox table's stream
    removed: int = 0  # REMOVEs of the same
    outbox_left: list[str] = field(default_factory=list)  # keys of rows still in the outbox
    published: dict[str, list[Event]] = field(default_factory=dict)  # by topic: every copy on its audit queue, as it came
    inbox_keys: Counter = field(default_factory=Counter)  # rows of the inbox by consumer
    captures: list[Call] = field(default_factory=list)  # what the payment provider was asked
    mails: list[Call] = field(default_factory=list)  # what the mail provider was asked
    quarantined: list[Case] = field(default_factory=list)
    dead_letters: int = 0  # messages on the dead-letter queues
    counters: dict[str, Counter] = field(default_factory=dict)  # what each consumer has logged
    effect_lags: dict[str, list[float]] = field(default_factory=dict)  # ms, as each consumer has logged them


@dataclass
class Tally:
    """Effects of one consumer. Each line of `lost` and `doubled` is one effect, and names the order."""

    expected: int = 0
    found: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)

    def count(self, what: str, expected: int, found: int) -> None:
        self.expected += expected
        self.found += found
        self.lost += [f"{what}: expected {expected}, found {found}"] * max(0, expected - found)
        self.doubled += [f"{what}: expected {expected}, found {found}"] * max(0, found - expected)

    def swapped(self, what: str) -> None:
        """The number of effects is right and their sum is not: one is missing and another came twice."""
        self.lost.append(what)
        self.doubled.append(what)


@dataclass
class Findings:
    keys: dict[str, int]
    tallies: dict[str, Tally]
    unpublished: list[str]
    missing_orders: list[str]
    unexplained: list[str]

    @property
    def lost(self) -> list[str]:
        return self.missing_orders + self.unpublished + [line for t in self.tallies.values() for line in t.lost]

    @property
    def doubled(self) -> list[str]:
        return [line for t in self.tallies.values() for line in t.doubled]

    @property
    def clean(self) -> bool:
        k = self.keys
        return not (self.lost or self.doubled or self.unexplained) and k["effects_applied"] == k["effects_expected"]
