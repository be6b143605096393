"""Runs db_bench, for the scripts that measure with it."""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

# Options of a column family whose tree grows to several levels soon.
SMALL = {"write_buffer_size": 4 << 20, "target_file_size_base": 8 << 20, "max_bytes_for_level_base": 16 << 20}
QUIET_SECONDS = 5
OBJECT = "lib/exactbloom/libexactbloom_rocksdb.so"  # in a build folder
OPTIONS = """\
[Version]
  rocksdb_version={version}
  options_file_version=1.1
[DBOptions]
  create_if_missing=true
  stats_dump_period_sec=0
{listener}{database}[CFOptions "default"]
  compression=kNoCompression
{family}[TableOptions/BlockBasedTable "default"]
{table}  filter_policy={policy}
"""


def fail(status, message):
    sys.exit(print(f"{pathlib.Path(sys.argv[0]).name}: {message}", file=sys.stderr) or status)


def command_output(command, limit):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    except FileNotFoundError:
        fail(2, f"{command[0]} is not there")
    except subprocess.TimeoutExpired:
        fail(2, f"{command[0]} did not end within {limit} seconds")
    if done.returncode != 0:
        fail(2, f"{command[0]} failed: {done.stderr.strip()[-300:]}")
    return done.stdout


def inspected(tool, databases, limit):
    """Filter bytes and entries of all databases and column families, and their means of predicted wasted reads and filters asked per
    lookup, by `exactbloom inspect`."""
    found = [json.loads(command_output([tool, "inspect", "--json", database], limit)) for database in databases]
    predicted = [reads for answer in found for reads in answer["totals"]["wasted_reads"].values()]
    asked = sum(level["asked"] for answer in found for level in answer["levels"])
    return (*(sum(answer["totals"][total] for answer in found) for total in ("filter_bytes", "entries")),
            statistics.mean(predicted) if predicted else 0.0, asked / max(len(predicted), 1))


def waits_for_nothing(output, logs):
    """Whether waitforcompaction will not end: RocksDB says that a compaction is pending, but finds none to do."""
    if not re.search(r"waitforcompaction.*active.*compaction-pending.*\n$", output) or not logs:
        return False
    texts = [log.read_text(errors="replace") for log in logs]
    return (time.time() - max(log.stat().st_mtime for log in logs) > QUIET_SECONDS and
            all(text.count('"compaction_started"') <= text.count('"compaction_finished"') for text in texts) and
            any("Compaction nothing to do" in text for text in texts))


class DbBench:
    """A program, the object that is loaded with it, if any, and the most seconds that a run may take."""

    def __init__(self, program, preload, limit):
        self.program, self.preload, self.limit = program, preload, limit
        found = re.search(r"[0-9]+\.[0-9]+\.[0-9]+", command_output([program, "--version"], limit))
        self.version = found[0] if found else fail(2, f"{program} does not tell its version")

    def run_policy(self, policy, path, benchmarks, *more, family=None, table=None, database=None):
        """With a filter policy, options of the column family, of its tables, and of the database: returns what db_bench prints, its
        processor time in seconds, and the most memory that it held in MiB."""
        lines = ["".join(f"  {name}={value}\n" for name, value in (options or {}).items()) for options in (family, table, database)]
        listener = "  listeners=exactbloom_tree\n" * ("exactbloom" in policy)
        options = path.with_suffix(".ini")
        options.write_text(OPTIONS.format(version=self.version, policy=policy, listener=listener, family=lines[0], table=lines[1], database=lines[2]))
        result = self.run(path, benchmarks, options, *more)
        # RocksDB silently drops a policy that it cannot make.
        name = re.match(r"\{?(?:id=)?(\w+)", policy)[1]
        if not all(re.search(rf"filter_policy: {name}", log.read_text(errors="replace")) for log in self.logs(path)):
            fail(2, f"RocksDB did not take the filter policy {policy}")
        return result

    def run(self, path, benchmarks, options, *more):
        """Where waitforcompaction would not end, the process ends, and the benchmarks after it run in another."""
        output = path.with_suffix(".out")
        # Lines of output are needed while it runs.
        command = ["stdbuf", "-oL", self.program, f"--db={path}", f"--benchmarks={benchmarks}", f"--options_file={options}", "--value_size=100",
                   "--compression_type=none", *more]
        environment = os.environ | ({"LD_PRELOAD": str(self.preload)} if self.preload else {})
        started, is_ended = time.monotonic(), False
        with open(output, "w") as written, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.STDOUT,
                                                            env=environment) as process:
            try:
                # Not RUSAGE_CHILDREN, whose memory is that of the largest child so far.
                while not (waited := os.wait4(process.pid, os.WNOHANG))[0]:
                    time.sleep(0.2)
                    if time.monotonic() - started > self.limit:
                        fail(2, f"db_bench did not end within {self.limit} seconds: {benchmarks}, {path}")
                    if not is_ended and waits_for_nothing(output.read_text(errors="replace"), self.logs(path)):
                        is_ended = not process.kill()
                process.returncode = os.waitstatus_to_exitcode(waited[1])
            finally:
                process.kill()
        printed, usage = output.read_text(errors="replace"), waited[2]
        if not is_ended and process.returncode != 0 or re.search("^exactbloom:", printed, re.MULTILINE):
            fail(2, f"db_bench failed: {printed.strip()[-500:]}")
        rest = benchmarks.partition("waitforcompaction,")[2]
        if is_ended and rest:
            # What was in the memtable comes back there, so that the tree is the same.
            options.write_text(options.read_text().replace("[DBOptions]\n", "[DBOptions]\n  avoid_flush_during_recovery=true\n"))
            return self.run(path, rest, options, *more, "--use_existing_db=1")
        return printed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    @staticmethod
    def logs(path):
        """The info logs of a database, or of several in one folder."""
        return [*path.glob("LOG"), *path.glob("*/LOG")]
