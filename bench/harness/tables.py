"""Results on a terminal of 80 columns."""
import textwrap

WIDTH = 80


def rounded(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def spread(median, low=None, high=None):
    """By how much the farther end of an interval differs from the median."""
    far = 100 * max(high - median, median - low) / median if median and high is not None else 0
    return f" +-{far:.0f}%" if far >= 0.5 else ""


def conclusion(rows, concludes, titles):
    """Which measures of a policy lie outside the interval of its peer's."""
    ours, peer = (next((row["measures"] for row in rows if row["policy"] == concludes.get(which)), {}) for which in ("policy", "peer"))
    both = [(titles[measure], ours[measure], peer[measure]) for measure in concludes.get("of", []) if measure in ours.keys() & peer.keys()]
    said = [f"{title} {here['median'] / there['median']:#.2g}" for title, here, there in both
            if there["median"] and (here["low"] > there["high"] or here["high"] < there["low"])]
    return f"{concludes['policy']} over {concludes['peer']}: {', '.join(said) or 'no difference outside the intervals'}" if both else ""


def measured_lines(rows, titles):
    """A line for each policy, in as many blocks of columns as the width takes."""
    shown = [measure for measure in titles if any(measure in row["measures"] for row in rows)]
    columns = [[titles[measure], *(rounded(found["median"]) + spread(**found) if (found := row["measures"].get(measure)) else "-" for row in rows)]
               for measure in shown]
    names = ["", *(row["policy"] for row in rows)]
    while columns:
        lines, taken = [f"{name:{max(map(len, names))}}" for name in names], 0
        for column in columns:
            width = max(map(len, column)) + 2
            if taken and len(lines[0]) + width > WIDTH:
                break
            lines, taken = [line + f"{cell:>{width}}" for line, cell in zip(lines, column)], taken + 1
        columns = columns[taken:]
        yield from lines


def tables_of_measures(result, titles, plan):
    trees = {tree.name: tree for tree in plan.trees}
    for tree, workload in dict.fromkeys((row["tree"], row["workload"]) for row in result["rows"]):
        rows = [row for row in result["rows"] if (row["tree"], row["workload"]) == (tree, workload)]
        said = conclusion(rows, trees[tree].concludes, titles)
        shown = {measure: titles[measure] for measure in trees[tree].measures}
        yield "\n".join(["", *textwrap.wrap(f"{tree}, {workload}. {said}", WIDTH), *measured_lines(rows, shown)])


def tables_of_ratios(result, titles):
    """A table for each policy and peer."""
    values = {(row["tree"], row["workload"], row["policy"]): row["measures"] for row in result["rows"]}
    pairs = dict.fromkeys((row["policy"], peer) for row in result["rows"] for peer in row.get("over", {}))
    for policy, peer in pairs:
        yield f"\n{policy} over {peer}\n{'':34}{'peer':>8}{'times':>6}  ratio"
        for row in result["rows"]:
            for measure, found in (row.get("over", {}).get(peer, {}) if row["policy"] == policy else {}).items():
                name = f"{row['tree']}, {row['workload']}: {titles[measure]}" if row["workload"] != "load" else f"{row['tree']}: {titles[measure]}"
                value = values[row["tree"], row["workload"], peer][measure]["median"]
                yield f"{name:34}{rounded(value):>8}{row['repetitions']:6}  {found['says']}"


def text_of(result, plan):
    """The tables of a result file."""
    of = result.get("input") or f"{result['sizes']['keys']:,} keys"
    head = f"{plan.title}. {of}; RocksDB {result['versions']['rocksdb']}; {result['commit']}, {result['date']}"
    titles = {measure: described["title"] for measure, described in plan.measures.items()}
    parts = tables_of_ratios(result, titles) if plan.over else tables_of_measures(result, titles, plan)
    return "\n".join([*textwrap.wrap(head, WIDTH), *parts])
