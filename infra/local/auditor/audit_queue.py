"""Queues of the auditor's own, one subscribed to each topic: every copy of every event that was published there.

A FIFO topic takes no second copy of an event within 5 minutes, so a copy that was published there once more inside of
that time is seen on the standard topic's queue alone.
"""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

from auditor.model import Event


class AuditQueues:
    """Subscribe on creation, then keep what they receive until `stop`."""

    def __init__(self, clients, topics: dict[str, str]):
        self._queues = {name: AuditQueue(clients, name, arn) for name, arn in topics.items()}

    def everywhere(self) -> int:
        """Events that every topic has passed on."""
        return len(set.intersection(*(queue.ids() for queue in self._queues.values())))

    def further(self) -> int:
        """Copies beyond the first, by topic."""
        return sum(queue.copies() - len(queue.ids()) for queue in self._queues.values())

    def stop(self) -> dict[str, list[Event]]:
        return {name: queue.stop() for name, queue in self._queues.items()}

    def close(self) -> None:
        for queue in self._queues.values():
            queue.close()


class AuditQueue:
    def __init__(self, clients, name: str, topic_arn: str):
        self._sqs = clients["sqs"]
        # A FIFO topic feeds a FIFO queue, which hands out the events of an order in the order in which they came.
        suffix, kind = (".fifo", {"FifoQueue": "true"}) if topic_arn.endswith(".fifo") else ("", {})
        self.url = self._sqs.create_queue(QueueName=f"audit-{name}{suffix}", Attributes=kind)["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        clients["sns"].subscribe(
            TopicArn=topic_arn, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"}
        )
        # By message id: SQS itself may hand out a message twice, which is not a second publish.
        self._copies: dict[str, Event] = {}
        self._end = threading.Event()
        # A future rather than a bare thread: what went wrong in it is raised by `stop`.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"audit-{name}")
        self._receiving = self._pool.submit(self._receive)

    def ids(self) -> set[str]:
        return {copy.event_id for copy in list(self._copies.values())}

    def copies(self) -> int:
        return len(self._copies)

    def stop(self) -> list[Event]:
        self.close()
        self._receiving.result()
        while self._take(0):  # what came while it ended
            pass
        return list(self._copies.values())

    def close(self) -> None:
        self._end.set()
        self._pool.shutdown(wait=True)

    def _receive(self) -> None:
        while not self._end.is_set():
            self._take(1)

    def _take(self, wait: int) -> int:
        messages = self._sqs.receive_message(
            QueueUrl=self.url, MaxNumberOfMessages=10, WaitTimeSeconds=wait, AttributeNames=["SentTimestamp"]
        ).get("Messages", [])
        for message in messages:
            copy = event_of(message["Body"], int(message["Attributes"]["SentTimestamp"]))
            self._copies.setdefault(message["MessageId"], copy)
            self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return len(messages)


def event_of(body: str, at: int) -> Event:
    envelope = json.loads(body)
    return Event(envelope["id"], envelope["type"], envelope["subject"], body, int(envelope.get("sequence", 0)), at)
