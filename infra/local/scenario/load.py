"""Places orders through order-api, invoked as a Lambda with the event an HTTP API sends it."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from cloud.functions import invoke

# A few clients at once, so that orders meet on accounts and stock; two cores do the rest of the work too.
PARALLEL = 4


class Load:
    """Places the orders on threads of its own; `accepted` and `refused` grow while it runs."""

    def __init__(self, clients, orders: list[dict]):
        self._clients = clients
        self.accepted: list[str] = []
        self.refused: list[str] = []
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="orders")
        self._pending = [self._pool.submit(self._place, order) for order in orders]

    def done(self) -> bool:
        return all(each.done() for each in self._pending)

    def stop(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _place(self, order: dict) -> None:
        try:
            answer = invoke(self._clients, "order-api", http_event("POST", "/orders", order))
            body = json.loads(answer.get("body") or "{}")
        except Exception as error:  # noqa: BLE001 - whatever went wrong, this order was not accepted
            self._note(self.refused, f"{order}: {error}")
            return
        if answer.get("statusCode") == 201:
            self._note(self.accepted, body["order_id"])
        else:
            self._note(self.refused, f"{order}: {answer.get('statusCode')} {body}")

    def _note(self, where: list[str], what: str) -> None:
        with self._lock:
            where.append(what)


def http_event(method: str, path: str, body: dict | None = None) -> dict:
    """An API Gateway HTTP API request, payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "host": "orders.example"},
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "demo",
            "domainName": "orders.example",
            "domainPrefix": "orders",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1",
                     "userAgent": "oncebox-demo"},
            "requestId": "demo",
            "routeKey": "$default",
            "stage": "$default",
            "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime()),
            "timeEpoch": int(time.time() * 1000),
        },
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }
