"""Counts the instructions of each work of `counts` and compares them with the committed baseline.

    check.py PROGRAM [--bless]

Counts and not times: they hardly differ between two runs, however busy the machine is. Each work is run with one round and
with two; the difference is a round, without what starting costs.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import valgrind

BASELINE = Path(__file__).resolve().parent / "baseline.json"
# A work may take so much more than in the baseline, in per cent. Two runs differ by far less, see docs/decisions/0014.
MOST = 10.0
FEW, MANY = 1, 2


def instructions(output: str) -> int:
    found = re.search(r"Collected\s*:\s*(\d+)", output)
    if not found:
        raise SystemExit(f"callgrind did not say how many instructions it has counted:\n{output[-2000:]}")
    return int(found.group(1))


def measure(program: Path) -> dict[str, int]:
    """Instructions of a round, by work."""
    start, needs = valgrind.command()
    # Nothing of the caller's environment may change what is done.
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **needs}
    names = _run([str(program)], environment).split()
    callgrind = [*start, "--tool=callgrind", "--callgrind-out-file=/dev/null"]

    def count(job: tuple[str, int]) -> int:
        name, rounds = job
        return instructions(_run([*callgrind, str(program), name, str(rounds)], environment))

    jobs = [(name, rounds) for name in names for rounds in (FEW, MANY)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = dict(zip(jobs, pool.map(count, jobs), strict=True))
    return {name: counted[name, MANY] - counted[name, FEW] for name in names}


def compare(baseline: dict[str, int], counted: dict[str, int]) -> tuple[list[str], list[str]]:
    """A table, and what is wrong."""
    lines, wrong = [f"{'work':<22} {'instructions':>13} {'baseline':>13} {'growth':>9}"], []
    for name, now in counted.items():
        before = baseline.get(name)
        if not before:
            lines.append(f"{name:<22} {now:>13,} {'none':>13}")
            wrong.append(f"{name} is not in the baseline")
            continue
        growth = (now - before) * 100 / before
        word = ""
        if growth > MOST:
            word = "  too many"
            wrong.append(f"{name} takes {growth:.1f} % more instructions than in the baseline, and {MOST:.0f} % are allowed")
        elif growth < -MOST:
            word = "  far fewer: bless it, so that it stays so"
        lines.append(f"{name:<22} {now:>13,} {before:>13,} {growth:>+7.1f} %{word}")
    wrong += [f"{name} is in the baseline, and is not measured any more" for name in baseline if name not in counted]
    return lines, wrong


def surroundings() -> dict[str, str]:
    """What else the counts depend on: the C library's code is counted too."""
    return {"valgrind": valgrind.version(*valgrind.command()), "libc": "-".join(platform.libc_ver())}


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--bless", action="store_true", help="make what is counted the baseline")
    arguments = parser.parse_args()
    known = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    of = platform.machine()
    here = known.get(of, {})
    now = surroundings()
    counted = measure(arguments.program.resolve())
    lines, wrong = compare(here.get("instructions", {}), counted)
    print("\n".join(lines))
    if arguments.bless:
        known[of] = {**now, "instructions": counted}
        BASELINE.write_text(json.dumps(known, indent=2) + "\n")
        print(f"this is the baseline for {of} now; commit {BASELINE.relative_to(valgrind.ROOT)}")
        return
    if wrong:
        other = [f"{name} {here[name]} then, {value} now" for name, value in now.items() if here.get(name, value) != value]
        print("\n".join([*wrong, *other]), file=sys.stderr)
        raise SystemExit("if this is meant, `make counts BLESS=1` makes it the baseline, which is to be committed")


if __name__ == "__main__":
    main()
