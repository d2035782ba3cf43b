#!/usr/bin/env python3
"""`make check-release`: what has to hold for the zips of `make build-release`, shown on the built files themselves.

1. There is one for each function of the template, and no other.
2. None holds a fault point, while a build with the feature `fault-injection` does.
3. A panic fails one record and not the batch: billing, built for release with fault points, on the emulator.

The zips must be for this machine (`make build-release ARCH=--x86-64` or `--arm64`). The build for 2 and 3 takes as long as
that of one function.
"""

import json
import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import bootstrap

if __name__ == "__main__":
    bootstrap.ensure("zig")
    bootstrap.enter()

from cloud import emulator  # noqa: E402 - these need the environment entered above
from cloud.clients import Clients, forget_user_settings  # noqa: E402
from cloud.functions import add_environment, invoke  # noqa: E402
from cloud.package import TEMPLATE, function_names  # noqa: E402
from cloud.stack import deploy  # noqa: E402
from scenario.plan import Plan  # noqa: E402
from scenario.seed import seed  # noqa: E402
from up import default_parameters  # noqa: E402

ZIPS = bootstrap.ROOT / "target" / "lambda"
FAULTY = bootstrap.ROOT / "target" / "lambda-fault"
# What fault::point and fault::panic_point say. (A name such as FAULT_DIR proves nothing: an optimised build keeps short
# texts in its instructions, not as text.)
MARK = b"fault injected"


def main() -> None:
    names = function_names(TEMPLATE.read_text())
    built = sorted(each.parent.name for each in ZIPS.glob("*/bootstrap.zip"))
    check(built == sorted(names), f"one zip for each function: {', '.join(built)}")
    forget_user_settings()
    running = emulator.start()
    try:
        folder = running.run_dir / "tmp" / "release"
        folder.mkdir(parents=True)
        for name in names:
            archive = zipfile.ZipFile(ZIPS / name / "bootstrap.zip")
            (folder / name).write_bytes(archive.read("bootstrap"))
            size = (ZIPS / name / "bootstrap.zip").stat().st_size
            check(MARK not in (folder / name).read_bytes(), f"{name}: no fault point, {size} bytes zipped")
        billing = faulty_billing()
        check(MARK in billing.read_bytes(), "billing with fault-injection: fault points")
        (folder / "billing").write_bytes(billing.read_bytes())
        one_record_fails(Clients(running.endpoint), folder, running.run_dir / "faults")
    finally:
        running.stop()


def faulty_billing() -> Path:
    machine = "--arm64" if platform.machine() in ("aarch64", "arm64") else "--x86-64"
    environment = os.environ | {"PATH": f"{bootstrap.LOCAL / 'zig' / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(["cargo", "lambda", "build", "--release", machine, "--bin", "billing", "--features",
                    "fault-injection", "--lambda-dir", str(FAULTY)], cwd=bootstrap.ROOT, env=environment, check=True)
    return FAULTY / "billing" / "bootstrap"


def one_record_fails(clients: Clients, binaries: Path, fault_dir: Path) -> None:
    fault_dir.mkdir()
    stack = deploy(clients, binaries, default_parameters(), {})
    seed(clients, stack, Plan(accounts={"account-0001": 1_000_000}))
    add_environment(clients, "billing", {"FAULTS": "handler-panic:2:1000", "FAULT_DIR": str(fault_dir)})
    answer = invoke(clients, "billing", {"Records": [record(number) for number in range(1, 7)]})
    failed = [each["itemIdentifier"] for each in answer["batchItemFailures"]]
    key = {"account_id": {"S": "account-0001"}}
    account = clients["dynamodb"].get_item(TableName=stack.tables["accounts"], Key=key)["Item"]
    check(len(failed) == 3 and account["entries"]["N"] == "3",
          f"every second handler run panics: of 6 records {len(failed)} are listed and {account['entries']['N']} applied")


def record(number: int) -> dict:
    """The sample with an id of its own."""
    sample = bootstrap.ROOT / "events" / "samples" / "sqs-order-placed.json"
    made = json.loads(sample.read_text())["Records"][0]
    body = json.loads(made["body"]) | {"id": f"5f0c1c9e-6c2b-4d57-9a0e-{number:012}"}
    return made | {"messageId": f"message-{number}", "body": json.dumps(body)}


def check(holds: bool, what: str) -> None:
    print(("ok      " if holds else "NOT SO  ") + what, flush=True)
    if not holds:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, TimeoutError, OSError, subprocess.CalledProcessError) as failure:
        print(f"the release could not be checked: {failure}", file=sys.stderr)
        sys.exit(2)
