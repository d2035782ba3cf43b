"""Messages of our own on a consumer's queue."""

import secrets


def send(sqs, queue_url: str, body: str, group: str) -> None:
    """On a FIFO queue in `group`, and under a deduplication id that no other message has: what is sent twice arrives twice."""
    fifo = {"MessageGroupId": group, "MessageDeduplicationId": secrets.token_hex(16)}
    sqs.send_message(QueueUrl=queue_url, MessageBody=body, **(fifo if queue_url.endswith(".fifo") else {}))
