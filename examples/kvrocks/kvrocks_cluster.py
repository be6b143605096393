"""A cluster of Kvrocks nodes on loopback ports, and data of which every answer is known.

Needs Debian's redis-tools. A node is a process with a directory of its own; the topology is set with CLUSTERX SETNODES, as
Kvrocks' controller does. Every reply is compared with the one that is expected, byte by byte.
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

SLOTS = 16384
START_SECONDS = 60
QUIET_SECONDS = 600
# Small tables give a small data set the levels of a large one. Kvrocks' own settings stand: filters in partitions of 4 KiB,
# fitted to the allocator's sizes, level sizes of ratio 10.
SETTINGS = {
    "bind": "127.0.0.1",
    "workers": 2,
    "cluster-enabled": "yes",
    "daemonize": "no",
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


class WrongAnswer(Exception):
    """A reply differs from what the data say."""


def slot(key):
    return binascii.crc_hqx(key, 0) % SLOTS


def command(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def bulk(value):
    return b"$%d\r\n%s\r\n" % (len(value), value)


ABSENT = b"$-1\r\n"


class Connection:
    def __init__(self, port, timeout=120):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
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
        self.socket.sendall(command(*words))
        return self.read()

    def text(self, *words):
        """The text of a bulk string."""
        reply = self.ask(*words)
        if not reply.startswith(b"$"):
            raise RuntimeError(f"{words[0]}: {reply.decode().strip()}")
        return reply[reply.find(b"\r\n") + 2:-2].decode()

    def order(self, *words):
        reply = self.ask(*words)
        if not reply.startswith(b"+"):
            raise RuntimeError(f"{' '.join(map(str, words))}: {reply.decode().strip()}")

    def check(self, questions):
        """Asks all questions, (request, expected reply), in one go; the replies must be those."""
        self.socket.sendall(b"".join(request for request, _ in questions))
        for request, expected in questions:
            if (got := self.read()) != expected:
                raise WrongAnswer(f"{request!r}: {got!r} instead of {expected!r}")


class Node:
    def __init__(self, name, port, directory):
        self.name, self.port, self.directory = name, port, directory
        self.identity = hashlib.sha1(name.encode()).hexdigest()
        self.process = None

    def start(self, program, **settings):
        """Starts the node; settings are configuration values, e.g. rocksdb.filter_policy."""
        self.directory.mkdir(parents=True, exist_ok=True)
        values = SETTINGS | {"port": self.port, "dir": self.directory, "pidfile": self.directory / "pid"} | settings
        configuration = self.directory / "kvrocks.conf"
        configuration.write_text("".join(f"{key} {value}\n" for key, value in values.items() if value != ""))
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([program, "-c", configuration], stdout=log, stderr=log)
        self.wait(self.answers, START_SECONDS, "start")

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended; {self.directory / 'log'} says why")
        try:
            return Connection(self.port).ask("PING") == b"+PONG\r\n"
        except OSError:
            return False

    def wait(self, is_so, seconds, what):
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name} does not {what} within {seconds} s; see {self.directory / 'log'}")
            time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        self.process.wait(START_SECONDS)

    def info(self, section):
        text = Connection(self.port).text("INFO", section)
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    def tickers(self):
        return json.loads(Connection(self.port).text("STATS"))

    def bytes_from_disk(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/io").read_text()
        return int(dict(line.split(": ") for line in text.splitlines())["read_bytes"])

    def rest(self):
        """Waits until nothing is flushed or compacted."""
        def rests():
            info = self.info("rocksdb")
            return all(info[name] == "0" for name in ("num_running_compactions", "compaction_pending", "memtable_flush_pending"))

        for _ in range(3):  # between two compactions nothing runs for a moment
            self.wait(rests, QUIET_SECONDS, "come to rest")
            time.sleep(0.5)

    def flush(self):
        """Makes a checkpoint, which writes the memtables to tables if there is as much log as one holds, and waits for rest."""
        Connection(self.port).order("BGSAVE")
        self.wait(lambda: self.info("rocksdb")["is_bgsaving"] == "no", QUIET_SECONDS, "finish its checkpoint")
        self.rest()

    @property
    def database(self):
        return self.directory / "db"


class Cluster:
    """Masters, each with as many replicas; the slots are divided equally."""

    def __init__(self, directory, port, masters=3, replicas=1):
        shutil.rmtree(directory, ignore_errors=True)
        self.masters = [Node(f"master{i}", port + i, directory / f"master{i}") for i in range(masters)]
        self.replicas = [(Node(f"replica{i}", port + masters + i, directory / f"replica{i}"), self.masters[i % masters])
                         for i in range(masters * replicas)]
        self.owners = [self.masters[s * masters // SLOTS] for s in range(SLOTS)]
        self.version = 0

    @property
    def nodes(self):
        return self.masters + [replica for replica, _ in self.replicas]

    def start(self, program, **settings):
        for node in self.nodes:
            node.start(program, **settings)
        self.tell()

    def tell(self, nodes=None):
        """Gives the topology to all nodes, or to these."""
        self.version += nodes is None
        lines = []
        for master in self.masters:
            owned = [s for s, owner in enumerate(self.owners) if owner is master]
            ranges = [[s for _, s in run] for _, run in itertools.groupby(enumerate(owned), lambda place: place[1] - place[0])]
            slots = " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in ranges)
            lines.append(f"{master.identity} 127.0.0.1 {master.port} master - {slots}")
        lines += [f"{replica.identity} 127.0.0.1 {replica.port} slave {master.identity}" for replica, master in self.replicas]
        for node in nodes or self.nodes:
            connection = Connection(node.port)
            connection.order("CLUSTERX", "SETNODEID", node.identity)
            connection.order("CLUSTERX", "SETNODES", "\n".join(lines), self.version, "force")

    def stop(self):
        for node in self.nodes:
            if node.process and node.process.poll() is None:
                node.stop()

    def parted(self, questions):
        """The questions of (key, request, expected) by their masters."""
        found = {master: [] for master in self.masters}
        for key, request, reply in questions:
            found[self.owners[slot(key)]].append((request, reply))
        return found

    def check(self, questions, depth=500):
        """Asks the masters in turns of so many questions; every reply must be the expected one. Returns their number."""
        parted = self.parted(questions)
        connections = {node: Connection(node.port) for node in parted}
        for begin in range(0, max(map(len, parted.values())), depth):
            for node, asked in parted.items():
                if some := asked[begin:begin + depth]:
                    connections[node].check(some)
        return sum(map(len, parted.values()))

    def load(self, writes):
        """Writes (key, request) with a `redis-cli --pipe` for each master at once."""
        pipes = {node: subprocess.Popen(["redis-cli", "-p", str(node.port), "--pipe"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for node in self.masters}
        for key, request in writes:
            pipes[self.owners[slot(key)]].stdin.write(request)
        for node, pipe in pipes.items():
            output = pipe.communicate()[0].decode()
            if pipe.returncode or "errors: 0," not in output:
                raise RuntimeError(f"redis-cli --pipe into {node.name}: {output.strip().splitlines()[-1]}")

    def rest(self):
        """Waits until nothing is flushed or compacted, and the replicas have what their masters have."""
        for master in self.masters:
            master.rest()
        for replica, master in self.replicas:
            def has_all(replica=replica, master=master):
                here, there = replica.info("replication"), master.info("replication")
                return here.get("master_link_status") == "up" and here.get("slave_repl_offset") == there.get("master_repl_offset")

            replica.wait(has_all, QUIET_SECONDS, f"catch up with {master.name}")


def scattered(number):
    """One of 2^64 names; different numbers have different ones, and neighbours are far apart."""
    return b"%016x" % (number * 0x9E3779B97F4A7C15 % 2**64)


FIELDS_PER_WRITE = 5
STRINGS_PER_COLLECTION = 400
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
        """The collection that string i goes with, and the elements that it gets with it."""
        which = scattered(i // (2 * FIELDS_PER_WRITE) % self.collections)
        return which, [scattered(i + j) for j in range(FIELDS_PER_WRITE)]

    def writes(self):
        for i in range(self.strings):
            name = scattered(i)
            yield b"s:" + name, command("SET", b"s:" + name, self.value(name))
            if i % (2 * FIELDS_PER_WRITE) == 0:
                which, fields = self.members(i)
                yield b"h:" + which, command("HSET", b"h:" + which, *(word for f in fields for word in (f, self.value(f))))
                yield b"m:" + which, command("SADD", b"m:" + which, *fields)
                yield b"z:" + which, command("ZADD", b"z:" + which, *(word for n, f in enumerate(fields) for word in (n, f)))

    def present(self, count=None):
        """Questions for what is stored: strings, fields, members and scores, in an order of no meaning."""
        count = min(count or self.strings, self.strings)
        for j in range(count):
            i = j * self.strings // count
            name = scattered(i)
            yield b"s:" + name, command("GET", b"s:" + name), bulk(self.value(name))
            if i % (2 * FIELDS_PER_WRITE) == 0:
                which, fields = self.members(i)
                yield b"h:" + which, command("HGET", b"h:" + which, fields[3]), bulk(self.value(fields[3]))
                yield b"m:" + which, command("SISMEMBER", b"m:" + which, fields[3]), b":1\r\n"
                yield b"z:" + which, command("ZSCORE", b"z:" + which, fields[3]), b"$1\r\n3\r\n"

    def absent(self, kind, count):
        """Questions for what is not there: "GET", "EXISTS", "HGET" of stored hashes, "SISMEMBER" of stored sets."""
        begin = NEVER_STORED * (1 + (kind == "EXISTS"))
        for i in range(begin, begin + count):
            name, which = scattered(i), scattered(i % self.collections)
            key, *more = {"HGET": (b"h:" + which, name), "SISMEMBER": (b"m:" + which, name)}.get(kind, (b"s:" + name,))
            yield key, command(kind, key, *more), ABSENT if kind in ("GET", "HGET") else b":0\r\n"

    def mixed(self, count):
        """Half of the questions for what is there, half GET of what is not."""
        for there, not_there in zip(self.present(count // 2), self.absent("GET", count // 2)):
            yield there
            yield not_there


def inspected(tool, node):
    """What `exactbloom inspect` finds in the node's tables."""
    return json.loads(subprocess.run([tool, "inspect", "--json", node.database], capture_output=True, check=True).stdout)


def parser_of(document, programs, strings):
    """The options that both programs have; `programs` are (option, what it is)."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, text in programs:
        parser.add_argument(option, required=True, type=pathlib.Path, help=text)
    parser.add_argument("--directory", required=True, type=pathlib.Path, help="on the disk to use; the data are removed")
    parser.add_argument("--strings", type=int, default=strings, help="and half as many elements in hashes, sets and sorted sets each "
                        "(default: %(default)s)")
    parser.add_argument("--port", type=int, default=7700, help="the first (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the results here")
    return parser


def require_programs(parser, *programs):
    for program in (*programs, "redis-cli"):
        if not shutil.which(program):
            parser.error(f"{program} is no program" + ("; Debian's redis-tools has it" if program == "redis-cli" else ""))
