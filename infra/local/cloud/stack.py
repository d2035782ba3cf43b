"""The stack on an emulator: upload, create through CloudFormation, and the names of what came out."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path

from cloud.clients import Clients
from cloud.functions import add_environment
from cloud.package import TEMPLATE, function_names, with_code, zip_of

STACK = "oncebox"
BUCKET = "oncebox-code"
CREATE_SECONDS = 120


@dataclass
class Resources:
    """Physical names, by the names the rest of the project uses."""

    functions: list[str]
    tables: dict[str, str]
    queues: dict[str, str]
    dlqs: dict[str, str]
    topics: dict[str, str]
    outbox_stream: str
    api_url: str

    def as_dict(self) -> dict:
        return asdict(self)


def deploy(
    clients: Clients, binaries: Path, parameters: dict[str, str], environment: dict[str, dict[str, str]]
) -> Resources:
    """Creates the stack. `environment` adds variables to single functions, by function name."""
    template = TEMPLATE.read_text()
    names = function_names(template)
    unknown = sorted(set(environment) - set(names))
    if unknown:
        raise RuntimeError(f"no such function: {', '.join(unknown)}; the template has {', '.join(names)}")
    zips = {name: zip_of(binaries / name) for name in names}
    clients["s3"].create_bucket(Bucket=BUCKET)
    for path in zips.values():
        clients["s3"].upload_file(str(path), BUCKET, path.name)
    body = with_code(template, BUCKET, {name: path.name for name, path in zips.items()})
    clients["cloudformation"].create_stack(
        StackName=STACK,
        TemplateBody=body,
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()],
    )
    _wait(clients)
    resources = _resources(clients, names)
    _make_up_for_the_emulator(clients, resources)
    for name, variables in environment.items():
        add_environment(clients, name, variables)
    return resources


def _make_up_for_the_emulator(clients: Clients, resources: Resources) -> None:
    """Its CloudFormation leaves out two properties that it has itself; on AWS the template alone is enough."""
    clients["dynamodb"].update_time_to_live(
        TableName=resources.tables["inbox"],
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires_at"},
    )
    # Without this it is a standard topic with a strange name: no groups, no deduplication.
    clients["sns"].set_topic_attributes(
        TopicArn=resources.topics["orders-fifo"], AttributeName="FifoTopic", AttributeValue="true"
    )


def _wait(clients: Clients) -> None:
    """Until the stack stands; else the reasons CloudFormation gives."""
    deadline = time.monotonic() + CREATE_SECONDS
    status = "no status yet"
    while time.monotonic() < deadline:
        stack = clients["cloudformation"].describe_stacks(StackName=STACK)["Stacks"][0]
        status = stack["StackStatus"]
        if status == "CREATE_COMPLETE":
            return
        if not status.endswith("_IN_PROGRESS"):
            break
        time.sleep(0.1)
    else:
        status = f"{status} after {CREATE_SECONDS} s of waiting for CREATE_COMPLETE"
    raise RuntimeError(f"the stack {STACK} did not come up: {status}\n{_events(clients)}")


def _events(clients: Clients) -> str:
    events = clients["cloudformation"].describe_stack_events(StackName=STACK)["StackEvents"]
    lines = [
        f"  {e.get('ResourceStatus')} {e.get('LogicalResourceId')} {e.get('ResourceStatusReason', '')}".rstrip()
        for e in events
    ]
    return "\n".join(reversed(lines))


def _resources(clients: Clients, functions: list[str]) -> Resources:
    pages = clients["cloudformation"].get_paginator("list_stack_resources").paginate(StackName=STACK)
    ids = {each["LogicalResourceId"]: each["PhysicalResourceId"] for page in pages for each in page["StackResourceSummaries"]}
    outbox = clients["dynamodb"].describe_table(TableName=ids["OutboxTable"])["Table"]
    return Resources(
        functions=functions,
        tables={
            "outbox": ids["OutboxTable"],
            "inbox": ids["InboxTable"],
            "quarantine": ids["QuarantineTable"],
            "remote": ids["RemoteTable"],
            "orders": ids["OrdersTable"],
            "order_status": ids["OrderStatusTable"],
            "accounts": ids["AccountsTable"],
            "stock": ids["StockTable"],
        },
        queues={
            "billing": ids["BillingQueue"],
            "inventory": ids["InventoryQueue"],
            "payment": ids["PaymentQueue"],
            "notification": ids["NotificationQueue"],
            "order-projection": ids["OrderProjectionQueue"],
        },
        dlqs={
            "billing": ids["BillingDlq"],
            "inventory": ids["InventoryDlq"],
            "payment": ids["PaymentDlq"],
            "notification": ids["NotificationDlq"],
            "order-projection": ids["OrderProjectionDlq"],
            "outbox-relay": ids["RelayFailureQueue"],
        },
        topics={"orders": ids["OrdersTopic"], "orders-fifo": ids["OrdersFifoTopic"]},
        outbox_stream=outbox["LatestStreamArn"],
        # By path: the host name of OrdersApiUrl is in no resolver here.
        api_url=f"{clients.endpoint}/_aws/execute-api/{ids['OrdersApi']}/$default",
    )
