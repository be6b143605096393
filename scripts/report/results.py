"""What reports of readamp say: the claim, and which setting to take."""
import json
import math
import re
import sys

BLOOM, RIBBON, AUTO, RECOMMENDED = "bloomfilter", "ribbonfilter", "exactbloom ribbon=false", "exactbloom"
NAMES = {BLOOM: "RocksDB's Bloom", RIBBON: "RocksDB's Ribbon", AUTO: "ribbon=false", RECOMMENDED: "recommended"}
USUAL_BITS = 10
MEMORIES = ((6, "tight"), (10, "usual"), (16, "plenty"))
CHOICE_COLUMNS = ["memory", "purpose", "`filter_policy=`", "bits per key", "wasted reads in 1,000 lookups", "of RocksDB's Bloom"]


def fail(message):
    sys.exit(print(f"report: {message}", file=sys.stderr) or 2)


def label(policy):
    """'{id=exactbloom;bits_per_key=10;ribbon=false}' is 'exactbloom ribbon=false', and 'bloomfilter:10' 'bloomfilter'."""
    return " ".join(re.sub(r"bits_per_key=[\d.]+|id=|:[\d.]+|[{}]", "", policy).replace(";", " ").split())


def thousandfold(reads):
    return f"{1000 * reads:.0f}" if reads >= 1 else f"{1000 * reads:#.3g}".rstrip("0").rstrip(".")


def percent(share):
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.1f}%"


class Point:
    """A policy at one number of bits per key."""

    def __init__(self, result):
        absent = result["workloads"]["absent"]
        lookups, exact = absent["lookups"], absent["predicted_wasted_reads"]
        self.policy, self.bits_per_key = result["policy"], result["bits_per_key"]
        self.measured = absent["wasted_reads"] / lookups
        self.low, self.high = (end * absent["absent_checks"] / lookups for end in absent["interval"])
        self.wasted = self.measured if exact is None else exact / lookups


def compaction_of(run):
    tree = run["settings"]["tree"]
    if tree["kind"] == "universal":
        return "universal compaction"
    trigger = tree["level0_trigger"]
    return "leveled compaction" + (f", level-0 trigger {trigger}" if trigger != 4 else "")


class Results:
    """Reports of readamp: those of the workload absent are points of `curves`, by policy and bits per key; the others are policies
    of trees that grow, by their compaction."""

    def __init__(self, paths):
        self.curves, self.growth = {}, {}
        try:
            self.runs = [run for path in paths for run in read_reports(path.read_text().strip())]
            for run in self.runs:
                results = [policy for policy in run["policies"] if policy["filter_bytes"]]
                if all("growth" in policy["workloads"] for policy in results):
                    self.growth[compaction_of(run)] = {label(policy["policy"]): policy["workloads"]["growth"] for policy in results}
                    continue
                for policy in results:
                    self.curves.setdefault(label(policy["policy"]), {})[round(results[0]["bits_per_key"])] = Point(policy)
        except OSError as error:
            fail(error)
        except (ValueError, KeyError, TypeError, IndexError):
            fail("a file is not JSON of readamp, or no report of readamp with the workload absent or growth")
        if not (self.curves or self.growth):
            fail("there is no report of readamp in the files")

    def point(self, name, bits=USUAL_BITS):
        return self.curves.get(name, {}).get(bits)

    def bits_for(self, name, reads):
        """The bits per key for so many wasted reads per lookup, interpolated by logarithms, or None."""
        points = [point for _, point in sorted(self.curves.get(name, {}).items())]
        for more, fewer in zip(points, points[1:]):
            if more.wasted >= reads >= fewer.wasted > 0 and more.wasted > fewer.wasted:
                share = math.log(more.wasted / reads) / math.log(more.wasted / fewer.wasted)
                return more.bits_per_key + share * (fewer.bits_per_key - more.bits_per_key)
        return None


def read_reports(text):
    """Yields the reports of readamp in a text, one after another."""
    while text:
        report, end = json.JSONDecoder().raw_decode(text)
        yield report
        text = text[end:].lstrip()


def claim(results):
    best, bloom = results.point(RECOMMENDED), results.point(BLOOM)
    if not (best and bloom and best.measured):
        return "Wasted reads of lookups of absent keys, by filter policy"
    tree = next((run for run in results.runs if "sorted_runs" in run["settings"]["tree"]), None)
    where = tree and (f" {tree['keys_stored']:,} keys in {tree['settings']['tree']['sorted_runs']} sorted runs, each "
                      f"{tree['settings']['tree']['size_ratio']} times as large as the one before; RocksDB {tree['rocksdb']}.")
    return (f"**At {USUAL_BITS} bits per key, ExactBloom's recommended setting wastes {math.floor(bloom.measured / best.measured)} times "
            f"fewer reads than RocksDB's Bloom filter: {thousandfold(best.measured)} instead of {thousandfold(bloom.measured)} in 1,000 "
            f"lookups of absent keys.** Recommended: `filter_policy={best.policy}` and `listeners=exactbloom_tree`.{where or ''}")


def conclusions(results):
    bloom = results.point(BLOOM)
    bits = {name: results.bits_for(name, bloom.wasted) for name in (RECOMMENDED, RIBBON)} if bloom else {}
    if needs := ", ".join(f"{NAMES[name]} {found:.1f}" for name, found in bits.items() if found):
        yield f"Bits per key at which filters waste as few reads as RocksDB's Bloom filter with {USUAL_BITS} bits per key: {needs}."
    reads = {where: [policies[name]["loading"]["wasted_reads_per_lookup"] for name in (RECOMMENDED, BLOOM)]
             for where, policies in results.growth.items() if {BLOOM, RECOMMENDED} <= policies.keys()}
    if shares := ", ".join(f"{percent(ours / its)} ({where})" for where, (ours, its) in reads.items()):
        yield f"Wasted reads of the recommended setting while a tree grows, relative to RocksDB's Bloom filter: {shares}."


def choices(results):
    """The rows of the table of settings."""
    for bits, memory in MEMORIES:
        for name, whom in ((RECOMMENDED, "data larger than memory"), (AUTO, "cheap filter builds"), (BLOOM, "all data in memory")):
            point, bloom = results.point(name, bits), results.point(BLOOM, bits)
            if point and bloom:
                yield [f"{memory}: {bits} bits per key", whom, f"`{point.policy}`", f"{point.bits_per_key:.2f}",
                       thousandfold(point.measured), percent(point.measured / bloom.measured)]


def markdown_table(columns, rows):
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [columns, ["---"] * len(columns), *rows])


def markdown(results):
    """The claim, the table and the conclusions for docs/benchmarks.md."""
    ends = "\n".join(f"- {sentence}" for sentence in conclusions(results))
    return f"{claim(results)}\n\n{markdown_table(CHOICE_COLUMNS, choices(results))}\n\n{ends}\n"
