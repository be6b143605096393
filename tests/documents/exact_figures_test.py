#!/usr/bin/env python3
"""The exact figures of the documents are those that the tool computes.

  exact_figures_test.py EXACTBLOOM
"""
import functools
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = sys.argv.pop(1)


@functools.lru_cache(maxsize=None)
def ask(*arguments):
    return json.loads(subprocess.run([TOOL, *map(str, arguments), "--json"], check=True, capture_output=True, text=True).stdout)


def rate(m, n, k, kind="classic"):
    return ask("rate", "--m", m, "--n", n, "--k", k, "--kind", kind)


def plan(bits, keys=1_000_000, kind="classic"):
    return ask("plan", "--keys", keys, "--bits-per-key", bits, "--kind", kind)


class ExactFiguresTest(unittest.TestCase):
    def check(self, page, pattern, *values):
        """The page has the pattern, in which each # is a number; it is the value, rounded to the digits that are there."""
        number = r"([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)"
        found = re.findall(re.escape(pattern).replace(r"\#", number), " ".join((ROOT / page).read_text().split()))
        self.assertEqual(len(found), 1, f"{page}: {pattern}")
        printed = found[0] if isinstance(found[0], tuple) else found
        self.assertEqual(len(printed), len(values), pattern)
        for text, value in zip(printed, values):
            mantissa, _, exponent = text.partition("e")
            digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
            self.assertLessEqual(abs(float(text) - value), 0.501 * digit, f"{page}: {pattern}: {text} is not {value}")

    def test_rate_of_large_filters(self):
        self.check("docs/operations.md", "With `classic_bloom:10` expect #%", 100 * plan(10)["rate"])

    def test_rates_of_rocksdbs_filters(self):
        lines = {bits: plan(bits, 10_000_000, "bloomfilter") for bits in (10, 20)}
        self.assertEqual([lines[bits]["k"] for bits in (10, 20)], [6, 11])
        self.check("docs/theory.md", "at 10 bits per key and k = 6 the rate is #%, with 20 bits and k = 11 it is #%, and one array has #% and #%",
                   *(100 * found["rate"] for found in (*lines.values(), plan(10), plan(20))))
        self.check("docs/operations.md", "(#% instead of #% at 10 bits per key)", 100 * lines[10]["rate"], 100 * plan(10)["rate"])
        # In the smallest run of readamp: 10 bits per slot, and a Ribbon filter of ExactBloom.
        self.check("bench/README.md", "`exact_ribbon:10` keeps to 10 (rates #% and #%)", 100 * 2**-10, 100 * plan(10, 299, "exact_ribbon")["rate"])

    def test_kinds_of_small_tables(self):
        classic, standard = (plan(10, 24, kind)["rate"] for kind in ("classic", "standard"))
        self.check("docs/configuration.md", "its rate is lower, by #% in a table of 24 keys", 100 * (1 - classic / standard))
        times = []
        for keys in (200, 1000, 1_000_000):
            ribbon = plan(10, keys, "exact_ribbon")
            same = ask("plan", "--keys", keys, "--memory", ribbon["memory_bytes"])
            times.append(same["rate"] / ribbon["rate"])
        self.check("docs/theory.md", "a classic filter has # times the rate with 200 keys, # times with 1,000 and # times with a million", *times)

    def test_deviations_and_crafted_keys(self):
        found = rate(512, 51, 7)
        self.check("docs/theory.md", "One standard deviation of X changes the rate by #% at 512 bits and 10 bits per key",
                   100 * 7 * found["deviation_of_ones"] / found["expected_ones"])
        self.check("SECURITY.md", "the rate is at most (nk/m)^k, #% at 10 bits per key", 100 * (plan(10)["k"] / 10) ** plan(10)["k"])

    def test_small_filters(self):
        arrays = (1 - (1 - 7 / 240) ** 24) ** 7
        self.check("docs/theory.md", "the rate is #% for k arrays, #% standard, and #% classic", 100 * arrays,
                   100 * rate(240, 24, 7, "standard")["exact"], 100 * rate(240, 24, 7)["exact"])
        more = {kind: [100 * (rate(10 * n, n, 7, kind)["exact"] / rate(10 * n, n, 7, kind)["asymptotic"] - 1)
                       for n in (3, 10, 100)] for kind in ("classic", "standard")}
        self.check("docs/theory.md", "the classic rate is #% higher with 3 keys, #% with 10, and #% with 100; "
                   "the standard rate is #%, #% and #% higher", *more["classic"], *more["standard"])
        self.check("docs/theory.md", "the usual k is 11, the standard k* # (rate #, against #) and the classic k* # (#, against #)",
                   *(value for kind in ("standard", "classic") for best in [rate(64, 4, 11, kind)]
                     for value in (best["optimal_k"], best["rate_at_optimal_k"], best["exact"])))

    def test_kinds_and_conjecture_24(self):
        self.check("docs/theory.md", "with 24 keys in 240 bits and k = 10, #% against #%",
                   *(100 * rate(240, 24, 10, kind)["exact"] for kind in ("classic", "standard")))
        classic, standard = (rate(26, 12, 2, kind) for kind in ("classic", "standard"))
        self.check("docs/theory.md", "the classic k* is # (rate #) and the standard k* # (#, against # for 2)",
                   classic["optimal_k"], classic["exact"], standard["optimal_k"], standard["rate_at_optimal_k"], standard["exact"])

    def test_division_among_runs(self):
        runs = {1000: 19.04, 10_000: 14.28, 100_000: 9.48}
        self.assertAlmostEqual(sum(keys * bits for keys, bits in runs.items()) / sum(runs), 10, delta=0.005)
        self.check("docs/theory.md", "#, # and # bits per key, which are 10 on average, waste # reads per lookup, and 10 bits per "
                   "key everywhere #", *runs.values(), sum(plan(bits, keys)["rate"] for keys, bits in runs.items()),
                   sum(plan(10, keys)["rate"] for keys in runs))


if __name__ == "__main__":
    unittest.main()
