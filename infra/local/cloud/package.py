"""`bootstrap` zips from built binaries, and the template with each CodeUri replaced: what `sam package` does.

Why not `cargo lambda build --output-format zip`: it always passes --target, which is another target directory. The
SDK would be compiled a second time, in the profile that the tests have already built. (It also builds for Linux on
any host, and the emulator runs the functions on the host itself.)
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from bootstrap import LOCAL, ROOT

TEMPLATE = ROOT / "infra" / "template.yaml"
_CODE_URI = re.compile(r"^( +CodeUri: )\.\./functions/([a-z-]+)$", re.MULTILINE)


def function_names(template: str) -> list[str]:
    return [match[2] for match in _CODE_URI.finditer(template)]


def with_code(template: str, bucket: str, keys: dict[str, str]) -> str:
    """The template with every function's folder replaced by its object in S3."""
    return _CODE_URI.sub(lambda m: f"{m[1]}{{ Bucket: {bucket}, Key: {keys[m[2]]} }}", template)


def zip_of(binary: Path) -> Path:
    """The zip of one binary, made once for each build of it."""
    if not binary.is_file():
        raise RuntimeError(f"{binary} is missing: build the functions first (make build)")
    seen = binary.stat()
    key = hashlib.sha256(f"{binary}:{seen.st_size}:{seen.st_mtime_ns}".encode()).hexdigest()[:16]
    target = LOCAL / "package" / f"{binary.name}-{key}.zip"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    for old in target.parent.glob(f"{binary.name}-????????????????.zip"):
        old.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        bootstrap = Path(scratch) / "bootstrap"
        _stripped(binary, bootstrap)
        made = Path(scratch) / "made.zip"
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            # Fixed date and mode: the same binary makes the same zip.
            entry = zipfile.ZipInfo("bootstrap", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100755 << 16
            archive.writestr(entry, bootstrap.read_bytes())
        os.replace(made, target)
    return target


def _stripped(binary: Path, target: Path) -> None:
    # A dev build is mostly symbols, and the emulator hashes the zip at every cold start. The tool is part of what
    # Rust needs to link; without it the binary goes in as it is.
    strip = shutil.which("strip")
    if strip is None or subprocess.run([strip, "-o", target, binary], capture_output=True).returncode != 0:
        shutil.copy(binary, target)
