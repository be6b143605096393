"""Figures as SVG, in a page or in files, that follow the reader's colour scheme."""

import html
import itertools
import math

# By the label of a policy: colour on white and on black, dashes, marker.
STYLES = {
    "bloomfilter": ("#b03a00", "#ff9d66", "", "square"),
    "classic_bloom": ("#0062a3", "#74bdf4", "8 4", "triangle"),
    "exactbloom ribbon=false": ("#00694a", "#57d3a6", "2 4", "diamond"),
    "ribbonfilter": ("#86349a", "#dda3ec", "11 4 2 4", "down"),
    "exactbloom": ("#111111", "#ffffff", "", "circle"),
}
OTHER_STYLES = [("#6d5200", "#e3c35c", "5 3", "square"), ("#4c5660", "#b4bec8", "1 3", "triangle")]
MARKERS = {
    "circle": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "square": "M-4-4h8v8h-8z",
    "triangle": "M0-5.5L5 4H-5z",
    "down": "M0 5.5L5-4H-5z",
    "diamond": "M0-6L5 0L0 6L-5 0z",
}
PAPER, INK, GRID = ("#ffffff", "#14171a"), ("#1c1f22", "#e8eaec"), ("#8a9097", "#7d858d")
LABEL_HEIGHT = 16


def style_of(label, labels):
    """The style of a label among those of the page."""
    others = [other for other in labels if other not in STYLES]
    return STYLES.get(label) or OTHER_STYLES[others.index(label) % len(OTHER_STYLES)]


def style_sheet(labels):
    """Colours by classes: p0, p1, ... are the policies, `grid` is for lines. A page and a figure alone have the same."""
    def rules(scheme):
        return "".join(f".p{i} {{ color: {style_of(label, labels)[scheme]}; }} " for i, label in enumerate(labels)) + (
            f".figure {{ color: {INK[scheme]}; }} .grid {{ color: {GRID[scheme]}; }} .paper {{ fill: {PAPER[scheme]}; }}")

    return (f".figure text {{ fill: currentColor; font: 13px system-ui, sans-serif; }} .figure .p {{ font-weight: 500; }}\n"
            f"{rules(0)}\n@media screen and (prefers-color-scheme: dark) {{ {rules(1)} }}\n")


class Axis:
    """Logarithmic, with its decades as ticks, if no ticks are given."""

    def __init__(self, title, low, high, ticks=None):
        self.title, self.scale = title, math.log10 if ticks is None else float
        self.low, self.high = self.scale(low), self.scale(high)
        decades = [10.0 ** i for i in range(math.floor(self.low), math.ceil(self.high) + 1)] if ticks is None else []
        self.ticks = [(value, f"{value:,.10g}") for value in ticks or decades if low <= value * 1.0001 and value <= high * 1.0001]

    def place(self, value):
        """Between 0 and 1 along the axis."""
        return (self.scale(value) - self.low) / (self.high - self.low)


class Plot:
    """One pair of axes with curves, whose names stand at their right ends."""

    def __init__(self, title, x, y, labels, width=500, height=350, heading=""):
        self.title, self.x, self.y, self.labels, self.heading = title, x, y, labels, heading
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = 52, width - 152, 44 if heading else 26, height - 44
        self.parts, self.ends = [], []

    def at_x(self, value):
        return self.left + self.x.place(value) * (self.right - self.left)

    def at_y(self, value):
        return self.bottom - self.y.place(value) * (self.bottom - self.top)

    def path(self, points):
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in ((self.at_x(x), self.at_y(y)) for x, y in points))

    def curve(self, label, name, line, markers=(), bars=()):
        """Points of a line, of markers, and (x, low, high) of bars."""
        _, _, dashes, marker = style_of(label, self.labels)
        width = 3 if label == "exactbloom" else 2
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        drawn = [f'<path class="curve" d="{self.path(line)}" fill="none" stroke="currentColor" stroke-width="{width}"{dashed}/>']
        drawn += [f'<path d="{self.path([(x, low), (x, high)])}" stroke="currentColor" stroke-width="1.5"/>' for x, low, high in bars]
        drawn += [f'<path class="marker" d="{MARKERS[marker]}" transform="translate({self.at_x(x):.1f} {self.at_y(y):.1f})" '
                  'fill="currentColor"/>' for x, y in markers]
        self.parts.append(f'<g class="p{self.labels.index(label)}">{"".join(drawn)}</g>')
        self.ends.append((self.at_x(line[-1][0]), self.at_y(line[-1][1]), label, name, marker))

    def names(self):
        """The names of the curves beside their ends, in the order of the ends, and moved apart."""
        ends = sorted(self.ends, key=lambda end: end[1])
        places = list(itertools.accumulate((end[1] for end in ends), lambda above, y: max(y, above + LABEL_HEIGHT)))
        # The lowest may not lie below the axis, and moves the others up.
        for i in reversed(range(len(places))):
            places[i] = min(places[i], self.bottom - LABEL_HEIGHT * (len(places) - 1 - i))
        return [f'<g class="p{self.labels.index(label)}"><path d="M{x + 6:.1f} {y:.1f}L{self.right + 12} {place:.1f}" '
                f'fill="none" stroke="currentColor" stroke-width=".8"/><path d="{MARKERS[marker]}" '
                f'transform="translate({self.right + 19} {place:.1f})" fill="currentColor"/>'
                f'<text class="p" x="{self.right + 28}" y="{place + 4:.1f}">{html.escape(name, quote=False)}</text></g>'
                for place, (x, y, label, name, marker) in zip(places, ends)]

    def axes(self):
        drawn = [f'<text class="p" x="2" y="13">{html.escape(self.heading)}</text>' if self.heading else "",
                 f'<text x="2" y="{self.top - 12}">{html.escape(self.y.title)}</text>',
                 f'<text x="{(self.left + self.right) / 2:.0f}" y="{self.height - 8}" text-anchor="middle">'
                 f"{html.escape(self.x.title)}</text>"]
        rows = [(self.at_y(value), text) for value, text in self.y.ticks]
        columns = [(self.at_x(value), text) for value, text in self.x.ticks]
        lines = [f"M{self.left} {y:.1f}H{self.right}" for y, _ in rows] + [f"M{x:.1f} {self.top}V{self.bottom}" for x, _ in columns]
        drawn += [f'<text x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>' for y, text in rows]
        drawn += [f'<text x="{x:.1f}" y="{self.bottom + 18}" text-anchor="middle">{text}</text>' for x, text in columns]
        return [f'<path class="grid" d="{"".join(lines)}" stroke="currentColor" stroke-width=".4" fill="none"/>',
                f'<path d="M{self.left} {self.top}V{self.bottom}H{self.right}" stroke="currentColor" fill="none"/>', *drawn]

    def svg(self, attributes=""):
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" viewBox="0 0 {self.width} {self.height}" '
                          f'role="img" aria-label="{html.escape(self.title)}"{attributes}>',
                          *self.axes(), *self.parts, *self.names(), "</svg>"])


def figure_file(plots, labels):
    """The plots beside each other as a file of their own, with a background, for documents."""
    width, height = sum(plot.width for plot in plots), max(plot.height for plot in plots)
    scale = 1.4 if len(plots) == 1 else 1
    inner = [plot.svg(f' x="{sum(left.width for left in plots[:i])}" width="{plot.width}" height="{plot.height}"')
             for i, plot in enumerate(plots)]
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 {width + 20} {height + 20}" '
                      f'width="{scale * (width + 20):.0f}" height="{scale * (height + 20):.0f}">', f"<style>\n{style_sheet(labels)}</style>",
                      f'<rect class="paper" x="-10" y="-10" width="{width + 20}" height="{height + 20}"/>', *inner, "</svg>\n"])
