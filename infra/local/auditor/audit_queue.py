"""A queue of the auditor's own, subscribed to a topic: every copy of every event that was published there."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

from auditor.model import Event


class AuditQueue:
    """Subscribes on creation, then keeps what it receives until `stop`."""

    def __init__(self, clients, topic_arn: str):
        self._sqs = clients["sqs"]
        self.url = self._sqs.create_queue(QueueName="audit")["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        clients["sns"].subscribe(
            TopicArn=topic_arn, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"}
        )
        # By message id: SQS itself may hand out a message twice, which is not a second publish.
        self._bodies: dict[str, str] = {}
        self._end = threading.Event()
        # A future rather than a bare thread: what went wrong in it is raised by `stop`.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="audit-queue")
        self._receiving = self._pool.submit(self._receive)

    def distinct(self) -> int:
        return len({json.loads(body).get("id") for body in list(self._bodies.values())})

    def copies(self) -> int:
        return len(self._bodies)

    def stop(self) -> list[Event]:
        self.close()
        self._receiving.result()
        while self._take(0):  # what came while it ended
            pass
        return [event_of(body) for body in self._bodies.values()]

    def close(self) -> None:
        self._end.set()
        self._pool.shutdown(wait=True)

    def _receive(self) -> None:
        while not self._end.is_set():
            self._take(1)

    def _take(self, wait: int) -> int:
        messages = self._sqs.receive_message(
            QueueUrl=self.url, MaxNumberOfMessages=10, WaitTimeSeconds=wait
        ).get("Messages", [])
        for message in messages:
            self._bodies[message["MessageId"]] = message["Body"]
            self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return len(messages)


def event_of(body: str) -> Event:
    envelope = json.loads(body)
    return Event(envelope["id"], envelope["type"], envelope["subject"], body)
