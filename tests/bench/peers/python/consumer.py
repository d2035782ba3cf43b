"""The consumer of billing, with Powertools for AWS Lambda (Python), by the advice of its documentation.

The batch utility answers partial failures, and the idempotency utility keeps a row for each id of an event around the record
handler. Row and effect are two commits: a process that dies between them has its event applied again once the row's
`in_progress_expiration` is over.
"""

import json
import os

import boto3
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

ACCOUNTS_TABLE = os.environ["ACCOUNTS_TABLE"]
# The sign that an event has for a balance.
SIGNS = {"OrderPlaced": -1, "StockRejected": 1, "PaymentDeclined": 1}

dynamodb = boto3.client("dynamodb")
processor = BatchProcessor(event_type=EventType.SQS)
idempotency = IdempotencyConfig(
    event_key_jmespath="powertools_json(body).id",
    raise_on_no_idempotency_key=True,
    expires_after_seconds=24 * 60 * 60,
)
persistence = DynamoDBPersistenceLayer(table_name=os.environ["IDEMPOTENCY_TABLE"])


@idempotent_function(data_keyword_argument="record", config=idempotency, persistence_store=persistence)
def charge(record: SQSRecord) -> None:
    event = json.loads(record.body)
    delta = SIGNS[event["type"]] * event["data"]["amount_cents"]
    dynamodb.update_item(
        TableName=ACCOUNTS_TABLE,
        Key={"account_id": {"S": event["data"]["account_id"]}},
        UpdateExpression="ADD balance_cents :delta, entries :one",
        ConditionExpression="attribute_exists(account_id)",
        ExpressionAttributeValues={":delta": {"N": str(delta)}, ":one": {"N": "1"}},
    )


def handler(event: dict, context: LambdaContext) -> dict:
    idempotency.register_lambda_context(context)
    return process_partial_response(event=event, record_handler=charge, processor=processor, context=context)
