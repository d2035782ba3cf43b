"""boto3 clients of one emulator, and of nothing else: every client has the endpoint and the keys spelled out."""

import os

import boto3
from botocore.config import Config

REGION = "us-east-1"
ACCOUNT = "000000000000"
ACCESS_KEY_ID = "test"
SECRET_ACCESS_KEY = "test"  # noqa: S105 - the emulator checks no signature


def forget_user_settings() -> None:
    """Drops the caller's AWS and proxy settings, so that no profile, key or proxy of theirs is ever consulted."""
    for name in list(os.environ):
        if name.startswith("AWS_") or name.lower() in ("http_proxy", "https_proxy", "all_proxy"):
            del os.environ[name]


class Clients:
    """Clients by service name, made on first use and then shared between threads (boto3 clients are thread-safe)."""

    def __init__(self, endpoint: str):
        self.endpoint = endpoint
        self._session = boto3.session.Session(
            aws_access_key_id=ACCESS_KEY_ID, aws_secret_access_key=SECRET_ACCESS_KEY, region_name=REGION
        )
        # `invoke` must not be repeated behind our back: a repeated POST /orders is a second order.
        self._config = {
            "lambda": Config(retries={"total_max_attempts": 1}, read_timeout=120, max_pool_connections=32),
            None: Config(retries={"total_max_attempts": 3}, read_timeout=60, max_pool_connections=32),
        }
        self._made = {}

    def __getitem__(self, service: str):
        if service not in self._made:
            self._made[service] = self._session.client(
                service, endpoint_url=self.endpoint, config=self._config.get(service, self._config[None])
            )
        return self._made[service]
