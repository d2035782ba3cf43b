"""Progress bars while a run is on, on stderr: stdout is the report, and its last line is for a program."""

import contextlib

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from scenario.load import Load
from scenario.plan import Plan
from scenario.watch import Look


@contextlib.contextmanager
def bars(plan: Plan, load: Load):
    """Yields the function that shows one look."""
    with Progress(TextColumn("{task.description:<16}"), BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn(),
                  TextColumn("{task.fields[note]}"), console=Console(stderr=True)) as progress:
        placed = progress.add_task("orders placed", total=len(plan.orders), note="")
        published = progress.add_task("events published", total=plan.events, note="")
        effects = progress.add_task("effects applied", total=plan.effects, note="")

        def show(look: Look) -> None:
            progress.update(placed, completed=len(load.accepted))
            progress.update(published, completed=look.published, note=f"{look.further} further copies")
            progress.update(effects, completed=look.effects,
                            note="" if look.quiet else f"waiting for {look}")

        yield show
