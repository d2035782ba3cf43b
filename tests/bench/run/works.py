"""What is measured, and of whom."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Work:
    """One kind of invocation. `plot_only` ones are there for the curves: no table shows them, and they are repeated less."""

    kind: str
    batch: int
    latency_ms: int
    variant: str = "first"
    plot_only: bool = False

    @property
    def name(self) -> str:
        variant = "" if self.variant == "first" else f"-{self.variant}"
        return f"{self.kind}-{self.batch}-{self.latency_ms}ms{variant}"


@dataclass(frozen=True)
class Contestant:
    """A program that does one kind of work. `upload` is what its deployment package holds: name in the zip -> file."""

    name: str
    kind: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict, hash=False)
    upload: dict[str, Path] = field(default_factory=dict, hash=False)


LATENCIES_MS = (0, 5)


def all_works() -> list[Work]:
    """Batches go up, so that a work's length can be guessed from the one before it."""
    works = []
    for latency in LATENCIES_MS:
        works += [Work("consumer", batch, latency, plot_only=batch in (1, 100)) for batch in (1, 10, 100, 1000)]
        works += [Work("consumer", 10, latency, variant) for variant in ("duplicates", "failing")]
        works += [Work("relay", batch, latency, plot_only=batch in (1, 10)) for batch in (1, 10, 100, 1000)]
    return works


def quick_works() -> list[Work]:
    """A smoke run: without the curves, and without what takes the peers half a minute an invocation."""
    return [work for work in all_works() if not work.plot_only and not (work.batch >= 1000 and work.latency_ms)]
