#!/usr/bin/env python3
"""Databases of every RocksDB, and whether the tool reads them.

  databases.py make DIRECTORY                         writes databases with the db_bench and ldb on PATH
  databases.py read DIRECTORY... --tool EXACTBLOOM    asks the tool about them, and checks its answers

make needs only Python and RocksDB's tools. It also writes a file that describes the databases, so that
another machine can read them. read finds the version of the tool's RocksDB by the library that the tool
loads.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

KEYS = 20000
LOADED_KEYS = 2000  # by ldb, which takes longer
WRITTEN = "databases.json"

# The RocksDBs that read tables of a format version: from which version on, and before which.
FIRST_READER = {6: (8, 6), 7: (10, 4)}
READERS_END = {0: (11, 0), 1: (11, 0)}

# Two tables of the same keys: their values in level 1, their deletions in level 0.
TWO_LEVELS = "fillseq,flush,compact,deleteseq,flush"
FAMILIES = {"bloom": 2}

# Name of a database: flags of db_bench, and what differs from two tables with a full Bloom filter.
#   keys           in the filters, each table's; 0: there are none
#   entries        of the tables, without range deletions
#   filters        how many tables have which
#   written_before the first RocksDB that no longer writes such tables
DB_BENCH = {
    "plain": ("", {}),
    "no_filters": ("--bloom_bits=0", {"filters": {"none": 2}, "keys": 0}),
    "ribbon": ("--use_ribbon_filter=1", {"filters": {"bloom": 1, "ribbon": 1}}),
    "partitioned": ("--partition_index_and_filters=1", {"partitioned": True}),
    "prefixes": ("--prefix_size=7", {"prefix_extractor": "rocksdb.FixedPrefix.7"}),
    "range_deletions": (
        f"--benchmarks=fillseq,flush --max_num_range_tombstones=10 --writes_per_range_tombstone={KEYS // 20}",
        {"filters": {"bloom": 1}, "keys": KEYS, "entries": KEYS, "range_deletions": 10}),
    "blobs": ("--enable_blob_files=1 --min_blob_size=50 --file_checksum=1", {"blobs": True}),
    "lz4": ("--compression_type=lz4", {}),
    "zstd": ("--compression_type=zstd --compression_max_dict_bytes=4096", {}),
    "two_families": ("--num_column_families=2", {"filters": {"bloom": 3}}),
    "version_0": ("--format_version=0 --checksum_type=1", {"filters": {"legacy_bloom": 2}, "written_before": (10, 0)}),
    "timestamps": ("--user_timestamp_size=8", {}),
}


class Wrong(Exception):
    pass


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    return done.returncode, done.stdout, done.stderr


def must_run(*command, **options):
    status, out, err = run(*command, **options)
    if status != 0:
        raise Wrong(f"{' '.join(map(str, command))}: status {status}\n{out}{err}")
    return out


def numbers(version):
    return tuple(map(int, version.split(".")))


# make

def write_by_db_bench(path, flags):
    must_run("db_bench", f"--db={path}", f"--num={KEYS}", f"--benchmarks={TWO_LEVELS}", "--disable_wal=1",
             "--disable_auto_compactions=1", "--bloom_bits=10", "--compression_type=none", *flags.split())


def lines_of_keys(first):
    return "".join(f"key{2 * i + first:06d} ==> value{i}\n" for i in range(LOADED_KEYS))


def write_by_ingestion(path):
    """A database of even keys, and two files that are ingested: odd keys between them, and even ones again."""
    ldb = ["ldb", f"--db={path}", "--bloom_bits=10", "--compression_type=no"]
    must_run(*ldb, "--create_if_missing", "load", input=lines_of_keys(0))
    for first in (1, 0):
        file = path.parent / "ingested.sst"
        must_run(*ldb, "write_extern_sst", file, input=lines_of_keys(first))
        must_run(*ldb, "ingest_extern_sst", file)
        file.unlink(missing_ok=True)


def format_version_of(table):
    """The number before the magic number at the end; the oldest tables have another magic number and no version."""
    version, magic = struct.unpack("<IQ", table.read_bytes()[-12:])
    return 0 if magic == 0xdb4775248b80fb57 else version


def describe(path, differences):
    """What the tool has to say about the database."""
    tables = sorted(path.glob("*.sst"))
    filters = differences.get("filters", FAMILIES)
    if len(tables) != sum(filters.values()):
        raise Wrong(f"{path}: {len(tables)} tables")
    if differences.get("blobs", False) != bool(list(path.glob("*.blob"))):
        raise Wrong(f"{path}: blobs")
    versions = {format_version_of(table) for table in tables}
    if len(versions) != 1:
        raise Wrong(f"{path}: format versions {versions}")
    description = {"keys": 2 * KEYS, "entries": 2 * KEYS, "range_deletions": 0, "partitioned": False,
                   "prefix_extractor": ""}
    return description | differences | {"filters": filters, "tables": [table.name for table in tables],
                                        "format_version": versions.pop()}


def make(directory):
    version = re.search(r"[\d.]+", must_run("db_bench", "--version"))[0]
    if (directory / WRITTEN).exists():
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    (directory / WRITTEN).write_text("{}\n")
    databases = {}
    for name, (flags, differences) in DB_BENCH.items():
        if numbers(version) >= differences.get("written_before", (1000,)):
            continue
        write_by_db_bench(directory / name, flags)
        databases[name] = describe(directory / name, differences)
    write_by_ingestion(directory / "ingested")
    databases["ingested"] = describe(directory / "ingested", {
        "filters": {"bloom": 3}, "keys": 3 * LOADED_KEYS, "entries": 3 * LOADED_KEYS})
    (directory / WRITTEN).write_text(json.dumps({"rocksdb": version, "databases": databases}, indent=2) + "\n")
    print(f"{directory}: {len(databases)} databases of RocksDB {version}")


# read

def expect(what, found, wanted):
    if found != wanted:
        raise Wrong(f"{what}: {found!r}, and not {wanted!r}")


class Reading:
    """The tool's answers about one database."""

    def __init__(self, tool, linked, path, written):
        self.tool, self.linked, self.path, self.written = tool, linked, path, written

    def ask(self, subcommand, *arguments, wanted_status=0):
        """The text that the subcommand prints."""
        status, out, err = run(self.tool, subcommand, self.path, *arguments)
        if status != wanted_status:
            raise Wrong(f"status {status}, and not {wanted_status}\n{out}{err}")
        return out

    def ask_for_json(self, subcommand, *arguments, wanted_status=0):
        return json.loads(self.ask(subcommand, *arguments, "--json", wanted_status=wanted_status))

    def inspect(self):
        written = self.written
        text = self.ask("inspect", "--tables")
        answer = self.ask_for_json("inspect")
        totals = answer["totals"]
        expect("tables", sorted(pathlib.Path(file["path"]).name for file in answer["files"]), written["tables"])
        expect("tables in the text", [name for name in written["tables"] if name not in text], [])
        expect("unreadable tables", totals["unreadable_tables"], 0)
        expect("filters", totals["filters"], written["filters"])
        expect("entries", totals["entries"], written["entries"] + written["range_deletions"])
        expect("range deletions", sum(file["range_deletes"] for file in answer["files"]), written["range_deletions"])
        families = collections.Counter()
        for file in answer["files"]:
            table_filter = file["filter"]
            families[table_filter["family"]] += 1
            if table_filter["family"] == "none":
                continue
            for name in ("partitioned", "prefix_extractor"):
                expect(name, table_filter[name], written[name])
            expect("used", table_filter["used"], True)
            if not written["prefix_extractor"]:  # prefixes are keys of filters, too
                expect("keys", table_filter["keys"], file["entries"] - file["range_deletes"])
            if not 0.005 < table_filter["rate_given_fill"] < 0.02:
                raise Wrong(f"rate given fill: {table_filter['rate_given_fill']}")

    def reason_not_to_verify(self):
        version = self.written["format_version"]
        first, end = FIRST_READER.get(version, (0, 0)), READERS_END.get(version, (1000, 0))
        if first <= self.linked < end:
            return ""
        readers = f"{first[0]}.{first[1]} or later" if self.linked < first else f"before {end[0]}.{end[1]}"
        return f"this table has format_version {version}: use a build with RocksDB {readers}"

    def verify(self):
        written = self.written
        reason = self.reason_not_to_verify() if written["keys"] else ""
        text = self.ask("verify", wanted_status=1 if reason else 0)
        answer = self.ask_for_json("verify", wanted_status=1 if reason else 0)
        expect("false negatives", answer["false_negatives"], 0)
        expect("unreadable tables", answer["unreadable"], [])
        expect("tables", answer["tables"], len(written["tables"]))
        if not reason:
            expect("unchecked tables", answer["unchecked"], [])
            expect("keys checked", answer["keys_checked"], written["keys"])
            return
        expect("tables unchecked", len(answer["unchecked"]), len(written["tables"]))
        for table in answer["unchecked"]:
            if not table["reason"].startswith(reason):
                raise Wrong(f"verify says {table['reason']!r}, and not {reason!r}")
        expect("reason in the text, across its lines", reason in " ".join(text.split()), True)


def linked_version(tool):
    """The version of RocksDB's library that the program loads, as numbers."""
    library = re.search(r"librocksdb\.so\S* => (\S+)", must_run("ldd", tool))
    if library is None:
        raise Wrong(f"{tool}: not linked with librocksdb.so")
    version = re.search(r"librocksdb\.so\.(\d+\.\d+)", str(pathlib.Path(library[1]).resolve()))
    return numbers(version[1])


def read(directories, tool, linked):
    """Returns the number of wrong answers."""
    wrong = 0
    for directory in directories:
        written = json.loads((directory / WRITTEN).read_text())
        answers = 0
        for name, description in written["databases"].items():
            reading = Reading(tool, linked, directory / name, description)
            for ask in (reading.inspect, reading.verify):
                try:
                    ask()
                    answers += 1
                except Wrong as error:
                    wrong += 1
                    print(f"{directory / name}: {ask.__name__}: {error}", file=sys.stderr)
        print(f"{directory}: {answers} right answers about {len(written['databases'])} databases of RocksDB "
              f"{written['rocksdb']}, with RocksDB {linked[0]}.{linked[1]}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    maker = actions.add_parser("make")
    maker.add_argument("directory", type=pathlib.Path, help="is made; databases of an earlier call are replaced")
    reader = actions.add_parser("read")
    reader.add_argument("directories", type=pathlib.Path, nargs="+", metavar="DIRECTORY")
    reader.add_argument("--tool", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    try:
        if arguments.action == "make":
            make(arguments.directory)
            return 0
        return 1 if read(arguments.directories, arguments.tool, linked_version(arguments.tool)) else 0
    except (Wrong, OSError) as error:
        print(f"databases.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
