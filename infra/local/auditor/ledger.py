"""How often each order was booked on an account, read from nothing but its balance and its number of entries.

Entries alone cannot tell a lost effect and a double one in the same account from two right ones. The demo therefore
gives the orders of one account the amounts 1, 10, 100, ... cents: what is missing from the balance then spells, digit
by digit, how often each of them was debited. Where the amounts are not of that kind, `read` says so with None.
"""

from dataclasses import dataclass


@dataclass
class Booked:
    """Debits (for OrderPlaced) and credits (for StockRejected or PaymentDeclined) found for one order."""

    debits: int = 0
    credits: int = 0


def digits(spent: int, amounts: list[int]) -> list[int] | None:
    """Times each of `amounts` (ascending) goes into `spent`; negative where more was credited than debited.

    With base 10 a digit is read as -1 to 8; the largest amount has no following one, and its digit no bound."""
    if amounts[0] <= 0:
        return None
    found = []
    rest = spent
    for amount, following in zip(amounts, amounts[1:]):
        base, remainder = divmod(following, amount)
        # Below 8 a digit could not hold an order that was booked a few times too often.
        if remainder or base < 8:
            return None
        digit = (rest // amount + 1) % base - 1
        found.append(digit)
        rest -= digit * amount
    last, remainder = divmod(rest, amounts[-1])
    return None if remainder else [*found, last]


def read(spent: int, entries: int, amounts: dict[str, int], credited: set[str]) -> dict[str, Booked] | None:
    """Bookings by order id: `spent` is opening minus balance, `amounts` are the orders of the account, and
    `credited` those of them that are credited back."""
    ids = sorted(amounts, key=lambda order: amounts[order])
    found = digits(spent, [amounts[order] for order in ids]) if ids else None
    if found is None:
        return None
    booked = {order: Booked(max(n, 0), max(-n, 0)) for order, n in zip(ids, found)}
    # What the balance cannot show is a debit with its credit. The entries left over are those pairs: they belong to
    # the credited orders, one each, and what then remains came too often. (With several of them on one account it can
    # only be said that it was one of these; the demo has one.)
    pairs, odd = divmod(entries - sum(b.debits + b.credits for b in booked.values()), 2)
    if odd or pairs < 0:
        return None
    takers = [order for order in ids if order in credited] or ids[:1]
    for n in range(pairs):
        one = booked[takers[n % len(takers)]]
        one.debits += 1
        one.credits += 1
    return booked
