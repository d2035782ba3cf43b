/**
 * The relay in plain AWS SDK: Powertools has no outbox, so this is what one writes without one.
 *
 * It publishes and deletes, and says which records failed. It has none of the relay's care: no retries of an entry, no
 * bound of bytes in a call, no quarantine, no order.
 */
import { type AttributeValue, BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PublishBatchCommand, type PublishBatchRequestEntry, SNSClient } from '@aws-sdk/client-sns';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent, StreamRecord } from 'aws-lambda';

/** The most that SNS PublishBatch and DynamoDB BatchWriteItem take. */
const PUBLISH_ENTRIES = 10;
const WRITE_ENTRIES = 25;

const sns = new SNSClient({});
const dynamodb = new DynamoDBClient({});

export const handler = async (event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
  const records = event.Records.filter((each) => each.eventName === 'INSERT').map((each) => each.dynamodb ?? {});
  const failed: StreamRecord[] = [];
  const published: StreamRecord[] = [];
  await Promise.all(
    slices(records, PUBLISH_ENTRIES).map(async (group) => {
      const answer = await sns.send(
        new PublishBatchCommand({ TopicArn: process.env.TOPIC_ARN, PublishBatchRequestEntries: group.map(entry) }),
      );
      const refused = new Set((answer.Failed ?? []).map((each) => Number(each.Id)));
      group.forEach((record, place) => (refused.has(place) ? failed : published).push(record));
    }),
  );
  await Promise.all(
    slices(published, WRITE_ENTRIES).map((group) => {
      const deletes = group.map((each) => ({ DeleteRequest: { Key: each.Keys as Record<string, AttributeValue> } }));
      return dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [process.env.OUTBOX_TABLE ?? '']: deletes } }));
    }),
  );
  return { batchItemFailures: failed.map((each) => ({ itemIdentifier: each.SequenceNumber ?? '' })) };
};

const slices = <T>(items: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));

const entry = (record: StreamRecord, place: number): PublishBatchRequestEntry => {
  const image = record.NewImage ?? {};
  return {
    Id: String(place),
    Message: image.body?.S,
    MessageAttributes: {
      event_type: { DataType: 'String', StringValue: image.event_type?.S },
      aggregate_type: { DataType: 'String', StringValue: image.pk?.S?.split('#')[0] },
    },
  };
};
