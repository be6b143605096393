#!/usr/bin/env python3
"""What scripts/bench_rocksdb says of a ratio, by its interval."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.dont_write_bytecode = True
sys.path.append(str(SCRIPTS))
loader = importlib.machinery.SourceFileLoader("bench_rocksdb", str(SCRIPTS / "bench_rocksdb"))
bench_rocksdb = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_rocksdb", loader))
loader.exec_module(bench_rocksdb)


class CostRatio(unittest.TestCase):
    def says(self, middle, spread):
        """Of 21 ratios, evenly spread about the middle; the interval of the median has about .4 of their spread."""
        ratios = [middle + spread * (i - 10) / 20 for i in range(21)]
        return bench_rocksdb.ratio([3 * ratio for ratio in ratios], [3] * 21)

    def test_says_what_the_interval_allows(self):
        for middle, spread, words in ((1.0, 0.05, r"no difference \(within 3%\)"), (1.02, 0.02, r"no difference \(within 3%\)"),
                                      (1.0, 0.4, r"not decided \(0.9\d to 1.\d\d\)"), (1.1, 0.05, r"1.10 \(1.0\d to 1.1\d\)"),
                                      (0.9, 0.1, r"0.90 \(0.8\d to 0.9\d\)"), (1.04, 0.1, r"1.04 \(1.0\d to 1.0\d\)")):
            with self.subTest(middle=middle, spread=spread):
                found = self.says(middle, spread)
                self.assertRegex(found["says"], f"^{words}$")
                self.assertTrue(found["low"] <= found["ratio"] <= found["high"])
                self.assertAlmostEqual(found["ratio"], middle)

    def test_the_shortest_of_three_times_counts_and_each_of_other_figures(self):
        class Subject:
            policy = "bloomfilter:10"

        times, rates = [3, 1, 2, 9, 4, 5, 0], [3, 1, 2]
        rows = list(bench_rocksdb.rows_of([Subject, Subject], {"load, us per key": [times, times], "wasted reads": [rates, rates]}))
        self.assertEqual([(row["peer_value"], row["repetitions"]) for row in rows], [(2.5, 7), (2, 3)])


if __name__ == "__main__":
    unittest.main()
