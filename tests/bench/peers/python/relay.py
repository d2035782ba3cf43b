"""The relay in plain boto3: Powertools has no outbox, so this is what one writes without one.

It publishes and deletes, and says which records failed. It has none of the relay's care: no retries of an entry, no bound of
bytes in a call, no quarantine, no order, one call at a time.
"""

import os

import boto3

TOPIC_ARN = os.environ["TOPIC_ARN"]
OUTBOX_TABLE = os.environ["OUTBOX_TABLE"]
# The most that SNS PublishBatch and DynamoDB BatchWriteItem take.
PUBLISH_ENTRIES, WRITE_ENTRIES = 10, 25

sns = boto3.client("sns")
dynamodb = boto3.client("dynamodb")


def handler(event: dict, context: object) -> dict:
    records = [record["dynamodb"] for record in event["Records"] if record["eventName"] == "INSERT"]
    failed, published = [], []
    for group in slices(records, PUBLISH_ENTRIES):
        entries = [entry(place, record) for place, record in enumerate(group)]
        answer = sns.publish_batch(TopicArn=TOPIC_ARN, PublishBatchRequestEntries=entries)
        refused = {int(each["Id"]) for each in answer.get("Failed", [])}
        for place, record in enumerate(group):
            (failed if place in refused else published).append(record)
    for group in slices(published, WRITE_ENTRIES):
        deletes = [{"DeleteRequest": {"Key": record["Keys"]}} for record in group]
        dynamodb.batch_write_item(RequestItems={OUTBOX_TABLE: deletes})
    return {"batchItemFailures": [{"itemIdentifier": record["SequenceNumber"]} for record in failed]}


def slices(items: list, size: int) -> list[list]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def entry(place: int, record: dict) -> dict:
    image = record["NewImage"]
    aggregate_type = image["pk"]["S"].partition("#")[0]
    return {
        "Id": str(place),
        "Message": image["body"]["S"],
        "MessageAttributes": {
            "event_type": {"DataType": "String", "StringValue": image["event_type"]["S"]},
            "aggregate_type": {"DataType": "String", "StringValue": aggregate_type},
        },
    }
