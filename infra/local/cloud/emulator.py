"""The embedded emulator as a child process: a free port on 127.0.0.1, a log, a bounded wait, and its end."""

import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from bootstrap import LOCAL
from cloud.clients import REGION

START_SECONDS = 30
STOP_SECONDS = 15


@dataclass
class Emulator:
    endpoint: str
    pid: int
    run_dir: Path
    process: subprocess.Popen
    # Reads nothing, and ends with the emulator: what is to end with it too gets this as its standard input.
    lifeline: int

    @property
    def log(self) -> Path:
        return self.run_dir / "emulator.log"

    def stop(self) -> None:
        """Ends the emulator and the function processes it started: they are one process group, made by us."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # the whole group has ended already
        self.process.wait(STOP_SECONDS)
        os.close(self.lifeline)
        # The unpacked functions are large; the log stays for the post-mortem.
        shutil.rmtree(self.run_dir / "tmp", ignore_errors=True)


def start(outlives_us: bool = False) -> Emulator:
    """Starts it and waits until it answers. Unless it is to outlive us, it also ends if we are killed (on Linux)."""
    _remove_finished_runs()
    for _ in range(5):
        started = _try_start(_free_port(), outlives_us)
        if started:
            return started
    raise RuntimeError("five free ports in a row were taken by others before the emulator could bind them")


def _try_start(port: int, outlives_us: bool) -> Emulator | None:
    token = secrets.token_hex(8)
    run_dir = LOCAL / "run" / f"{os.getpid()}-{token}"
    (run_dir / "tmp").mkdir(parents=True)
    endpoint = f"http://127.0.0.1:{port}"
    lifeline, held_by_emulator = os.pipe()
    with (run_dir / "emulator.log").open("wb") as log:
        process = subprocess.Popen(
            [str(LOCAL / "emu" / "bin" / "ministack")],
            env=_environment(port, endpoint, run_dir, token),
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=None if outlives_us else _end_with_parent, pass_fds=(held_by_emulator,),
        )
    os.close(held_by_emulator)
    (run_dir / "pid").write_text(str(process.pid))
    (run_dir / "endpoint").write_text(endpoint)
    emulator = Emulator(endpoint, process.pid, run_dir, process, lifeline)
    try:
        if _came_up(emulator):
            return emulator
        os.close(lifeline)
        return None
    except BaseException:
        emulator.stop()
        raise


def _came_up(emulator: Emulator) -> bool:
    """True once it answers; False if its port was taken before it could bind it."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        status = emulator.process.poll()
        if status is not None:
            text = emulator.log.read_text(errors="replace")
            if "already in use" in text or "ddress in use" in text:
                return False
            raise RuntimeError(f"the emulator ended with status {status} while starting:\n{text[-2000:]}")
        if answers(emulator.run_dir):
            return True
        time.sleep(0.05)
    raise TimeoutError(
        f"waited {START_SECONDS} s for the emulator's health at {emulator.endpoint}; its log: {emulator.log}"
    )


def _end_with_parent() -> None:
    # A killed test runner would leave the emulator and its functions running for ever. Elsewhere than on Linux it does.
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):
        pass


def answers(run_dir: Path) -> bool:
    """Whether the emulator of this run is up. The token tells it from another emulator that got the port instead."""
    return run_dir.name.rpartition("-")[2] in _health((run_dir / "endpoint").read_text())


def _environment(port: int, endpoint: str, run_dir: Path, token: str) -> dict[str, str]:
    # The functions inherit this. It is built from nothing, so that a variable of the caller's shell can neither reach
    # them nor hide that one of theirs is missing. (LLVM_PROFILE_FILE: coverage of the functions, when asked for.)
    kept = {k: os.environ[k] for k in ("PATH", "HOME", "LANG", "LLVM_PROFILE_FILE") if k in os.environ}
    return kept | {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": "127.0.0.1",
        "MINISTACK_REGION": REGION,
        "MINISTACK_EDITION": token,
        "AWS_ENDPOINT_URL": endpoint,
        "TMPDIR": str(run_dir / "tmp"),
        "S3_DATA_DIR": str(run_dir / "tmp" / "s3"),
        "IOT_MTLS_ENABLED": "0",
        "LAMBDA_EXECUTOR": "local",
        "LOG_LEVEL": "WARNING",
        "NO_PROXY": "127.0.0.1,localhost",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _health(endpoint: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{endpoint}/_ministack/health", timeout=2) as answer:
            return answer.read().decode(errors="replace")
    except (urllib.error.URLError, OSError):
        return ""


def _remove_finished_runs() -> None:
    """Removes what runs of an earlier day left behind, unless their emulator still runs (KEEP=1)."""
    for run_dir in (LOCAL / "run").glob("*-*"):
        try:
            if time.time() - run_dir.stat().st_mtime > 86400 and not is_running(int((run_dir / "pid").read_text())):
                shutil.rmtree(run_dir, ignore_errors=True)
        except (OSError, ValueError):
            continue  # another run is just making or removing it


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
