"""Installs and builds the contestants, each pinned, and says what a deployment of each would upload."""

import os
import platform
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from works import Contestant

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
OUT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "bench"
sys.path.insert(0, str(ROOT / "infra" / "local"))

import bootstrap  # noqa: E402  (it is found through the line above)
import peers  # noqa: E402

BUILD_SECONDS = 3600


@dataclass
class Ready:
    """Contestants by name and kind; for those that could not be made ready, why not."""

    lane: Path
    contestants: dict[tuple[str, str], Contestant] = field(default_factory=dict)
    missing: dict[tuple[str, str], str] = field(default_factory=dict)
    zip_mb: dict[tuple[str, str], float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


# name, kind, program, its settings; `examples/` are the hand-written programs
RUST = (
    ("oncebox", "consumer", "billing", {}),
    ("oncebox-packed", "consumer", "billing", {"PACKING": "on"}),
    ("floor", "consumer", "examples/floor-consumer", {}),
    ("oncebox", "relay", "outbox-relay", {}),
    ("floor", "relay", "examples/floor-relay", {}),
    ("floor-no-delete", "relay", "examples/floor-relay", {"DELETE": "off"}),
)


def names() -> list[tuple[str, str]]:
    """Name and kind of every contestant."""
    return [(name, kind) for name, kind, *_ in RUST] + [*peers.PYTHON, *peers.TYPESCRIPT]


def everything(wanted: set[str]) -> Ready:
    """Makes ready what is wanted. A peer that does not install is reported with the results, and fails the bench then."""
    OUT.mkdir(parents=True, exist_ok=True)
    programs = rust()
    ready = Ready(lane=programs / "examples" / "lane")
    ready.versions["rustc"] = _output(["rustc", "--version"])
    for name, kind, program, settings in RUST:
        path = programs / program
        ready.contestants[name, kind] = Contestant(name, kind, (str(path),), settings, {"bootstrap": path})
    for install in (peers.python, peers.typescript):
        if wanted & {name for name, _ in install.contestants}:
            try:
                made, versions = install()
            except (peers.NotInstalled, SystemExit) as why:
                ready.missing |= {key: f"not installed: {why}" for key in install.contestants}
            else:
                ready.contestants |= {(each.name, each.kind): each for each in made}
                ready.versions |= versions
    for key, contestant in ready.contestants.items():
        if key[0] in wanted:
            ready.zip_mb[key] = zip_mb(contestant)
    return ready


def rust() -> Path:
    """The directory of the release-built programs."""
    if given := os.environ.get("BENCH_BIN_DIR"):
        return Path(given).resolve()
    # Apart, so that no feature that only the bench asks for is in what is shipped.
    for packages in (["-p", "billing", "-p", "outbox-relay"], ["-p", "oncebox-bench", "--examples"]):
        subprocess.run(["cargo", "build", "--release", "--locked", *packages], cwd=ROOT, check=True, timeout=BUILD_SECONDS)
    return OUT.parent / "release"


def zip_mb(contestant: Contestant) -> float:
    """MiB of the deployment package, written as it would be uploaded."""
    path = OUT / f"{contestant.kind}-{contestant.name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as package:
        for name, file in sorted(contestant.upload.items()):
            package.write(file, name)
    return round(path.stat().st_size / 2**20, 3)


def machine() -> dict:
    cpus = Path("/proc/cpuinfo").read_text()
    models = [line.partition(":")[2].strip() for line in cpus.splitlines() if line.startswith("model name")]
    kib = int(Path("/proc/meminfo").read_text().split()[1])
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(kib / 2**20),
        "kernel": platform.release(),
        "architecture": platform.machine(),
    }


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()
