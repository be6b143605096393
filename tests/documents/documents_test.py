#!/usr/bin/env python3
"""The documents: every link leads somewhere, and what README.md and docs/readamp.md show of `make readamp` is what the
committed results say (docs/figures/readamp.json)."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
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

    def test_tables_are_what_the_results_say(self):
        subprocess.run([ROOT / "scripts/release/document_figures", "--check"], check=True)

    def test_the_report_is_that_of_the_results(self):
        figures = ROOT / "docs/figures"
        with tempfile.TemporaryDirectory() as temporary:
            made = pathlib.Path(temporary)
            shutil.copy(ROOT / "docs/report.md", made)
            subprocess.run([ROOT / "scripts/report/run", "--results", figures / "sweep.jsonl", "--growth", figures / "growth.jsonl", "--output",
                            made, "--document", made / "report.md"], check=True, stdout=subprocess.DEVNULL)
            for file, committed in (("report.md", ROOT / "docs/report.md"), ("wasted_reads.svg", figures / "wasted_reads.svg"),
                                    ("growth.svg", figures / "growing_trees.svg")):
                self.assertTrue((made / file).read_text() == committed.read_text(), f"`make figures` makes another {committed}")

    def test_readme_compares_as_the_results_do(self):
        readme = (ROOT / "README.md").read_text()
        measured = {}
        for line in (ROOT / "docs/figures/bench.jsonl").read_text().splitlines()[1:]:
            row = json.loads(line)
            if (row["kernel"], row["keys"], row["bits_per_key"]) == ("avx512", 600000, 10):
                for name, result in row["operations"].items():
                    measured[row["peer"], row["layout"], name] = result["ratio"][0]

        def ratio(layout, name):
            return measured["FastLocalBloom AVX2", layout, name]
        ribbon = ratio("lines=0", "build") / measured["ribbonfilter", "lines=0", "build"]
        whole, line = ratio("lines=0", "build"), ratio("lines=1", "build")
        self.assertIn(f"compiled for AVX2 | 1 | {ribbon:.1f} | {whole:.2f} | **{line:.2f}** | "
                      f"as Ribbon in the largest run, else {whole:.2f} |", readme)
        for layout, cell in (("lines=0", "{:.2f} to {:.2f}"), ("lines=1", "**{:.1f} to {:.1f}**")):
            queries = [ratio(layout, name) for _, of, name in measured if of == layout and name != "build"]
            self.assertIn(f"| {cell.format(min(queries), max(queries))} |", readme)

        wasted = {}
        for line in (ROOT / "docs/figures/sweep.jsonl").read_text().splitlines():
            row = json.loads(line)
            if row.get("bits") == 10 and row["tree"] == "large":
                wasted[row["policy"]] = row["wasted_reads"]
        fewer = 100 * (1 - wasted["classic_bloom:10"] / wasted["bloomfilter:10"])
        self.assertIn(f"{fewer:.0f}% fewer wasted reads than `bloomfilter:10`", readme)
        self.assertIn(f"**{fewer:.0f}% fewer** than RocksDB's Bloom filter", (ROOT / "CHANGELOG.md").read_text())

    def test_the_summary_of_readamp_is_the_measured_one(self):
        policies = [policy for policy in json.loads(RESULTS.read_text())["policies"] if policy["filter_bytes"]]
        absent = [policy["workloads"]["absent"] for policy in policies]
        wasted = [1000 * (result["wasted_reads"] / result["lookups"]) for result in absent]
        for page in (ROOT / "README.md", ROOT / "docs/readamp.md"):
            text = page.read_text()
            for policy, reads in zip(policies, wasted):
                line = rf"{re.escape(policy['policy'])} +{policy['filter_bytes'] / 1024:.1f} +{reads:.2f}  █"
                self.assertRegex(text, line, page.name)
        readme, times = (ROOT / "README.md").read_text(), wasted[0] / min(wasted)
        self.assertIn(f"read {times:.0f} times fewer blocks in vain", readme)
        bloom, ribbon, classic, recommended = (f"{reads:.1f}" for reads in wasted)
        self.assertIn(f"| {bloom} | {ribbon} | {classic} | as RocksDB's Bloom | **{recommended}** |", readme)
        self.assertIn(f"**{times:.0f} times fewer wasted reads** than RocksDB's Bloom filter, and {wasted[1] / min(wasted):.1f} "
                      "times fewer than its Ribbon filter", (ROOT / "CHANGELOG.md").read_text())


if __name__ == "__main__":
    unittest.main()
