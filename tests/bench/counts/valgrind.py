"""Where valgrind is: on PATH, or under .local/valgrind, unpacked there from Debian's package. Standard library only."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LOCAL = ROOT / ".local" / "valgrind"


def command() -> tuple[list[str], dict[str, str]]:
    """How to start it, and what it needs in the environment."""
    installed = shutil.which("valgrind")
    if installed:
        return [installed], {}
    if not _unpacked():
        _unpack()
    # It looks for its tools where the package would have put them.
    tools = next((path for path in (LOCAL / "usr/libexec/valgrind", LOCAL / "usr/lib/valgrind")
                  if any(path.glob("callgrind-*"))), None)
    if tools is None:
        raise SystemExit(f"Debian's valgrind package has no callgrind under {LOCAL}")
    return [str(_unpacked())], {"VALGRIND_LIB": str(tools)}


def version(start: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run([*start, "--version"], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=60)
    if done.returncode != 0:
        raise SystemExit(f"{start[0]} does not start: {done.stderr.strip()}")
    return done.stdout.strip()


def _unpacked() -> Path | None:
    # `valgrind` itself is a script that looks for debug symbols which only memcheck needs.
    program = LOCAL / "usr/bin/valgrind.bin"
    return program if program.exists() else None


def _unpack() -> None:
    """Debian keeps one version per release, which `apt-get download` takes; the baseline says which one it is from."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise SystemExit("counting instructions needs valgrind, and this is no Debian to take it from: put it on PATH")
    print("unpacking Debian's valgrind into .local/valgrind", file=sys.stderr, flush=True)
    shutil.rmtree(LOCAL, ignore_errors=True)
    LOCAL.mkdir(parents=True)
    if not _download():
        # A bare image has no package lists, and only root may fetch them.
        _run(["apt-get", "update", "--quiet"])
        if not _download():
            raise SystemExit(f"apt-get download has no valgrind for {platform.machine()}: put one on PATH")
    package = next(LOCAL.glob("valgrind_*.deb"))
    _run(["dpkg-deb", "--extract", str(package), str(LOCAL)])
    package.unlink()


def _download() -> bool:
    subprocess.run(["apt-get", "download", "--quiet", "valgrind"], cwd=LOCAL, capture_output=True, timeout=600)
    return any(LOCAL.glob("valgrind_*.deb"))


def _run(step: list[str]) -> None:
    done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"counting instructions needs valgrind; it is not on PATH, and {' '.join(step)} failed with "
                         f"{done.returncode}:\n{done.stdout}")
