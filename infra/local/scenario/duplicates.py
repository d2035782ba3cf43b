"""Duplicate deliveries: what the standard topic has sent once is sent to the consumers' queues again, byte for byte."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

from scenario.send import send

# Of the events that pass by, one in so many is delivered again: half of them while the first delivery may still be in
# flight, half of them at the end, when it is long done.
ONE_IN = 4
TYPES = {  # what each consumer's subscription lets through; order-projection has no filter
    "billing": ("OrderPlaced", "StockRejected", "PaymentDeclined"),
    "inventory": ("OrderPlaced", "PaymentDeclined"),
    "payment": ("StockReserved",),
    "notification": ("PaymentCaptured",),
}


class Duplicates:
    def __init__(self, clients, names):
        self._sqs = clients["sqs"]
        self._queues = names.queues
        self.sent = 0
        self._seen = 0
        self._late: list[dict] = []
        self.url = self._sqs.create_queue(QueueName="duplicates")["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        # Not raw: the wrapped form is what order-projection gets, and the event itself is inside.
        clients["sns"].subscribe(TopicArn=names.topics["orders"], Protocol="sqs", Endpoint=arn)
        self._end = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="duplicates")
        self._repeating = self._pool.submit(self._repeat)

    def send_late(self) -> None:
        """Ends the watching and sends what was held back."""
        self.close()
        self._repeating.result()
        for message in self._late:
            self._send(message)

    def close(self) -> None:
        self._end.set()
        self._pool.shutdown(wait=True)

    def _repeat(self) -> None:
        while not self._end.is_set():
            messages = self._sqs.receive_message(
                QueueUrl=self.url, MaxNumberOfMessages=10, WaitTimeSeconds=1
            ).get("Messages", [])
            for message in messages:
                self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
                self._seen += 1
                if self._seen % (2 * ONE_IN) == 0:
                    self._late.append(message)
                elif self._seen % ONE_IN == 0:
                    self._send(message)

    def _send(self, message: dict) -> None:
        notification = json.loads(message["Body"])
        event_type = notification["MessageAttributes"]["event_type"]["Value"]
        event = json.loads(notification["Message"])
        group = f"{event['aggregatetype']}#{event['subject']}"  # as the relay sends it
        for consumer, queue in self._queues.items():
            types = TYPES.get(consumer)
            if types and event_type not in types:
                continue
            send(self._sqs, queue, notification["Message"] if types else message["Body"], group)
            self.sent += 1
