"""Curves of throughput against batch size, as SVG. The only module that needs more than the standard library."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
# The same summary makes the same file.
matplotlib.rcParams.update({"svg.hashsalt": "oncebox", "svg.fonttype": "none", "font.size": 10, "font.family": "sans-serif"})

from matplotlib import pyplot  # noqa: E402  (the backend is chosen before)

import tables  # noqa: E402

# Colours that are told apart with a colour blindness (Okabe and Ito), and a marker of its own for each.
STYLES = {
    "oncebox": ("#D55E00", "o"), "oncebox-packed": ("#E69F00", "s"), "floor": ("#000000", "^"),
    "floor-no-delete": ("#7F7F7F", "v"), "powertools-python": ("#0072B2", "D"), "powertools-typescript": ("#009E73", "P"),
    "boto3": ("#0072B2", "D"), "sdk-typescript": ("#009E73", "P"),
}


def draw(summary: dict, kind: str, latency_ms: int, path: Path) -> None:
    """Writes the curves of all contestants on one kind of work at one latency."""
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for name in tables.ORDER:
        points = tables.curve(summary["contestants"].get(name, {}), kind, latency_ms)
        if not points:
            continue
        colour, marker = STYLES[name]
        batches, medians, least, most = zip(*points)
        axes.plot(batches, medians, color=colour, marker=marker, markersize=5, label=name)
        axes.fill_between(batches, least, most, color=colour, alpha=0.15, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel="records of an invocation", ylabel="events a second",
             title=f"{kind}, {latency_ms} ms a call")
    axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(which="major", color="#dddddd")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")
    pyplot.close(figure)
