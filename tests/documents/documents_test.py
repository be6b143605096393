#!/usr/bin/env python3
"""The documents: every link leads somewhere, and their figures are those of the committed results (docs/figures).

DOCUMENTS=FOLDER documents_test.py DocumentsTest.test_links_lead_somewhere      of the pages that are installed there
"""

import csv
import fnmatch
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("DOCUMENTS") or pathlib.Path(__file__).parents[2]).resolve()
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md"))
OTHER_PAGES = [ROOT / folder / "README.md" for folder in ("bench", "examples", "src/filter/kernels")]


def read_result(name):
    return json.loads((ROOT / f"docs/figures/measured/{name}.json").read_text())


def medians(name, measure, workload=None):
    """By tree and policy."""
    return {(row["tree"], row["policy"]): row["measures"][measure]["median"] for row in read_result(name)["rows"]
            if measure in row["measures"] and workload in (None, row["workload"])}


def more_or_less(low, high):
    """The interval of a ratio, in words."""
    ends = [round(100 * (ratio - 1)) for ratio in (low, high)]
    if ends[0] < 0 < ends[1]:
        return f"{-ends[0]}% less to {ends[1]}% more"
    near, far = sorted(map(abs, ends))
    said = f"{near}% to {far}%" if near else f"up to {far}%"
    return f"{said} {'more' if ends[1] > 0 else 'less'}" if far else "no difference"


def text_without_code(page):
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def anchors(page):
    """Those that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", text_without_code(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class DocumentsTest(unittest.TestCase):
    def test_links_lead_somewhere(self):
        self.assertIn(ROOT / "README.md", PAGES)
        for page in PAGES + [page for page in OTHER_PAGES if page.exists()]:
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

    def test_readme_is_short(self):
        """Also with the tables that scripts/figures writes into it, whose names of trees have another length after each measurement."""
        readme = (ROOT / "README.md").read_text()
        self.assertLessEqual(len(readme.splitlines()), 110)
        self.assertLessEqual(len(readme.split()), 800)

    def test_every_example_is_in_their_table(self):
        table = re.findall(r"^\| `(.*?)`", (ROOT / "examples/README.md").read_text(), flags=re.MULTILINE)
        folders = {path.name for path in (ROOT / "examples").iterdir() if path.is_dir()}
        self.assertEqual({name.partition("/")[0] for name in table},
                         folders | {path.name for path in (ROOT / "examples").glob("*.cc")})
        for name in table:
            self.assertTrue((ROOT / "examples" / name).exists(), name)

    def test_lines_of_java_are_those_of_the_example(self):
        program = (ROOT / "examples/java/WastedReads.java").read_text()
        blocks = re.findall(r"^```java\n(.*?)^```$", (ROOT / "docs/install.md").read_text(), flags=re.DOTALL | re.MULTILINE)
        self.assertEqual(len(blocks), 2)
        for block in blocks:
            self.assertIn(block, program)

    def test_tests_that_are_named_exist(self):
        sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.cc"))
        prefixes = {}  # of suites with parameters
        for prefix, suite in re.findall(r"INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+)", sources):
            prefixes.setdefault(suite, []).append(f"{prefix}/")
        names = [f"{prefix}{suite}.{name}" for suite, name in re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", sources)
                 for prefix in ["", *prefixes.get(suite, [])]]
        found = 0
        for page in PAGES:
            text = page.read_text()
            for pattern in re.findall(r"`(\*?(?:\w+/)?\*?[A-Z]\w+(?:\*|\*?\.\*|\.[A-Z]\w+\*?))`", text):
                found += 1
                with self.subTest(page=page.name, test=pattern):
                    self.assertTrue(fnmatch.filter(names, pattern))
            for path in re.findall(r"`(tests/[\w/.]+)`", text):
                with self.subTest(page=page.name, path=path):
                    self.assertTrue((ROOT / path).exists() or "TARGET" in path)
        self.assertGreater(found, 50)

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

    def test_the_tested_versions_of_rocksdb_are_named(self):
        versions = re.findall(r"^\| ([0-9.]+) \| .* \| 20[0-9-]+ \|$", (ROOT / "docs/install.md").read_text(), flags=re.MULTILINE)
        self.assertIn(f"RocksDB (tested: {', '.join(versions)})", (ROOT / "README.md").read_text())

    def test_pages_agree_on_what_the_missing_library_costs(self):
        operations, questions, readme = (" ".join((ROOT / page).read_text().split()) for page in ("docs/operations.md", "docs/questions.md", "README.md"))
        [with_it] = re.findall(r"\| `exactbloom:10`, with the library \| ([\d.]+) \|", operations)
        [without] = re.findall(r"\| without the library: [^|]* \| ([\d,]+) \|", operations)
        self.assertIn(f"{without} instead of {with_it} blocks in 1,000 lookups", questions)
        self.assertIn(f"({without} blocks read in 1,000 lookups, not {with_it})", readme)

    def test_the_number_of_seeds_of_a_shard_is_that_of_the_code(self):
        [seeds] = re.findall(r"kShardSeeds = (\d+);", (ROOT / "src/filter/ribbon/ribbon_construction.cc").read_text())
        self.assertIn(f"without a solution under {seeds} seeds", (ROOT / "SECURITY.md").read_text())

    def test_tables_are_what_the_results_say(self):
        subprocess.run([ROOT / "scripts/figures/run", "--check"], check=True)

    @unittest.skipIf(subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], capture_output=True, check=False).returncode, "no matplotlib")
    def test_pictures_are_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            file = shutil.copy(ROOT / "docs/figures/measured/report.json", folder)
            subprocess.run([ROOT / "scripts/figures/run", "--report", file], check=True)
            for name in ("wasted_reads", "growth"):
                drawn = (pathlib.Path(folder) / f"{name}.svg").read_text()
                for label in ("RocksDB Bloom", "RocksDB Ribbon", "ExactBloom", "1,000 lookups"):
                    self.assertIn(label, drawn)

    def test_figures_in_the_text_are_those_of_the_results(self):
        """Those outside the tables that scripts/figures writes."""
        sys.dont_write_bytecode = True
        sys.path.append(str(ROOT / "scripts/figures"))
        from tables import bits_needed, rate_tests  # not above, since installed pages are without it
        flat = medians("report", "wasted_reads")
        classic = f"{100 * (1 - flat['settled, 10 bits', 'classic_bloom'] / flat['settled, 10 bits', 'bloomfilter']):.0f}%"
        readamp = [policy["workloads"]["absent"]["wasted_reads"] for policy in read_result("readamp")["policies"] if policy["filter_bytes"]]
        with open(ROOT / "docs/figures/measured/reliability.csv", encoding="utf-8") as file:
            tests = rate_tests(csv.DictReader(file))
        asked, found, wrong, expected_wrong = (sum(test[name] for test in tests) for name in ("present", "found", "false_positives", "expected"))
        self.assertEqual(found, asked)
        self.assertLess(max(test["anderson_darling"] for test in tests), 8.1)
        wasted = {key: round(reads, 1) for key, reads in medians("experiments", "wasted_reads").items()}
        tell_apart = []  # the lookups, to three digits, and wasted reads in 1,000 of both policies
        for tree, peer in (("default options", "bloomfilter:10"), ("default options, compacted", "bloomfilter:10"),
                           ("buffer 4 MiB, base 16 MiB", "ribbonfilter, equal bytes"), ("default options", "ribbonfilter, equal bytes")):
            more, fewer = wasted[tree, peer], wasted[tree, "exactbloom:10"]
            tell_apart.append((f"{float(f'{25000 * (more + fewer) / (more - fewer) ** 2:.3g}'):,.0f}", more, fewer))
        of_bound = [100 * row["measures"]["of_bound"]["high"] for row in read_result("experiments")["rows"]
                    if row["policy"] == "exactbloom" and row["tree"].startswith("budget")]

        def peer_over_ours(measure):
            found = medians("experiments", measure)
            return [found[tree, "bloomfilter, equal bytes"] / ours for (tree, policy), ours in found.items() if policy == "exactbloom"]

        fewer, more_bits = peer_over_ours("wasted_of_asked"), [100 * (ratio - 1) for ratio in peer_over_ours("bits_per_key")]
        bits = medians("experiments", "bits_per_key")
        of_bloom = [bits[tree, "bloomfilter:10"] / ours for (tree, policy), ours in bits.items() if policy == "exactbloom:10"]
        absent = medians("experiments", "wasted_reads", "absent")
        bloom_over_ours, ribbon_over_ours = ([absent[tree, peer] / ours for (tree, policy), ours in absent.items() if policy == "exactbloom:10"]
                                             for peer in ("bloomfilter:10", "ribbonfilter, equal bytes"))
        at_least = math.floor(10 * min(ribbon_over_ours)) / 10
        over_best = [ratio for (tree, policy), ratio in medians("report", "over_optimum").items() if policy == "exactbloom"]

        def cost(tree, workload, policy, measure):
            """The ratio to the cost with RocksDB's Bloom filter, and the ends of its interval."""
            [row] = [row for row in read_result("costs")["rows"] if (row["tree"], row["workload"], row["policy"]) == (tree, workload, policy)]
            return [row["over"]["bloomfilter:10"][measure][name] for name in ("ratio", "low", "high")]

        work = (("flush", "load", "jobs_us"), ("compaction", "compact", "jobs_us"), ("load", "load", "process_us"), ("six runs", "absent", "process_us"))
        flush, compaction, load, get = (cost(tree, workload, "exactbloom:10", measure) for tree, workload, measure in work)
        limited = cost("load, 40 MB/s", "load", "exactbloom:10", "write_us")
        stalled = medians("costs", "stall_us")["load, 40 MB/s", "bloomfilter:10"] / medians("costs", "write_us")["load, 40 MB/s", "bloomfilter:10"]
        ribbon = [cost(tree, workload, "ribbonfilter, 10 bits", measure)[0] for tree, workload, measure in work]
        build = {(row["policy"], row["keys"]): statistics.median(row["ns"]) for row in read_result("bench")["rows"] if row["operation"] == "build"}
        built = [ours / build["ribbonfilter:{equal_bytes}", keys] for (policy, keys), ours in build.items() if policy == "exact_ribbon:10"]
        in_word_list = [1000 * policy["workloads"]["absent"]["wasted_reads"] / policy["workloads"]["absent"]["lookups"]
                        for policy in read_result("readamp")["policies"] if policy["filter_bytes"]]
        sizes = [policy["filter_bytes"] for policy in read_result("readamp")["policies"] if policy["filter_bytes"]]
        more_memory = sorted(100 * (sizes[-1] / size - 1) for size in sizes[:2])
        # Policies of equal bytes have them, and where half of the keys are present little is saved.
        for name, measure in (("experiments", "bits_per_key"), ("latency", "filter_mib")):
            found = medians(name, measure)
            ratios = {tree: found[tree, "ribbonfilter, equal bytes"] / found[tree, "exactbloom:10"]
                      for tree, policy in found if policy == "ribbonfilter, equal bytes"}
            self.assertTrue(ratios and all(abs(ratio - 1) <= 0.03 for ratio in ratios.values()), ratios)
        blocks = medians("latency", "blocks", "found")
        in_kvrocks = [policy["counts"]["half of them present"]["data_blocks_read"] for policy in read_result("kvrocks")["results"]]
        saved = [100 * (1 - blocks["leveled, half", "exactbloom:10"] / blocks["leveled, half", "bloomfilter:10"]), 100 * (1 - in_kvrocks[2] / in_kvrocks[0])]
        memory = medians("latency", "filter_mib")
        per_key = [bits for (tree, policy), bits in medians("experiments", "bits_per_key", "absent").items()
                   if policy == "exactbloom:10" and tree != "filters of both"]
        apart = {}  # loads of one tree, the most wasted reads over the fewest
        for row in read_result("experiments")["rows"]:
            if row["repetitions"] > 1 and row["policy"] in ("bloomfilter:10", "exactbloom:10", "ribbonfilter, equal bytes"):
                reads = row["measures"]["wasted_reads"]
                apart[row["tree"]] = max(apart.get(row["tree"], 1), reads["high"] / reads["low"])
        small_apart = apart.pop("tables of 1,000 keys")
        best = {bits: flat[f"settled, {bits} bits", "bloomfilter"] for bits in (14, 16)}
        extrapolated = 16 + 2 * math.log(best[16] / flat["settled, 10 bits", "exactbloom"]) / math.log(best[14] / best[16])
        expected = {
            "bench/README.md": [f"beside a run: {wasted['level 0 beside a run', 'exactbloom:10']:.0f} wasted reads in 1,000 lookups after a load"],
            "README.md": [
                f"wastes {math.floor(min(bloom_over_ours))} to {max(bloom_over_ours):.0f} times fewer reads than its Bloom filter and "
                f"{at_least:.1f} to {max(ribbon_over_ours):.1f} times fewer than its Ribbon filter",
                f"A load takes {more_or_less(*load[1:])} processor time than with the Bloom filter",
                f"With {bits_needed(read_result('report'))['exactbloom']:.1f} bits per key it wastes as few reads as Bloom filters with 10",
                f"{asked:,} present keys, none denied; {wrong:,} false positives, {expected_wrong:,.0f} expected"],
            "docs/configuration.md": [
                "`exact_ribbon:10` {3:.1f} and RocksDB's `ribbonfilter` {1:.1f} in the same memory, and `exactbloom:10` {4:.1f}".format(*in_word_list),
                f"{min(per_key):.1f} to {max(per_key):.1f} of 10 bits in [measured trees]",
                f"filters took at most {min(of_bound):.0f} to {max(of_bound):.0f}% of the bound, and wasted {min(fewer):.1f} to "
                f"{max(fewer):.1f} times fewer reads per filter asked than `bloomfilter`, which had {min(more_bits):.0f} to "
                f"{max(more_bits):.0f}% more bits per key"],
            "docs/operations.md": [
                f"by up to {max(apart.values()):.1f} times, with tables of 1,000 keys by {small_apart:.1f} times",
                "with default options {} lookups tell `bloomfilter:10` ({} in 1,000) from `exactbloom:10` ({})".format(*tell_apart[0]),
                "compacted {} ({} and {})".format(*tell_apart[1]),
                "{} tell `ribbonfilter` of equal bytes ({}) from `exactbloom:10` ({}) with write buffers of 4 MiB".format(*tell_apart[2]),
                "and {} with default options ({} and {})".format(*tell_apart[3])],
            "docs/benchmarks.md": [
                f"`exactbloom:7` takes {memory['leveled, 99%', 'exactbloom:7'] / memory['leveled, 99%', 'bloomfilter:10']:.1f} of the memory",
                f"a flush takes {flush[0]:.2f} times the processor time that it takes with the Bloom filter, a compaction {compaction[0]:.2f}, a load {load[0]:.2f}, a Get of an "
                f"absent key in memory {get[0]:.2f} (RocksDB's Ribbon filter: " + "{:.2f}, {:.2f}, {:.2f} and {:.2f})".format(*ribbon),
                f"`bloomfilter:10` has {min(of_bloom):.2f} to {max(of_bloom):.2f} times its bits per key"],
            "docs/theory.md": [f"wastes {1 / max(ribbon_over_ours):.2f} to {1 / min(ribbon_over_ours):.2f} times the reads of RocksDB's Ribbon filters of equal bytes",
                               f"[{min(over_best):.2f} to {max(over_best):.2f} times its reads]"],
            "docs/questions.md": [
                "where half do, [{:.0f}%](benchmarks.md#latency-and-blocks-read) to [{:.0f}%](benchmarks.md#a-kvrocks-cluster) of the block reads".format(*saved),
                f"needs about {extrapolated:.0f} bits per key where ExactBloom has 10",
                f"wastes [{at_least:.1f} to {max(ribbon_over_ours):.1f} times fewer reads]",
                f"its flushes and compactions take {100 * (flush[0] - 1):.0f}% and {100 * (compaction[0] - 1):.0f}% more processor time than with "
                f"Bloom filters instead of [{100 * (ribbon[0] - 1):.0f}% and {100 * (ribbon[1] - 1):.0f}% more]",
                f"differ by at most {100 * (max(flush[0], compaction[0], load[0]) - 1):.0f}%",
                f"is stalled for {stalled:.2f} of its time with Bloom filters, and took [{more_or_less(*limited[1:])}]",
                f"Loads took [{more_or_less(*load[1:])}]",
                f"took [{more_or_less(*cost('memory', 'load', 'exactbloom:10', 'memory_mib')[1:])}]"],
            "CHANGELOG.md": ["in {:.1f} to {:.1f}% more memory, with".format(*more_memory),
                             f"are built in {min(built):.2f} to {max(built):.2f} of the time of RocksDB's",
                             f"**{classic} fewer** than RocksDB's Bloom filter",
                             f"**{readamp[0] / min(readamp):.0f} times fewer wasted reads** than RocksDB's Bloom filter, and "
                             f"{readamp[1] / min(readamp):.1f} times fewer than its Ribbon filter"]}
        for page, patterns in expected.items():
            text = " ".join((ROOT / page).read_text().split())
            for pattern in patterns:
                with self.subTest(page=page, pattern=pattern):
                    self.assertIn(pattern, text)


if __name__ == "__main__":
    unittest.main()
