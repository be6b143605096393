"""The page: the claim, three figures, the table of settings, and the rest behind folds."""

import html
import math
import re

from findings import CHOICE_COLUMNS, CHOICE_NOTE, LATENCIES, USUAL_BITS, against, number, thousandfold
from plot import GRID, INK, PAPER, Axis, Plot, style_sheet
from results import name_of

TREES = {
    "large": "large tables, one filter each",
    "partitioned": "filters in partitions of 4 KiB",
    "small_partitions": "filters in partitions of 512 bytes",
}
STYLE = f"""
:root {{ color-scheme: light dark; --paper: {PAPER[0]}; --ink: {INK[0]}; --line: {GRID[0]}; }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ --paper: {PAPER[1]}; --ink: {INK[1]}; --line: {GRID[1]}; }} }}
body {{ max-width: 54rem; margin: 0 auto; padding: 1rem; font: 16px/1.5 system-ui, sans-serif;
  background: var(--paper); color: var(--ink); }}
h1 {{ font-size: 1.6rem; line-height: 1.3; }} h2 {{ font-size: 1.2rem; margin: 2.2rem 0 .3rem; }}
figure {{ margin: .5rem 0; }} figcaption {{ font-size: .85rem; }} figure svg {{ width: 100%; max-width: 38rem; height: auto; display: block; }}
.panels {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(21rem, 100%), 1fr)); gap: 1rem; }}
.wide {{ overflow-x: auto; }} code {{ font-size: .9em; }} p code, .text code {{ overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; margin: .5rem 0; }}
th, td {{ padding: .25rem .6rem; text-align: right; vertical-align: top; }}
th {{ border-bottom: 2px solid var(--line); }} td {{ border-bottom: 1px solid var(--line); }}
.text th, .text td, th:first-child, td:first-child {{ text-align: left; }}
@media (max-width: 40rem) {{ .text th {{ display: none; }} .text tr {{ display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }}
  .text td {{ display: block; border: 0; padding: .1rem 0; }} .text td::before {{ content: attr(data-column) ": "; font-weight: 600; }} }}
details {{ margin: .6rem 0; border-top: 1px solid var(--line); }} summary {{ cursor: pointer; font-weight: 600; padding: .4rem 0; }}
.all td {{ white-space: nowrap; }} .all .text td {{ white-space: normal; }} .all p {{ font-size: .9rem; margin: .6rem 0; }}
@media print {{ :root {{ color-scheme: light; }} body {{ font-size: 10pt; padding: 0; }} figure, tr {{ break-inside: avoid; }}
  h2, summary, .all p {{ break-after: avoid; }} figure svg {{ max-width: 26rem; }} .all table {{ font-size: 6.5pt; }} .all td {{ padding: .1rem .3rem; white-space: normal; }} .all code {{ white-space: nowrap; }}
  .all .text code {{ white-space: normal; }} }}
"""
# A page is printed as a whole.
SCRIPT = """addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details")) fold.open = true; });"""


def text(sentence):
    """With `code`, whose lines may break behind a semicolon."""
    return re.sub(r"`(.*?)`", lambda code: f"<code>{code[1].replace(';', ';<wbr>')}</code>", html.escape(sentence, quote=False))


def sentence_case(words):
    return words[0].upper() + words[1:]


def table(columns, rows, caption="", kind=""):
    names = [f' data-column="{html.escape(column.replace("`", ""))}"' if kind else "" for column in columns]

    def row(cells):
        return "<tr>" + "".join(f"<td{name}>{text(number(cell))}</td>" for name, cell in zip(names, cells)) + "</tr>"

    return "\n".join([f"<p>{text(caption)}</p>" if caption else "", f'<div class="wide" tabindex="0"><table class="{kind}">',
                      "<tr>" + "".join(f"<th>{text(column)}</th>" for column in columns) + "</tr>", *map(row, rows), "</table></div>"])


def fold(title, *content):
    return f'<details class="all"><summary>{text(title)}</summary>\n' + "\n".join(content) + "\n</details>"


def figure(name, title, conclusion, plots, caption):
    return "\n".join([f"<h2>{text(title)}</h2>\n<p>{text(conclusion)}</p>", f'<figure id="{name}"><div class="panels">',
                      *(plot if isinstance(plot, str) else plot.svg() for plot in plots),
                      f"</div><figcaption>{text(caption)}</figcaption></figure>"])


def decades(values):
    """From the power of ten below the least value to the one above the largest, by halves of decades."""
    return (10 ** (math.floor(2 * math.log10(min(values))) / 2), 10 ** (math.ceil(2 * math.log10(max(values))) / 2))


def reads_plot(findings):
    curves = findings.drawn()
    points = [point for curve in curves for point in curve.points.values() if point.wasted > 0 and point.measured > 0]
    bits = [point.bits_per_key for point in points]
    plot = Plot("Wasted reads against bits per key",
                Axis("filter bits per key", min(bits) - 0.5, max(bits) + 0.5,
                     range(math.ceil(min(bits) - 0.5), math.floor(max(bits) + 0.5) + 1, 2)),
                Axis("wasted reads in 1,000 lookups", *decades([1000 * point.wasted for point in points]), log=True),
                findings.labels())
    low = 10 ** plot.y.low
    for curve in curves:
        seen = [point for point in curve.points.values() if point.wasted > 0 and point.measured > 0]
        if seen:
            plot.curve(curve.label, curve.name, [(p.bits_per_key, 1000 * p.wasted) for p in seen],
                       [(p.bits_per_key, max(low, 1000 * p.measured)) for p in seen],
                       [(p.bits_per_key, max(low, 1000 * p.interval[0]), 1000 * p.interval[1]) for p in seen])
    return plot


def time_plot(findings):
    curves = [curve for curve in findings.drawn() if findings.bits in curve.points]
    latencies = [10 ** (i / 10) for i in range(41)]
    spreads = {curve.label: [curve.points[findings.bits].time_us(latency) for latency in latencies] for curve in curves}
    values = [time for spread in spreads.values() for point in spread for time in (point.low, point.high) if time > 0]
    plot = Plot("Time of a lookup against the time of a read",
                Axis("time of a read", 1, 10_000, [(10 ** i, name) for i, name in enumerate(("1 us", "10 us", "100 us", "1 ms", "10 ms"))],
                     log=True),
                Axis("us per lookup of an absent key", *decades(values), log=True), findings.labels())
    for i, curve in enumerate(curves):
        times = spreads[curve.label]
        markers = [(latencies[j], times[j].middle) for j in range(2 + 2 * i, 41, 10)]  # not at the same places
        plot.curve(curve.label, curve.name, [(latency, time.middle) for latency, time in zip(latencies, times)], markers,
                   band=[[(latency, time.low) for latency, time in zip(latencies, times)],
                         [(latency, time.high) for latency, time in zip(latencies, times)]])
    return plot


def growth_plots(findings):
    values = [1000 * point["wasted_reads_per_lookup"] for run in findings.growth for growth in run.policies.values()
              for point in growth["points"] if point["wasted_reads_per_lookup"]]
    plots = []
    for run in findings.growth:
        last = max(point["keys_written"] for growth in run.policies.values() for point in growth["points"]) / 1e6
        step = 10 ** math.floor(math.log10(last)) / 2
        plot = Plot("Wasted reads while the tree grows",
                    Axis("million keys written", 0, last, [i * step for i in range(int(last / step * 1.001) + 1)]),
                    Axis("wasted reads in 1,000 lookups", *decades(values), log=True), findings.labels(), 400, 300,
                    heading=sentence_case(run.where))
        for i, (policy, growth) in enumerate(run.policies.items()):
            points = [(point["keys_written"] / 1e6, 1000 * point["wasted_reads_per_lookup"]) for point in growth["points"]
                      if point["wasted_reads_per_lookup"]]
            if points:
                plot.curve(policy, name_of(policy), points, points[i % 3::3])  # markers not at the same places
        plots.append(plot)
    return plots


def times_fold(findings):
    curves = [curve for curve in findings.curves if findings.bits in curve.points]
    reference = findings.reference.points.get(findings.bits)
    if reference is None:
        return ""

    def cell(spread, other, curve):
        return f"{number(spread.middle, 3)} ({against(spread, other, curve is findings.reference)})"

    return fold("Times of all policies", table(
        ["policy", "building, ns per key", *(f"a read takes {latency} us" if latency else "reads from the page cache" for latency in LATENCIES)],
        [[f"`{curve.label}`", cell(point.build_ns, reference.build_ns, curve),
          *(cell(point.time_us(latency), reference.time_us(latency), curve) for latency in LATENCIES)]
         for curve in curves for point in [curve.points[findings.bits]]],
        f"Medians of building filters of {findings.bits:g} bits per key and of looking an absent key up, in us, and how they compare with "
        f"{findings.reference.name}."))


def partitions_fold(sweep):
    content = []
    for tree, curves in sweep.trees.items():
        reference = curves[0].points.get(USUAL_BITS)
        if tree not in TREES or tree == "large" or reference is None:
            continue
        rows = []
        for curve in curves:
            point, equal = curve.points.get(USUAL_BITS), curve.reads_at(reference.bits_per_key)
            rows.append([f"`{curve.label}`", point and point.bits_per_key, point and thousandfold(point.measured),
                         equal and thousandfold(equal), equal and f"{equal / reference.wasted:.2f}"])
        content.append(table(["policy", f"asked for {USUAL_BITS} bits per key, takes", "wasted reads in 1,000 lookups",
                              f"taking {number(reference.bits_per_key)} bits per key", f"of those of {curves[0].name}"], rows, sentence_case(TREES[tree])))
    return fold("Partitions", "<p>Indexes and trailers of the partitions count as memory. Wasted reads in equal memory are interpolated by "
                "logarithms.</p>", *content) if content else ""


def sizing_fold(sizing):
    if not sizing:
        return ""

    def saved(point, rate):
        return 100 * (1 - point["exact"][rate] / point["usual"][rate]) if point["usual"][rate] else None

    def measured(point):  # where k differs and chance does not hide it
        differs = point["usual"]["probes"] != point["exact"]["probes"]
        return saved(point, "measured_rate") if differs and point["exact"]["false_positives"] >= 1000 else None

    def layout(point):
        return point["layout"] + (f" lines={point['lines']}" if point["lines"] else "")

    most = max(sizing, key=lambda point: saved(point, "exact_rate") or 0)
    return fold("Exact sizing", f"<p>k* has the lowest exact rate, the usual k is round(ln 2 m/n). The most that k* saves here is "
                f"{number(saved(most, 'exact_rate'), 3)}% of the false positives ({layout(most)}, {most['keys']:,} keys, "
                f"{number(most['bits_per_key'])} bits per key). Filters were built outside RocksDB with either, and asked for absent keys.</p>",
                table(["layout", "keys", "bits per key", "usual k", "k*", "rate, usual k", "measured", "rate, k*", "measured",
                       "saved %, exact", "measured"],
                      [[layout(point), f"{point['keys']}", point["bits_per_key"],
                        f"{point['usual']['probes']}", f"{point['exact']['probes']}", point["usual"]["exact_rate"],
                        point["usual"]["measured_rate"], point["exact"]["exact_rate"], point["exact"]["measured_rate"],
                        number(saved(point, "exact_rate"), 3), number(measured(point), 3)] for point in sizing]))


def growth_fold(findings):
    content = []
    for run in findings.growth:
        rows = [[f"`{policy}`", *(cell for state in ("loading", "at_rest") for means in [growth[state]] for cell in
                                  (thousandfold(means["wasted_reads_per_lookup"]), means["over_present_optimum"], means["bits_per_key"])),
                 growth["most_bits_per_key"]] for policy, growth in run.policies.items()]
        content.append(table(["policy", "loading: wasted reads in 1,000 lookups", "over the optimum", "bits per key",
                              "at rest: wasted reads in 1,000 lookups", "over the optimum", "bits per key", "most bits per key"], rows,
                             sentence_case(run.where)))
    return fold("Growing trees", "<p>The optimum is the best division of the bits that the tree has at the moment.</p>", *content) \
        if content else ""


def agreement(sweep):
    def agreeing(pairs):
        pairs = list(pairs)
        return f"{sum(low <= exact <= high for exact, (low, high) in pairs)} of {len(pairs)}"

    points = sweep.points()
    alone = [filters for point in sweep.sizing for filters in ([point["usual"], point["exact"]]
             if point["usual"]["probes"] != point["exact"]["probes"] else [point["exact"]])]
    deviations = sorted(abs(run["mean_us"] / (point.cpu_us.middle + run["read_latency_us"] * run["reads"] / run["lookups"]) - 1)
                        for point in points for run in point.line["delayed"])
    sentences = ["The exact prediction lies in the 99.9% interval of "
                 f"{agreeing((point.exact, point.interval) for point in points if point.exact is not None)} points in RocksDB that have one"
                 + (f", and of {agreeing((filters['exact_rate'], filters['interval']) for filters in alone)} rates of filters alone."
                    if alone else ".")]
    if deviations:
        sentences.append(f"The times against read latency are a model. It was tried with delayed reads in {len(deviations)} runs: half of "
                         f"the times by the clock, which also counts waiting for the processor, deviate from it by less than "
                         f"{deviations[len(deviations) // 2]:.0%}.")
    return " ".join(sentences)


def method_fold(sweep):
    sentences = []
    if sweep.runs:
        settings = sweep.runs[-1]["settings"]
        sentences.append(f"Keys: {settings['keys']}, a share of {settings['stored_share']} of them stored, in {settings['sorted_runs']} sorted "
                         f"runs, each {settings['size_ratio']} times as large as the one before. Each point has a database of its own, and "
                         f"{settings['lookups']:,} lookups of absent keys, each answer checked. Up to 300,000 of them are then made "
                         f"{settings['repetitions']} times and timed, and so is building; points of one number of bits per key take turns. Times are "
                         "processor times.")
    sentences.append("A read is wasted when a filter lets an absent key through to its table. Bits per key are what the filter blocks take. "
                     "A statement about time is made only where every run of the one is below every run of the other; else there is "
                     "no difference. The setting for slow reads is one of those with the fewest wasted reads, and for reads from the page cache "
                     "one of those with the fastest lookups: the one that is cheapest to build, and where builds show no difference the one that "
                     "wastes the fewest reads.")
    sentences.append(agreement(sweep))
    return fold("Method", *(f"<p>{text(sentence)}</p>" for sentence in sentences))


def points_fold(sweep):
    def spread(times):
        return " / ".join(number(value, 3) for value in (times.low, times.middle, times.high))

    return fold("All points", "<p>Times: least, median and most of the repeated runs; a lookup in us, building in ns per key.</p>", *(table(
        ["policy", "bits per key", "wasted reads in 1,000 lookups", "99.9% interval", "exact", "blocks read", "lookup", "build"],
        [[f"`{curve.label}`", point.bits_per_key, thousandfold(point.measured), " to ".join(map(thousandfold, point.interval)),
          "-" if point.exact is None else thousandfold(point.exact), thousandfold(point.line["blocks_read"] / point.line["lookups"]),
          spread(point.cpu_us), spread(point.build_ns)] for curve in curves for point in curve.points.values()], sentence_case(TREES.get(tree, tree)))
        for tree, curves in sweep.trees.items()))


def runs_fold(sweep, growth):
    runs = [[f"`{run['command']}`", *(run[name] for name in ("exactbloom", "rocksdb", "cpu", "kernel"))] for run in (sweep.runs if sweep else [])]
    return fold("Runs", table(["command", "ExactBloom", "RocksDB", "processor", "kernel"],
                              runs + [[f"`{run.command}`", "", "", "", ""] for run in growth], kind="text"))


def page(sweep, findings, plots):
    """The whole page. `plots` are those of reads, of times and of growth, by their names; what was not measured is left out."""
    body = [f"<h1>{text(findings.claim())}</h1>\n<p>{text(findings.terms(sweep))}</p>"]
    if "wasted_reads" in plots:
        body.append(figure("wasted_reads", "Wasted reads against memory", findings.of_memory(), plots["wasted_reads"],
                           "Markers are measured, with 99.9% intervals; lines are the exact prediction, and join the points where there is "
                           "none. A vertical line compares equal memory."))
        body.append(figure("lookup_time", "Time of a lookup against the time of a read", findings.of_time(), plots["lookup_time"],
                           f"At {findings.bits:g} bits per key. Shaded: the repeated runs, with the 99.9% intervals of the reads."))
    if "growth" in plots:
        body.append(figure("growth", "Wasted reads while the tree grows", findings.of_growth(), plots["growth"],
                           "Measured between the writes, while compactions go on."))
    if findings.choices():
        body.append("<h2>Which setting for me</h2>")
        body.append(table(CHOICE_COLUMNS, findings.choices(), CHOICE_NOTE, "text"))
    if sweep:
        body += [times_fold(findings), partitions_fold(sweep)]
    body.append(growth_fold(findings))
    if sweep:
        body += [sizing_fold(sweep.sizing), points_fold(sweep), method_fold(sweep)]
    body.append(runs_fold(sweep, findings.growth))
    return "\n".join(['<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
                      '<meta name="viewport" content="width=device-width, initial-scale=1">', "<title>Which filter, how many bits per key?</title>",
                      f"<style>{STYLE}{style_sheet(findings.labels())}</style><script>{SCRIPT}</script></head><body>",
                      *body, "</body></html>\n"])
