/**
 * The consumer of billing, with Powertools for AWS Lambda (TypeScript), by the advice of its documentation.
 *
 * The batch utility answers partial failures, and the idempotency utility keeps a row for each id of an event around the
 * record handler. Row and effect are two commits: a process that dies between them has its event applied again once the
 * row's in-progress expiry is over.
 */
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { PowertoolsFunctions } from '@aws-lambda-powertools/jmespath/functions';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

/** The sign that an event has for a balance. */
const SIGNS: Record<string, number> = { OrderPlaced: -1, StockRejected: 1, PaymentDeclined: 1 };

const dynamodb = new DynamoDBClient({});
const processor = new BatchProcessor(EventType.SQS);
const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.IDEMPOTENCY_TABLE ?? '' });
const config = new IdempotencyConfig({
  eventKeyJmesPath: 'powertools_json(body).id',
  jmesPathOptions: new PowertoolsFunctions(),
  throwOnNoIdempotencyKey: true,
  expiresAfterSeconds: 24 * 60 * 60,
});

const charge = makeIdempotent(
  async (record: SQSRecord): Promise<void> => {
    const event = JSON.parse(record.body);
    const sign = SIGNS[event.type];
    if (sign === undefined) throw new Error('an event of another type');
    await dynamodb.send(
      new UpdateItemCommand({
        TableName: process.env.ACCOUNTS_TABLE,
        Key: { account_id: { S: event.data.account_id } },
        UpdateExpression: 'ADD balance_cents :delta, entries :one',
        ConditionExpression: 'attribute_exists(account_id)',
        ExpressionAttributeValues: { ':delta': { N: String(sign * event.data.amount_cents) }, ':one': { N: '1' } },
      }),
    );
  },
  { persistenceStore, config },
);

export const handler = async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
  config.registerLambdaContext(context);
  return processPartialResponse(event, charge, processor, { context });
};
