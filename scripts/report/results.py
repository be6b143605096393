"""The results of readamp_sweep, and of readamp's workload growth, as the page needs them."""

import json
import math
import re
import statistics
import sys

BLOOM = "bloomfilter"
RIBBON = "ribbonfilter"
RECOMMENDED = "classic_bloom size_ratio=auto bottommost=ribbon"
NAMES = {BLOOM: "RocksDB's Bloom", RIBBON: "RocksDB's Ribbon", "classic_bloom size_ratio=auto": "size_ratio=auto",
         RECOMMENDED: "recommended"}
# What a line of a results file has, by its kind.
FIELDS = {
    "run": {"command", "exactbloom", "rocksdb", "cpu", "kernel", "settings"},
    "point": {"family", "policy", "tree", "bits", "bits_per_key", "wasted_reads", "exact_wasted_reads", "interval", "delayed",
              "cpu_us_runs", "build_ns_runs", "blocks_read", "lookups"},
    "sizing": {"layout", "lines", "keys", "bits_per_key", "usual", "exact"},
}


def fail(message, status=2):
    print(f"report: {message}", file=sys.stderr)
    sys.exit(status)


def label(policy):
    """'{id=classic_bloom;bits_per_key={bits};lines=1}' is 'classic_bloom lines=1', and 'bloomfilter:10' 'bloomfilter'."""
    text = re.sub(r"bits_per_key=(\{bits\}|[\d.]+)|id=|:(\{\w+\}|[\d.]+)|[{}]", "", policy)
    return " ".join(text.replace(";", " ").split())


def name_of(policy_label):
    return NAMES.get(policy_label, policy_label)


class Spread:
    """The figures of repeated runs. Two of them differ if every run of the one is below every run of the other."""

    def __init__(self, runs):
        self.low, self.middle, self.high = min(runs), statistics.median(runs), max(runs)

    def plus(self, low, middle, high):
        return Spread([self.low + low, self.middle + middle, self.high + high])

    def differs(self, other):
        return self.high < other.low or other.high < self.low


class Point:
    """A policy at one number of bits per key."""

    def __init__(self, line):
        self.line = line
        self.policy, self.bits, self.bits_per_key = line["policy"], line["bits"], line["bits_per_key"]
        self.measured, self.interval = line["wasted_reads"], line["interval"]
        self.exact = line["exact_wasted_reads"]
        self.wasted = self.measured if self.exact is None else self.exact
        self.cpu_us, self.build_ns = Spread(line["cpu_us_runs"]), Spread(line["build_ns_runs"])

    def time_us(self, latency):
        """Of a lookup: its processor time, and the latency once per block read, as often as its interval allows."""
        reads = self.line["blocks_read"] / self.line["lookups"]
        share = [end / self.measured if self.measured else 1 for end in self.interval]
        return self.cpu_us.plus(latency * reads * share[0], latency * reads, latency * reads * share[1])

    def wastes_less_than(self, other):
        return self.interval[1] < other.interval[0]


class Curve:
    """The points of one policy in one tree, by their planned bits per key."""

    def __init__(self, family, lines):
        self.label = label(family)
        self.name = name_of(self.label)
        self.points = {line["bits"]: Point(line) for line in sorted(lines, key=lambda line: line["bits"])}

    def bits_for(self, reads):
        """The bits per key for that many wasted reads per lookup, interpolated by logarithms, or None."""
        points = list(self.points.values())
        for more, fewer in zip(points, points[1:]):
            if more.wasted >= reads >= fewer.wasted > 0 and more.wasted > fewer.wasted:
                share = math.log(more.wasted / reads) / math.log(more.wasted / fewer.wasted)
                return more.bits_per_key + share * (fewer.bits_per_key - more.bits_per_key)
        return None

    def reads_at(self, bits_per_key):
        """The wasted reads per lookup at that many bits per key taken, interpolated by logarithms, or None."""
        points = list(self.points.values())
        for fewer, more in zip(points, points[1:]):
            if fewer.bits_per_key <= bits_per_key <= more.bits_per_key and min(fewer.wasted, more.wasted) > 0:
                share = (bits_per_key - fewer.bits_per_key) / (more.bits_per_key - fewer.bits_per_key)
                return fewer.wasted * (more.wasted / fewer.wasted) ** share
        return None


class Sweep:
    def __init__(self, path):
        found = {"run": [], "point": [], "sizing": []}
        text = read_text(path, "a results file of readamp_sweep")
        for number, line in enumerate(text[:text.rfind("\n") + 1].splitlines(), 1):
            try:
                result = json.loads(line)
                found[result["kind"]].append(result)
                lacking = FIELDS[result["kind"]] - result.keys()
            except (ValueError, KeyError, TypeError):
                fail(f"{path}, line {number} is not a result of readamp_sweep")
            if lacking:
                fail(f"{path}, line {number} is not a whole result of this readamp_sweep: it lacks {sorted(lacking)[0]}")
        if not found["point"]:
            fail(f"{path} has no points of a sweep")
        self.runs, self.sizing = found["run"], found["sizing"]
        trees = dict.fromkeys(line["tree"] for line in found["point"])
        families = dict.fromkeys(line["family"] for line in found["point"])
        self.trees = {tree: [Curve(family, lines) for family in families for lines in
                             [[p for p in found["point"] if p["tree"] == tree and p["family"] == family]] if lines]
                      for tree in trees}

    def points(self):
        return [point for curves in self.trees.values() for curve in curves for point in curve.points.values()]


class Growth:
    """A run of readamp with the workload growth."""

    def __init__(self, run):
        tree = run["settings"]["tree"]
        self.where = "universal compaction" if tree["kind"] == "universal" else "compaction by levels"
        if tree["level0_trigger"] != 4:
            self.where += f", {tree['level0_trigger']} files trigger level 0"
        self.command = run.get("command", "")
        self.policies = {label(policy["policy"]): policy["workloads"]["growth"] for policy in run["policies"]}


def read_growth(paths):
    """The runs in the files; a file may hold several."""
    runs = []
    for path in paths:
        text = read_text(path, "a result of readamp").strip()
        if not text:
            fail(f"{path} is empty")
        while text:
            try:
                run, end = json.JSONDecoder().raw_decode(text)
                runs.append(Growth(run))
            except (ValueError, KeyError, TypeError):
                fail(f"{path} is not a result of readamp with the workload growth")
            text = text[end:].lstrip()
    return runs


def read_text(path, what):
    try:
        return path.read_text()
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except UnicodeDecodeError:
        fail(f"{path} is not {what}: it is no text")
