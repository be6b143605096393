"""Runs db_bench and rewrite_filters with a filter policy, and reads their processor time and memory."""
import os
import pathlib
import re
import subprocess
import time

from support import UNUSABLE, WRONG_ANSWER, command_output, fail

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
  optimize_filters_for_memory=false
{table}  filter_policy={policy}
"""


def logs(path):
    """The info logs of a database, or of several in one folder."""
    return [*path.glob("LOG"), *path.glob("*/LOG")]


def waits_for_nothing(output, path):
    """Whether waitforcompaction will not end: RocksDB says that a compaction is pending, but finds none to do."""
    if not re.search(r"waitforcompaction.*active.*compaction-pending.*\n$", output) or not logs(path):
        return False
    texts = [log.read_text(errors="replace") for log in logs(path)]
    return (time.time() - max(log.stat().st_mtime for log in logs(path)) > QUIET_SECONDS and
            all(text.count('"compaction_started"') <= text.count('"compaction_finished"') for text in texts) and
            any("Compaction nothing to do" in text for text in texts))


class DbBench:
    """db_bench and rewrite_filters, the object that is loaded with them, if any, whether they have to be a release build, and the most
    seconds that a run may take."""

    def __init__(self, program, rewriter, preload, is_release, limit):
        self.program, self.rewriter, self.preload, self.is_release, self.limit = program, rewriter, preload, is_release, limit
        found = re.search(r"[0-9]+\.[0-9]+\.[0-9]+", command_output([program, "--version"], limit))
        self.version = found[0] if found else fail(UNUSABLE, f"{program} does not tell its version")

    def run_policy(self, policy, path, benchmarks, flags, family=None, table=None, database=None):
        """With a filter policy, options of the column family, of its tables, and of the database: returns what db_bench prints, and the
        processor time and the memory that it took."""
        result = self.run(path, benchmarks, self.options(policy, path, family, table, database), flags)
        self.check_logs(policy, path, database)
        return result

    def rewrite(self, policy, path, family, table, database):
        """Gives the tables of a database the filters of a policy: returns what rewrite_filters prints, and what it took."""
        command = [self.rewriter, self.options(policy, path, family, table, database), path]
        status, printed, usage = self.wait(command, path.with_suffix(".out"), lambda _: False)
        if status != 0:
            fail(WRONG_ANSWER if status == WRONG_ANSWER else UNUSABLE, f"rewrite_filters failed: {printed.strip()[-500:]}")
        self.check_logs(policy, path, database)
        return printed, usage

    def options(self, policy, path, family, table, database):
        """Writes a file of options beside the database."""
        lines = ["".join(f"  {name}={value}\n" for name, value in (options or {}).items()) for options in (family, table, database)]
        listener = "  listeners=exactbloom_tree\n" * ("exactbloom" in policy)
        file = path.with_suffix(".ini")
        file.write_text(OPTIONS.format(version=self.version, policy=policy, listener=listener, family=lines[0], table=lines[1], database=lines[2]))
        return file

    @staticmethod
    def check_logs(policy, path, database):
        """RocksDB silently drops a policy that it cannot make."""
        name = re.match(r"\{?(?:id=)?(\w+)", policy)[1]
        texts = [log.read_text(errors="replace") for log in logs(path)]
        if not all(re.search(rf"filter_policy: {name}", text) for text in texts):
            fail(UNUSABLE, f"RocksDB did not take the filter policy {policy}")
        if database and "use_direct_reads" in database and not all("Options.use_direct_reads: 1" in text for text in texts):
            fail(UNUSABLE, f"{path} is not read directly")

    def run(self, path, benchmarks, options, flags):
        """Where waitforcompaction would not end, the process ends, and the benchmarks after it run in another."""
        # Lines of output are needed while it runs.
        command = ["stdbuf", "-oL", self.program, f"--db={path}", f"--benchmarks={benchmarks}", f"--options_file={options}", "--value_size=100",
                   "--compression_type=none", *flags]
        status, printed, usage = self.wait(command, path.with_suffix(".out"), lambda output: waits_for_nothing(output, path))
        if status not in (0, None) or re.search("^exactbloom:", printed, re.MULTILINE):
            fail(UNUSABLE, f"db_bench failed: {printed.strip()[-500:]}")
        if self.is_release and (warning := re.search("^WARNING: (Optimization|Assertions).*", printed, re.MULTILINE)):
            fail(UNUSABLE, f"{self.program} is no release build: {warning[0]}")
        rest = benchmarks.partition("waitforcompaction,")[2]
        if status is None and rest:
            # What was in the memtable comes back there, so that the tree is the same.
            options.write_text(options.read_text().replace("[DBOptions]\n", "[DBOptions]\n  avoid_flush_during_recovery=true\n"))
            return self.run(path, rest, options, [*flags, "--use_existing_db=1"])
        return printed, usage

    def wait(self, command, output, is_to_end):
        """Runs a program until it ends, or until `is_to_end` says so of what it printed, and its status is None."""
        environment = os.environ | ({"LD_PRELOAD": str(self.preload)} if self.preload else {})
        started, is_ended = time.monotonic(), False
        with open(output, "w") as written, subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=written,
                                                            stderr=subprocess.STDOUT, env=environment) as process:
            try:
                # Not RUSAGE_CHILDREN, whose memory is that of the largest child so far.
                while not (waited := os.wait4(process.pid, os.WNOHANG))[0]:
                    time.sleep(0.2)
                    if time.monotonic() - started > self.limit:
                        fail(UNUSABLE, f"the program of {output.stem} did not end within {self.limit} seconds: {output.read_text()[-300:]}")
                    if not is_ended and is_to_end(output.read_text(errors="replace")):
                        is_ended = not process.kill()
                process.returncode = os.waitstatus_to_exitcode(waited[1])
            finally:
                process.kill()
        usage = {"seconds": waited[2].ru_utime + waited[2].ru_stime, "memory_mib": waited[2].ru_maxrss / 1024,
                 "elapsed": time.monotonic() - started}
        return None if is_ended else process.returncode, output.read_text(errors="replace"), usage
