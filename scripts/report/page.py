"""What readamp's results say, as a page and for a document: the claim, two figures, and which setting to take."""

import html
import json
import math
import re
import sys

from plot import GRID, INK, PAPER, Axis, Plot, style_sheet

BLOOM, RIBBON, AUTO = "bloomfilter", "ribbonfilter", "exactbloom ribbon=false"
RECOMMENDED = "exactbloom"
NAMES = {BLOOM: "RocksDB's Bloom", RIBBON: "RocksDB's Ribbon", AUTO: "ribbon=false", RECOMMENDED: "recommended"}
USUAL_BITS = 10
MEMORIES = ((6, "tight"), (10, "usual"), (16, "plenty"))
CHOICE_COLUMNS = ["memory", "purpose", "`filter_policy=`", "bits per key", "wasted reads in 1,000 lookups", "of RocksDB's Bloom"]
METHOD = ("A wasted read is a read of a table that lacks the key, because its filter lets the key through. Bits per key include the "
          "trailers of the filter blocks. Each policy has a database of its own. Every answer is checked, and there is no report "
          "unless the counts of RocksDB, of the file system and of the tree agree. Bars are 99.9% intervals.")
STYLE = f"""
:root {{ color-scheme: light dark; --paper: {PAPER[0]}; --ink: {INK[0]}; --line: {GRID[0]}; }}
@media (prefers-color-scheme: dark) {{ :root {{ --paper: {PAPER[1]}; --ink: {INK[1]}; --line: {GRID[1]}; }} }}
body {{ max-width: 54rem; margin: 0 auto; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; background: var(--paper); color: var(--ink); }}
h1 {{ font-size: 1.6rem; line-height: 1.3; }} h2 {{ font-size: 1.2rem; margin: 2.2rem 0 .3rem; }}
figure {{ margin: .5rem 0; }} figure svg {{ width: 100%; max-width: 38rem; height: auto; display: block; }}
.wide {{ overflow-x: auto; }} code {{ font-size: .9em; overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; margin: .5rem 0; }}
th, td {{ padding: .25rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }}
details {{ margin: .6rem 0; }} summary {{ cursor: pointer; font-weight: 600; }}
"""


def fail(message):
    sys.exit(print(f"report: {message}", file=sys.stderr) or 2)


def label(policy):
    """'{id=classic_bloom;bits_per_key=10;lines=1}' is 'classic_bloom lines=1', and 'bloomfilter:10' 'bloomfilter'."""
    return " ".join(re.sub(r"bits_per_key=[\d.]+|id=|:[\d.]+|[{}]", "", policy).replace(";", " ").split())


def number(value, digits=3):
    return f"{value:.0f}" if abs(value) >= 10 ** digits else f"{value:#.{digits}g}".rstrip("0").rstrip(".")


def thousandfold(reads):
    return number(1000 * reads)


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
        self.exact = None if exact is None else exact / lookups
        self.wasted = self.measured if self.exact is None else self.exact


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
        self.runs = [run for path in paths for run in read_reports(path)]
        self.curves, self.growth = {}, {}
        for run in self.runs:
            try:
                results = [policy for policy in run["policies"] if policy["filter_bytes"]]
                if all("growth" in policy["workloads"] for policy in results):
                    self.growth[compaction_of(run)] = {label(policy["policy"]): policy["workloads"]["growth"] for policy in results}
                    continue
                bits = round(results[0]["bits_per_key"])
                for policy in results:
                    self.curves.setdefault(label(policy["policy"]), {})[bits] = Point(policy)
            except (KeyError, TypeError, IndexError):
                fail("a result is no report of readamp with the workload absent or growth")
        if not (self.curves or self.growth):
            fail("there is no report of readamp in the files")
        self.labels = list(dict.fromkeys([*self.curves, *(name for policies in self.growth.values() for name in policies)]))

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


def read_reports(path):
    """Yields the reports of readamp in a file, one after another."""
    try:
        text = path.read_text().strip()
        while text:
            report, end = json.JSONDecoder().raw_decode(text)
            yield report
            text = text[end:].lstrip()
    except OSError as error:
        fail(error)
    except ValueError:
        fail(f"{path} is not JSON of readamp")


def claim(results):
    best, bloom = results.point(RECOMMENDED), results.point(BLOOM)
    if not (best and bloom and best.measured):
        return "Wasted reads of lookups of absent keys, by filter policy"
    return (f"At {USUAL_BITS} bits per key, ExactBloom's recommended setting wastes {math.floor(bloom.measured / best.measured)} times fewer "
            f"reads than RocksDB's Bloom filter: {thousandfold(best.measured)} instead of {thousandfold(bloom.measured)} in 1,000 lookups of "
            f"absent keys.")


def terms(results):
    best = results.point(RECOMMENDED)
    for run in results.runs if best else ():
        if "sorted_runs" in (tree := run["settings"]["tree"]):
            return (f"Recommended: `filter_policy={best.policy}` and `listeners=exactbloom_tree`. {run['keys_stored']:,} keys in "
                    f"{tree['sorted_runs']} sorted runs, each {tree['size_ratio']} times as large as the one before; RocksDB {run['rocksdb']}.")
    return ""


def of_memory(results):
    bloom = results.point(BLOOM)
    bits = {name: results.bits_for(name, bloom.wasted) for name in (RECOMMENDED, RIBBON)} if bloom else {}
    needs = ", ".join(f"{NAMES[name]} {found:.1f}" for name, found in bits.items() if found)
    return needs and (f"Bits per key at which filters waste as few reads as RocksDB's Bloom filter with {USUAL_BITS} bits per key: {needs}.")


def of_growth(results):
    reads = {where: [policies[name]["loading"]["wasted_reads_per_lookup"] for name in (RECOMMENDED, BLOOM)]
             for where, policies in results.growth.items() if {BLOOM, RECOMMENDED} <= policies.keys()}
    shares = ", ".join(f"{percent(ours / its)} ({where})" for where, (ours, its) in reads.items())
    return shares and f"Wasted reads of the recommended setting while a tree grows, relative to RocksDB's Bloom filter: {shares}."


def choices(results):
    """The rows of the table of settings."""
    rows = []
    for bits, memory in MEMORIES:
        for name, whom in ((RECOMMENDED, "data larger than memory"), (AUTO, "cheap filter builds"), (BLOOM, "all data in memory")):
            point, bloom = results.point(name, bits), results.point(BLOOM, bits)
            if point and bloom:
                rows.append([f"{memory}: {bits} bits per key", whom, f"`{point.policy}`", f"{point.bits_per_key:.2f}",
                             thousandfold(point.measured), percent(point.measured / bloom.measured)])
    return rows


def markdown_table(columns, rows):
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [columns, ["---"] * len(columns), *rows])


def markdown(results):
    """The claim, the table and the conclusions for docs/benchmarks.md."""
    conclusions = "\n".join(f"- {sentence}" for sentence in (of_memory(results), of_growth(results)) if sentence)
    return (f"**{claim(results)}** {terms(results)}\n\n{markdown_table(CHOICE_COLUMNS, choices(results))}\n\n{conclusions}\n")


def halves_of_decades(values):
    return 10 ** (math.floor(2 * math.log10(min(values))) / 2), 10 ** (math.ceil(2 * math.log10(max(values))) / 2)


def reads_plot(results):
    # The curve of a cache-line layout would hide that of the same policy without it.
    curves = {name: [point for _, point in sorted(points.items()) if point.measured and point.wasted] for name, points in
              results.curves.items() if "lines=" not in name}
    bits = [point.bits_per_key for points in curves.values() for point in points]
    plot = Plot("Wasted reads against bits per key",
                Axis("filter bits per key", min(bits) - 0.5, max(bits) + 0.5,
                     range(math.ceil(min(bits) - 0.5), math.floor(max(bits) + 0.5) + 1, 2)),
                Axis("wasted reads in 1,000 lookups",
                     *halves_of_decades([1000 * point.wasted for points in curves.values() for point in points])), results.labels)
    low = 10 ** plot.y.low
    for name, points in curves.items():
        plot.curve(name, NAMES.get(name, name), [(p.bits_per_key, 1000 * p.wasted) for p in points],
                   [(p.bits_per_key, max(low, 1000 * p.measured)) for p in points],
                   [(p.bits_per_key, max(low, 1000 * p.low), 1000 * p.high) for p in points])
    return plot


def growth_plots(results):
    seen = {where: {policy: [(point["keys_written"] / 1e6, 1000 * point["wasted_reads_per_lookup"]) for point in growth["points"]
                             if point["wasted_reads_per_lookup"]] for policy, growth in policies.items()}
            for where, policies in results.growth.items()}
    reads = [y for policies in seen.values() for points in policies.values() for _, y in points]
    plots = []
    for where, policies in seen.items():
        last = max(x for points in policies.values() for x, _ in points)
        step = 10 ** math.floor(math.log10(last)) / 2
        plot = Plot("Wasted reads while the tree grows",
                    Axis("million keys written", 0, last, [i * step for i in range(int(last / step * 1.001) + 1)]),
                    Axis("wasted reads in 1,000 lookups", *halves_of_decades(reads)), results.labels, 400, 300,
                    heading=where[0].upper() + where[1:])
        for i, (policy, points) in enumerate(policies.items()):
            plot.curve(policy, NAMES.get(policy, policy), points, points[i % 3::3])  # markers at different places
        plots.append(plot)
    return plots


def text(sentence):
    """With `code`, whose lines may break behind a semicolon."""
    return re.sub(r"`(.*?)`", lambda code: f"<code>{code[1].replace(';', ';<wbr>')}</code>", html.escape(sentence, quote=False))


def table(columns, rows):
    lines = ["".join(f"<{tag}>{text(cell)}</{tag}>" for cell in cells) for tag, cells in [("th", columns), *(("td", row) for row in rows)]]
    return "\n".join(['<div class="wide"><table>', *(f"<tr>{line}</tr>" for line in lines), "</table></div>"])


def fold(title, *content):
    return f"<details><summary>{title}</summary>\n" + "\n".join(content) + "\n</details>"


def figure(title, conclusion, plots):
    return "\n".join([f"<h2>{title}</h2>\n<p>{text(conclusion)}</p>\n<figure>", *(plot.svg() for plot in plots), "</figure>"])


def points_table(results):
    rows = [[f"`{name}`", number(point.bits_per_key, 4), thousandfold(point.measured), f"{thousandfold(point.low)} to {thousandfold(point.high)}",
             "-" if point.exact is None else thousandfold(point.exact)]
            for name, points in results.curves.items() for _, point in sorted(points.items())]
    return table(["policy", "bits per key", "wasted reads in 1,000 lookups", "99.9% interval", "exact"], rows)


def page(results):
    """The whole page; what was not measured is left out."""
    body = [f"<h1>{text(claim(results))}</h1>\n<p>{text(terms(results))}</p>"]
    if results.curves:
        body.append(figure("Wasted reads against memory", of_memory(results), [reads_plot(results)]))
        body.append("<h2>Settings</h2>\n" + table(CHOICE_COLUMNS, choices(results)))
    if results.growth:
        body.append(figure("Wasted reads while the tree grows", of_growth(results), growth_plots(results)))
    if results.curves:
        body.append(fold("All points", points_table(results)))
    runs = [[f"`{run['command']}`", run["exactbloom"], run["rocksdb"], run["cpu"]] for run in results.runs]
    body += [fold("Method", f"<p>{METHOD}</p>"), fold("Runs", table(["command", "ExactBloom", "RocksDB", "processor"], runs))]
    return "\n".join(['<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
                      '<meta name="viewport" content="width=device-width, initial-scale=1">', "<title>Which filter, how many bits per key?</title>",
                      f"<style>{STYLE}{style_sheet(results.labels)}</style></head><body>", *body, "</body></html>\n"])
