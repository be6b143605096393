#!/usr/bin/env python3
"""No run of db_bench by scripts/db_bench.py goes on for ever, with a stand-in for db_bench."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import db_bench  # noqa: E402

# Waits for ever in waitforcompaction and in `sleep`, and prints its other benchmarks and the options file.
STAND_IN = r"""#!/bin/sh
[ "$1" != --version ] || { echo "db_bench version 7.8.3"; exit; }
for word; do case $word in --options_file=*) file=${word#*=} ;; --db=*) db=${word#*=} ;; --benchmarks=*) benchmarks=${word#*=} ;; esac; done
mkdir -p "$db"
echo "filter_policy: bloomfilter; Compaction nothing to do" > "$db/LOG"
for benchmark in $(echo "$benchmarks" | tr , ' '); do
  case $benchmark in
  waitforcompaction) echo "waitforcompaction($db): active (rocksdb.compaction-pending)"; exec sleep 1000 ;;
  sleep) exec sleep 1000 ;;
  *) echo "$benchmark $*"; cat "$file" ;;
  esac
done
"""


class DbBenchTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        program = self.folder / "db_bench"
        program.write_text(STAND_IN)
        os.chmod(program, 0o755)
        db_bench.QUIET_SECONDS = 0.5
        self.program = str(program)

    def run_in(self, limit, benchmarks, policy="bloomfilter:10"):
        return db_bench.DbBench(self.program, None, limit).run_policy(policy, self.folder / "db", benchmarks)

    def test_goes_on_in_another_process_where_waitforcompaction_does_not_end(self):
        printed, _, memory = self.run_in(60, "fillrandom,waitforcompaction,readmissing")
        self.assertNotIn("fillrandom ", printed)
        self.assertRegex(printed, "readmissing .*--use_existing_db=1")
        self.assertIn("avoid_flush_during_recovery=true", printed)
        self.assertGreater(memory, 0)
        self.assertIn("fillrandom ", self.run_in(60, "fillrandom,waitforcompaction")[0])

    def test_ends_at_the_limit_and_without_its_policy(self):
        with self.assertRaises(SystemExit) as caught:
            self.run_in(1, "sleep")
        self.assertEqual(caught.exception.code, 2)
        with self.assertRaises(SystemExit):
            self.run_in(60, "fillrandom", "ribbonfilter:10")


if __name__ == "__main__":
    unittest.main()
