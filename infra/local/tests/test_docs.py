"""The documents say what is there: their links, tests, samples and Make targets exist."""

import re
import unittest

from bootstrap import ROOT

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "events/samples/README.md",
                                "infra/local/README.md", "tests/bench/README.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))


def anchors(text: str) -> set[str]:
    """As GitHub makes them from headings."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


class Docs(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
                path, _, anchor = target.partition("#")
                file = (page.parent / path) if path else page
                self.assertTrue(file.exists(), f"{page.name}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors(file.read_text()), f"{page.name}: {target}")

    def test_what_the_failure_table_points_at_is_there(self):
        tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*.rs"))
        report = "\n".join(path.read_text() for path in (ROOT / "infra" / "local").rglob("*.py"))
        section = (ROOT / "README.md").read_text().partition("## When something fails")[2].partition("\n## ")[0]
        rows = [row.strip().strip("|").split(" | ") for row in section.splitlines() if row.startswith("| ")][1:]
        self.assertGreater(len(rows), 10)
        for row in rows:
            shown = row[-1]
            names, lines = re.findall(r"`(\w+)`", shown), re.findall(r"\*([^*]+)\*", shown)
            self.assertTrue(names or lines, row)
            for name in names:
                self.assertIn(f"fn {name}(", tests, row)
            for line in lines:
                self.assertIn(line.lower(), report.lower(), row)

    def test_samples_and_targets_exist(self):
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        for page in PAGES:
            text = page.read_text()
            for name in re.findall(r"events/samples/([\w-]+\.json)", text):
                self.assertTrue((ROOT / "events" / "samples" / name).exists(), f"{page.name}: {name}")
            for target in re.findall(r"(?:^|`)(?:[A-Z-]+=\S+ )*make ([a-z-]+)", text, re.MULTILINE):
                self.assertIn(target, targets, page.name)

    def test_delivery_is_never_called_exactly_once(self):
        for page in PAGES:
            self.assertNotRegex(page.read_text(), r"(?i)exactly[- ]once[- ]deliver", page.name)


if __name__ == "__main__":
    unittest.main()
