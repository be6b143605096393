"""A cluster of Kvrocks nodes on loopback ports, and data of which every answer is known.

A node is a process with a directory of its own; the topology is set with CLUSTERX SETNODES, as Kvrocks' controller does. Every
reply is compared with the one that is expected, byte by byte.
"""

import argparse
import binascii
import contextlib
import itertools
import json
import pathlib
import shutil
import socket
import subprocess
import time

PORT, MASTERS, SLOTS, SLOTS_OF_MASTER = 7700, 3, 16384, 5462
QUIET_SECONDS, ASKED_AT_ONCE, COLLECTIONS = 600, 1500, 3750
# Small tables give a small data set the levels of a large one. Kvrocks' own settings stand: filters in partitions of 4 KiB,
# fitted to the allocator's sizes, level sizes of ratio 10.
SETTINGS = {
    "bind": "127.0.0.1",
    "cluster-enabled": "yes",
    "log-dir": "stdout",
    # It would change the sizes of blocks and tables by the size of the values.
    "auto-resize-block-and-sst": "no",
    "rocksdb.block_size": 4096,
    "rocksdb.write_buffer_size": 1,
    "rocksdb.target_file_size_base": 4,
    "rocksdb.max_bytes_for_level_base": 4 << 20,
    "rocksdb.level_compaction_dynamic_level_bytes": "yes",  # as in the kvrocks.conf that comes with it
    "rocksdb.block_cache_size": 16,
    # A new replica cannot catch up from the log, and takes the files.
    "rocksdb.wal_ttl_seconds": 0,
    "rocksdb.wal_size_limit_mb": 0,
    "rocksdb.max_total_wal_size": 8,
}
AT_REST = {"num_running_compactions": "0", "compaction_pending": "0", "memtable_flush_pending": "0", "is_bgsaving": "no", "is_compacting": "no"}


def wait(is_so):
    end = time.monotonic() + QUIET_SECONDS
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"{is_so.__qualname__} is not so within {QUIET_SECONDS} s")
        time.sleep(0.1)


def bulk(value):
    return b"$%d\r\n%s\r\n" % (len(value), value)


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(bulk(word if isinstance(word, bytes) else str(word).encode()) for word in words)


class Node:
    def __init__(self, port, directory):
        self.port, self.directory, self.process = port, directory, None
        self.identity = f"{port:040}"

    def start(self, program, settings):
        """Starts the node; settings are configuration values, e.g. rocksdb.filter_policy."""
        self.directory.mkdir(exist_ok=True)
        values = {**SETTINGS, "port": self.port, "dir": self.directory, **settings}
        words = [word for name, value in values.items() if value != "" for word in (f"--{name}", str(value))]
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([program, *words], stdout=log, stderr=log)
        wait(self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"a node ended; {self.directory / 'log'} says why")
        try:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=120)
            self.replies = self.socket.makefile("rb")
            return self.ask("READONLY") == "OK"  # a replica sends one to its master otherwise
        except (OSError, RuntimeError):  # not there yet, or it refuses while it loads
            return False

    def check(self, questions):
        """Asks all questions, (request, expected reply), in one go; the replies must be those expected, for None any that is no
        error. Returns the last one."""
        self.socket.sendall(b"".join(request for request, _ in questions))
        reply = b""
        for request, expected in questions:
            reply = self.replies.readline()
            if reply[:1] == b"$" and reply[:2] != b"$-":
                reply += self.replies.read(int(reply[1:]) + 2)
            if reply.startswith(b"-") or not reply.endswith(b"\r\n") or expected not in (None, reply):
                raise RuntimeError(f"port {self.port}: wrong answer to {request!r}: {reply!r} instead of {expected or 'success'!r}")
        return reply

    def ask(self, *words):
        """The text of the reply, which must not be an error."""
        reply = self.check([(command(*words), None)])
        return (reply.partition(b"\r\n")[2] if reply.startswith(b"$") else reply[1:]).decode()[:-2]

    def info(self):
        return dict(line.split(":", 1) for line in self.ask("INFO").splitlines() if ":" in line)

    def stop(self):
        self.process.terminate()
        self.process.wait(QUIET_SECONDS)

    def inspected(self, tool):
        """What `exactbloom inspect` finds in the node's tables."""
        return json.loads(subprocess.run([tool, "inspect", "--json", self.directory / "db"], capture_output=True, check=True).stdout)


class Cluster(contextlib.AbstractContextManager):
    """Masters with a replica each, in a new directory, which is deleted at the end unless something failed."""

    def __init__(self, directory):
        directory.mkdir(parents=True)
        self.directory = directory
        self.nodes = [Node(PORT + i, directory / str(i)) for i in range(2 * MASTERS)]
        self.masters, self.replicas = self.nodes[:MASTERS], self.nodes[MASTERS:]

    def __exit__(self, failure, *_):
        for node in self.nodes:
            if node.process:
                node.stop()
        if not failure:
            shutil.rmtree(self.directory)

    def start(self, nodes, program, settings):
        """Starts these nodes, and gives them the topology."""
        lines = [f"{master.identity} 127.0.0.1 {master.port} master - {first}-{min(first + SLOTS_OF_MASTER, SLOTS) - 1}\n"
                 f"{replica.identity} 127.0.0.1 {replica.port} slave {master.identity}"
                 for master, replica, first in zip(self.masters, self.replicas, range(0, SLOTS, SLOTS_OF_MASTER))]
        for node in nodes:
            node.start(program, settings)
            node.ask("CLUSTERX", "SETNODEID", node.identity)
            node.ask("CLUSTERX", "SETNODES", "\n".join(lines), 1, "force")

    def check(self, questions, replicas=False):
        """Asks masters or replicas; every reply must be the expected one. Returns their number."""
        questions, answers = iter(questions), 0
        while some := list(itertools.islice(questions, ASKED_AT_ONCE)):
            for i, node in enumerate(self.replicas if replicas else self.masters):
                node.check([asked for key, *asked in some if binascii.crc_hqx(key, 0) % SLOTS // SLOTS_OF_MASTER == i])
            answers += len(some)
        return answers

    def rests(self):
        nodes = [(replica.info(), master.info()) for replica, master in zip(self.replicas, self.masters)]
        return all(AT_REST.items() <= master.items() and replica.get("master_link_status") == "up"
                   and replica.get("slave_repl_offset") == master.get("master_repl_offset") for replica, master in nodes)

    def rest(self):
        """Waits until no master flushes or compacts, and the replicas have what their masters have."""
        for _ in range(3):  # between two compactions nothing runs for a moment
            wait(self.rests)
            time.sleep(0.5)


def scattered(number):
    """One of 2^64 names; different numbers have different ones, and neighbours are far apart."""
    return b"%016x" % (number * 0x9E3779B97F4A7C15 % 2**64)


def writes(strings, value=None):
    """So many strings, and with every tenth five elements of a hash, a set and a sorted set, which are so written little by little
    and are in all sorted runs: (key, request, None), any reply will do that is no error."""
    for i in range(strings):
        name, which, fields = scattered(i), scattered(i // 10 % COLLECTIONS), [scattered(i + j) for j in range(5)]
        yield b"s:" + name, command("SET", b"s:" + name, value or name * 4), None
        if i % 10 == 0:
            yield b"h:" + which, command("HSET", b"h:" + which, *(word for field in fields for word in (field, value or field * 4))), None
            yield b"m:" + which, command("SADD", b"m:" + which, *fields), None
            yield b"z:" + which, command("ZADD", b"z:" + which, *(word for pair in enumerate(fields) for word in pair)), None


def present(strings, step=1):
    """Questions for every so many-th of the strings, and for an element beside every tenth."""
    for i in range(0, strings, step):
        name, which, field = scattered(i), scattered(i // 10 % COLLECTIONS), scattered(i + 3)
        yield b"s:" + name, command("GET", b"s:" + name), bulk(name * 4)
        if i % 10 == 0:
            yield b"h:" + which, command("HGET", b"h:" + which, field), bulk(field * 4)
            yield b"m:" + which, command("SISMEMBER", b"m:" + which, field), b":1\r\n"
            yield b"z:" + which, command("ZSCORE", b"z:" + which, field), bulk(b"3")


def absent(kind, count):
    """Questions for what is not there: "GET", "EXISTS", "HGET" of stored hashes, "SISMEMBER" of stored sets."""
    begin = 2**40 * (1 + (kind == "EXISTS"))
    for i in range(begin, begin + count):
        name, which = scattered(i), scattered(i % COLLECTIONS)
        key, *more = {"HGET": (b"h:" + which, name), "SISMEMBER": (b"m:" + which, name)}.get(kind, (b"s:" + name,))
        yield key, command(kind, key, *more), b"$-1\r\n" if kind in ("GET", "HGET") else b":0\r\n"


def parsed(document, strings, *programs):
    """The arguments of a script that runs these programs."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    for program in programs:
        parser.add_argument(f"--{program}", required=True, metavar="PROGRAM")
    parser.add_argument("--directory", required=True, type=pathlib.Path, help="a new folder on the disk to use; deleted at the end")
    parser.add_argument("--strings", type=int, default=strings, help="the default is %(default)s")
    arguments = parser.parse_args()
    for program in programs:
        if not shutil.which(getattr(arguments, program)):
            parser.error(f"there is no program {getattr(arguments, program)}")
    return arguments
