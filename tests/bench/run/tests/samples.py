"""Runs as the lane program prints them, with figures chosen so that every answer can be done in one's head."""


def run(cpu: float, events_per_s: float = 1000.0, **other) -> dict:
    events = other.pop("events", 100)
    base = {
        "events": events, "events_per_s": events_per_s, "cpu_us_per_event": cpu, "calls_per_event": 1.0, "init_ms": 10.0,
        "first_ms": 5.0, "peak_mb": 8.0, "zip_mb": 3.0, "bytes_in": 100_000, "bytes_out": 20_000,
        "calls_by_operation": {"TransactWriteItems": events}, "write_units": 4 * events,
    }
    return base | other


def relay(cpu: float, events_per_s: float) -> dict:
    return run(cpu, events_per_s, calls_per_event=0.14, calls_by_operation={"PublishBatch": 10, "BatchWriteItem": 4},
               write_units=100)


def powertools(cpu: float, events_per_s: float) -> dict:
    return run(cpu, events_per_s, calls_per_event=3.0, calls_by_operation={"PutItem": 100, "UpdateItem": 200},
               write_units=300)
