"""The orders of a run, and the accounts and stock they meet. Only orders that are meant to be rejected or declined are."""

from dataclasses import dataclass, field

# The orders of one account cost 1, 10, 100, ... cents: the auditor reads from an account's balance how often each of
# them was booked (auditor/ledger.py). One that is credited back costs most, because its debits and credits may also differ.
ORDERS_PER_ACCOUNT = 8
CREDITED_AMOUNT_CENTS = 10**ORDERS_PER_ACCOUNT
# What the payment provider declines. Rejected orders never come to it.
DECLINED_FROM_CENTS = CREDITED_AMOUNT_CENTS
OPENING_BALANCE_CENTS = 10 * CREDITED_AMOUNT_CENTS
SKUS = 10
UNKNOWN_ACCOUNT = "account-nobody-opened"
UNKNOWN_SKU = "sku-nobody-sells"
FEWEST = 10


@dataclass
class Plan:
    orders: list[dict] = field(default_factory=list)  # bodies of POST /orders
    accounts: dict[str, int] = field(default_factory=dict)  # id: opening balance
    stock: dict[str, int] = field(default_factory=dict)  # sku: opening
    rejected: int = 0  # by inventory
    declined: int = 0  # by the payment provider
    unknown_accounts: int = 0

    @property
    def events(self) -> int:
        """A rejected order has no third event."""
        return 3 * len(self.orders) - self.rejected

    @property
    def effects(self) -> int:
        """Effects that can be watched: entries of accounts and stock, captures, mails, and finished projection rows."""
        orders, credited = len(self.orders), self.rejected + self.declined
        booked = orders - self.unknown_accounts + credited
        moved = orders - self.rejected + self.declined
        return booked + moved + 2 * (orders - credited) + orders


def make(count: int) -> Plan:
    if count < FEWEST:
        raise RuntimeError(f"ORDERS={count}: at least {FEWEST} are needed for every fault to have an order to meet")
    plan = Plan()
    of_each = max(2, count // 25)
    accounts = max(-(-count // ORDERS_PER_ACCOUNT), 2 * of_each)
    plan.accounts = {f"account-{n:04}": OPENING_BALANCE_CENTS for n in range(accounts)}
    # Neighbours in time share a stock item and not an account, so both kinds of contention occur.
    for n in range(count):
        plan.orders.append({
            "account_id": f"account-{n % accounts:04}",
            "sku": f"sku-{n % SKUS:02}",
            "quantity": 1 + n % 3,
            "amount_cents": 10 ** (n // accounts),
        })
    credited = _credited(count, accounts, 2 * of_each)
    rejected, declined = credited[::2], credited[1::2]
    unknown = next(n for n in range(count // 2, count) if n not in credited)
    plan.orders[unknown]["account_id"] = UNKNOWN_ACCOUNT
    plan.unknown_accounts = 1
    wanted = {f"sku-{n:02}": 0 for n in range(SKUS)}
    for n, order in enumerate(plan.orders):
        wanted[order["sku"]] += 0 if n in rejected else order["quantity"]
    plan.stock = {sku: 2 * sum_of + 10 for sku, sum_of in wanted.items()}
    for n in credited:
        plan.orders[n]["amount_cents"] = CREDITED_AMOUNT_CENTS
    for n in rejected:
        plan.orders[n]["quantity"] = plan.stock[plan.orders[n]["sku"]] + 1
    plan.orders[rejected[0]]["sku"] = UNKNOWN_SKU
    plan.rejected, plan.declined = len(rejected), len(declined)
    return plan


def _credited(count: int, accounts: int, wanted: int) -> list[int]:
    """Each on an account of its own: a debit with its credit leaves no trace in a balance, only in the number of entries,
    which can then belong to no other order."""
    rows = count // accounts
    return [(n % rows) * accounts + n * accounts // wanted for n in range(wanted)]
