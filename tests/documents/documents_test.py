#!/usr/bin/env python3
"""The documents: every link leads somewhere, and their figures are those of the committed results (docs/figures)."""

import json
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md"))
DEVELOPERS_PAGES = [ROOT / "bench/README.md", ROOT / "src/filter/kernels/README.md"]
FIGURES = ROOT / "docs/figures"


def read_result(name):
    return json.loads((FIGURES / name).read_text())


def read_results(name):
    return [json.loads(line) for line in (FIGURES / name).read_text().splitlines()]


def saved_in_trees():
    """In each measured tree, the wasted reads of RocksDB's Bloom filter over those of exactbloom, and those of its Ribbon filter. Trees of
    ten families, which are loaded once, are left out: the policies' loads leave different numbers of runs."""
    trees = {}
    for row in read_result("first_experiments.json")["results"]:
        if ";" in row["tree"]:
            continue
        trees.setdefault(row["tree"], {})[row["policy"]] = row["wasted_reads"]["median"]
    wasted = [(tree["bloomfilter:10"], tree["ribbonfilter"], tree["exactbloom:10"]) for tree in trees.values()]
    kvrocks = [result["counts"] for result in read_result("kvrocks.json")["results"]]
    wasted += [[counts[kind]["wasted_reads"] / counts[kind]["lookups"] for counts in kvrocks] for kind in kvrocks[0]]
    by_bloom, by_ribbon = zip(*((bloom / ours, ribbon / ours) for bloom, ribbon, ours in wasted))
    growing = [{policy["policy"]: policy["workloads"]["growth"]["loading"]["wasted_reads_per_lookup"] for policy in run["policies"]}
               for run in read_results("growth.jsonl")]
    return [*by_bloom, *(tree["bloomfilter:10"] / tree["exactbloom:10"] for tree in growing)], by_ribbon


def text_without_code(page):
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def anchors(page):
    """Those that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", text_without_code(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class DocumentsTest(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES + DEVELOPERS_PAGES:
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

    def test_figures_in_the_text_are_those_of_the_results(self):
        """Those outside the tables that scripts/release/document_tables writes."""
        flat = {policy["policy"]: policy["workloads"]["absent"]["wasted_reads"]
                for report in read_results("report.jsonl") for policy in report["policies"]}
        classic = f"{100 * (1 - flat['classic_bloom:10'] / flat['bloomfilter:10']):.0f}%"
        fewer_bits = re.search(r"recommended ([\d.]+),\s+RocksDB's Ribbon ([\d.]+)\.", (ROOT / "docs/benchmarks.md").read_text()).groups()
        policies = [policy for policy in read_result("readamp.json")["policies"] if policy["filter_bytes"]]
        absent = [policy["workloads"]["absent"] for policy in policies]
        wasted = [1000 * (result["wasted_reads"] / result["lookups"]) for result in absent]
        times = f"{wasted[0] / min(wasted):.0f} times fewer"
        bars = [rf"{re.escape(policy['policy'])} +{policy['filter_bytes'] / 1024:.1f} +{reads:.2f} █"
                for policy, reads in zip(policies, wasted)]
        saved, by_ribbon = saved_in_trees()
        self.assertAlmostEqual(min(by_ribbon), 1, delta=0.05)
        rows = read_results("bench_rocksdb.jsonl")
        budgets = {(row["tree"], row["policy"]): row for row in read_result("first_experiments.json")["budgets"]}
        in_budget = [(row, budgets[tree, "bloomfilter"]) for (tree, policy), row in budgets.items() if policy == "exactbloom"]
        of_bound = [100 * ours["of_bound"]["high"] for ours, _ in in_budget]
        fewer = [peer["wasted_of_filters"]["median"] / ours["wasted_of_filters"]["median"] for ours, peer in in_budget]
        more_bits = [100 * (peer["bits_per_key"]["median"] / ours["bits_per_key"]["median"] - 1) for ours, peer in in_budget]

        def ratios(policy, digits, *operations):
            found = [row["ratio_median"] for row in rows if row.get("policy") == policy and row["operation"] in operations]
            return f"{min(found):.{digits}f} to {max(found):.{digits}f}"

        (writes, lookups), (writes_again, lookups_again) = (
            (ratios(policy, 2, "load", "flush"), ratios(policy, 2, "readmissing", "readrandom", "multireadrandom"))
            for policy in ("exactbloom:10", "bloomfilter:10"))
        expected = {
            "README.md": [*bars, *map(re.escape, (
                f"waste {min(saved):.1f} to {max(saved):.0f} times fewer reads than RocksDB's Bloom filter. They waste as many as its "
                f"Ribbon filter in some trees, and up to {max(by_ribbon):.1f} times fewer in others",
                f"wastes {classic} fewer reads than `bloomfilter:10`",
                f"on an {rows[0]['machine'].split(',')[0]}, as ratios to `bloomfilter:10`",
                f"times {writes} for loads and flushes, and {lookups} for lookups in memory. A second measurement of `bloomfilter:10` "
                f"itself gives {writes_again}, and {lookups_again}",
                f"needs {ratios('exactbloom:10', 1, 'memory')} times the memory",
                f"`exactbloom` needs {fewer_bits[0]} bits per key and `ribbonfilter` {fewer_bits[1]}"))],
            "docs/configuration.md": [re.escape(
                f"filters took at most {min(of_bound):.0f} to {max(of_bound):.0f}% of the bound, and wasted {min(fewer):.1f} to "
                f"{max(fewer):.1f} times fewer reads per filter asked than `bloomfilter`, which had {min(more_bits):.0f} to "
                f"{max(more_bits):.0f}% more bits per key")],
            "CHANGELOG.md": list(map(re.escape, (
                f"**{classic} fewer** than RocksDB's Bloom filter", f"**{times} wasted reads** than RocksDB's Bloom filter, and "
                f"{wasted[1] / min(wasted):.1f} times fewer than its Ribbon filter")))}
        for page, patterns in expected.items():
            text = " ".join((ROOT / page).read_text().split())
            for pattern in patterns:
                with self.subTest(page=page, pattern=pattern):
                    self.assertTrue(re.search(pattern, text))


if __name__ == "__main__":
    unittest.main()
