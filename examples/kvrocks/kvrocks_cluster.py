"""A cluster of Kvrocks nodes on loopback ports, and data of which every answer is known.

A node is a process with a directory of its own; the topology is set with CLUSTERX SETNODES, as Kvrocks' controller does. Every
reply is compared with the one that is expected, byte by byte.
"""

import argparse
import binascii
import hashlib
import itertools
import json
import pathlib
import shutil
import socket
import subprocess
import time

SLOTS, MASTERS = 16384, 3
QUIET_SECONDS = 600
ASKED_AT_ONCE = 1500
# Small tables give a small data set the levels of a large one. Kvrocks' own settings stand: filters in partitions of 4 KiB,
# fitted to the allocator's sizes, level sizes of ratio 10.
SETTINGS = {
    "bind": "127.0.0.1",
    "workers": 2,
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


def bulk(value):
    return b"$%d\r\n%s\r\n" % (len(value), value)


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(bulk(word if isinstance(word, bytes) else str(word).encode()) for word in words)


class Connection:
    def __init__(self, port):
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.replies = self.socket.makefile("rb")

    def read(self):
        """One reply: a line, an integer, an error or a string."""
        reply = self.replies.readline()
        if reply[:1] == b"$" and reply[:2] != b"$-":
            reply += self.replies.read(int(reply[1:]) + 2)
        if not reply.endswith(b"\r\n"):
            raise ConnectionError("the node closed the connection")
        return reply

    def ask(self, *words):
        """The text of the reply, which must not be an error."""
        self.socket.sendall(command(*words))
        text = self.read().decode()[:-2]
        if text.startswith("-"):
            raise RuntimeError(f"{' '.join(map(str, words))}: {text}")
        return text.partition("\r\n")[2] if text.startswith("$") else text[1:]

    def check(self, questions):
        """Asks all questions, (request, expected reply), in one go, and returns their number; the replies must be those expected,
        for None any that is no error."""
        self.socket.sendall(b"".join(request for request, _ in questions))
        for request, expected in questions:
            got = self.read()
            if got.startswith(b"-") or expected not in (None, got):
                raise RuntimeError(f"port {self.port}: wrong answer to {request!r}: {got!r} instead of {expected or 'success'!r}")
        return len(questions)


class Node:
    def __init__(self, name, port, directory):
        self.name, self.port, self.directory = name, port, directory
        self.identity = hashlib.sha1(name.encode()).hexdigest()
        self.database, self.process = directory / "db", None

    def start(self, program, **settings):
        """Starts the node; settings are configuration values, e.g. rocksdb.filter_policy."""
        self.directory.mkdir(parents=True, exist_ok=True)
        values = SETTINGS | {"port": self.port, "dir": self.directory, "pidfile": self.directory / "pid"} | settings
        configuration = self.directory / "kvrocks.conf"
        configuration.write_text("".join(f"{key} {value}\n" for key, value in values.items() if value != ""))
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([program, "-c", configuration], stdout=log, stderr=log)
        self.wait(self.answers, "start")

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended; {self.directory / 'log'} says why")
        try:
            return Connection(self.port).ask("PING") == "PONG"
        except (OSError, RuntimeError):  # not there yet, or it refuses while it loads
            return False

    def wait(self, is_so, what):
        end = time.monotonic() + QUIET_SECONDS
        while not is_so():
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name} does not {what} within {QUIET_SECONDS} s; see {self.directory / 'log'}")
            time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        self.process.wait(QUIET_SECONDS)

    def info(self, section):
        text = Connection(self.port).ask("INFO", section)
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    def rest(self):
        """Waits until nothing is flushed or compacted."""
        def rests():
            info = self.info("rocksdb")
            return all(info[name] == "0" for name in ("num_running_compactions", "compaction_pending", "memtable_flush_pending"))

        for _ in range(3):  # between two compactions nothing runs for a moment
            self.wait(rests, "come to rest")
            time.sleep(0.5)

    def flush(self):
        """Makes a checkpoint, which writes the memtables to tables if there is as much log as one holds, and waits for rest."""
        Connection(self.port).ask("BGSAVE")
        self.wait(lambda: self.info("rocksdb")["is_bgsaving"] == "no", "finish its checkpoint")
        self.rest()


class Cluster:
    """Masters with a replica each; the slots are divided equally."""

    def __init__(self, directory, port):
        shutil.rmtree(directory, ignore_errors=True)
        names = [f"{role}{i}" for role in ("master", "replica") for i in range(MASTERS)]
        self.nodes = [Node(name, port + i, directory / name) for i, name in enumerate(names)]
        self.masters, self.replicas = self.nodes[:MASTERS], self.nodes[MASTERS:]

    def owner(self, key):
        return self.masters[binascii.crc_hqx(key, 0) % SLOTS * MASTERS // SLOTS]

    def start(self, program, **settings):
        for node in self.nodes:
            node.start(program, **settings)
        self.tell(self.nodes)

    def tell(self, nodes):
        """Gives these nodes the topology."""
        bounds = [-(-i * SLOTS // MASTERS) for i in range(MASTERS + 1)]
        lines = [f"{master.identity} 127.0.0.1 {master.port} master - {first}-{end - 1}"
                 for master, first, end in zip(self.masters, bounds, bounds[1:])]
        lines += [f"{replica.identity} 127.0.0.1 {replica.port} slave {master.identity}" for replica, master in zip(self.replicas, self.masters)]
        for node in nodes:
            connection = Connection(node.port)
            connection.ask("CLUSTERX", "SETNODEID", node.identity)
            connection.ask("CLUSTERX", "SETNODES", "\n".join(lines), 1, "force")

    def stop(self):
        for node in self.nodes:
            if node.process and node.process.poll() is None:
                node.stop()

    def parted(self, questions):
        """The questions of (key, request, expected), without the keys, for each master."""
        found = {master: [] for master in self.masters}
        for key, request, reply in questions:
            found[self.owner(key)].append((request, reply))
        return list(found.values())

    def check(self, questions, replicas=False):
        """Asks the masters or the replicas; every reply must be the expected one. Returns their number."""
        connections = [Connection(node.port) for node in (self.replicas if replicas else self.masters)]
        for connection in connections if replicas else ():
            connection.ask("READONLY")
        questions, answers = iter(questions), 0
        while some := list(itertools.islice(questions, ASKED_AT_ONCE)):
            answers += sum(connection.check(asked) for connection, asked in zip(connections, self.parted(some)))
        return answers

    def rest(self):
        """Waits until nothing is flushed or compacted, and the replicas have what their masters have."""
        for master in self.masters:
            master.rest()
        for replica, master in zip(self.replicas, self.masters):
            def has_all(replica=replica, master=master):
                here, there = replica.info("replication"), master.info("replication")
                return here.get("master_link_status") == "up" and here.get("slave_repl_offset") == there.get("master_repl_offset")

            replica.wait(has_all, f"catch up with {master.name}")


def scattered(number):
    """One of 2^64 names; different numbers have different ones, and neighbours are far apart."""
    return b"%016x" % (number * 0x9E3779B97F4A7C15 % 2**64)


FIELDS_PER_WRITE, STRINGS_PER_COLLECTION = 5, 400
NEVER_STORED = 2**40


class DataSet:
    """`strings` strings; for each 400 of them a hash, a set and a sorted set of 200 elements, which are written little by
    little, so that all sorted runs have some of each."""

    def __init__(self, strings):
        self.strings, self.collections = strings, max(1, strings // STRINGS_PER_COLLECTION)

    @staticmethod
    def value(name):
        return hashlib.blake2b(name, digest_size=32).hexdigest().encode()

    def members(self, i):
        """The collection that string i goes with, and the elements that are written with it; none for most i."""
        which = scattered(i // (2 * FIELDS_PER_WRITE) % self.collections)
        return which, [] if i % (2 * FIELDS_PER_WRITE) else [scattered(i + j) for j in range(FIELDS_PER_WRITE)]

    def writes(self):
        """(key, request, None): any reply will do that is no error."""
        for i in range(self.strings):
            name, (which, fields) = scattered(i), self.members(i)
            yield b"s:" + name, command("SET", b"s:" + name, self.value(name)), None
            for kind, verb, words in ((b"h:", "HSET", [word for field in fields for word in (field, self.value(field))]),
                                      (b"m:", "SADD", fields),
                                      (b"z:", "ZADD", [word for pair in enumerate(fields) for word in pair])):
                if fields:
                    yield kind + which, command(verb, kind + which, *words), None

    def present(self, count):
        """Questions for so many strings and the fields, members and scores beside them, in an order of no meaning."""
        count = min(count, self.strings)
        for i in (j * self.strings // count for j in range(count)):
            name, (which, fields) = scattered(i), self.members(i)
            yield b"s:" + name, command("GET", b"s:" + name), bulk(self.value(name))
            for field in fields[3:4]:
                yield b"h:" + which, command("HGET", b"h:" + which, field), bulk(self.value(field))
                yield b"m:" + which, command("SISMEMBER", b"m:" + which, field), b":1\r\n"
                yield b"z:" + which, command("ZSCORE", b"z:" + which, field), bulk(b"3")

    def absent(self, kind, count):
        """Questions for what is not there: "GET", "EXISTS", "HGET" of stored hashes, "SISMEMBER" of stored sets."""
        begin = NEVER_STORED * (1 + (kind == "EXISTS"))
        for i in range(begin, begin + count):
            name, which = scattered(i), scattered(i % self.collections)
            key, *more = {"HGET": (b"h:" + which, name), "SISMEMBER": (b"m:" + which, name)}.get(kind, (b"s:" + name,))
            yield key, command(kind, key, *more), b"$-1\r\n" if kind in ("GET", "HGET") else b":0\r\n"

    def questions(self, count):
        return itertools.chain(self.present(count), self.absent("GET", count))


def inspected(tool, node):
    """What `exactbloom inspect` finds in the node's tables."""
    return json.loads(subprocess.run([tool, "inspect", "--json", node.database], capture_output=True, check=True).stdout)


def parsed(document, strings, *programs):
    """The arguments of a program; `programs` are its own options, (option, what it is)."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, text in programs:
        parser.add_argument(option, required=True, help=text)
    parser.add_argument("--directory", required=True, type=pathlib.Path, help="a new or empty folder on the disk to use; deleted at the end")
    parser.add_argument("--strings", type=int, default=strings, help="and half as many elements in hashes, sets and sorted sets each "
                        "(default: %(default)s)")
    parser.add_argument("--port", type=int, default=7700, help="the first (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the results here")
    arguments = parser.parse_args()
    for option, _ in programs:
        if not shutil.which(program := getattr(arguments, option[2:])):
            parser.error(f"{program} is no program")
    if arguments.directory.exists() and any(arguments.directory.iterdir()):
        parser.error(f"{arguments.directory} is not empty, and would be deleted at the end")
    return arguments
