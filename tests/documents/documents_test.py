#!/usr/bin/env python3
"""The documents: every link leads somewhere, and what README.md and docs/readamp.md show of `make readamp` is what the
committed results say (docs/figures/readamp.json)."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md"))
RESULTS = ROOT / "docs/figures/readamp.json"


def text_without_code(page):
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def anchors(page):
    """Those that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", text_without_code(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class DocumentsTest(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            for link in re.findall(r"\]\(([^)\s]+)\)", text_without_code(page)):
                if re.match(r"\w+:", link) or link == "ADDRESS":  # of a draft
                    continue
                path, _, anchor = link.partition("#")
                target = (page.parent / path).resolve() if path else page
                with self.subTest(page=page.name, link=link):
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_readme_leads_to_every_page(self):
        readme = (ROOT / "README.md").read_text()
        for page in PAGES:
            if page.name != "README.md":
                self.assertIn(f"({page.relative_to(ROOT)}", readme)

    def test_versions_agree(self):
        """version.h has the version; CMake, the packages and pkg-config take it from there."""
        version = re.search(r'EXACTBLOOM_VERSION "(.*)"', (ROOT / "include/exactbloom/version.h").read_text())[1]
        newest, date = re.search(r"^## (\S+), (.*)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE).groups()
        self.assertEqual(newest, version)
        self.assertRegex(date, r"^(unreleased|20\d\d-\d\d-\d\d)$")
        citation = (ROOT / "CITATION.cff").read_text()
        self.assertEqual(re.search(r"^version: (.*)$", citation, flags=re.MULTILINE)[1], version)
        released = re.search(r"^date-released: (.*)$", citation, flags=re.MULTILINE)
        self.assertEqual(released[1] if released else "unreleased", date)

    def test_the_summary_of_readamp_is_the_measured_one(self):
        policies = [policy for policy in json.loads(RESULTS.read_text())["policies"] if policy["filter_bytes"]]
        absent = [policy["workloads"]["absent"] for policy in policies]
        wasted = [1000 * (result["wasted_reads"] / result["lookups"]) for result in absent]
        for page in (ROOT / "README.md", ROOT / "docs/readamp.md"):
            text = page.read_text()
            for policy, reads in zip(policies, wasted):
                line = rf"{re.escape(policy['policy'])} +{policy['filter_bytes'] / 1024:.1f} +{reads:.2f}  █"
                self.assertRegex(text, line, page.name)
        self.assertIn(f"read {wasted[0] / min(wasted):.0f} times fewer blocks in vain", (ROOT / "README.md").read_text())


if __name__ == "__main__":
    unittest.main()
