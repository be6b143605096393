"""The pictures, as SVG without a background, in colours that are seen on white and on black. Needs Debian's python3-matplotlib."""
import math

import matplotlib
from matplotlib import pyplot
from tables import SHORT, by_policy, complete, curves, expected, least_gain, median, rounded

INK, BLOOM, RIBBON, OURS, GREEN, PURPLE, PINK, OLIVE = "#767d86", "#868c95", "#d9620d", "#1a7fd4", "#12967c", "#a066c8", "#c2478d", "#7f9a1f"
COLORS = dict(zip(SHORT, (BLOOM, RIBBON, OURS)))
STYLES = {"bloomfilter": ("RocksDB Bloom", BLOOM, "-"), "ribbonfilter": ("RocksDB Ribbon", RIBBON, "-"), "classic_bloom": ("classic_bloom", PURPLE, ":"),
          "exactbloom, ribbon=false": ("ExactBloom,\nribbon=false", GREEN, "--"), "exactbloom": ("ExactBloom", OURS, "-")}
# Trees of the first page, to which comes that of all trees in which ExactBloom gains the least over RocksDB's Ribbon filter.
FIRST_PAGE = {"buffer 4 MiB, base 16 MiB": "leveled, write buffers of 4 MiB", "buffer 4 MiB, universal": "universal",
              "default options": "leveled, default options", "default options, compacted": "one sorted run"}
matplotlib.use("svg")
# The same data give the same file, and text stays text.
matplotlib.rcParams.update({
    "figure.dpi": 72, "svg.fonttype": "none", "svg.hashsalt": "figures", "savefig.transparent": True, "font.size": 11, "lines.linewidth": 2,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25, "axes.titlesize": "medium", "axes.titlelocation": "left",
} | dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color", "grid.color"), INK))


def picture(file, title, height=3.4, panels=1, **axes):
    """A decorator: calls the function with the axes of a new picture, whose properties `axes` are, and writes the file."""
    def make(draw):
        figure, plots = pyplot.subplots(1, panels, figsize=(6, height), squeeze=False, sharey=True)
        figure.suptitle(title, x=0.02, ha="left", fontsize="medium")
        for plot in plots[0]:
            plot.set(**axes)
            plot.minorticks_off()
            for axis in (plot.xaxis, plot.yaxis):
                axis.set_major_formatter(lambda value, _: f"$10^{{{math.log10(value):.0f}}}$" if 0 < value < 0.001 else f"{value:,.9g}")
        draw(*plots[0])
        figure.tight_layout()
        for plot in plots[0]:
            label_ends(plot)
        figure.tight_layout()
        figure.savefig(file, metadata={"Date": None})
        file.write_text(file.read_text().replace("'DejaVu Sans'", "DejaVu Sans, Verdana, Arial, sans-serif"))
    return make


def label_ends(plot, gap=13):
    """Writes the labels of lines at their right ends, some points apart from each other."""
    ends, bottom = {}, -math.inf
    for line in (line for line in plot.lines if not line.get_label().startswith("_")):
        points = [(x, y) for x, y in line.get_xydata() if x <= plot.get_xlim()[1]]
        if points:  # a policy that wastes nothing has none on a logarithmic axis
            ends[line] = points[-1], plot.transData.transform(points[-1])[1]
    for line, (end, height) in sorted(ends.items(), key=lambda item: item[1][1]):
        bottom = max(height, bottom + gap)
        write(plot, end, line.get_label(), line.get_color(), (6, bottom - height), va="center")


def write(plot, place, text, color, offset, **how):
    plot.annotate(text, place, offset, textcoords="offset points", color=color, **how)


def bare(plot, *sides):
    plot.grid(visible=False, axis="y")
    plot.tick_params(axis="y", length=0)
    plot.spines[list(sides)].set_visible(False)


def draw_analysis(points, output):
    """Those of docs/theory.md, from lines of numbers by picture: bench/analysis_data.cc."""
    colors, kinds = {6: GREEN, 10: OURS, 16: PURPLE}, {"classic": ("-", 4), "standard": (":", 2)}

    def costs(bits, column):
        return list(zip(*((point[1], point[column]) for point in points["cost"] if point[0] == bits)))

    @picture(output / "probe_cost.svg", "false positives at the usual k above those at k*, in %", xlabel="bits of the filter", xscale="log",
             xlim=(12, 256), ylim=(0, 35), xticks=(16, 32, 64, 128, 256))
    def _(plot):
        for bits, color in colors.items():
            for style, column in kinds.values():
                plot.plot(*costs(bits, column), style, color=color)
            write(plot, list(zip(*costs(bits, 4)))[0], f"{bits} bits per key", color, (5, 0))
        plot.text(64, 20, "solid: classic\ndotted: standard")

    @picture(output / "rate_missed.svg", "exact rate above the usual formula, in %", xlabel="bits of the filter", xscale="log", yscale="log",
             xlim=(16, 1e5), ylim=(1e-3, 100))
    def _(plot):
        for kind, (style, column) in kinds.items():
            for bits, color in colors.items():
                plot.plot(*costs(bits, column + 1), style, color=color, label=f"{kind}, {bits} bits per key")

    @picture(output / "efficiency.svg", "efficiency by k; dotted: ln 2", panels=2, xlabel="keys in 256 bits", xscale="log", ylim=(0, 0.85))
    def _(*plots):
        for plot, kind, column in zip(plots, ("standard", "classic"), (2, 3)):
            plot.set_title(kind)
            plot.axhline(math.log(2), color=INK, linestyle=":")
            for k, color in zip((1, 2, 4, 8, 16, 32, 64), 2 * (OURS, GREEN, PURPLE, PINK, OLIVE)):
                curve = [(point[1], point[column]) for point in points["efficiency"] if point[0] == k]
                plot.plot(*zip(*curve), color=color)
                write(plot, max(curve, key=lambda point: point[1]), k, color, (0, 4), ha="center")

    @picture(output / "small_filters.svg", "rate over that of RocksDB's Ribbon filter in blocks of equal bytes", xlabel="keys", yscale="log", xlim=(17, 1000),
             ylim=(0.1, 4), yticks=(0.1, 0.25, 0.5, 1, 2, 4))
    def _(plot):
        plot.axhline(1, color=INK, linestyle=":")
        keys, *ratios = zip(*points["small"])
        for ratio, (bits, color) in zip(ratios, {4: GREEN, 10: OURS, 16: PURPLE}.items()):
            plot.plot(keys, ratio, color=color, linewidth=1, label=f"{bits} bits per key")

    for name, title in (("designs", "a million keys"), ("designs_small", "24 keys")):
        @picture(output / f"{name}.svg", f"false-positive rate of a filter of {title}", xlabel="bits per key", yscale="log", ylim=(3e-8, 1))
        def _(plot, name=name):
            bits, *rates = zip(*points[name])
            for rate, color, label in zip(rates, (OLIVE, PINK, GREEN, PURPLE, OURS, RIBBON, INK), (
                    "a set of hashes", "one array, one hash", None, None, "k arrays, standard,\nclassic", "Ribbon, about", "the bound")):
                plot.plot(bits, rate, color=color, label=label)


def draw_latency(view, output):
    """The 99th percentile of lookups of absent keys by tree and policy, on a line from the median to the 99.9th."""
    @picture(output / "latency.svg", "lookup of an absent key, us: from p50 to p99.9, p99 marked", height=4.4)
    def _(plot):
        ticks, height = {}, 1.0
        for (tree, _), rows in by_policy(view, "absent").items():
            plot.text(0, height, tree, weight="bold", va="bottom")
            for policy, color in COLORS.items():
                height -= 1
                least, p99, most = (median(rows[policy], percentile) for percentile in ("p50", "p99", "p99.9"))
                plot.plot([least, most], [height] * 2, "|-", color=color)
                plot.plot(p99, height, "o", color=color, markersize=9)
                write(plot, (p99, height), f"{p99:.1f}", color, (0, 6), ha="center", fontsize=10)
                ticks[height] = SHORT[policy]
            height -= 1.7
        plot.set_yticks(list(ticks), ticks.values())
        plot.set_ylim(height + 1.1, 1.6)
        bare(plot, "left")


def draw_report(view, output):
    """Wasted reads against memory, with what 10 bits per key waste; and while trees grow."""
    @picture(output / "wasted_reads.svg", "wasted reads in 1,000 lookups of absent keys", height=4, xlabel="bits per key of all filters", yscale="log")
    def _(plot):
        plot.axvline(10, color=INK, linestyle=":")
        for policy, by_bits in curves(view).items():
            (label, color, style), rows = STYLES.get(policy, (policy, PINK, "-")), [row for row in by_bits.values() if median(row)]
            bits, wasted = [median(row, "bits_per_key") for row in rows], [row["measures"]["wasted_reads"] for row in rows]
            bars = [[reads["median"] - reads["low"] for reads in wasted], [reads["high"] - reads["median"] for reads in wasted]]
            plot.plot(bits, list(map(expected, rows)), style, color=color, label=label)
            plot.errorbar(bits, [reads["median"] for reads in wasted], bars, fmt="o", markersize=4, linewidth=1, color=color, label="_")
            if style == "-" and 10 in by_bits:
                usual = median(by_bits[10], "bits_per_key"), median(by_bits[10])
                plot.plot(*usual, "o", markersize=9, color=color)
                offset, side = ((7, 5), "left") if policy == "bloomfilter" else ((-7, -14), "right")
                write(plot, usual, rounded(usual[1]), color, offset, weight="bold", ha=side)

    growing = by_policy(view, "growth")
    if not growing:
        return

    @picture(output / "growth.svg", "wasted reads in 1,000 lookups of absent keys while a tree grows", panels=len(growing), xlabel="million keys", yscale="log")
    def _(*plots):
        for plot, ((tree, _), rows) in zip(plots, growing.items()):
            plot.set_title(tree.removeprefix("growing, ").replace(", ", ",\n"))
            for policy, row in rows.items():
                label, color, style = STYLES.get(policy, (policy, PINK, "-"))
                plot.plot(*zip(*((keys / 1e6, reads) for keys, reads in row["points"])), style, color=color, label=label if plot is plots[-1] else None)


def draw_first_page(view, output):
    """Wasted reads of Bloom, Ribbon and ExactBloom, by tree."""
    reads = {tree: [median(rows[policy]) for policy in SHORT] for (tree, _), rows in complete(view, "absent").items()}
    worst = least_gain(view)
    tree, *families = worst.replace("families", "column families").split("; ")
    shown = FIRST_PAGE | {worst: f"{', '.join([FIRST_PAGE.get(tree, tree), *families])}: the least gain"}

    @picture(output / "first_page.svg", "wasted table reads in 1,000 lookups of absent keys, about 10 bits per key", height=4.8, xticks=(), yticks=())
    def _(plot):
        bare(plot, "left", "bottom")
        for i, (bloom, ribbon, ours) in enumerate(reads[tree] for tree in shown):
            plot.text(0, -4.2 * i, list(shown.values())[i], weight="bold", va="center")
            ratio = f": {bloom / ours:.0f}x fewer than Bloom, {ribbon / ours:.1f}x than Ribbon"
            for j, (value, name, more) in enumerate(((bloom, " RocksDB Bloom", ""), (ribbon, " RocksDB Ribbon", ""), (ours, " ExactBloom", ratio))):
                height, color = -4.2 * i - j - 0.9, list(COLORS.values())[j]
                plot.barh(height, value, 0.85, color=color)
                write(plot, (value, height), f"{value:.1f}{name * (i == 0)}{more}", color, (4, 0), va="center")
        plot.set_ylim(height - 0.6, 0.6)
