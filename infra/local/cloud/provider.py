"""A provider outside of the system, such as one that charges cards: the stand-in of the tests, as a child process."""

import json
import subprocess
import urllib.request
from pathlib import Path

from bootstrap import ROOT
from cloud.emulator import Emulator

SECONDS = 10
# With the arguments of `make build`, so that nothing is compiled twice.
BUILD = ("cargo", "build", "--workspace", "--example", "provider", "--features", "fault-injection")
BINARY = Path("examples") / "provider"


class StandIn:
    """Ends with the emulator, which holds its standard input open."""

    def __init__(self, binaries: Path, running: Emulator):
        path = binaries / BINARY
        if not path.is_file():
            raise RuntimeError(f"{path} is missing: build it first (make build)")
        self._process = subprocess.Popen([str(path)], cwd=ROOT, stdin=running.lifeline, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, start_new_session=True)
        # It writes one line at its start, or ends.
        with self._process.stdout as said:
            line = said.readline()
        if not line:
            raise RuntimeError(f"{path} ended with status {self._process.wait(SECONDS)} while starting")
        self.url = f"http://127.0.0.1:{json.loads(line)['port']}"

    def behave(self, how: dict) -> None:
        self._ask("behave", json.dumps(how).encode())

    def requests(self) -> list[dict]:
        """Its ledger: what it was asked, did and answered."""
        return self._ask("ledger")["requests"]

    def wait(self) -> None:
        """For its end, once the emulator has ended."""
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(SECONDS)

    def _ask(self, path: str, body: bytes | None = None) -> dict:
        # No proxy of the caller's: it is on this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.url}/{path}", data=body, timeout=SECONDS) as answer:
            return json.load(answer)


def start_both(binaries: Path, running: Emulator) -> dict[str, StandIn]:
    return {"payment": StandIn(binaries, running), "mail": StandIn(binaries, running)}


def parameters(stand_ins: dict[str, StandIn]) -> dict[str, str]:
    """Of the template."""
    return {"PaymentUrl": stand_ins["payment"].url, "MailUrl": stand_ins["mail"].url}
