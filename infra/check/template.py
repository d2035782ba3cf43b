#!/usr/bin/env python3
"""What a linter cannot know about a template that runs oncebox: settings that would lose an event, apply one twice or
hold others up. Prints one line for each, with the resource's name, and exits 1 if there is any.

    .local/emu/bin/python infra/check/template.py infra/template.yaml
"""

import json
import sys
from pathlib import Path

from samtranslator.yaml_helper import yaml_parse

SNS_RETRY_DAYS = 23
DAY = 86_400
DEFAULT_RETENTION_DAYS = 4  # of an SQS queue that states none


def check(template: dict) -> list[str]:
    resources = template.get("Resources") or {}
    look = Lookup(template, resources)
    problems = []
    for name, resource in resources.items():
        properties = resource.get("Properties") or {}
        if resource.get("Type") == "AWS::Serverless::Function":
            for event, source in (properties.get("Events") or {}).items():
                kind = source.get("Type")
                if kind in ("SQS", "DynamoDB"):
                    problems += mapping(f"{name}.{event}", kind, source.get("Properties") or {})
            problems += receive_counts(name, look, properties) + window(name, look, properties)
            problems += secrets(name, look, properties) + started(name, look, properties)
        elif resource.get("Type") == "AWS::Lambda::EventSourceMapping":
            kind = "DynamoDB" if "StartingPosition" in properties else "SQS"
            problems += mapping(name, kind, properties)
        elif resource.get("Type") == "AWS::SNS::Subscription":
            problems += subscription(name, look, properties)
        elif resource.get("Type") == "AWS::SNS::Topic":
            problems += topic(name, look, properties)
        elif resource.get("Type") == "AWS::SQS::Queue":
            problems += queue(name, look, properties)
        elif resource.get("Type") == "AWS::DynamoDB::Table":
            problems += table(name, properties)
    return problems


def mapping(name: str, kind: str, properties: dict) -> list[str]:
    problems = []
    if "ReportBatchItemFailures" not in (properties.get("FunctionResponseTypes") or []):
        problems.append(f"{name}: FunctionResponseTypes lacks ReportBatchItemFailures, so one failed record brings back "
                        "its whole batch, and an answer that lists failures counts as success")
    if kind == "DynamoDB":
        if properties.get("StartingPosition") != "TRIM_HORIZON":
            problems.append(f"{name}: StartingPosition is not TRIM_HORIZON, so rows written before the mapping's first "
                            "poll are never published by it")
        for bound in ("MaximumRetryAttempts", "MaximumRecordAgeInSeconds"):
            if properties.get(bound, -1) == -1:
                problems.append(f"{name}: {bound} has no bound, so one poisoned record holds its shard until it is trimmed")
        if properties.get("ParallelizationFactor", 1) != 1:
            problems.append(f"{name}: ParallelizationFactor above 1 keeps order for each row only, so rows of one aggregate "
                            "overtake each other on their way to FIFO destinations")
        if "OnFailure" not in (properties.get("DestinationConfig") or {}):
            problems.append(f"{name}: DestinationConfig has no OnFailure, so what the mapping gives up on is given up in silence")
    return problems


def table(name: str, properties: dict) -> list[str]:
    stream = (properties.get("StreamSpecification") or {}).get("StreamViewType")
    if stream and stream not in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
        return [f"{name}: StreamViewType {stream} does not carry the row, so the relay has nothing to publish"]
    return []


def topic(name: str, look: "Lookup", properties: dict) -> list[str]:
    # CloudFormation makes up names without the suffix.
    if properties.get("FifoTopic") and not str(look.text(properties.get("TopicName"))).endswith(".fifo"):
        return [f"{name}: a FIFO topic needs a TopicName that ends in .fifo"]
    return []


def queue(name: str, look: "Lookup", properties: dict) -> list[str]:
    dead = (properties.get("RedrivePolicy") or {}).get("deadLetterTargetArn")
    return same_kind(name, "queue", bool(properties.get("FifoQueue")), look, dead)


def subscription(name: str, look: "Lookup", properties: dict) -> list[str]:
    topic, queue = look.properties(properties.get("TopicArn")), look.properties(properties.get("Endpoint"))
    if queue.get("FifoQueue") and topic and not topic.get("FifoTopic"):
        return [f"{name}: a standard topic feeds a FIFO queue, which SNS refuses, and which would keep no order"]
    if properties.get("Protocol") == "sqs" and "RedrivePolicy" not in properties:
        return [f"{name}: no RedrivePolicy, so what SNS cannot deliver is dropped in silence"]
    dead = (properties.get("RedrivePolicy") or {}).get("deadLetterTargetArn")
    return same_kind(name, "subscription", bool(queue.get("FifoQueue")), look, dead) if queue else []


def same_kind(name: str, what: str, fifo: bool, look: "Lookup", dead) -> list[str]:
    target = look.properties(dead)
    if target and bool(target.get("FifoQueue")) != fifo:
        kind, other = ("FIFO", "standard") if fifo else ("standard", "FIFO")
        return [f"{name}: a {kind} {what} with a {other} dead-letter queue, which AWS refuses"]
    return []


def receive_counts(name: str, look: "Lookup", properties: dict) -> list[str]:
    count = look.value(look.settings(properties).get("MAX_RECEIVE_COUNT"))
    queues = [look.properties(source["Properties"].get("Queue"))
              for source in (properties.get("Events") or {}).values() if source.get("Type") == "SQS"]
    return [f"{name}: MAX_RECEIVE_COUNT is not the queue's maxReceiveCount, so a record falls on the dead letter queue "
            "without a reason, or is given up too early"
            for each in queues if look.value((each.get("RedrivePolicy") or {}).get("maxReceiveCount")) != count]


def window(name: str, look: "Lookup", properties: dict) -> list[str]:
    """The inbox window against the longest way back: the same sum as `oncebox::inbox::Retention`."""
    settings = look.settings(properties)
    sources = [source for source in (properties.get("Events") or {}).values() if source.get("Type") == "SQS"]
    # What receives no messages keeps clients' keys there, and nothing of these comes back.
    if "INBOX_TABLE" not in settings or not sources:
        return []
    days = lambda setting, default: int(look.value(settings.get(setting, default)))
    inbox, queue, dlq = days("INBOX_WINDOW_DAYS", 90), days("QUEUE_RETENTION_DAYS", 4), days("DLQ_RETENTION_DAYS", 14)
    problems = []
    for source in sources:
        source_queue = look.properties(source["Properties"].get("Queue"))
        redrive = source_queue.get("RedrivePolicy") or {}
        dead = look.properties(redrive.get("deadLetterTargetArn"))
        for what, declared, real in (("QUEUE_RETENTION_DAYS", queue, retention(look, source_queue)),
                                     ("DLQ_RETENTION_DAYS", dlq, retention(look, dead))):
            if real > declared:
                problems.append(f"{name}: {what} says {declared} days, and the queue keeps messages for {real:g}")
        queue, dlq = max(queue, retention(look, source_queue)), max(dlq, retention(look, dead))
    parked = max(dlq, days("QUARANTINE_WINDOW_DAYS", 30))
    back = days("REPLAY_WINDOW_DAYS", 0) + days("SNS_RETRY_DAYS", SNS_RETRY_DAYS) + queue + parked + queue
    if inbox < back:
        problems.append(f"{name}: the inbox window of {inbox} days is shorter than the {back:g} days after which an event "
                        "can come back: it would look new and be applied a second time")
    return problems


def secrets(name: str, look: "Lookup", properties: dict) -> list[str]:
    return [f"{name}: {variable} is not a NoEcho parameter, so a secret stands where everybody can read it"
            for variable, value in look.settings(properties).items()
            if variable.endswith("_TOKEN") and not look.is_hidden(value)]


def started(name: str, look: "Lookup", properties: dict) -> list[str]:
    """A "started" row says that a call may have been done."""
    table = look.properties(look.settings(properties).get("REMOTE_TABLE"))
    if (table.get("TimeToLiveSpecification") or {}).get("Enabled"):
        return [f"{name}: its REMOTE_TABLE has a TTL, so a call that may have been done is forgotten, and is made again"]
    return []


def retention(look: "Lookup", queue: dict) -> float:
    seconds = look.value(queue.get("MessageRetentionPeriod"))
    return int(seconds) / DAY if seconds is not None else DEFAULT_RETENTION_DAYS


class Lookup:
    """Follows `!Ref` and `!GetAtt`, as far as a template alone can tell."""

    def __init__(self, template: dict, resources: dict):
        self._parameters, self._resources = template.get("Parameters") or {}, resources
        self._globals = _variables((template.get("Globals") or {}).get("Function") or {})

    def settings(self, function: dict) -> dict:
        """A function's variables, those of `Globals` included."""
        return self._globals | _variables(function)

    def value(self, value):
        if isinstance(value, dict) and "Ref" in value and value["Ref"] in self._parameters:
            return self._parameters[value["Ref"]].get("Default")
        return value

    def is_hidden(self, value) -> bool:
        parameter = self._parameters.get(value.get("Ref")) if isinstance(value, dict) else None
        # A default is text in the template; CloudFormation keeps the others to itself.
        return bool(parameter and parameter.get("NoEcho") is True and not parameter.get("Default"))

    def text(self, value):
        """As `value`, and the pattern of a `!Sub`."""
        return value["Fn::Sub"] if isinstance(value, dict) and "Fn::Sub" in value else self.value(value)

    def properties(self, reference) -> dict:
        if not isinstance(reference, dict):
            return {}
        target = reference.get("Ref") or reference.get("Fn::GetAtt")
        name = (target.split(".")[0] if isinstance(target, str) else (target or [None])[0])
        return (self._resources.get(name) or {}).get("Properties") or {}


def _variables(function: dict) -> dict:
    return (function.get("Environment") or {}).get("Variables") or {}


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    text = Path(sys.argv[1]).read_text()
    problems = check(json.loads(json.dumps(yaml_parse(text))))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
