#!/usr/bin/env python3
"""Runs readamp_sweep and scripts/report/run as a user does: measures, stops, goes on, and makes the page.

usage: sweep_test.py READAMP_SWEEP
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1)
REPORT = pathlib.Path(__file__).resolve().parents[2] / "scripts/report/run"
POLICIES = "bloomfilter:{bits},ribbonfilter:{equal_bytes},classic_bloom:{bits},{id=classic_bloom;bits_per_key={bits};size_ratio=auto}"


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def read(results, kind):
    return [line for line in map(json.loads, results.read_text().splitlines()) if line["kind"] == kind]


class SweepTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.directory = pathlib.Path(cls.temporary.name)
        (cls.directory / "databases").mkdir()
        cls.results = cls.directory / "sweep.jsonl"
        done = run(*cls.command(cls.results, "--trees", "large,small_partitions", "--sizing-queries", 40_000,
                                "--read-latencies", 100, "--least-bits", 6, "--most-bits", 10, "--step", 4))
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def command(cls, results, *arguments, keys=20_000):
        return [str(word) for word in (PROGRAM, "--results", results, "--synthetic", keys, "--stored", 0.5, "--lookups", 10_000,
                                       "--sorted-runs", 2, "--repetitions", 2, "--directory", cls.directory / "databases",
                                       "--policies", POLICIES, *arguments)]

    def expect_refusal(self, done, words):
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertIn(words, done.stderr)

    def test_measures_every_point_as_predicted(self):
        points = read(self.results, "point")
        self.assertEqual(len(points), 16)
        for point in points:
            with self.subTest(policy=point["policy"], tree=point["tree"]):
                # Partitions take an index and more trailers, and RocksDB's Ribbon filters of them more still. A size ratio
                # divides the bits among more levels than the two that are there, which leaves 3% unused.
                ribbon = "ribbon" in point["family"]
                self.assertAlmostEqual(point["bits_per_key"], point["bits"],
                                       delta=0.4 if point["tree"] == "large" else 6 if ribbon else 2)
                delayed = point["delayed"][0]  # a delayed read takes at least its time
                self.assertGreaterEqual(delayed["mean_us"] * delayed["lookups"], 100 * delayed["reads"])
                self.assertGreaterEqual(point["blocks_read"], point["false_positives"])
                for times in (point["cpu_us_runs"], point["build_ns_runs"]):
                    self.assertEqual(len(times), 2)
                    self.assertGreater(min(times), 0)
                self.assertEqual(point["exact_wasted_reads"] is not None, "classic" in point["family"])
                if point["exact_wasted_reads"] is not None:
                    self.assertLessEqual(point["interval"][0], point["exact_wasted_reads"])
                    self.assertGreaterEqual(point["interval"][1], point["exact_wasted_reads"])
        sizing = read(self.results, "sizing")
        self.assertEqual(len(sizing), 72)
        for point in sizing:
            with self.subTest(point=point):
                for k in ("usual", "exact"):
                    low, high = point[k]["interval"]
                    self.assertTrue(low <= point[k]["exact_rate"] <= high)
                self.assertLessEqual(point["exact"]["exact_rate"], point["usual"]["exact_rate"])

    def test_goes_on_where_it_was_stopped(self):
        """An interrupted sweep leaves its points and no database; a torn line does no harm."""
        results = self.directory / "stopped.jsonl"
        bits = ["--sizing-queries", 0, "--least-bits", 10, "--most-bits", 10]
        with subprocess.Popen(self.command(results, *bits, keys=1_000_000), stdout=subprocess.DEVNULL) as stopped:
            time.sleep(1)
            stopped.send_signal(signal.SIGINT)
            self.assertEqual(stopped.wait(), 130)
        self.assertEqual(list((self.directory / "databases").iterdir()), [])

        results.unlink()
        self.assertEqual(run(*self.command(results, *bits)).returncode, 0)
        lines = results.read_text().splitlines(keepends=True)
        self.assertEqual(len(lines), 5)
        results.write_text("".join(lines[:3]) + lines[3][:100])  # no newline: the run was killed here
        resumed = run(*self.command(results, *bits))
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertIn("2 of 4 points exist already", resumed.stdout)
        self.assertEqual(len(read(results, "run")), 2)
        self.assertEqual(len({point["policy"] for point in read(results, "point")}), 4)
        self.assertEqual(results.read_text().splitlines(keepends=True)[:3], lines[:3])
        self.expect_refusal(run(*self.command(results, *bits, "--seed", 7)), "other settings")

    def test_refuses_bad_input_with_one_line(self):
        none = self.directory / "none.jsonl"
        self.expect_refusal(run(*self.command(none, "--trees", "oak")), "oak")
        self.expect_refusal(run(*self.command(none, "--step", 0)), "positive step")
        self.expect_refusal(run(*self.command(none, "--most-bits", 101)), "101")
        for text in ("not a result\n", "notes without an end of line"):
            none.write_text(text)
            self.expect_refusal(run(*self.command(none)), "line 1")
            self.assertEqual(none.read_text(), text)
        none.unlink()

    def test_report_says_what_was_measured(self):
        none, output = self.directory / "no.jsonl", self.directory / "report"
        self.expect_refusal(run(REPORT, "--results", none), str(none))
        none.write_text(self.results.read_text().splitlines()[0] + "\nnot a result\n")
        self.expect_refusal(run(REPORT, "--results", none), "line 2")
        none.write_text('{"kind": "point"}\n')
        self.expect_refusal(run(REPORT, "--results", none), "it lacks bits")
        none.write_bytes(b"\xff\xfe\x00\n")
        for option in ("--results", "--growth"):
            self.expect_refusal(run(REPORT, option, none), "it is no text")
        done = run(REPORT, "--results", self.results, "--output", output)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        page = (output / "index.html").read_text()
        for point in read(self.results, "point"):
            self.assertIn(f"<td>{point['bits_per_key']:.4g}", page)
            self.assertIn(f"<td>{1000 * point['wasted_reads']:.3g}", page)
        self.assertIn("interval of 8 of 8 points", page)
        self.assertLess(page.index("<h1>"), page.index("<svg"))
        self.assertLess(page.rindex("</svg>"), page.index("<details"))
        for figure in ("wasted_reads", "lookup_time"):
            self.assertIn("<svg", (output / f"{figure}.svg").read_text())

    def test_report_speaks_of_times_outside_the_spread_of_runs_only(self):
        def point(family, reads, cpu_us, build_ns):
            return {"kind": "point", "family": family, "policy": family.replace("{bits}", "10"), "tree": "large", "bits": 10.0,
                    "bits_per_key": 10.0, "wasted_reads": reads, "exact_wasted_reads": None, "interval": [0.9 * reads, 1.1 * reads],
                    "delayed": [], "cpu_us_runs": cpu_us, "build_ns_runs": build_ns, "blocks_read": 1e6 * reads, "lookups": 1e6}

        results = self.directory / "spread.jsonl"
        best = "{id=classic_bloom;bits_per_key={bits};size_ratio=auto;bottommost=ribbon}"

        def rows(cpu_us, build_ns):
            results.write_text("".join(json.dumps(line) + "\n" for line in (
                point("bloomfilter:{bits}", 0.04, [2, 1, 2.5], [50, 40, 60]), point(best, 0.002, cpu_us, build_ns))))
            done = run(REPORT, "--results", results, "--output", self.directory / "spread")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("wastes 20 times fewer reads than RocksDB's Bloom filter: 2 instead of 40 in 1,000", done.stdout)
            return done.stdout, [[cell.strip() for cell in line.split("|")[3:-1]] for line in done.stdout.splitlines()
                                 if line.startswith("| usual")]

        best = best.replace("{bits}", "10")
        text, (slow, fast) = rows([1.2, 2.4, 1.1], [200, 150, 100])
        self.assertEqual(slow, [f"`{best}`", "2 (5.0%)", "77% less", "3.0 times as long"])
        self.assertEqual(fast, ["`bloomfilter:10`", "40", "the reference", "the reference"])
        self.assertIn("from the page cache, the repeated runs show no difference", text)
        text, (slow, fast) = rows([0.4, 0.6, 0.9], [55, 45, 65])
        self.assertEqual(fast, [f"`{best}`", "2 (5.0%)", "70% less", "no difference"])
        self.assertIn("from the page cache, it takes 70% less", text)

    def test_report_compares_growing_trees(self):
        point = {"keys_written": 1000, "wasted_reads_per_lookup": 0.0625, "present_optimum": 0.03}
        means = {"wasted_reads_per_lookup": 0.0625, "over_present_optimum": 1.75, "bits_per_key": 10.5}
        growth = {"points": [point, {**point, "keys_written": 2000, "present_optimum": None}], "loading": means,
                  "at_rest": {**means, "wasted_reads_per_lookup": 0.0125}, "most_bits_per_key": 11}
        part = {**growth, "loading": {**means, "wasted_reads_per_lookup": 0.025}}
        policies = [{"policy": "bloomfilter:10", "workloads": {"growth": growth}},
                    {"policy": "{id=classic_bloom;size_ratio=auto;bottommost=ribbon}", "workloads": {"growth": part}}]
        results, output = self.directory / "growth.json", self.directory / "growth"
        results.write_text("\n".join(json.dumps({"settings": {"tree": tree}, "policies": policies}, indent=2) for tree in (
            {"kind": "loaded", "level0_trigger": 12}, {"kind": "universal", "level0_trigger": 4})))
        done = run(REPORT, "--results", self.results, "--growth", results, "--output", output)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("40% (compaction by levels, 12 files trigger level 0), 40% (universal compaction)", done.stdout)
        self.assertIn("<td>25</td><td>1.75</td><td>10.5</td><td>12.5</td>", (output / "index.html").read_text())
        self.assertEqual((output / "growth.svg").read_text().count(">RocksDB's Bloom<"), 2)
        results.write_text('{"settings": {}, "policies": []}')
        self.expect_refusal(run(REPORT, "--growth", results), str(results))


if __name__ == "__main__":
    unittest.main()
