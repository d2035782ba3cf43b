#!/usr/bin/env python3
"""`make demo`: orders through the whole system with faults thrown in, then an audit. Its last line is one JSON object.

Variables: ORDERS (200), KEEP=1 (leave it running), SABOTAGE=no-inbox|ack-first (break billing, to see the audit fail).
Exit status: 0 all is well; 1 the audit found something; 2 it could not be run; 3 it did not come to rest in time.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import bootstrap

if __name__ == "__main__":
    bootstrap.ensure("cl")  # for `cargo lambda watch|invoke|deploy`, which KEEP=1 invites to
    bootstrap.enter()

import keep  # noqa: E402 - all of these need the environment entered above
import report  # noqa: E402
from cloud import emulator, provider  # noqa: E402
from cloud.clients import Clients, forget_user_settings  # noqa: E402
from cloud.stack import deploy  # noqa: E402
from scenario import faults, plan  # noqa: E402
from scenario.run import run  # noqa: E402
from up import default_parameters  # noqa: E402

# A call whose process was killed holds its lease for some seconds more than the function's timeout, which costs its messages
# receives; and its provider may fail it after that.
MORE_RECEIVES = {"MaxReceiveCount": "12"}


def main(options: argparse.Namespace) -> int:
    orders, sabotage = _variables()
    wanted = plan.make(orders)
    binaries = options.binaries or _build()
    forget_user_settings()
    _say("starting the emulator and deploying infra/template.yaml to it")
    keeping = os.environ.get("KEEP") == "1"
    running = emulator.start(outlives_us=keeping)
    kept, stand_ins = False, {}
    try:
        clients = Clients(running.endpoint)
        stand_ins = provider.start_both(binaries, running)
        names = deploy(clients, binaries, default_parameters() | MORE_RECEIVES | provider.parameters(stand_ins), {})
        _say(f"placing {orders} orders on {len(wanted.accounts)} accounts and {len(wanted.stock)} stock items")
        started = time.monotonic()
        outcome = run(clients, names, wanted, running.run_dir / "faults", sabotage, stand_ins)
        report.print_all(outcome, sabotage, time.monotonic() - started)
        if keeping:
            keep.announce(running, names)
            kept = True
        print(json.dumps(outcome.findings.keys), flush=True)
        return outcome.status
    finally:
        if not kept:
            running.stop()
            for each in stand_ins.values():
                each.wait()


def _variables() -> tuple[int, str]:
    orders, sabotage = os.environ.get("ORDERS") or "200", os.environ.get("SABOTAGE") or ""
    if not orders.isdecimal():
        raise RuntimeError(f"ORDERS={orders} is not a number")
    if sabotage and sabotage not in faults.SABOTAGE:
        raise RuntimeError(f"SABOTAGE={sabotage}: choose from {', '.join(faults.SABOTAGE)}")
    return int(orders), sabotage


def _build() -> Path:
    """In the dev profile: tests and demo share one target directory (cloud/package.py says why not cargo-lambda)."""
    command = ["cargo", "build", "--workspace", "--bins", "--examples", "--features", "fault-injection"]
    _say(" ".join(command))
    if subprocess.run(command, cwd=bootstrap.ROOT, stdout=sys.stderr).returncode != 0:
        raise RuntimeError("the functions do not build")
    return bootstrap.ROOT / "target" / "debug"


def _say(what: str) -> None:
    print(f"==> {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, help="folder with built functions, instead of building them")
    parser.add_argument("--stop", action="store_true", help="end what KEEP=1 has left running")
    given = parser.parse_args()
    # Raised where we are, so that `finally` runs and nothing is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(keep.stop() if given.stop else main(given))
    except (RuntimeError, TimeoutError) as failure:
        print(f"the demo could not be run: {failure}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
