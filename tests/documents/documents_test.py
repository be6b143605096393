#!/usr/bin/env python3
"""The documents: every link leads somewhere, and what README.md and docs/readamp.md show of `make readamp` is what the
committed results say (docs/figures/readamp.json)."""

import json
import pathlib
import re
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
        subprocess.run([ROOT / "scripts/release/document_tables", "--check"], check=True)

    def test_the_report_is_that_of_the_results(self):
        figures = ROOT / "docs/figures"
        with tempfile.TemporaryDirectory() as temporary:
            made = pathlib.Path(temporary)
            subprocess.run([ROOT / "scripts/report/run", figures / "report.jsonl", figures / "growth.jsonl", "--output", made], check=True,
                           stdout=subprocess.DEVNULL)
            for file in ("wasted_reads.svg", "growing_trees.svg"):
                self.assertTrue((made / file).read_text() == (figures / file).read_text(), f"`make figures` makes another {file}")

    def test_figures_in_the_text_are_those_of_the_results(self):
        """Those outside the tables that scripts/release/document_tables writes."""
        rows = [json.loads(line) for line in (ROOT / "docs/figures/bench.jsonl").read_text().splitlines()[1:]]
        ratios = {(row["peer"], row["layout"], name): result["ratio"][0] for row in rows
                  if (row["kernel"], row["keys"], row["bits_per_key"]) == ("avx512", 600000, 10)
                  for name, result in row["operations"].items()}
        avx2 = {key[1:]: ratio for key, ratio in ratios.items() if key[0] == "FastLocalBloom AVX2"}
        whole, line = avx2["lines=0", "build"], avx2["lines=1", "build"]
        ribbon = whole / ratios["ribbonfilter", "lines=0", "build"]
        queries = {layout: [ratio for key, ratio in avx2.items() if key[0] == layout and key[1] != "build"]
                   for layout in ("lines=0", "lines=1")}
        reports = [json.loads(text) for text in (ROOT / "docs/figures/report.jsonl").read_text().splitlines()]
        flat = {policy["policy"]: policy["workloads"]["absent"]["wasted_reads"] for report in reports for policy in report["policies"]}
        fewer = f"{100 * (1 - flat['classic_bloom:10'] / flat['bloomfilter:10']):.0f}% fewer"
        policies = [policy for policy in json.loads(RESULTS.read_text())["policies"] if policy["filter_bytes"]]
        absent = [policy["workloads"]["absent"] for policy in policies]
        wasted = [1000 * (result["wasted_reads"] / result["lookups"]) for result in absent]
        times = f"{wasted[0] / min(wasted):.0f} times fewer"
        bars = [rf"{re.escape(policy['policy'])} +{policy['filter_bytes'] / 1024:.1f} +{reads:.2f}  █"
                for policy, reads in zip(policies, wasted)]
        bloom, other, classic, recommended = (f"{reads:.1f}" for reads in wasted)
        whole_text = f"| 1 | {ribbon:.1f} | {whole:.2f} | **{line:.2f}** | as Ribbon in large runs, else {whole:.2f} |"
        trees = {}
        for row in json.loads((ROOT / "docs/figures/first_experiments.json").read_text())["results"]:
            trees.setdefault(row["tree"], {})[row["policy"]] = row["wasted_reads"]["median"]
        saved = [tree["bloomfilter:10"] / tree["exactbloom:10"] for tree in trees.values()]
        by_ribbon = [tree["ribbonfilter"] / tree["exactbloom:10"] for tree in trees.values()][2:]
        expected = {
            "README.md": [*bars, *map(re.escape, (
                "compiled for AVX2 " + whole_text, f"{fewer} wasted reads than `bloomfilter:10`", f"waste {min(saved):.0f} to {max(saved):.0f} times fewer reads",
                f"wastes {min(by_ribbon):.1f} to {max(by_ribbon):.1f} times fewer reads than Ribbon",
                f"| {min(queries['lines=0']):.2f} to {max(queries['lines=0']):.2f} |",
                f"| **{min(queries['lines=1']):.1f} to {max(queries['lines=1']):.1f}** |",
                f"| {bloom} | {other} | {classic} | as RocksDB's Bloom | **{recommended}** |"))],
            "docs/readamp.md": bars,
            "CHANGELOG.md": list(map(re.escape, (
                f"**{fewer}** than RocksDB's Bloom filter", f"**{times} wasted reads** than RocksDB's Bloom filter, and "
                f"{wasted[1] / min(wasted):.1f} times fewer than its Ribbon filter")))}
        for page, patterns in expected.items():
            for pattern in patterns:
                with self.subTest(page=page, pattern=pattern):
                    self.assertRegex((ROOT / page).read_text(), pattern)


if __name__ == "__main__":
    unittest.main()
