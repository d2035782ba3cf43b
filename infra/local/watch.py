#!/usr/bin/env python3
"""`make watch`: `cargo lambda watch` for every function, with tables, topic, queues and providers on the embedded emulator.

The stack is deployed as a whole, so what a watched function writes goes on through the deployed ones: an order placed
here is published and booked. Ends with Ctrl-C, and the emulator with it. PORT (9000, or a free one) is where
`cargo lambda invoke` finds the functions.
"""

import json
import os
import signal
import socket
import subprocess
import sys

import bootstrap

if __name__ == "__main__":
    bootstrap.ensure("cl")
    bootstrap.enter()

from cloud import emulator, provider  # noqa: E402 - these need the environment entered above
from cloud.clients import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, Clients, forget_user_settings  # noqa: E402
from cloud.stack import Resources, deploy  # noqa: E402
from scenario.plan import Plan  # noqa: E402
from scenario.seed import seed  # noqa: E402
from up import default_parameters  # noqa: E402

# What events/samples/ orders from, and for whom.
SHOP = Plan(accounts={"account-0001": 1_000_000}, stock={"sku-01": 1_000, "sku-02": 1_000})
STOP_SECONDS = 15
CARGO_LAMBDA = bootstrap.LOCAL / "cl" / "bin" / "cargo-lambda"


def main() -> int:
    port = _port()
    subprocess.run(provider.BUILD, cwd=bootstrap.ROOT, check=True)
    # As `cargo lambda watch` will: without --workspace, so without the tests' features.
    subprocess.run(["cargo", "build", "--bins"], cwd=bootstrap.ROOT, check=True)
    forget_user_settings()
    # Raised where we wait, so that `finally` runs and nothing is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    binaries = bootstrap.ROOT / "target" / "debug"
    running = emulator.start()
    stand_ins = {}
    try:
        clients = Clients(running.endpoint)
        stand_ins = provider.start_both(binaries, running)
        names = deploy(clients, binaries, default_parameters() | provider.parameters(stand_ins), {})
        seed(clients, names, SHOP)
        _announce(port, running.endpoint)
        _watch(port, environment(running.endpoint, names, stand_ins))
    finally:
        running.stop()
        for each in stand_ins.values():
            each.wait()
    return 0


def _watch(port: int, variables: dict[str, str]) -> None:
    command = [str(CARGO_LAMBDA), "lambda", "watch", "--invoke-address", "127.0.0.1", "--invoke-port", str(port)]
    with subprocess.Popen(command, cwd=bootstrap.ROOT, env=os.environ | variables) as watching:
        try:
            status = watching.wait()
        finally:
            # It ends the functions that it has started, if it is asked to; a killed one would leave them behind.
            watching.terminate()
            try:
                watching.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                watching.kill()
    if status:
        raise RuntimeError(f"cargo lambda watch ended with status {status}")


def environment(endpoint: str, names: Resources, stand_ins: dict) -> dict[str, str]:
    """One set of variables for all functions: cargo-lambda has no file of variables for a single one."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
        "OUTBOX_TABLE": names.tables["outbox"],
        "INBOX_TABLE": names.tables["inbox"],
        "ORDERS_TABLE": names.tables["orders"],
        "ORDER_STATUS_TABLE": names.tables["order_status"],
        "ACCOUNTS_TABLE": names.tables["accounts"],
        "STOCK_TABLE": names.tables["stock"],
        "QUARANTINE_TABLE": names.tables["quarantine"],
        "REMOTE_TABLE": names.tables["remote"],
        "PAYMENT_URL": stand_ins["payment"].url,
        "MAIL_URL": stand_ins["mail"].url,
        "EVENT_SOURCE": "watch",
        # The samples' receipts belong to no queue, so the visibility of nothing is changed, whichever queue this is.
        "QUEUE_URL": names.queues["billing"],
        "MAX_RECEIVE_COUNT": "5",
        "ROUTES": json.dumps({"Order": list(names.topics.values())}),
    }


def _port() -> int:
    wanted = os.environ.get("PORT")
    with socket.socket() as probe:
        # As the server does: the port of a watch that has just ended is free again.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(wanted or 9000)))
        except OSError:
            if wanted:
                raise SystemExit(f"PORT={wanted} is taken") from None
            probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _announce(port: int, endpoint: str) -> None:
    print(f"""
The emulator is at {endpoint}. In another terminal, from here:

  export PATH="$PWD/.local/cl/bin:$PATH"
  at="--invoke-address 127.0.0.1 --invoke-port {port}"
  cargo lambda invoke $at billing --data-file events/samples/sqs-order-placed.json
  cargo lambda invoke $at order-api --data-file events/samples/http-post-order.json
""", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, TimeoutError, subprocess.CalledProcessError) as failure:
        print(f"the functions could not be watched: {failure}", file=sys.stderr)
        sys.exit(2)
