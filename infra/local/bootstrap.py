"""The pinned tools under .local/, made from nothing and only when their pins have changed.

Standard library only: this is what runs before anything is installed. `python3 infra/local/bootstrap.py emu cl` makes
the named environments and prints where each one's Python is.
"""

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LOCAL = ROOT / ".local"

# name: (requirements, further arguments of pip). cargo-lambda declares zig, 400 MB that only a release build needs.
ENVIRONMENTS = {
    "emu": ("emulator.txt", []),
    "cl": ("cargo-lambda.txt", ["--no-deps"]),
    "zig": ("zig.txt", []),
    "sam": ("sam.txt", []),
    "bench": ("bench.txt", []),
    "bench-python": ("bench-python.txt", ["--no-deps"]),
    "bench-node": ("bench-node.txt", ["--no-deps"]),
}


def python_of(name: str) -> Path:
    return LOCAL / name / "bin" / "python"


def ensure(name: str) -> Path:
    """The Python of one environment; it is rebuilt when its pins or the Python that made it have changed."""
    if sys.version_info < (3, 11):
        raise SystemExit(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    file, pip_args = ENVIRONMENTS[name]
    requirements = HERE / "requirements" / file
    wanted = hashlib.sha256(requirements.read_bytes() + sys.version.encode() + repr(pip_args).encode()).hexdigest()
    stamp = LOCAL / name / "pins.sha256"
    with _locked(LOCAL / f"{name}.lock"):
        if not stamp.exists() or stamp.read_text() != wanted:
            print(f"installing {requirements.relative_to(ROOT)} into .local/{name}", file=sys.stderr, flush=True)
            _run([sys.executable, "-m", "venv", "--clear", str(LOCAL / name)])
            _run([str(python_of(name)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                  "--no-input", *pip_args, "-r", str(requirements)])
            # Written last: an installation that was interrupted has no stamp and starts again.
            stamp.write_text(wanted)
    return python_of(name)


def enter(name: str = "emu") -> None:
    """Continue this script in the environment, in the same process: a parent that holds our pid notices nothing."""
    if Path(sys.prefix).resolve() == (LOCAL / name).resolve():
        return
    python = ensure(name)
    os.execv(python, [str(python), *sys.argv])


@contextlib.contextmanager
def _locked(path: Path):
    # Tests start several of these at once; the first installs, the others wait for it.
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
    if done.returncode != 0:
        raise SystemExit(f"this step failed with status {done.returncode}: {' '.join(command)}\n{done.stdout}")


if __name__ == "__main__":
    for each in sys.argv[1:] or ["emu"]:
        print(ensure(each).relative_to(ROOT))
