"""Medians and ratios of repetitions with their intervals: the rows of the results."""
import random
import statistics

from plan import LOAD

SAME, NARROW, SAMPLES = (0.97, 1.03), 0.06, 4000
# The range of five values holds the median with a probability of 94%, of six with 97%.
LEAST = 6


def interval(values):
    """Median and 95% interval of the median, by the bootstrap; of fewer than LEAST values the range."""
    if len(values) < LEAST:
        return statistics.median(values), min(values), max(values)
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(SAMPLES))
    return statistics.median(values), medians[SAMPLES // 40], medians[-1 - SAMPLES // 40]


def decides_nothing(low, high):
    return low <= 1 <= high and high - low >= NARROW


def ratio(values, peers):
    """Median of the ratios of pairs, its interval, and what it says. A range says nothing."""
    ratios = [value / peer for value, peer in zip(values, peers)]
    median, low, high = interval(ratios)
    if len(ratios) < LEAST:
        says = f"{median:.2f}, range {low:.2f} to {high:.2f}"
    elif SAME[0] <= low and high <= SAME[1]:
        says = "no difference (within 3%)"
    elif decides_nothing(low, high):
        says = f"{100 * (1 - low):.0f}% less to {100 * (high - 1):.0f}% more"
    else:
        says = f"{median:.2f} ({low:.2f} to {high:.2f})"
    return {"ratio": median, "low": low, "high": high, "says": says}


def shortest(times, of):
    """Of each `of` in a row, or all if there are fewer."""
    return [min(times[end - of:end]) for end in range(of, len(times) + 1, of)] or times


def values_of(measure, repetitions):
    """A measure of all repetitions; nothing if it was not counted."""
    per, times = measure.get("per"), measure.get("times", 1)
    if not all(measure["of"] in counts and (per is None or counts.get(per)) for counts in repetitions):
        return []
    return shortest([times * counts[measure["of"]] / (counts[per] if per else 1) for counts in repetitions], measure.get("shortest_of", 1))


def counted(plan, tree, workload, name, journal):
    """The cells of all repetitions, with what was counted when their database was loaded and with the sizes of the view."""
    cells = []
    while cell := journal.get(tree.name, workload, name, len(cells)):
        counts = dict(cell["counts"])
        loaded = journal.get(tree.name, LOAD, name, 0 if tree.keep else len(cells))
        if workload != LOAD and loaded:
            # What is predicted are the wasted reads of absent keys.
            of_load = ["filter_bytes", "entries", *["predicted"] * (plan.workloads[workload].get("finds") == "none")]
            counts |= {count: loaded["counts"][count] for count in of_load if count in loaded["counts"]}
        if less := plan.workloads.get(workload, {}).get("less"):
            base = journal.get(tree.name, less, name, len(cells))
            counts["seconds"] -= base["counts"]["seconds"]
        cells.append(cell | {"counts": {"budget": plan.sizes.get("budget")} | counts})
    return cells


def row(plan, tree, workload, name, cells):
    counts = [cell["counts"] for cell in cells]
    settings = {cell["setting"] for cell in cells}
    found = {"tree": tree.name, "workload": tree.workload["name"] if workload == LOAD else workload, "policy": name}
    found |= {"setting": settings.pop()} if len(settings) == 1 else {}
    found |= {"repetitions": len(cells)} | ({"bits": tree.bits} if tree.bits else {})
    found["measures"] = {}
    for measure in tree.measures:
        if values := values_of(plan.measures[measure], counts):
            found["measures"][measure] = dict(zip(("median", "low", "high"), interval(values)))
    last = counts[-1]
    if len(counts) == 1 and "wasted_interval" in last:
        found["measures"]["wasted_reads"] |= {end: 1000 * wasted / last["lookups"] for end, wasted in zip(("low", "high"), last["wasted_interval"])}
    return found | {part: last[part] for part in ("settings", "points") if part in last}


def peers_of(plan, name, names):
    """Those that a policy is compared with."""
    return [peer for peer, beginning in plan.over.items() if peer in names and name != peer and name.startswith(beginning)]


def rows_of(plan, tree, journal):
    """A row for each workload and policy, as far as they were measured."""
    rows = []
    for workload in tree.workloads or (LOAD,):
        if plan.workloads.get(workload, {}).get("hidden"):
            continue
        measured = {name: cells for name in tree.policies if (cells := counted(plan, tree, workload, name, journal))}
        for name, cells in measured.items():
            rows.append(row(plan, tree, workload, name, cells))
            for peer in peers_of(plan, name, measured):
                for measure in tree.measures:
                    pair = [values_of(plan.measures[measure], [cell["counts"] for cell in both]) for both in (cells, measured[peer])]
                    if all(pair):
                        rows[-1].setdefault("over", {}).setdefault(peer, {})[measure] = ratio(*pair)
    return rows


def is_decided(rows):
    return not any(decides_nothing(found["low"], found["high"])
                   for measured in rows for peers in measured.get("over", {}).values() for found in peers.values())
