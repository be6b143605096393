#!/usr/bin/env python3
"""Lost filters raise the alert of docs/operations.md, and filters that are there do not.

lost_filters_test.py BUILD_DIRECTORY DB_BENCH LDB LIBROCKSDB
"""
import glob
import pathlib
import re
import shutil
import sys
import unittest

import preload_test
from preload_test import DB_BENCH, LDB, OBJECT

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/operations.md"
[LINES] = re.findall(r"^### The alert for lost filters\n\n(?:\S.*\n)+\n((?:    .*\n|\n)+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
WHOLE_KEYS, PREFIXES, SEEKS = (part.splitlines() for part in LINES.strip("\n").split("\n\n"))
KEYS, LOOKUPS = 8000, 4000
NOTHING, NO_FILTERS, PASSING, IN_PART = [False, False, False], [True, False, True], [False, True, True], [False, False, True]

BLOOM = "--bloom_bits=10"
RIBBON = [BLOOM, "--use_ribbon_filter=1"]
PARTITIONS = ["--partition_index_and_filters=1", "--metadata_block_size=512"]
ALL_KEYS = "--benchmarks=filluniquerandom,flush"
# Two of five keys, each with a prefix of its own, in filters of prefixes only; seeks stay in their prefix.
BY_PREFIX = ["--prefix_size=8", "--keys_per_prefix=1", "--whole_key_filtering=0", "--prefix_same_as_start=1", "--seek_nexts=0"]
SOME_KEYS = ["--benchmarks=fillrandom,flush", f"--writes={KEYS // 2}"]


def alerts(lines, tickers):
    """Which of the conditions hold. An assignment from a ticker that this RocksDB does not have is for another version."""
    values, raised = dict(tickers), []
    for line in lines:
        statement = line.partition("#")[0].strip()
        if " = " in statement:
            try:
                exec(statement, values)  # pylint: disable=exec-used
            except NameError:
                pass
        elif statement:
            raised.append(eval(statement, values))  # pylint: disable=eval-used
    return raised


class LostFilters(preload_test.Preloaded):
    def db_bench(self, policy, *flags, objects=OBJECT):
        """Returns the tickers, named as on the page."""
        output = self.run_with(policy, DB_BENCH, f"--db={self.db}", f"--num={KEYS}", f"--reads={LOOKUPS}", "--statistics=1",
                               "--seed=1", "--compression_type=none", "--write_buffer_size=160000", "--disable_auto_compactions=1",
                               "--level0_slowdown_writes_trigger=1000", "--level0_stop_writes_trigger=1000", *flags, objects=objects)
        return {name.replace(".", "_"): int(count) for name, count in re.findall(r"^rocksdb\.(\S+) COUNT : (\d+)$", output, re.M)}

    def make(self, policy, *flags, objects=OBJECT):
        shutil.rmtree(self.db, ignore_errors=True)
        self.db_bench(policy, *flags, objects=objects)

    def ask(self, policy, benchmark, *flags, objects=OBJECT):
        """The alerts that the lookups of a benchmark raise."""
        tickers = self.db_bench(policy, "--use_existing_db=1", f"--benchmarks={benchmark}", *flags, objects=objects)
        if benchmark == "seekrandom":
            return alerts(SEEKS, tickers)
        self.assertEqual(tickers["memtable_miss"],
                         tickers["number_keys_read"] + tickers["number_multiget_keys_read"] - tickers["memtable_hit"])
        only_prefixes = "--whole_key_filtering=0" in flags and "bloom_filter_prefix_true_positive" in tickers
        return alerts(PREFIXES if only_prefixes else WHOLE_KEYS, tickers)

    def ask_without_us(self, benchmark, *flags):
        return self.ask(None, benchmark, *flags, objects=None)

    def test_healthy_databases_raise_none(self):
        for policy, *flags in (["exactbloom:10"], ["exact_ribbon:10"], ["classic_bloom:10"], [None, BLOOM], [None, *RIBBON], ["exactbloom:10", *PARTITIONS]):
            with self.subTest(policy=policy, flags=flags):
                for runs in ("", ",compact"):  # several, or one
                    self.make(policy, ALL_KEYS + runs, *flags)
                    self.assertEqual(self.ask(policy, "readmissing", *flags), NOTHING)
                    # Present keys only.
                    self.assertEqual(self.ask(policy, "readrandom", *flags), NOTHING)
                    self.assertEqual(self.ask(policy, "multireadrandom", "--multiread_batched=1", *flags), NOTHING)

    def test_the_library_is_removed(self):
        for policy in ("classic_bloom:10", "exactbloom:10"):
            self.make(policy, ALL_KEYS)
            self.assertEqual(self.ask_without_us("readmissing", BLOOM), PASSING)
            self.assertEqual(self.ask_without_us("readrandom", BLOOM), PASSING)
            self.assertEqual(self.ask_without_us("readmissing"), NO_FILTERS)

    def test_the_names_are_not_registered(self):
        self.make("exactbloom:10", ALL_KEYS)
        options = shutil.copy(max(glob.glob(f"{self.db}/OPTIONS-*")), f"{self.directory}/OPTIONS")
        self.assertIn("exactbloom:10", self.policies())
        # By db_bench, and by LoadLatestOptions.
        self.make(None, ALL_KEYS, f"--options_file={options}", objects=None)
        self.assertEqual(self.ask_without_us("readmissing", BLOOM), NO_FILTERS)
        self.make("exactbloom:10", ALL_KEYS)
        self.run_with(None, LDB, f"--db={self.db}", "--try_load_options", "compact", objects=None)
        self.assertEqual(self.ask("exactbloom:10", "readmissing"), NO_FILTERS)
        self.assertEqual(self.ask("exactbloom:10", "readrandom"), [True, False, False])  # of one sorted run nothing is wasted

    def test_the_budget_is_spent(self):
        # A large run has a block that lets every key pass, and a small one has one, too, or a filter of a bit per key, or of five.
        for budget in (10, KEYS // 100, KEYS // 20):
            with self.subTest(budget=budget):
                policy = f"{{id=exactbloom;memory_budget={budget}}}"
                self.make(policy, ALL_KEYS + ",compact")
                self.db_bench(policy, "--use_existing_db=1", "--benchmarks=overwrite,flush", f"--writes={KEYS // 20}")
                self.assertEqual(self.ask(policy, "readmissing"), PASSING)

    def test_a_large_run_was_written_without_a_policy(self):
        self.make(None, ALL_KEYS + ",compact", objects=None)
        self.db_bench("exactbloom:10", "--use_existing_db=1", "--benchmarks=overwrite,flush", f"--writes={KEYS // 20}")
        self.assertEqual(self.ask("exactbloom:10", "readmissing"), IN_PART)

    def ask_by_prefix(self, policy, *flags, objects=OBJECT):
        """Of Get and MultiGet those for no filters and for filters that let every key pass, then that of seeks."""
        gets, multigets = (self.ask(policy, benchmark, *flags, *BY_PREFIX, objects=objects)[:2] for benchmark in ("readrandom", "multireadrandom"))
        self.assertEqual(gets, multigets)
        return gets + self.ask(policy, "seekrandom", *flags, *BY_PREFIX, objects=objects)

    def test_filters_of_prefixes(self):
        for policy, *flags in (["exactbloom:10"], [None, BLOOM], [None, *RIBBON]):
            for keys in (SOME_KEYS, [ALL_KEYS + ",compact"]):  # absent and present ones are asked for, or present ones only
                with self.subTest(policy=policy, flags=flags, keys=keys):
                    self.make(policy, *keys, *flags, *BY_PREFIX)
                    self.assertEqual(self.ask_by_prefix(policy, *flags), [False, False, False])

    def test_lost_filters_of_prefixes(self):
        self.make("classic_bloom:10", *SOME_KEYS, *BY_PREFIX)
        self.assertEqual(self.ask_by_prefix(None, BLOOM, objects=None), [False, True, True])
        self.assertEqual(self.ask_by_prefix(None, objects=None), [True, False, True])
        options = shutil.copy(max(glob.glob(f"{self.db}/OPTIONS-*")), f"{self.directory}/OPTIONS")
        self.make(None, *SOME_KEYS, *BY_PREFIX, f"--options_file={options}", objects=None)
        self.assertEqual(self.ask_by_prefix("classic_bloom:10"), [True, False, True])
        spent = "{id=exactbloom;memory_budget=10}"
        self.make(spent, *SOME_KEYS, *BY_PREFIX)
        self.assertEqual(self.ask_by_prefix(spent), [False, True, True])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
