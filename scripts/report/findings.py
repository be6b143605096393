"""What follows from the results: the claim, a conclusion for each figure, and which setting to take. Plain text with `code`."""

import math
import re

from results import BLOOM, RECOMMENDED, RIBBON

USUAL_BITS = 10
CHOICES = ((6, "tight"), (10, "usual"), (16, "plenty"))
SLOW_US = 100  # a read of a fast disk
LATENCIES = (0, 10, 100, 1000)
CHOICE_COLUMNS = ["memory", "reads", "`filter_policy=`", "wasted reads in 1,000 lookups", "time of a lookup", "time to build filters"]
CHOICE_NOTE = (f"Shares and times are compared with RocksDB's Bloom in the same memory; a read of a disk is taken as {SLOW_US} us. "
               "`size_ratio=auto` needs one more line, in `[DBOptions]`: `listeners=exactbloom_tree`.")


def thousandfold(reads):
    return number(1000 * reads, 3)


def number(value, digits=4):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if abs(value) >= 10 ** digits else f"{value:#.{digits}g}".rstrip("0").rstrip(".")


def percent(share):
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.1f}%"


def against(spread, reference, same=False):
    """How a time compares with another. Without a difference outside the spread of the runs nothing is said of its size."""
    if same:
        return "the reference"
    if not spread.differs(reference):
        return "no difference"
    share = spread.middle / reference.middle
    if share >= 2:
        return f"{share:.1f} times as long"
    return f"{abs(share - 1):.0%} {'more' if share > 1 else 'less'}"


class Findings:
    def __init__(self, sweep, growth):
        self.growth = growth
        self.curves = [] if sweep is None else sweep.trees.get("large") or next(iter(sweep.trees.values()))
        by_label = {curve.label: curve for curve in self.curves}
        self.reference = by_label.get(BLOOM) or next(iter(self.curves), None)
        self.best = by_label.get(RECOMMENDED) or (self.curves[-1] if self.curves else None)
        self.bits = min((bits for curve in self.curves for bits in curve.points), default=None,
                        key=lambda bits: abs(bits - USUAL_BITS))

    def labels(self):
        """Of all policies, those of the figures first."""
        return list(dict.fromkeys([curve.label for curve in self.curves] + [name for run in self.growth for name in run.policies]))

    def drawn(self):
        """Cache-line layouts lie so near the same policy without them that one curve would hide the other."""
        labels = {curve.label for curve in self.curves}
        return [curve for curve in self.curves if "lines=" not in curve.label or curve.label.split(" lines=")[0] not in labels]

    def pair(self):
        """The recommended setting and RocksDB's Bloom filter at the usual number of bits per key, or None."""
        if not self.curves or self.best is self.reference:
            return None
        pair = self.best.points.get(self.bits), self.reference.points.get(self.bits)
        return pair if all(pair) and pair[0].measured else None

    def claim(self):
        if not self.pair():
            return "Lookups of absent keys read tables in vain: how many, by filter policy."
        best, bloom = self.pair()
        memory = "In the same memory" if abs(best.bits_per_key / bloom.bits_per_key - 1) < 0.02 else \
            f"With {number(best.bits_per_key)} instead of {number(bloom.bits_per_key)} bits per key"
        who = "ExactBloom's recommended setting" if self.best.label == RECOMMENDED else f"`{best.policy}`"
        return (f"{memory}, {who} wastes {math.floor(bloom.measured / best.measured + 1e-9)} times fewer reads than "
                f"{self.reference.name} filter: {thousandfold(best.measured)} instead of {thousandfold(bloom.measured)} in 1,000 "
                f"lookups of absent keys, at {self.bits:g} bits per key.")

    def terms(self, sweep):
        """What was compared."""
        sentences = []
        if self.pair() and self.best.label == RECOMMENDED:
            sentences.append(f"Recommended: `filter_policy={self.pair()[0].policy}` and `listeners=exactbloom_tree`.")
        if sweep and sweep.runs:
            run, settings = sweep.runs[-1], sweep.runs[-1]["settings"]
            stored = re.search(r"synthetic, (\d+)$", settings["keys"])
            keys = f"{int(stored[1]) * settings['stored_share']:,.0f} keys" if stored else settings["keys"]
            sentences.append(f"{keys} in {settings['sorted_runs']} sorted runs, each {settings['size_ratio']} times as large as the one before; "
                             f"RocksDB {run['rocksdb']}, {run['cpu'].split(' (')[0]}.")
        return " ".join(sentences)

    def of_memory(self):
        if not self.pair():
            return ""
        reads = self.pair()[1].wasted
        needs = [f"{'the recommended setting' if curve is self.best else curve.name} {curve.bits_for(reads):.1f}" for curve in self.curves
                 if curve.label in (RECOMMENDED, RIBBON) and curve.bits_for(reads)]
        if not needs:
            return f"{self.reference.name} wastes {thousandfold(reads)} reads in 1,000 lookups with {self.bits:g} bits per key."
        return (f"To waste no more reads than {self.reference.name} does with {self.bits:g} bits per key, filters need fewer bits: "
                f"{', '.join(needs[::-1])}.")

    def of_time(self):
        if not self.pair():
            return ""
        best, bloom = self.pair()
        compared = [(latency, best.time_us(latency), bloom.time_us(latency)) for latency in LATENCIES]
        slow = [spreads for latency, *spreads in compared if latency == SLOW_US][0]
        sentences = [f"Where a read takes {SLOW_US} us, a lookup takes {number(slow[0].middle, 2)} us with the recommended setting and "
                     f"{number(slow[1].middle, 2)} us with {self.reference.name}."
                     if slow[0].differs(slow[1]) else f"Where a read takes {SLOW_US} us, the times show no difference."]
        cached = against(compared[0][1], compared[0][2])
        sentences.append("Where all reads come from the page cache, the repeated runs show no difference." if cached == "no difference" else
                         f"Where all reads come from the page cache, it takes {cached}{'' if 'times' in cached else ' time'}.")
        return " ".join(sentences)

    def of_growth(self):
        shares = []
        for run in self.growth:
            if {BLOOM, RECOMMENDED} <= run.policies.keys():
                reads = [run.policies[policy]["loading"]["wasted_reads_per_lookup"] for policy in (RECOMMENDED, BLOOM)]
                if reads[1]:
                    shares.append(f"{percent(reads[0] / reads[1])} ({run.where})")
        if not shares:
            return ""
        return f"While a tree grows, the recommended setting leaves a part of the reads that RocksDB's Bloom wastes: {', '.join(shares)}."

    def choices(self):
        """The rows of the table `Which setting for me`."""
        rows = []
        for bits, memory in CHOICES:
            points = [curve.points[bits] for curve in self.curves if bits in curve.points]
            if self.reference is None or bits not in self.reference.points:
                continue
            bloom = self.reference.points[bits]
            for latency, reads in ((SLOW_US, "disk, network"), (0, "page cache")):
                point = best_for_slow_reads(points) if latency else best_for_fast_reads(points)
                share = f" ({percent(point.measured / bloom.measured)})" if bloom.measured and point is not bloom else ""
                rows.append([f"{memory}: {bits} bits per key", reads, f"`{point.policy}`", thousandfold(point.measured) + share,
                             against(point.time_us(latency), bloom.time_us(latency), point is bloom),
                             against(point.build_ns, bloom.build_ns, point is bloom)])
        return rows


def cheapest(points):
    """The cheapest to build, and where builds show no difference the one that wastes the fewest reads."""
    least = min((point.build_ns for point in points), key=lambda spread: spread.middle)
    return min((point for point in points if not point.build_ns.differs(least)), key=lambda point: point.wasted)


def best_for_slow_reads(points):
    """Of the policies with the fewest wasted reads; those whose intervals overlap show no difference."""
    fewest = min(points, key=lambda point: point.wasted)
    return cheapest([point for point in points if point is fewest or not fewest.wastes_less_than(point)])


def best_for_fast_reads(points):
    """Of the policies whose lookups take no longer than the fastest ones."""
    fastest = min((point.cpu_us for point in points), key=lambda spread: spread.middle)
    return cheapest([point for point in points if not point.cpu_us.differs(fastest)])


def markdown(findings, sweep):
    """The claim, the table and the conclusions for docs/report.md."""
    rows = [CHOICE_COLUMNS, ["---"] * len(CHOICE_COLUMNS), *findings.choices()]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    conclusions = "\n".join(f"- {sentence}" for sentence in (findings.of_memory(), findings.of_time(), findings.of_growth())
                            if sentence)
    return f"**{findings.claim()}** {findings.terms(sweep)}\n\n{table}\n\n{CHOICE_NOTE}\n\n{conclusions}\n"
