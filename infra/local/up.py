#!/usr/bin/env python3
"""One emulator with the stack on it, for as long as the caller holds our stdin open.

Prints one JSON line on stdout when everything is up (endpoint, keys, the names of tables, queues, topics and
functions), then waits for the end of stdin or SIGTERM and stops what it started. End-to-end tests use it so:

    python3 infra/local/up.py --binaries target/debug --env billing:FAULTS=consumer-after-commit:1:1
"""

import argparse
import json
import os
import platform
import signal
import sys
from pathlib import Path

import bootstrap

bootstrap.enter()

from cloud import emulator  # noqa: E402 - these need the environment entered above
from cloud.clients import ACCESS_KEY_ID, ACCOUNT, REGION, SECRET_ACCESS_KEY, Clients, forget_user_settings  # noqa: E402
from cloud.stack import deploy  # noqa: E402


def main() -> None:
    options = _options()
    forget_user_settings()
    # Raised where we wait, so that `finally` runs and nothing is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    running = emulator.start()
    try:
        print(json.dumps(_deploy(running, options)), flush=True)
        # Read the descriptor itself: it returns at once when the last writer has gone.
        while os.read(sys.stdin.fileno(), 4096):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        running.stop()


def _deploy(running: emulator.Emulator, options: argparse.Namespace) -> dict:
    line = {
        "endpoint": running.endpoint,
        "region": REGION,
        "account": ACCOUNT,
        "access_key_id": ACCESS_KEY_ID,
        "secret_access_key": SECRET_ACCESS_KEY,
        "pid": running.pid,
        "log": str(running.log),
        "fault_dir": str(running.run_dir / "faults"),
    }
    (running.run_dir / "faults").mkdir()
    if options.no_deploy:
        return line
    environment: dict[str, dict[str, str]] = {}
    for function, name, value in options.env:
        environment.setdefault(function, {})[name] = value.replace("{fault_dir}", line["fault_dir"])
    parameters = default_parameters() | dict(options.parameter)
    return line | deploy(Clients(running.endpoint), options.binaries, parameters, environment).as_dict()


def default_parameters() -> dict[str, str]:
    """Small timeouts, so that a redelivery happens in seconds; the machine's own architecture."""
    machine = {"aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "x86_64")
    return {"Architecture": machine, "FunctionTimeoutSeconds": "3", "VisibilityTimeoutSeconds": "3"}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, default=bootstrap.ROOT / "target" / "debug",
                        help="folder with the built functions, named as they are deployed (target/debug)")
    parser.add_argument("--parameter", type=_pair, action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the template; may be repeated")
    parser.add_argument("--env", type=_function_variable, action="append", default=[], metavar="FUNCTION:NAME=VALUE",
                        help="a variable for one function, {fault_dir} in it is replaced; may be repeated")
    parser.add_argument("--no-deploy", action="store_true", help="the emulator alone, without the stack")
    return parser.parse_args()


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _function_variable(text: str) -> tuple[str, str, str]:
    function, colon, rest = text.partition(":")
    if not (function and colon):
        raise argparse.ArgumentTypeError(f"{text!r} is not FUNCTION:NAME=VALUE")
    return function, *_pair(rest)


if __name__ == "__main__":
    main()
