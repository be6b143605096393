#!/usr/bin/env python3
"""Draws how efficient classic Bloom filters of 64 bits are, by their keys, with 1, 2, 4 and 8 probes each.

  efficiency_figure.py FIGURE.svg [EXACTBLOOM]

It is a figure of J. Burns, On Occupancy Moments and Bloom Filter Efficiency, 2019: each curve has a peak near half fill.
All numbers come from `exactbloom rate --json`.
"""
import json
import subprocess
import sys

BITS = 64
PROBES = {1: "#1f77b4", 2: "#ff7f0e", 4: "#2ca02c", 8: "#d62728"}
WIDTH, HEIGHT, MARGIN = 640, 400, 50

figure, tool = sys.argv[1], (sys.argv[2:] or ["exactbloom"])[0]


def rates(keys):
    """The efficiency by the number of probes."""
    command = [tool, "rate", "--m", str(BITS), "--n", str(keys), "--json"]
    answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {row["k"]: row["efficiency"] for row in answer["rates"]}


def place(keys, efficiency):
    x = MARGIN + (WIDTH - 2 * MARGIN) * keys / BITS
    y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * efficiency
    return f"{x:.1f},{y:.1f}"


curves = {probes: [] for probes in PROBES}
for keys in range(1, BITS + 1):
    by_probes = rates(keys)
    for probes in PROBES:
        if probes in by_probes:
            curves[probes].append((keys, by_probes[probes]))

shapes = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="13">',
          f'<polyline fill="none" stroke="black" points="{place(0, 1)} {place(0, 0)} {place(BITS, 0)}"/>',
          f'<text x="{WIDTH / 2}" y="{HEIGHT - 15}" text-anchor="middle">keys in {BITS} bits</text>',
          f'<text x="{MARGIN}" y="{MARGIN - 15}">efficiency, 0 to 1</text>']
for row, (probes, color) in enumerate(PROBES.items()):
    points = " ".join(place(*point) for point in curves[probes])
    keys, best = max(curves[probes], key=lambda point: point[1])
    shapes.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{points}"/>')
    shapes.append(f'<text x="{WIDTH - 3 * MARGIN}" y="{MARGIN + 18 * row}" fill="{color}">k = {probes}: {best:.4f} at {keys}</text>')
with open(figure, "w", encoding="utf-8") as file:
    file.write("\n".join(shapes + ["</svg>", ""]))
