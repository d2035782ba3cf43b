"""Reads everything the auditor judges: tables, the outbox table's stream, audit queues, dead-letter queues, the
providers' ledgers, logs."""

from collections import Counter

from auditor import logs, providers, stream
from auditor.audit_queue import event_of
from auditor.model import CONSUMERS, Account, Case, Event, Observed, Order, Status, Stock


def observe(clients, names, accepted: list[str], published: dict[str, list[Event]],
            provider_urls: dict[str, str]) -> Observed:
    """`names` are the stack's resources; `accepted` and `published` were collected while it ran."""
    seen = Observed(accepted=accepted, published=published)
    db, tables = clients["dynamodb"], names.tables
    for row in scan(db, tables["orders"]):
        seen.orders[row["order_id"]] = Order(
            row["order_id"], row["account_id"], row["sku"], int(row["quantity"]), int(row["amount_cents"])
        )
    for row in scan(db, tables["accounts"]):
        seen.accounts[row["account_id"]] = Account(
            int(row["opening_balance_cents"]), int(row["balance_cents"]), int(row["entries"])
        )
    for row in scan(db, tables["stock"]):
        seen.stock[row["sku"]] = Stock(int(row["opening"]), int(row["available"]), int(row["entries"]))
    for row in scan(db, tables["order_status"]):
        seen.statuses[row["order_id"]] = Status(row["status"], int(row["version"]), row["event_id"])
    seen.outbox_left = [f"{row['pk']} {row['sk']}" for row in scan(db, tables["outbox"])]
    seen.inbox_keys = Counter(row["sk"] for row in scan(db, tables["inbox"]))
    for record in stream.records(clients["dynamodbstreams"], names.outbox_stream):
        if record["eventName"] == "INSERT":
            row = record["dynamodb"]["NewImage"]
            seen.written.append(event_of(row["body"]["S"], int(row["created_at"]["N"])))
        elif record["eventName"] == "REMOVE":
            seen.removed += 1
    seen.quarantined = [case_of(row) for row in scan(db, tables["quarantine"]) if "owner" in row]
    seen.dead_letters = sum(depth(clients["sqs"], url) for url in names.dlqs.values())
    seen.captures, seen.mails = providers.calls(provider_urls["payment"]), providers.calls(provider_urls["mail"])
    for each in CONSUMERS:
        lines = logs.lines(clients["logs"], each)
        seen.counters[each], seen.effect_lags[each] = logs.counters(lines), logs.lags(lines)
    return seen


def case_of(row: dict) -> Case:
    """Parts of a large body have no owner, and are no cases."""
    return Case(row["owner"], row.get("event_key") or row["message_id"], row["reason"], row["detail"],
                row.get("aggregate_id", ""))


def scan(client, table: str):
    """Every item, its attributes without their type tags."""
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        for item in page["Items"]:
            yield {name: next(iter(value.values())) for name, value in item.items()}


def depth(client, queue_url: str) -> int:
    """Messages on a queue: waiting, delayed and in flight."""
    names = [f"ApproximateNumberOfMessages{suffix}" for suffix in ("", "NotVisible", "Delayed")]
    found = client.get_queue_attributes(QueueUrl=queue_url, AttributeNames=names)["Attributes"]
    return sum(int(found.get(each, 0)) for each in names)
