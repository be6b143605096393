#!/usr/bin/env python3
"""scripts/report/run writes its text and its figures from JSON of readamp alone."""

import copy
import json
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEST = "exactbloom:10"
GROWTH = {"policy": "bloomfilter:10", "filter_bytes": 1000, "bits_per_key": 10.0, "workloads": {"growth": {
    "points": [{"keys_written": keys, "wasted_reads_per_lookup": 0.0625} for keys in (1000, 2000)],
    "loading": {"wasted_reads_per_lookup": 0.0625}}}}


def report(policies, **tree):
    return {"command": "readamp", "exactbloom": "0", "rocksdb": "7.8.3", "cpu": "AMD", "keys_stored": 500000, "policies": policies,
            "settings": {"tree": {"kind": "settled", "sorted_runs": 4, "size_ratio": 10, **tree}}}


def policy(text, wasted, exact=None):
    return {"policy": text, "filter_bytes": 1000, "bits_per_key": 10.0, "workloads": {"absent": {
        "lookups": 10000, "absent_checks": 40000, "wasted_reads": wasted, "interval": [0.9 * wasted / 40000, 1.1 * wasted / 40000],
        "predicted_wasted_reads": exact}}}


class ReportTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.file = self.directory / "results.json"

    def run_report(self, text):
        self.file.write_text(text)
        return subprocess.run([ROOT / "scripts/report/run", self.file, "--output", self.directory / "made"], capture_output=True, text=True,
                              check=False)

    def test_compares_the_policies(self):
        growing = copy.deepcopy(GROWTH)
        growing["policy"] = BEST
        growing["workloads"]["growth"]["loading"]["wasted_reads_per_lookup"] = 0.025
        reports = (report([policy("none", 40000) | {"filter_bytes": 0}, policy("bloomfilter:10", 400), policy(BEST, 20, 21.0)]),
                   report([GROWTH, growing], kind="loaded", level0_trigger=12))
        made = self.run_report("\n".join(json.dumps(found, indent=1) for found in reports))
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertIn("wastes 20 times fewer reads than RocksDB's Bloom filter: 2 instead of 40 in 1,000", made.stdout)
        self.assertIn(f"| usual: 10 bits per key | data larger than memory | `{BEST}` | 10.00 | 2 | 5.0% |", made.stdout)
        self.assertIn("40% (leveled compaction, level-0 trigger 12)", made.stdout)
        page = (self.directory / "made/report.md").read_text()
        self.assertIn(page[:100], made.stdout)
        # Debian's Python, which the script takes, has matplotlib or not.
        if "no figures" not in made.stdout:
            for figure in ("wasted_reads", "growing_trees"):
                self.assertIn(f"![]({figure}.svg)", page)
                drawn = (self.directory / f"made/{figure}.svg").read_text()
                for name in ("RocksDB's Bloom", "recommended"):
                    self.assertIn(f">{name}<", drawn.replace("&#x27;", "'"))

    def test_refuses_other_files_with_one_line(self):
        for text, words in (("", "there is no report"), ("no JSON", "is not JSON"), ('{"policies": [{"filter_bytes": 1}]}', "no report of readamp")):
            refused = self.run_report(text)
            self.assertEqual((refused.returncode, refused.stdout, refused.stderr.count("\n")), (2, "", 1), refused.stderr)
            self.assertIn(words, refused.stderr)


if __name__ == "__main__":
    unittest.main()
