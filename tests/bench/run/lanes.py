"""One measured run: the lane program around one contestant."""

import json
import os
import shlex
import subprocess
from pathlib import Path

from works import Contestant, Work

# The slowest lane is a thousand records one after the other at 5 ms a call: 15 s each for warm-up and measurement on an idle
# machine.
LIMIT_SECONDS = 240


class LaneFailed(Exception):
    """Why there is no figure."""


def run(lane: Path, contestant: Contestant, work: Work, invocations: int, warmup: int) -> dict:
    """What the lane program measured.

    Raises LaneFailed when the work was not done, or not done right, or not in time.
    """
    command = [
        str(lane), "--work", work.kind, "--variant", work.variant, "--batch", str(work.batch),
        "--invocations", str(invocations), "--warmup", str(warmup), "--latency-ms", str(work.latency_ms),
        "--limit-seconds", str(LIMIT_SECONDS), "--", *contestant.command,
    ]
    # Nothing of this shell's settings reaches a contestant.
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **contestant.environment}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS + 60)
    except subprocess.TimeoutExpired:
        raise LaneFailed(f"the lane itself did not end within {LIMIT_SECONDS + 60} s") from None
    if done.returncode != 0:
        settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in contestant.environment.items())
        again = f"{settings} {shlex.join(command)}".replace(" -- ", " --log FILE -- ", 1).strip()
        raise LaneFailed(f"{done.stderr.strip() or f'status {done.returncode}'}; to see more: {again}")
    return json.loads(done.stdout.strip().splitlines()[-1])
