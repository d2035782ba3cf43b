"""KEEP=1: what is left running after a demo, what to try with it, and how it ends."""

import os
import shlex
import shutil
import signal
import time
from pathlib import Path

from bootstrap import LOCAL, ROOT
from cloud.clients import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY
from cloud.emulator import Emulator, answers, is_running

STOP_SECONDS = 15


def announce(running: Emulator, names) -> None:
    (running.run_dir / "kept").touch()
    body = '{"account_id":"account-0001","sku":"sku-01","quantity":1,"amount_cents":500}'
    event = (
        '{"version":"2.0","routeKey":"$default","rawPath":"/orders","rawQueryString":"","headers":'
        '{"content-type":"application/json"},"requestContext":{"accountId":"0","apiId":"a","domainName":"d",'
        '"domainPrefix":"d","http":{"method":"POST","path":"/orders","protocol":"HTTP/1.1","sourceIp":"127.0.0.1",'
        '"userAgent":"me"},"requestId":"r","routeKey":"$default","stage":"$default","time":"","timeEpoch":0},'
        f'"body":"{body.replace(chr(34), chr(92) + chr(34))}","isBase64Encoded":false}}'
    )
    print(f"""
Still running at {running.endpoint} (log: {_short(running.log)}). To talk to it:

  export AWS_ENDPOINT_URL={running.endpoint} AWS_REGION={REGION} \\
    AWS_ACCESS_KEY_ID={ACCESS_KEY_ID} AWS_SECRET_ACCESS_KEY={SECRET_ACCESS_KEY}

  # place one more order, through the same function
  .local/cl/bin/cargo-lambda lambda invoke --remote order-api --data-ascii {shlex.quote(event)}

  # with the AWS command line, if you have it: both tables of the pair, and a consumer's log
  aws dynamodb scan --table-name {names.tables["outbox"]}
  aws dynamodb scan --table-name {names.tables["inbox"]} --max-items 3
  aws logs tail /aws/lambda/billing

  # end it
  make demo-stop
""", flush=True)


def stop() -> None:
    for mark in (LOCAL / "run").glob("*/kept"):
        pid = int((mark.parent / "pid").read_text())
        if answers(mark.parent):  # else the pid may be another process's by now
            os.killpg(pid, signal.SIGTERM)
            deadline = time.monotonic() + STOP_SECONDS
            while is_running(pid) and time.monotonic() < deadline:
                time.sleep(0.1)
            if is_running(pid):
                os.killpg(pid, signal.SIGKILL)
            print(f"stopped the emulator with pid {pid}")
        shutil.rmtree(mark.parent, ignore_errors=True)


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT))
