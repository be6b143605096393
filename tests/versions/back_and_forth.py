#!/usr/bin/env python3
"""Builds with two versions of RocksDB use a database in turns, with and without ExactBloom.

  back_and_forth.py --older BUILD [PREFIX] --newer BUILD [PREFIX]

BUILD is a build directory of the project (its target handed_database), and PREFIX the RocksDB that it was built with;
without PREFIX, the ldb on PATH is of that version. Each turn checks all keys and the filters' counters: a lookup of an
absent key asks each table, and reads it unless its filter is used and denies the key.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from databases import FIRST_READER, Wrong, expect, format_version_of, numbers

KEYS = 2000  # of a batch: one table at once, and another from the log at the next opening
OURS = ("exactbloom", "lines")
NAMES = {"stock": "bloom"}  # of the filters of a policy, where it is not the policy's
SHARED_FORMAT = "format_version=5"  # which both versions read
PARTITIONED = SHARED_FORMAT + ";partition_filters=true;index_type=kTwoLevelIndexSearch;metadata_block_size=512"


class Build:
    def __init__(self, build, prefix=None):
        self.program = pathlib.Path(build) / "bin" / "handed_database"
        self.environment = dict(os.environ)
        self.ldb = "ldb"
        if prefix:
            self.ldb = pathlib.Path(prefix) / "bin" / "ldb"
            self.environment["LD_LIBRARY_PATH"] = f"{prefix}/lib"
        self.version = self.turn("version")["rocksdb"]

    def run(self, *command):
        return subprocess.run([str(part) for part in command], capture_output=True, text=True, env=self.environment,
                              check=False)

    def turn(self, action, *arguments):
        done = self.run(self.program, action, *arguments)
        if done.returncode != 0:
            raise Wrong(done.stderr.strip())
        return json.loads(done.stdout)


class Database:
    """A database and its expected contents."""

    def __init__(self, path, table_options):
        self.path, self.table_options = path, table_options
        self.batches = 0
        self.tables = collections.Counter()  # by the policies that built their filters
        self.logged = False

    def turn(self, build, action, policy, *arguments):
        print(f"  {build.version:8} {policy:10} {action}")
        answer = build.turn(action, self.path, policy, self.table_options, *arguments)
        if self.logged:  # opening a database writes a table of the log's keys
            self.tables[policy] += 1
            self.logged = False
        return answer

    def expect_tables(self, answer):
        expect("tables", answer["tables"],
               {NAMES.get(policy, policy): count for policy, count in self.tables.items() if count})

    def write(self, build, policy):
        answer = self.turn(build, "write", policy, self.batches)
        self.batches += 1
        self.tables[policy] += 1
        self.logged = True
        self.expect_tables(answer)

    def check(self, build, policy):
        answer = self.turn(build, "check", policy, self.batches)
        self.expect_tables(answer)
        for name in ("wrong", "found_absent"):
            expect(name, answer[name], 0)
        expect("keys", answer["scanned"], KEYS * self.batches)
        if policy == "none":
            expect("counters", (answer["useful"], answer["passed"]), (0, 0))
            return
        used = OURS + ("stock",) if policy in OURS else ("stock",)
        denied = answer["absent"] * sum(self.tables[name] for name in used)
        filters = sum(self.tables.values()) - self.tables["none"]
        expect("filters asked", answer["useful"] + answer["passed"], answer["absent"] * filters)
        if not 0.975 * denied <= answer["useful"] <= denied:
            raise Wrong(f"{answer['useful']} useful answers of filters, and not about {denied}")
        if not self.tables["none"]:
            expect("keys that filters let pass", answer["true_positives"], KEYS * self.batches)

    def rebuild(self, build, policy):
        answer = self.turn(build, "rebuild", policy)
        expect("remaining tables", answer["remaining"], 0)
        self.tables = collections.Counter({policy: sum(self.tables.values())})
        self.expect_tables(answer)

    def check_by_ldb(self, build):
        """By a program that was built without ExactBloom, which reads the OPTIONS file first."""
        print(f"  {build.version:8} {'-':10} ldb dump")
        done = build.run(build.ldb, f"--db={self.path}", "--ignore_unknown_options", "dump", "--count_only")
        if f"Keys in range: {KEYS * self.batches}\n" not in done.stdout:
            raise Wrong(f"ldb: {done.stdout}{done.stderr}")

    def open_with_its_options(self, build, policy, writer):
        """Only OPTIONS files of later versions may ask for ignore_unknown_options."""
        print(f"  {build.version:8} {policy:10} opens with the OPTIONS file of {writer.version}")
        answer = build.turn("options", self.path, policy)
        opened = {"status": "OK", "filters": policy in OURS}
        expect("lenient opening", answer["lenient"], opened)
        if numbers(writer.version) <= numbers(build.version):
            expect("strict opening", answer["strict"], opened)
        elif answer["strict"] != opened:
            print(f"    strictly: {answer['strict']['status']}")


def go_back_and_forth(database, older, newer):
    for writer in (older, newer):
        database.write(writer, "exactbloom")
        for build in (older, newer):
            for policy in ("exactbloom", "stock"):
                database.open_with_its_options(build, policy, writer)
        database.check(newer if writer is older else older, "exactbloom")
    # Without ExactBloom in between.
    for build in (newer, older):
        database.check_by_ldb(build)
        database.write(build, "stock")
        database.check(older if build is newer else newer, "stock")
        database.check(build, "none")
        database.check(build, "exactbloom")
    database.write(older, "none")
    database.check(newer, "exactbloom")
    # One version rewrites all filters, the other reads them.
    for rebuilding, reading in ((newer, older), (older, newer)):
        for policy in ("exactbloom", "lines", "stock"):
            database.write(reading, "exactbloom")
            database.rebuild(rebuilding, policy)
            database.check(reading, policy)
            database.check(reading, "stock")
            database.check(rebuilding, "exactbloom")


def refuse_later_tables(database, older, newer):
    """The newer version writes its default format. If the older one cannot read it, it reports that and changes nothing,
    and reads the tables after the newer one has rebuilt them in the shared format."""
    shared, database.table_options = database.table_options, ""
    database.write(newer, "exactbloom")
    database.check(newer, "exactbloom")
    version = max(map(format_version_of, database.path.glob("*.sst")))
    database.table_options = shared
    if numbers(older.version) >= FIRST_READER.get(version, (0,)):
        database.check(older, "exactbloom")
        return
    try:
        older.turn("check", database.path, "exactbloom", shared, database.batches)
    except Wrong as refusal:
        print(f"    refused by {older.version}: {refusal}")
        expect("refusal", "format_version" in str(refusal), True)
    else:
        raise Wrong(f"{older.version} opened tables of format_version {version}")
    database.check(newer, "exactbloom")
    database.rebuild(newer, "lines")
    database.check(older, "exactbloom")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for age in ("older", "newer"):
        parser.add_argument(f"--{age}", nargs="+", required=True, metavar=("BUILD", "PREFIX"))
    arguments = parser.parse_args()
    try:
        older, newer = Build(*arguments.older), Build(*arguments.newer)
        for table_options in (SHARED_FORMAT, PARTITIONED):
            print(table_options)
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
