"""Lambda functions of the stack: their environment, and calling them."""

import json
import time

from cloud.clients import Clients

UPDATE_SECONDS = 30


def add_environment(clients: Clients, function: str, variables: dict[str, str]) -> None:
    """Merges variables into a function's environment (the API replaces it whole) and waits until it is active."""
    client = clients["lambda"]
    now = client.get_function_configuration(FunctionName=function).get("Environment", {}).get("Variables", {})
    client.update_function_configuration(FunctionName=function, Environment={"Variables": now | variables})
    deadline = time.monotonic() + UPDATE_SECONDS
    while time.monotonic() < deadline:
        state = client.get_function_configuration(FunctionName=function)
        if state.get("LastUpdateStatus", "Successful") == "Successful" and state.get("State", "Active") == "Active":
            return
        time.sleep(0.1)
    raise TimeoutError(f"waited {UPDATE_SECONDS} s for the new environment of {function} to become active")


def invoke(clients: Clients, function: str, payload: dict) -> dict:
    """The function's answer; a function error is raised with the answer's text."""
    answer = clients["lambda"].invoke(FunctionName=function, Payload=json.dumps(payload).encode())
    body = answer["Payload"].read().decode()
    if answer.get("FunctionError"):
        raise RuntimeError(f"{function} failed: {body}")
    return json.loads(body)
