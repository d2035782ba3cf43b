"""Tables of a summary: for the terminal, and in Markdown between marks of a document."""

import re

from summary import RATIOS

ORDER = ("oncebox", "oncebox-packed", "floor", "floor-no-delete", "powertools-python", "powertools-typescript", "boto3",
         "sdk-typescript")
# The works of the tables; those of the curves alone are not among them.
WORKS = tuple(f"{kind}-{latency}ms{variant}" for kind, variant in (
    ("consumer-10", ""), ("consumer-1000", ""), ("consumer-10", "-duplicates"), ("consumer-10", "-failing"),
    ("relay-100", ""), ("relay-1000", "")) for latency in (0, 5))
START_WORKS = ("consumer-10-0ms", "relay-100-0ms")


def terminal(summary: dict) -> str:
    """Every figure of every contestant and work, then the ratios, a pair a line."""
    lines = [f"{'work':28} {'contestant':22} {'events/s':>9} {'CPU us':>8} {'(least-most)':>15} {'calls':>6} {'init ms':>8}"
             f" {'first ms':>8} {'peak MiB':>8} {'zip MiB':>8}"]
    for work in works_of(summary):
        for name, one in of_work(summary, work):
            least, most = one["spread"]["cpu_us_per_event"]
            spread = f"{least:.0f}-{most:.0f}"
            lines.append(f"{work:28} {name:22} {one['events_per_s']:9.0f} {one['cpu_us_per_event']:8.1f} {spread:>15}"
                         f" {one['calls_per_event']:6.3f} {one['init_ms']:8.1f} {one['first_ms']:8.1f} {one['peak_mb']:8.1f}"
                         f" {one['zip_mb']:8.2f}")
    kinds = list(RATIOS)
    lines += ["", f"{'work':28} {'ratio':32} " + " ".join(f"{kind:>7}" for kind in kinds)]
    for work in works_of(summary):
        ratios = summary["ratios"].get(work, {})
        for pair in dict.fromkeys(name.partition(" ")[2] for name in ratios):
            cells = [ratios.get(f"{kind} {pair}") for kind in kinds]
            shown = " ".join(f"{'-':>7}" if cell is None else f"{cell:7.2f}" for cell in cells)
            lines.append(f"{work:28} {pair:32} {shown}")
    return "\n".join(lines)


def works_of(summary: dict) -> list[str]:
    works = {work for by_work in summary["contestants"].values() for work in by_work}
    return sorted(works, key=lambda work: (WORKS.index(work) if work in WORKS else len(WORKS), work))


def of_work(summary: dict, work: str) -> list[tuple[str, dict]]:
    """Contestants that did it, in the order of the tables."""
    found = [(name, by_work[work]) for name, by_work in summary["contestants"].items() if work in by_work]
    return sorted(found, key=lambda pair: ORDER.index(pair[0]))


def steady(summary: dict, work: str) -> str:
    """One work: throughput, CPU and calls."""
    rows = [["Contestant", "CPU us/event", "least–most", "Events/s", "least–most", "Calls/event", "Peak MiB"]]
    for name, one in of_work(summary, work):
        rows.append([name, number(one["cpu_us_per_event"]), spread(one, "cpu_us_per_event"), number(one["events_per_s"]),
                     spread(one, "events_per_s"), f"{one['calls_per_event']:.3g}", number(one["peak_mb"])])
    return markdown(rows)


def start(summary: dict) -> str:
    """What a cold start takes, and what is uploaded."""
    rows = [["Contestant", "Work", "Init ms", "least–most", "First invocation ms", "least–most", "Zip MiB"]]
    for work in START_WORKS:
        for name, one in of_work(summary, work):
            rows.append([name, work, number(one["init_ms"]), spread(one, "init_ms"), number(one["first_ms"]),
                         spread(one, "first_ms"), f"{one['zip_mb']:.2f}"])
    return markdown(rows)


def conditions(summary: dict) -> str:
    """Where and with what the figures were taken."""
    machine = summary["machine"]
    versions = ", ".join(f"{name} {version}".replace("rustc rustc", "rustc") for name, version in summary["versions"].items())
    return (f"Taken {summary['taken']} in {summary['repeat']} rounds on {machine['cores']} cores ({machine['cpu']}), "
            f"{machine['memory_gib']} GiB, Linux {machine['kernel']}, {machine['architecture']}. With {versions}.")


def curve(by_work: dict, kind: str, latency_ms: int) -> list[tuple[int, float, float, float]]:
    """Batch, median, least and most, batches going up."""
    points = []
    for work, one in by_work.items():
        if found := re.fullmatch(rf"{kind}-(\d+)-{latency_ms}ms", work):
            points.append((int(found[1]), one["events_per_s"], *one["spread"]["events_per_s"]))
    return sorted(points)


def number(value: float) -> str:
    """Three digits that count, and thousands set apart."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def spread(one: dict, metric: str) -> str:
    least, most = one["spread"][metric]
    return f"{number(least)}–{number(most)}"


def markdown(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def put(document: str, name: str, text: str) -> str:
    """`document` with `text` between the two marks of `name`.

    Raises ValueError unless each of them is there once.
    """
    pattern = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(<!-- end: {re.escape(name)} -->)", re.DOTALL)
    replaced, count = pattern.subn(lambda found: f"{found[1]}{text}\n{found[2]}", document)
    if count != 1:
        raise ValueError(f"the marks of {name!r} are there {count} times")
    return replaced
