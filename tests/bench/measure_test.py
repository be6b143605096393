#!/usr/bin/env python3
"""bench/measure with stand-ins for db_bench, rewrite_filters and `exactbloom inspect`: what it runs, in which order, and what it reports or refuses."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.append(str(ROOT / "bench/harness"))
import counts  # noqa: E402
import db_bench  # noqa: E402
import origin  # noqa: E402
import summary  # noqa: E402
from plan import Plan  # noqa: E402

VIEWS = ("experiments", "latency", "costs", "scale", "report")
# As db_bench it writes its runs into the file `runs`, and fails if there are `most` lines; `found` has the keys that it finds. As
# rewrite_filters it does the same, and fails if the file `moved` is there. A filter of exactbloom takes 10 bits per key, of others the
# bits of a Bloom filter of the same rate; `more` has bits that exactbloom takes besides.
STAND_IN = """#!/usr/bin/env python3
import json, pathlib, re, sys
here, given = pathlib.Path(__file__).parent, dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
if "--version" in sys.argv:
    sys.exit(print("db_bench version 7.8.3, RocksDB 7.8.3"))
def bits_of(policy):
    more = float((here / "more").read_text()) if (here / "more").exists() else 0
    return 10 + more if "exactbloom" in policy else float(policy.split(":")[1]) / (1.44 if "ribbon" in policy else 1)
if sys.argv[1] == "inspect":
    policy, = (here / sys.argv[3] / "LOG").read_text().splitlines()[-1:]
    levels = [{"column_family": "default", "level": 0, "entries": 400}, {"column_family": "default", "level": 6, "entries": 420}] + [
        {"column_family": f"family {i}", "level": 6, "entries": 20} for i in range(9)]
    wasted = {level["column_family"]: 0.002 for level in levels} | {"default": 0.01}
    sys.exit(print(json.dumps({"levels": levels, "totals": {"filter_bytes": 125 * bits_of(policy.split(": ")[1]), "entries": 1000, "wasted_reads": wasted}})))
rewrites = pathlib.Path(sys.argv[0]).name == "rewrite_filters"
policy = re.search("filter_policy=(.*)", pathlib.Path(sys.argv[1] if rewrites else given["options_file"]).read_text())[1]
path = pathlib.Path(sys.argv[2] if rewrites else given["db"])
path.mkdir(exist_ok=True)
(path / "CURRENT").touch()
(path / "LOG").write_text("filter_policy: " + policy)
runs = (here / "runs").read_text() if (here / "runs").exists() else ""
if (here / "most").exists() and runs.count("\\n") >= int((here / "most").read_text()):
    sys.exit(1)
work = "rewrite" if rewrites else "read" if "use_existing_db" in given else "load"
(here / "runs").write_text(runs + work + " " + policy + "\\n")
if rewrites:
    (here / "moved").exists() and sys.exit(1)
    sys.exit(print("default 6 1 1000 120000", int(125 * bits_of(policy))))
found = (here / "found").read_text() if (here / "found").exists() else "0"
"readmissing" in given["benchmarks"] and print(f"readmissing : 1 micros/op 1000 ops/sec 1 seconds 1000 operations; ({found} of 1000 found)")
for ticker, count in {"number.keys.read": 1000, "bloom.filter.useful": 1990, "bloom.filter.full.positive": 10}.items():
    print(f"rocksdb.{ticker} COUNT : {count}")
for ticker in ("number.multiget.keys.read", "bloom.filter.full.true.positive", "block.cache.data.miss"):
    print(f"rocksdb.{ticker} COUNT : 0")
"""
# As readamp it writes its words into the file `words`; only filters of RocksDB's Bloom waste reads.
READAMP = """#!/usr/bin/env python3
import json, pathlib, sys
given = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
(pathlib.Path(__file__).parent / "words").write_text(json.dumps(sys.argv[1:]))
def result_of(policy):
    wasted, has_filter = 10 * policy.startswith("bloom"), policy != "none"
    absent = {"lookups": 1000, "wasted_reads": wasted, "filter_checks": 4000 * has_filter, "absent_checks": 4000 * has_filter,
              "interval": [0.002, 0.003] if has_filter else None, "predicted_wasted_reads": None if has_filter else 3990}
    return {"policy": policy, "filter_bytes": 1250 * has_filter, "bits_per_key": 10.0 * has_filter, "workloads": {"absent": absent}}
pathlib.Path(given["json"]).write_text(json.dumps({"keys_stored": 1000, "settings": {"block_cache_bytes": 0, "tree": {}},
                                                   "policies": list(map(result_of, given["policies"].split(",")))}))
"""
# Waits for ever in waitforcompaction and in `sleep`, and prints its other benchmarks and the options file.
WAITING = r"""#!/bin/sh
[ "$1" != --version ] || { echo "db_bench version 7.8.3"; exit; }
for word; do case $word in --options_file=*) file=${word#*=} ;; --db=*) db=${word#*=} ;; --benchmarks=*) benchmarks=${word#*=} ;; esac; done
mkdir -p "$db"
echo "filter_policy: bloomfilter; Compaction nothing to do" > "$db/LOG"
for benchmark in $(echo "$benchmarks" | tr , ' '); do
  case $benchmark in
  waitforcompaction) echo "waitforcompaction($db): active (rocksdb.compaction-pending)"; exec sleep 1000 ;;
  sleep) exec sleep 1000 ;;
  assertions) echo "WARNING: Assertions are enabled; benchmarks unnecessarily slow" ;;
  *) echo "$benchmark $*"; cat "$file" ;;
  esac
done
"""


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.chmod(path, 0o755)
        return str(path)


class Harness(Programs):
    stand_in, preloaded = STAND_IN, ""

    def measure(self, status, *more):
        program = self.program("bin/exactbloom", STAND_IN)
        self.program("bin/rewrite_filters", self.stand_in)
        self.program(db_bench.OBJECT, self.preloaded)
        done = subprocess.run([ROOT / "bench/measure", "experiments", "--only", "FIFO", "--repetitions", "2", "--db-bench", program,
                               "--build", self.folder, "--directory", self.folder, "--output", self.folder, *more], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def runs(self):
        return (self.folder / "bin/runs").read_text().splitlines()

    def set(self, name, text):
        (self.folder / "bin").mkdir(exist_ok=True)
        (self.folder / "bin" / name).write_text(text)

    def test_a_stopped_run_goes_on_in_turns_with_the_same_tree_and_at_equal_bytes(self):
        self.set("most", "6")
        self.measure(2)
        self.assertFalse((self.folder / "experiments.json").exists())
        (self.folder / "bin/most").unlink()
        with open(self.folder / "experiments.cells.jsonl", "a") as file:
            file.write('{"tree": "a line that was not fin')
        printed = self.measure(0).stdout
        bloom, ours, tried, ribbon = "bloomfilter:10", "exactbloom:10", "ribbonfilter:14.4:-1", "ribbonfilter:14.400:-1"
        self.assertEqual(self.runs(), [
            f"load {bloom}", f"rewrite {bloom}", f"rewrite {ours}", f"rewrite {tried}", f"rewrite {ribbon}", f"read {bloom}",
            f"rewrite {ours}", f"read {ours}", f"rewrite {ribbon}", f"read {ribbon}",
            f"load {bloom}", f"rewrite {ours}", f"rewrite {bloom}", f"rewrite {ribbon}", f"read {ours}", f"read {ribbon}", f"read {bloom}"])
        self.measure(0)
        self.assertEqual(len(self.runs()), 17)
        result = json.loads((self.folder / "experiments.json").read_text())
        self.assertLessEqual({"view", "commit", "date", "machine", "build", "versions", "seed", "command", "minutes", "sizes", "rows"}, result.keys())
        row = result["rows"][2]
        self.assertEqual((row["tree"], row["workload"], row["policy"], row["setting"], row["repetitions"]),
                         ("FIFO, buffer 256 KiB", "absent", "ribbonfilter, equal bytes", ribbon, 2))
        self.assertEqual(row["measures"]["wasted_reads"], {"median": 10, "low": 10, "high": 10})
        self.assertAlmostEqual(row["measures"]["bits_per_key"]["median"], 10)
        # Of column families with 82% and nine times 2% of the keys, as db_bench asks them.
        self.assertAlmostEqual(row["measures"]["predicted"]["median"], 1000 * (0.82 * 0.01 + 0.18 * 0.002))
        self.assertIn("exactbloom:10 over bloomfilter:10: no difference", " ".join(printed.split()))
        self.assertEqual(list(self.folder.glob("measure-*")), [])
        self.measure(0, "--again", "--scale", "0.5")  # of other sizes
        self.assertEqual(len(self.runs()), 17 + 19)
        self.assertEqual(json.loads((self.folder / "experiments.json").read_text())["rows"][3]["policy"], "bloomfilter:10, again")

    def test_a_stopped_run_of_other_programs_begins_anew(self):
        self.set("most", "6")
        self.measure(2)
        (self.folder / "bin/most").unlink()
        self.stand_in += "# another build\n"
        self.assertIn("begins anew", self.measure(0).stderr)
        self.assertEqual(len(self.runs()), 6 + 15)
        self.preloaded = "another build"
        self.assertIn("begins anew", self.measure(0).stderr)

    def test_refuses_another_tree_and_other_bits(self):
        self.set("moved", "")
        self.assertIn("rewrite_filters failed", self.measure(1).stderr)
        (self.folder / "bin/moved").unlink()
        self.set("more", "0.6")
        self.assertIn("filters of exactbloom:10 have 1.060 times the bits of their peer instead of 1.000", self.measure(2).stderr)
        self.set("more", "0.4")
        self.measure(0, "--anew")

    def test_the_last_of_several_processes_is_asked(self):
        self.measure(0, "--only", "budget, leveled", "--repetitions", "1", "--policies", "bloomfilter:10")
        self.assertEqual(self.runs(), ["load bloomfilter:10"])
        row, = json.loads((self.folder / "experiments.json").read_text())["rows"]
        self.assertEqual(row["measures"]["asked"]["median"], 2)

    def test_a_wrong_answer_is_not_reported(self):
        self.set("found", "1")
        self.assertIn("found 1 of 1000 keys where none are there", self.measure(1).stderr)
        self.assertFalse((self.folder / "experiments.json").exists())
        self.assertIn("has no size", self.measure(2, "--set", "kyes=1").stderr)

    def test_answers_are_checked_wherever_they_are_known(self):
        # Of lookups whose answers depend on what was drawn, of work that writes, and of what looks up nothing.
        unknown = {("experiments", "seek"), ("latency", "found"), ("latency", "writing"), ("latency", "mixgraph"), ("costs", "compact"), ("costs", "filling")}
        described = {(view, name): workload for view in VIEWS for name, workload in Plan(view).workloads.items()}
        self.assertEqual({name for name, workload in described.items() if workload.get("finds") not in ("none", "all")}, unknown)

    def test_peers_have_the_same_filters_in_flushed_tables_as_below(self):
        """Without :-1 RocksDB's Ribbon policy makes Bloom filters of its larger number of bits where tables are flushed."""
        rows = json.loads((ROOT / "docs/figures/measured/report.json").read_text())["rows"]
        most = {(row["tree"], row["policy"]): row["measures"]["most_bits_per_key"]["high"] for row in rows if row["workload"] == "growth"}
        for tree, policy in most:
            if policy == "ribbonfilter":
                self.assertAlmostEqual(most[tree, policy] / most[tree, "bloomfilter"], 1, delta=0.05)

    def test_committed_results_are_of_its_trees_and_policies_and_fit_on_a_terminal(self):
        for view in VIEWS:
            file = ROOT / f"docs/figures/measured/{view}.json"
            shown = subprocess.run([ROOT / "bench/measure", view, "--show", file], capture_output=True, text=True, check=True).stdout
            self.assertLessEqual(max(map(len, shown.splitlines())), 80)
            plan, rows = Plan(view), json.loads(file.read_text())["rows"]
            trees = {tree.name: tree for tree in plan.trees}
            self.assertEqual(list(dict.fromkeys(row["tree"] for row in rows)), list(trees))
            for row in rows:
                self.assertIn(row["policy"], trees[row["tree"]].policies)
                self.assertLessEqual(set(row["measures"]), set(trees[row["tree"]].measures))
                self.assertEqual(row.get("bits"), trees[row["tree"]].bits)


class Report(Programs):
    def measure(self, status, *more):
        self.program("bin/exactbloom", STAND_IN)
        self.program("bin/readamp", READAMP)
        done = subprocess.run([ROOT / "bench/measure", "report", "--only", "10 bits", "--build", self.folder, "--directory", self.folder,
                               "--output", self.folder, *more], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def rows(self):
        return json.loads((self.folder / "report.json").read_text())["rows"]

    def test_without_filters_there_is_no_interval_of_their_rate(self):
        self.measure(0, "--policies", "none", "bloomfilter:10")
        none, bloom = (row["measures"] for row in self.rows())
        self.assertEqual(none["bits_per_key"]["median"], 0)
        self.assertEqual(none["predicted"]["median"], 3990)
        self.assertEqual(bloom["bits_per_key"]["median"], 10)
        self.assertEqual(bloom["wasted_reads"], {"median": 10, "low": 8, "high": 12})

    def test_input_is_quoted_as_for_a_shell_and_sets_nothing_that_the_view_does(self):
        self.measure(0, "--input", "--keys 'my keys.txt' --lookups=500")
        words = json.loads((self.folder / "bin/words").read_text())
        self.assertEqual(words[-4:], ["--keys", "my keys.txt", "--lookups=500", "--workloads=absent"])
        for given in ("--workloads=present", "--workloads present", "--policies none"):
            self.assertIn(f"measure: --input has {given[:10]}", self.measure(2, "--input", f"--keys k.txt {given}"))
        self.assertIn("measure: --input --keys 'k.txt: No closing quotation\n", self.measure(2, "--input", "--keys 'k.txt"))

    def test_other_keys_are_another_run(self):
        keys, words, database = self.folder / "k.txt", self.folder / "bin/words", self.folder / "db"
        database.mkdir()
        for file, given in ((keys, f"--keys={keys}"), (database / "CURRENT", f"--from-db {database}")):
            with self.subTest(given=given):
                file.write_text("keys")
                self.measure(0, f"--input={given}")
                words.unlink()
                (database / "LOG").write_text("of a program that has it open")
                self.measure(0, f"--input={given}")
                self.assertFalse(words.exists())
                file.write_text("other keys")
                self.assertIn("begins anew", self.measure(0, f"--input={given}"))
                self.assertTrue(words.exists())

    def test_only_takes_whole_words(self):
        for words, names in (("6 bits", ["settled, 6 bits"]), ("universal", ["growing, universal"]), ("leveled", ["growing, leveled", "growing, leveled, level-0 trigger 12"])):
            self.assertEqual([tree.name for tree in Plan("report", only=[words]).trees], names)

    def test_a_policy_that_wastes_nothing_is_not_in_the_picture(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("python3-matplotlib is not there")
        self.measure(0)
        subprocess.run([ROOT / "scripts/figures/run", "--report", self.folder / "report.json"], check=True)
        picture = (self.folder / "wasted_reads.svg").read_text()
        self.assertIn("RocksDB Bloom", picture)
        self.assertNotIn("ExactBloom", picture)


class Waiting(Programs):
    def run_in(self, limit, benchmarks, policy="bloomfilter:10", is_release=False):
        db_bench.QUIET_SECONDS = 0.5
        program = db_bench.DbBench(self.program("db_bench", WAITING), None, None, is_release, limit)
        return program.run_policy(policy, self.folder / "db", benchmarks, [])

    def test_goes_on_in_another_process_where_waitforcompaction_does_not_end(self):
        printed, usage = self.run_in(60, "fillrandom,waitforcompaction,readmissing")
        self.assertNotIn("fillrandom ", printed)
        self.assertRegex(printed, "readmissing .*--use_existing_db=1")
        self.assertIn("avoid_flush_during_recovery=true", printed)
        self.assertGreater(usage["memory_mib"], 0)
        self.assertIn("fillrandom ", self.run_in(60, "fillrandom,waitforcompaction")[0])

    def test_ends_at_the_limit_and_without_its_policy(self):
        with self.assertRaises(SystemExit) as caught:
            self.run_in(1, "sleep")
        self.assertEqual(caught.exception.code, 2)
        with self.assertRaises(SystemExit):
            self.run_in(60, "fillrandom", "ribbonfilter:10")
        self.run_in(60, "assertions")
        with self.assertRaises(SystemExit):
            self.run_in(60, "assertions", is_release=True)


class Release(Programs):
    def refused(self, flags):
        self.program("compile_commands.json", json.dumps([{"command": f"g++ {flags} -c db.cc"}]))
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as printed:
            origin.build_of(self.folder)
        return printed.getvalue()

    def test_refuses_assertions_another_processor_and_no_avx2(self):
        for flags in ("-O2 -march=native", "-O2 -DNDEBUG", "-O0 -DNDEBUG -march=native"):
            self.assertIn("no release build for this processor: ", self.refused(flags))
        source = self.program("bloom.cc", "namespace rocksdb { struct Slice {}; struct FastLocalBloomBitsReader { bool MayMatch(const Slice&); };\n"
                              "bool FastLocalBloomBitsReader::MayMatch(const Slice&) { return false; } }\nint main() {}\n")
        subprocess.run(["c++", source, "-o", self.folder / "db_bench"], check=True)
        self.assertIn("does without AVX2", self.refused("-O2 -DNDEBUG -march=native"))


class Counts(unittest.TestCase):
    def test_seeks_ask_no_filters_that_are_counted(self):
        tickers = {"number.keys.read": 0, "number.multiget.keys.read": 0, "number.db.seek": 50, "block.cache.data.miss": 7, "block.cache.filter.miss": 1}
        printed = "seekrandom : 1 micros/op 1000 ops/sec 1 seconds 50 operations\n" + "".join(
            f"rocksdb.{ticker} COUNT : {count}\n" for ticker, count in tickers.items())
        self.assertEqual(counts.by_db_bench("seekrandom", printed, ""), {"ops": 1000, "lookups": 50, "blocks": 7, "filter_blocks": 1})

    def test_levels_are_summed_and_other_lines_are_not(self):
        printed = "ERROR: ld.so: object cannot be preloaded (file too short): ignored.\ndefault 0 1 10 100 12\nother family 6 2 30 300 40\n"
        self.assertEqual(counts.by_levels(printed), {"tables": 3, "entries": 40, "table_bytes": 400, "filter_bytes": 52})


class Ratios(unittest.TestCase):
    def says(self, middle, spread):
        """Of 21 ratios, evenly spread about the middle; the interval of the median has about .4 of their spread."""
        ratios = [middle + spread * (i - 10) / 20 for i in range(21)]
        return summary.ratio([3 * ratio for ratio in ratios], [3] * 21)

    def test_says_what_the_interval_allows(self):
        for middle, spread, words in ((1.0, 0.05, r"no difference \(within 3%\)"), (1.02, 0.02, r"no difference \(within 3%\)"),
                                      (1.0, 0.4, r"\d+% less to \d+% more"), (1.1, 0.05, r"1.10 \(1.0\d to 1.1\d\)"),
                                      (0.9, 0.1, r"0.90 \(0.8\d to 0.9\d\)"), (1.04, 0.1, r"1.04 \(1.0\d to 1.0\d\)")):
            with self.subTest(middle=middle, spread=spread):
                found = self.says(middle, spread)
                self.assertRegex(found["says"], f"^{words}$")
                self.assertTrue(found["low"] <= found["ratio"] <= found["high"])
                self.assertAlmostEqual(found["ratio"], middle)

    def test_the_interval_of_few_repetitions_is_their_range(self):
        self.assertEqual(summary.interval([4, 1, 3, 2, 5]), (3, 1, 5))
        self.assertEqual(summary.interval([7]), (7, 7, 7))
        self.assertEqual(summary.ratio([2, 2, 2, 2, 2.1], [2] * 5)["says"], "1.00, range 1.00 to 1.05")

    def test_wasted_reads_are_predicted_of_absent_keys_alone(self):
        plan = SimpleNamespace(workloads={"absent": {"finds": "none"}, "found": {}}, sizes={}, over={})
        tree = SimpleNamespace(name="tree", keep=True, workload={"name": "load"}, workloads=["absent", "found"], policies=["ours"], bits=None, measures={"predicted": {}})
        plan.measures = {"predicted": {"of": "predicted"}}
        cells = {"load": {"setting": "x", "counts": {"predicted": 0.01}}} | dict.fromkeys(tree.workloads, {"setting": "x", "counts": {}})
        rows = summary.rows_of(plan, tree, SimpleNamespace(get=lambda tree, workload, policy, number: None if number else cells[workload]))
        self.assertEqual([row["measures"].keys() for row in rows], [{"predicted"}, set()])

    def test_the_shortest_of_three_times_counts_less_the_time_of_the_base(self):
        times = 3 * [3, 1, 2, 9, 4, 5] + [0]
        plan = SimpleNamespace(workloads={"absent": {"less": "filling"}}, sizes={}, over={"peer": ""}, measures={
            "us": {"of": "seconds", "per": "keys", "shortest_of": 3}, "rate": {"of": "wasted"}})
        tree = SimpleNamespace(name="tree", keep=True, workload={"name": "load"}, workloads=["absent"], policies=["peer", "ours"], bits=None, measures=plan.measures)
        cells = {(workload, number): {"setting": "x", "counts": {"seconds": seconds, "keys": 1, "wasted": seconds}}
                 for number, time in enumerate(times) for workload, seconds in (("absent", 10 + time), ("filling", 10))}
        rows = summary.rows_of(plan, tree, SimpleNamespace(get=lambda tree, workload, policy, number: cells.get((workload, number))))
        self.assertEqual([row["measures"]["us"]["median"] for row in rows], [2.5, 2.5])
        self.assertEqual([row["measures"]["rate"]["median"] for row in rows], [13, 13])
        self.assertEqual(rows[1]["over"]["peer"]["us"]["says"], "no difference (within 3%)")


if __name__ == "__main__":
    unittest.main()
