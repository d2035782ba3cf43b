"""KEEP=1: what is left running after a demo, what to try with it, and how it ends."""

import os
import shutil
import signal
import time

from bootstrap import LOCAL, ROOT
from cloud.clients import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY
from cloud.emulator import Emulator, answers, is_running

STOP_SECONDS = 15


def announce(running: Emulator, names) -> None:
    (running.run_dir / "kept").touch()
    sign = f"--aws-sigv4 aws:amz:{REGION}:execute-api --user {ACCESS_KEY_ID}:{SECRET_ACCESS_KEY}"
    print(f"""
Still running at {running.endpoint} (log: {running.log.relative_to(ROOT)}). To try next:

  # place one more order over HTTP (signed, as the API wants it), then look at it with the order_id from the answer
  curl -s {sign} '{names.api_url}/orders' \\
    -H 'content-type: application/json' \\
    -d '{{"account_id":"account-0001","sku":"sku-01","quantity":1,"amount_cents":500}}'
  curl -s {sign} '{names.api_url}/orders/ORDER_ID'

  # for everything below
  export AWS_ENDPOINT_URL={running.endpoint} AWS_REGION={REGION} \\
    AWS_ACCESS_KEY_ID={ACCESS_KEY_ID} AWS_SECRET_ACCESS_KEY={SECRET_ACCESS_KEY}

  # call a function with a sample event, or put a new build of one in its place
  .local/cl/bin/cargo-lambda lambda invoke --remote order-api --data-file events/samples/http-post-order.json

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
