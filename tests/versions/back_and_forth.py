#!/usr/bin/env python3
"""Builds with two versions of RocksDB use a database in turns, with and without ExactBloom.

  back_and_forth.py --older BUILD [PREFIX] --newer BUILD [PREFIX]

BUILD is a build directory of the project, and PREFIX the RocksDB that it was built with; without PREFIX, the db_bench and
ldb on PATH are of that version. db_bench writes and reads; it has ExactBloom's filters if the object of the build is preloaded.
Each turn checks all keys and the filters' counters: a lookup of an absent key asks each table, and reads it unless its filter
is used and denies the key.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from databases import FIRST_READER, Wrong, expect, format_version_of, numbers

KEYS = 2000  # that many are asked for, too
# The policies of a turn, in RocksDB's text form, by the family of the filters that they build, standard Bloom filters apart.
POLICIES = {"exact_bloom": "classic_bloom:10", "standard": "standard_bloom:10", "stock": "bloomfilter:10",
            "none": None}
OURS = ("exact_bloom", "standard")
SHARED_FORMAT = ["--format_version=5"]  # which both versions read
PARTITIONED = SHARED_FORMAT + ["--partition_index_and_filters=1", "--metadata_block_size=512"]


class Build:
    def __init__(self, build, prefix=None):
        self.build, self.programs, self.environment = pathlib.Path(build), "", dict(os.environ)
        if prefix:
            self.programs = f"{prefix}/bin/"
            self.environment["LD_LIBRARY_PATH"] = f"{prefix}/lib"
        self.version = re.search(r"[\d.]+", self.run(f"{self.programs}db_bench", "--version"))[0]

    def run(self, *command, **variables):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=self.environment | variables,
                              check=False)
        if done.returncode != 0:
            raise Wrong(f"{command[0]}: {done.stderr[-1000:].strip()}")
        return done.stdout

    def db_bench(self, path, policy, *arguments):
        variables = {}
        if policy in OURS:
            variables = {"EXACTBLOOM_POLICY": POLICIES[policy], "LD_PRELOAD": f"{self.build}/lib/exactbloom/libexactbloom_rocksdb.so"}
        return self.run(f"{self.programs}db_bench", f"--db={path}", f"--use_existing_db={int(path.exists())}", f"--num={KEYS}",
                        f"--bloom_bits={10 if policy == 'stock' else -1}", "--compression_type=none", "--statistics=1", "--seed=1",
                        "--disable_auto_compactions=1", "--level0_slowdown_writes_trigger=1000",
                        "--level0_stop_writes_trigger=1000", *arguments, **variables)

    def tool(self, *arguments):
        return json.loads(self.run(self.build / "bin/exactbloom", *arguments, "--json"))


class Database:
    """A database and its expected contents. Each table's keys are spread over the whole range."""

    def __init__(self, path, table_options):
        self.path, self.table_options = path, table_options
        self.tables = collections.Counter()  # by the policies that built their filters
        self.logged = False

    def turn(self, build, policy, *benchmarks):
        print(f"  {build.version:8} {policy:10} {' '.join(benchmarks)}")
        output = build.db_bench(self.path, policy, f"--benchmarks={','.join(benchmarks)}", *self.table_options)
        self.tables[policy] += int(self.logged)  # opening a database writes a table of the log's keys
        self.logged = False
        return output

    def expect_tables(self, build):
        families = collections.Counter()
        for file in build.tool("inspect", self.path)["files"]:
            families["standard" if file["filter"].get("kind") == "standard" else file["filter"]["family"]] += 1
        expect("tables", families, collections.Counter({"bloom" if name == "stock" else name: count
                                                        for name, count in self.tables.items()}))

    def write(self, build, policy):
        """One table at once, and another from the log at the next opening. The first has all keys."""
        self.turn(build, policy, "overwrite" if self.path.exists() else "fillseq", "flush", "overwrite")
        self.tables[policy] += 1
        self.logged = True
        self.expect_tables(build)

    def check(self, build, policy):
        found = self.turn(build, policy, "readrandom")
        expect("keys are found", f"({KEYS} of {KEYS} found)" in found, True)
        output = self.turn(build, policy, "readmissing")
        expect("absent keys are not", f"(0 of {KEYS} found)" in output, True)
        self.expect_tables(build)
        useful, passed = (int(re.search(rf"rocksdb.bloom.filter.{name} COUNT : (\d+)", output)[1]) for name in ("useful", "full.positive"))
        asks = policy != "none"
        used = ("stock",) + (OURS if policy in OURS else ())
        # Few keys lie outside the range of a table.
        for name, count, wanted in (
                ("useful answers of filters", useful, asks * KEYS * sum(self.tables[name] for name in used)),
                ("questions to filters", useful + passed,
                 asks * KEYS * (sum(self.tables.values()) - self.tables["none"]))):
            if not 0.965 * wanted <= count <= wanted:
                raise Wrong(f"{count} {name}, and not about {wanted}")

    def compact(self, build, policy):
        """Into one table."""
        self.turn(build, policy, "compact")
        self.tables = collections.Counter({policy: 1})
        self.expect_tables(build)

    def check_options(self, build):
        """By the tool, which reads the OPTIONS file of this or an earlier version: its policy uses every filter."""
        expect("filters are used", {file["filter"]["used"] for file in build.tool("inspect", self.path)["files"]}, {True})

    def check_by_ldb(self, build):
        """By a program that was built without ExactBloom, which reads the OPTIONS file first."""
        print(f"  {build.version:8} {'-':10} ldb dump")
        output = build.run(f"{build.programs}ldb", f"--db={self.path}", "--ignore_unknown_options", "dump", "--count_only")
        expect("keys are counted", f"Keys in range: {KEYS}\n" in output, True)


def go_back_and_forth(database, older, newer):
    for writer in (older, newer):
        database.write(writer, "exact_bloom")
        for build in (older, newer):
            if numbers(writer.version) <= numbers(build.version):
                database.check_options(build)
        database.check(newer if writer is older else older, "exact_bloom")
    # Without ExactBloom in between.
    for build in (newer, older):
        database.check_by_ldb(build)
        database.write(build, "stock")
        database.check(older if build is newer else newer, "stock")
        database.check(build, "none")
        database.check(build, "exact_bloom")
    database.write(older, "none")
    database.check(newer, "exact_bloom")
    # One version rewrites all filters, the other reads them.
    for compacting, reading in ((newer, older), (older, newer)):
        for policy in ("exact_bloom", "standard", "stock"):
            database.write(reading, "exact_bloom")
            database.compact(compacting, policy)
            database.check(reading, policy)
            database.check(reading, "stock")
            database.check(compacting, "exact_bloom")


def refuse_later_tables(database, older, newer):
    """The newer version writes its default format. If the older one cannot read it, it reports that and changes nothing,
    and reads the tables after the newer one has compacted them in the shared format."""
    shared, database.table_options = database.table_options, []
    database.write(newer, "exact_bloom")
    database.check(newer, "exact_bloom")
    version = max(map(format_version_of, database.path.glob("*.sst")))
    database.table_options = shared
    if numbers(older.version) >= FIRST_READER.get(version, (0,)):
        database.check(older, "exact_bloom")
        return
    try:
        older.db_bench(database.path, "exact_bloom", "--benchmarks=readrandom", *shared)
    except Wrong as refusal:
        print(f"    refused by {older.version}: {refusal}")
        expect("refusal", "format_version" in str(refusal), True)
    else:
        raise Wrong(f"{older.version} opened tables of format_version {version}")
    database.check(newer, "exact_bloom")
    database.compact(newer, "standard")
    database.check(older, "exact_bloom")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for age in ("older", "newer"):
        parser.add_argument(f"--{age}", nargs="+", required=True, metavar=("BUILD", "PREFIX"))
    arguments = parser.parse_args()
    try:
        older, newer = Build(*arguments.older), Build(*arguments.newer)
        for table_options in (SHARED_FORMAT, PARTITIONED):
            print(*table_options)
            with tempfile.TemporaryDirectory() as directory:
                database = Database(pathlib.Path(directory) / "db", table_options)
                go_back_and_forth(database, older, newer)
                refuse_later_tables(database, older, newer)
    except (Wrong, OSError) as error:
        print(f"back_and_forth.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
