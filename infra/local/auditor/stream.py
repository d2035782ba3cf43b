"""Every record of a table's stream from TRIM_HORIZON, by the Streams API."""

# An open shard never ends: it answers with empty pages. AWS may answer one in the middle too, hence several.
EMPTY_PAGES = 5


def records(client, stream_arn: str):
    for shard in _shards(client, stream_arn):
        iterator = client.get_shard_iterator(
            StreamArn=stream_arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        empty = 0
        while iterator and empty < EMPTY_PAGES:
            page = client.get_records(ShardIterator=iterator, Limit=1000)
            empty = 0 if page["Records"] else empty + 1
            yield from page["Records"]
            iterator = page.get("NextShardIterator")


def _shards(client, stream_arn: str):
    start = {}
    while True:
        description = client.describe_stream(StreamArn=stream_arn, **start)["StreamDescription"]
        for shard in description["Shards"]:
            yield shard["ShardId"]
        last = description.get("LastEvaluatedShardId")
        if not last:
            return
        start = {"ExclusiveStartShardId": last}
