"""`make bench-docs`: target/bench/summary.json into docs/performance.md, its curves, and a table of docs/cost.md."""

import json
import sys

import build

build.bootstrap.enter("bench")

import budgets  # noqa: E402  (the plots need what the line above has installed)
import cost  # noqa: E402
import plots  # noqa: E402
import tables  # noqa: E402

DOCS = build.ROOT / "docs"


def main() -> int:
    path = build.OUT / "summary.json"
    if not path.exists():
        print(f"bench-docs: {path} is not there; `make bench` writes it", file=sys.stderr)
        return 2
    summary = json.loads(path.read_text())
    if summary["quick"] or summary["only"] or summary["failures"]:
        print("bench-docs: documents are made of a whole run, without QUICK or ONLY, in which nothing failed", file=sys.stderr)
        return 2
    page = DOCS / "performance.md"
    text = tables.put(page.read_text(), "conditions", tables.conditions(summary))
    text = tables.put(text, "budgets", budgets.table(summary))
    text = tables.put(text, "start", tables.start(summary))
    for work in tables.WORKS:
        text = tables.put(text, work, tables.steady(summary, work))
    images = []
    for kind in ("consumer", "relay"):
        for latency in (0, 5):
            name = f"{kind}-{latency}ms.svg"
            plots.draw(summary, kind, latency, DOCS / "performance" / name)
            images.append(f"![{kind}: events a second against records of an invocation, {latency} ms a call](performance/{name})")
    page.write_text(tables.put(text, "plots", "\n\n".join(images)))
    page = DOCS / "cost.md"
    text = page.read_text()
    page.write_text(tables.put(text, "cost", cost.table(summary, text)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
