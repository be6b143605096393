#!/usr/bin/env python3
"""Runs readamp_sweep and scripts/report as a user does: measures, stops, goes on, and makes the page.

usage: sweep_test.py READAMP_SWEEP
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1)
REPORT = pathlib.Path(__file__).resolve().parents[2] / "scripts/report"
POLICIES = "bloomfilter:{bits},ribbonfilter:{equal_bytes},classic_bloom:{bits},{id=classic_bloom;bits_per_key={bits};size_ratio={size_ratio}}"


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
                                       "--sorted-runs", 2, "--repetitions", 1, "--directory", cls.directory / "databases",
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
                self.assertGreater(point["build_ns"], 0)
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
        if run("/usr/bin/python3", "-c", "import matplotlib").returncode:
            self.skipTest("no matplotlib; scripts/packages_report.txt names its package")
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
            self.assertIn(f"<td>{point['policy']}</td>", page)
            self.assertIn(f"<td>{point['wasted_reads']:.4g}</td>", page)
        self.assertIn("8 of 8 points", done.stdout)
        self.assertLess(page.index("8 of 8 points"), page.index("<table>"))
        figures = re.findall(r'<img src="([^"]*)"', page)
        self.assertEqual(len(figures), 4)
        for figure in figures:
            self.assertIn("<svg", (output / figure).read_text())

    def test_report_compares_growing_trees(self):
        if run("/usr/bin/python3", "-c", "import matplotlib").returncode:
            self.skipTest("no matplotlib; scripts/packages_report.txt names its package")
        point = {"keys_written": 1000, "wasted_reads_per_lookup": 0.0625, "present_optimum": 0.03}
        means = {"wasted_reads_per_lookup": 0.0625, "over_present_optimum": 1.75, "bits_per_key": 10.5}
        growth = {"points": [point, {**point, "keys_written": 2000, "present_optimum": None}], "loading": means,
                  "at_rest": {**means, "wasted_reads_per_lookup": 0.0125}, "most_bits_per_key": 11, "most_filter_bytes": 2500}
        half = {**growth, "loading": {**means, "wasted_reads_per_lookup": 0.025}}
        policies = [{"policy": "bloomfilter:10", "workloads": {"growth": growth}},
                    {"policy": "{id=classic_bloom;lines=1}", "workloads": {"growth": half}}]
        results, output = self.directory / "growth.json", self.directory / "growth"
        results.write_text("\n".join(json.dumps({"settings": {"tree": tree}, "policies": policies}, indent=2) for tree in (
            {"kind": "loaded", "level0_trigger": 12}, {"kind": "universal", "level0_trigger": 4})))
        done = run(REPORT, "--growth", results, "--output", output)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("(compaction by levels, 12 files trigger level 0): wasted reads per lookup `bloomfilter:10` 0.0625, "
                      "`classic_bloom lines=1` 0.025; at rest `bloomfilter:10` 0.0125", done.stdout)
        self.assertIn("<td>classic_bloom lines=1</td><td>0.025</td><td>0.4</td><td>1.75</td>", (output / "index.html").read_text())
        self.assertEqual((output / "growth.svg").read_text().count(">bloomfilter:10<"), 1)
        results.write_text('{"settings": {}, "policies": []}')
        self.expect_refusal(run(REPORT, "--growth", results), str(results))


if __name__ == "__main__":
    unittest.main()
