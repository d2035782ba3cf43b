"""Accounts and stock before the first order. `opening…` stays as written: the auditor compares with it at the end."""

from concurrent.futures import ThreadPoolExecutor

from scenario.plan import Plan


def seed(clients, names, plan: Plan) -> None:
    accounts = [
        {"account_id": {"S": each}, "balance_cents": {"N": str(opening)}, "opening_balance_cents": {"N": str(opening)},
         "entries": {"N": "0"}}
        for each, opening in plan.accounts.items()
    ]
    stock = [
        {"sku": {"S": each}, "available": {"N": str(opening)}, "opening": {"N": str(opening)}, "entries": {"N": "0"}}
        for each, opening in plan.stock.items()
    ]
    items = [(names.tables["accounts"], item) for item in accounts] + [(names.tables["stock"], item) for item in stock]
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(clients["dynamodb"].put_item, TableName=table, Item=item) for table, item in items]:
            done.result()
