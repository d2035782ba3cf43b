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
    resources = _resources(clients.endpoint, names, _wait(clients))
    # The emulator's CloudFormation ignores TimeToLiveSpecification; on AWS the template alone is enough.
    clients["dynamodb"].update_time_to_live(
        TableName=resources.tables["inbox"],
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires_at"},
    )
    for name, variables in environment.items():
        add_environment(clients, name, variables)
    return resources


def _wait(clients: Clients) -> dict[str, str]:
    """The stack's outputs once it stands; else the reasons CloudFormation gives."""
    deadline = time.monotonic() + CREATE_SECONDS
    status = "no status yet"
    while time.monotonic() < deadline:
        stack = clients["cloudformation"].describe_stacks(StackName=STACK)["Stacks"][0]
        status = stack["StackStatus"]
        if status == "CREATE_COMPLETE":
            return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}
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


def _resources(endpoint: str, functions: list[str], outputs: dict[str, str]) -> Resources:
    return Resources(
        functions=functions,
        tables={
            "outbox": outputs["OutboxTableName"],
            "inbox": outputs["InboxTableName"],
            "quarantine": outputs["QuarantineTableName"],
            "orders": outputs["OrdersTableName"],
            "order_status": outputs["OrderStatusTableName"],
            "accounts": outputs["AccountsTableName"],
            "stock": outputs["StockTableName"],
        },
        queues={
            "billing": outputs["BillingQueueUrl"],
            "inventory": outputs["InventoryQueueUrl"],
            "order-projection": outputs["OrderProjectionQueueUrl"],
        },
        dlqs={
            "billing": outputs["BillingDlqUrl"],
            "inventory": outputs["InventoryDlqUrl"],
            "order-projection": outputs["OrderProjectionDlqUrl"],
            "outbox-relay": outputs["RelayFailureQueueUrl"],
        },
        topics={"orders": outputs["OrdersTopicArn"]},
        outbox_stream=outputs["OutboxStreamArn"],
        # By path: the host name of OrdersApiUrl is in no resolver here.
        api_url=f"{endpoint}/_aws/execute-api/{outputs['OrdersApiId']}/$default",
    )
