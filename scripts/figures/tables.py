"""The tables of the documents, as Markdown, each from results of docs/figures/measured: bench/README.md describes them."""
import math
import statistics
import textwrap

BLOOM, RIBBON, OURS = "bloomfilter:10", "ribbonfilter, equal bytes", "exactbloom:10"
SHORT = {BLOOM: "Bloom", RIBBON: "Ribbon", OURS: "ExactBloom"}
# Of the view costs: what is measured where.
COSTS = {"flush, us per key": ("flush", "load", "jobs_us"), "compaction, us per key": ("compaction", "compact", "jobs_us"),
         "load, us per key": ("load", "load", "process_us"), "its flushes and compactions, us per key": ("load", "load", "jobs_us"),
         "bits per key after it": ("load", "load", "bits_per_key"), "wasted reads in 1,000 lookups after it": ("load", "load", "predicted"),
         "load while 40 MB/s may be flushed and compacted, elapsed, us per key": ("load, 40 MB/s", "load", "write_us"),
         "of it stalled, us per key": ("load, 40 MB/s", "load", "stall_us"),
         "Get of an absent key in memory, us": ("six runs", "absent", "process_us"), "Get of a present key in memory, us": ("six runs", "present", "process_us"),
         "MultiGet of 32 present keys, us per key": ("six runs", "batch", "process_us"), "memory, MiB": ("memory", "load", "memory_mib")}


def table(columns, rows):
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [columns, ["---"] * len(columns), *rows])


def wrapped(text, indent=""):
    return textwrap.fill(text, 128, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def rounded(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def median(row, measure="wasted_reads"):
    return row["measures"][measure]["median"]


def ranged(row, measure="wasted_reads", text=rounded):
    """The median, and where repetitions differ their interval."""
    found = row["measures"][measure]
    return text(found["median"]) + f" ({text(found['low'])} to {text(found['high'])})" * (found["low"] != found["high"])


def ends(values):
    """The least and the largest of figures, as a range where they differ."""
    ordered = sorted(values)
    return " to ".join(dict.fromkeys(f"{value:.1f}" for value in (ordered[0], ordered[-1])))


def build_of(view):
    """Version, compiler and flags of the RocksDB that was measured."""
    return f"RocksDB {view['versions']['rocksdb']}" + (f", {view['build']}, {view['versions']['compiler']}" if "build" in view else "")


def share_of(row, peer):
    share = median(row) / median(peer)
    return f"{100 * share:.{0 if share >= 0.1 else 1}f}%"


def grouped(rows, key, name):
    """Rows by the value of `name`, by key, in the order of the results."""
    found = {}
    for row in rows:
        found.setdefault(key(row), {})[row[name]] = row
    return found


def by_policy(view, workload=None):
    """Rows by policy, by tree and workload."""
    return grouped((row for row in view["rows"] if workload in (None, row["workload"])), lambda row: (row["tree"], row["workload"]), "policy")


def complete(view, workload=None):
    """As by_policy, of the trees that Bloom, Ribbon and ExactBloom share."""
    return {key: rows for key, rows in by_policy(view, workload).items() if SHORT.keys() <= rows.keys()}


def curves(view):
    """Rows of the settled trees by the bits per key of the setting, by policy."""
    return grouped((row for row in view["rows"] if row["workload"] == "absent"), lambda row: row["policy"], "bits")


def expected(row):
    """Wasted reads by the exact rates, or those counted where there is no exact theory."""
    return median(row, "predicted" if "predicted" in row["measures"] else "wasted_reads")


def bench(view):
    """Times of RocksDB's filters, and ratios to them: median and middle half of the ratios of any two repetitions."""
    peers, lines = {BLOOM: "Bloom", "ribbonfilter:{equal_bytes}": "Ribbon"}, []
    pairs = [(row["policy"], peer) for row in view["rows"] if row["policy"] not in peers and row["operation"] == "absent" for peer in peers]

    def ratio(ours, peer):
        low, middle, high = statistics.quantiles([a / b for a in ours["ns"] for b in peer["ns"]], n=4)
        return f"{middle:.2f} ({low:.2f}-{high:.2f})"

    for (operation, keys), rows in grouped(view["rows"], lambda row: (row["operation"], row["keys"]), "policy").items():
        name = operation.replace("_200_filters", ", 200 filters in turns").replace("_batch", ", batches of 32")
        lines.append([f"{name}, {keys:,} keys", *(f"{statistics.median(rows[peer]['ns']):.1f} ns" for peer in peers),
                      *(ratio(rows[policy], rows[peer]) for policy, peer in pairs)])
        if operation == "build":
            rates = {policy: row["false_positive_rate"] for policy, row in rows.items()}
            lines.append([f"false-positive rate, {keys:,} keys", *(f"{100 * rates[peer]:.3f}%" for peer in peers),
                          *(f"{rates[policy] / rates[peer]:.2f}" for policy, peer in pairs)])
    return wrapped(f"{view['machine']}; {view['date']}:") + "\n\n" + table(
        ["", *peers.values(), *(f"`{policy}` / {peers[peer]}" for policy, peer in pairs)], lines)


def costs(view):
    """Rows are figures, columns policies and their peers."""
    found, lines = by_policy(view), []
    for title, (tree, workload, measure) in COSTS.items():
        bloom, *others = found[tree, workload].values()
        columns = {(row["policy"], peer): says[measure]["says"] for row in others for peer, says in row["over"].items()}
        lines.append([title, f"{median(bloom, measure):.3g}", *columns.values()])
    return wrapped(f"{build_of(view)}; {view['machine']}; {view['date']}; `{view['command']}`:") + "\n\n" + table(
        ["", f"`{BLOOM}`", *(f"`{policy}`" + f" over `{peer}`" * (peer != BLOOM) for policy, peer in columns)], lines)


def latency(view):
    """By tree and workload: percentiles and the data blocks read, with the conclusion above."""
    found = complete(view)
    p99 = {policy: ends(median(rows[policy], "p99") for rows in by_policy(view, "absent").values()) for policy in SHORT}
    blocks = [median(rows[OURS], "blocks") / median(rows[BLOOM], "blocks") for (_, workload), rows in found.items() if not workload.startswith("absent")]
    return wrapped(
        f"**The 99th percentile of lookups of absent keys is {p99[OURS]} us; with RocksDB's Bloom filter it is {p99[BLOOM]} us, with its Ribbon "
        f"filter of equal bytes {p99[RIBBON]} us.** The percentile is a read from the disk where more than one in a hundred lookups reads a block in "
        f"vain, and a check of filters where fewer do. Where keys are present, nearly all reads are of blocks that hold the key: {min(blocks):.2f} "
        f"to {max(blocks):.2f} of the Bloom filter's data blocks are read.") + "\n\n" + table(
        ["tree, lookups", *(f"p50 / p99 / p99.9, us, {kind}" for kind in SHORT.values()),
         *(f"{name}, {kind}" for name in ("blocks read", "in vain") for kind in SHORT.values()), "operations/s over Bloom", "over Ribbon"],
        [[f"{tree}, {workload}", *(" / ".join(ranged(rows[policy], part) for part in ("p50", "p99", "p99.9")) for policy in SHORT),
          *(rounded(median(rows[policy], measure)) for measure in ("blocks", "wasted_reads") for policy in SHORT),
          *(f"{median(rows[OURS], 'ops') / median(rows[peer], 'ops'):.2f}" for peer in (BLOOM, RIBBON))] for (tree, workload), rows in found.items()])


def mostly_found(view):
    """Where 99% of the keys are found."""
    return table(["filters", "MiB of filters", "data blocks read in 1,000 lookups", "in vain", "operations/s"],
                 [[f"`{policy}`", rounded(median(row, "filter_mib")), *(ranged(row, measure, "{:,.1f}".format) for measure in ("blocks", "wasted_reads")),
                   ranged(row, "ops")] for policy, row in by_policy(view)["leveled, 99%", "found"].items()])


def experiments(view):
    """Wasted reads by tree, filters asked, and the bits per key that exactbloom took."""
    return table(["tree", "filters asked per lookup", f"`{BLOOM}`", "`ribbonfilter` of equal bytes", f"`{OURS}`", "bits per key of `exactbloom`"],
                 [[tree, f"{median(rows[OURS], 'asked'):.1f}", *(ranged(rows[policy], text="{:.1f}".format) for policy in SHORT),
                   f"{median(rows[OURS], 'bits_per_key'):.2f}"] for (tree, workload), rows in by_policy(view).items() if OURS in rows and workload != "seek"])


def seeks(view):
    """Data blocks that seeks by prefix read, all from the disk."""
    return table(["tree", *(f"blocks read in 1,000 seeks, {kind}" for kind in SHORT.values()), "bits per entry of ExactBloom"],
                 [[tree, *(f"{median(rows[policy], 'blocks'):,.0f}" for policy in SHORT), f"{median(rows[OURS], 'bits_per_key'):.2f}"]
                  for (tree, _), rows in by_policy(view, "seek").items()])


def scale(view):
    """A large tree, and what follows for a terabyte of such entries."""
    rows = {workload: rows for (_, workload), rows in by_policy(view).items()}
    ours = rows["load"][OURS]
    entries = 1e12 / median(ours, "bytes_per_key")
    lines = [[title, *(ranged(rows[workload][policy], measure) for policy in SHORT)] for title, workload, measure in (
        ("million entries", "load", "million_entries"), ("bits per key", "load", "bits_per_key"), ("MiB of filters", "load", "filter_mib"),
        ("rewriting all filters, GB of tables per minute", "load", "rewritten_gb"), ("... processor time, us per key", "load", "jobs_us"),
        ("... memory of the process, MiB", "load", "memory_mib"), ("Gets of absent keys in memory, per second", "absent", "ops"),
        ("... wasted table reads in 1,000", "absent", "wasted_reads"), ("Gets of present keys in memory, per second", "present", "ops"),
        ("... wasted table reads in 1,000", "present", "wasted_reads"))]
    return wrapped(f"Measured: {build_of(view)}; {view['machine']}; {view['date']}:") + "\n\n" + table(["", *SHORT.values()], lines) + "\n\n" + wrapped(
        f"Calculated for a terabyte of such entries, {entries / 1e9:.1f} billion: {entries * median(ours, 'bits_per_key') / 8e9:.1f} GB of filters, which "
        f"are rewritten in {1000 / median(ours, 'rewritten_gb') / 60:.1f} hours.")


def gain(small, bits_view):
    """Wasted reads in the tree of the first page and in the worst one, and the memory that saves none."""
    worst, needs = least_gain(small), bits_needed(bits_view)
    lines = [[title, *(rounded(median(complete(small)[tree, "absent"][policy])) for policy in SHORT)] for title, tree in (
        ("leveled", "buffer 4 MiB, base 16 MiB"),
        (f"{worst.replace(';', ',').replace('families', 'column families')}: the least gain over Ribbon of all trees", worst))]
    lines.append(["bits per key for as few as Bloom filters with 10", "10", *(f"{needs[policy]:.1f}" for policy in ("ribbonfilter", "exactbloom"))])
    return table(["wasted table reads in 1,000 lookups of absent keys", *(f"RocksDB {name}" for name in list(SHORT.values())[:2]), "ExactBloom"], lines)


def price(large, costs_view):
    """Ratios of speed and costs to those with the Bloom filter."""
    workloads = complete(large)

    def speed(key, policy, end="median", of_bloom="median"):
        return workloads[key][policy]["measures"]["ops"][end] / workloads[key][BLOOM]["measures"]["ops"][of_bloom]

    peers, absent = (RIBBON, OURS), ("leveled", "absent")
    slowest = [min(workloads, key=lambda key, policy=policy: speed(key, policy)) for policy in peers]
    # Any pair of repetitions lies in these ranges.
    lines = [["absent lookups per second", *(f"{speed(absent, policy):.2f} ({speed(absent, policy, 'low', 'high'):.2f} to "
                                              f"{speed(absent, policy, 'high', 'low'):.2f})" for policy in peers)],
             [f"the slowest of {len(workloads)} workloads", *(f"{speed(key, policy):.2f} ({', '.join(key)})" for key, policy in zip(slowest, peers))]]
    for title, name in (("processor time of loads", "load, us per key"), ("... flushes", "flush, us per key"), ("... compactions", "compaction, us per key"),
                        ("... absent Gets in memory", "Get of an absent key in memory, us"), ("memory while a large table is built", "memory, MiB")):
        tree, workload, measure = COSTS[name]
        ribbon, ours = (by_policy(costs_view)[tree, workload][policy]["over"][BLOOM][measure] for policy in ("ribbonfilter, 10 bits", OURS))
        lines.append([title, f"{ribbon['ratio']:.2f}", f"{ours['ratio']:.2f} ({ours['low']:.2f} to {ours['high']:.2f})"])
    return table(["over RocksDB's Bloom filter", "RocksDB Ribbon", "ExactBloom"], lines)


def least_gain(view):
    """The tree in which ExactBloom saves the smallest part of the reads that RocksDB's Ribbon filter wastes."""
    reads = complete(view, "absent")
    return min(reads, key=lambda key: median(reads[key][RIBBON]) / median(reads[key][OURS]))[0]


def growth(view):
    """Of each policy in growing trees, relative to the first. readamp knows no optimum with RocksDB's Ribbon filters."""
    lines = []
    for (tree, _), (base, *others) in ((key, rows.values()) for key, rows in by_policy(view, "growth").items()):
        for row in others:
            of_first = median(row) / median(base)
            lines.append([tree.removeprefix("growing, "), f"`{row['policy']}`", f"{of_first:.2f}", ranged(row), f"{of_first * median(base, 'asked') / median(row, 'asked'):.2f}",
                          "-" if row["policy"] == "ribbonfilter" else f"{median(row, 'over_optimum'):.2f}", f"{median(row, 'bits_per_key'):.2f}",
                          f"{median(row, 'most_bits_per_key'):.2f}"])
    return table(["tree", "policy", f"of `{BLOOM}`", "wasted in 1,000", "per run", "over the best", "bits per key, mean", "largest"], lines)


def bits_for(rows, reads):
    """The bits per key for so many wasted reads, interpolated by logarithms."""
    [(more, fewer)] = [pair for pair in zip(rows, rows[1:]) if expected(pair[0]) >= reads > expected(pair[1])]
    share = math.log(expected(more) / reads) / math.log(expected(more) / expected(fewer))
    return median(more, "bits_per_key") + share * (median(fewer, "bits_per_key") - median(more, "bits_per_key"))


def bits_needed(view):
    """The bits per key that waste as few reads as RocksDB's Bloom filter with 10 bits per key."""
    found = curves(view)
    return {policy: bits_for(list(found[policy].values()), expected(found["bloomfilter"][10])) for policy in ("exactbloom", "ribbonfilter")}


def report(view):
    """The claim, the settings, and what follows from the curves."""
    found = curves(view)
    ours, bloom = found["exactbloom"][10], found["bloomfilter"][10]
    tree, needs = ours["settings"], bits_needed(view)
    shares = ", ".join(f"{share_of(rows['exactbloom'], rows['bloomfilter'])} ({tree.removeprefix('growing, ')})"
                       for (tree, _), rows in by_policy(view, "growth").items())
    return "\n".join([
        wrapped(f"**At 10 bits per key, ExactBloom's recommended setting wastes {math.floor(median(bloom) / median(ours))} times fewer reads than RocksDB's "
                f"Bloom filter: {rounded(median(ours))} instead of {rounded(median(bloom))} in 1,000 lookups of absent keys.** Recommended: "
                f"`filter_policy={ours['setting']}` and `listeners=exactbloom_tree`. {tree['keys_stored']:,} keys in {tree['sorted_runs']} sorted runs, "
                f"each {tree['size_ratio']} times as large as the one before; RocksDB {view['versions']['rocksdb']}."), "",
        table(["memory", "purpose", "`filter_policy=`", "bits per key", "wasted reads in 1,000 lookups", "of RocksDB's Bloom"],
              [[f"{memory}: {bits} bits per key", purpose, f"`{row['setting']}`", f"{median(row, 'bits_per_key'):.2f}", rounded(median(row)),
                share_of(row, found["bloomfilter"][bits])] for bits, memory in ((6, "tight"), (10, "usual"), (16, "plenty")) for policy, purpose in (
                    ("exactbloom", "data larger than memory"), ("exactbloom, ribbon=false", "cheap filter builds"), ("ribbonfilter", "no library"),
                    ("bloomfilter", "all data in memory"))
               for row in [found[policy][bits]]]), "",
        wrapped(f"- Bits per key at which filters waste as few reads as RocksDB's Bloom filter with 10 bits per key: recommended {needs['exactbloom']:.1f}, "
                f"RocksDB's Ribbon {needs['ribbonfilter']:.1f}.", "  "),
        wrapped(f"- Wasted reads of the recommended setting while a tree grows, relative to RocksDB's Bloom filter: {shares}.", "  ")])


def oxigraph(view):
    """The program alone, and with the preloaded object."""
    def cells(alone, preloaded, name, digits):
        return [f"{alone[name]:,.{digits}f}", f"{preloaded[name]:,.{digits}f}", f"{round(100 * (1 - preloaded[name] / alone[name]))}%"]

    return table(["operation", "read calls, program alone", "preloaded", "saved", "MiB read, program alone", "preloaded", "saved"],
                 [[program.removeprefix("oxigraph ").removeprefix("query: "), *cells(*rows.values(), "reads", 0), *cells(*rows.values(), "mib", 1)]
                  for program, rows in grouped(view["rows"], lambda row: row["program"], "policy").items()])


def kvrocks(view):
    """Wasted reads beside all data blocks that were read."""
    results, counts = view["results"], ("wasted_reads", "data_blocks_read")
    lines = [[kind, *(f"{1000 * result['counts'][kind][count] / result['counts'][kind]['lookups']:.1f}" for count in counts for result in results)]
             for kind in results[0]["counts"]]
    for title, text in (("GET, predicted", lambda result: f"{1000 * result['predicted_wasted_reads']['metadata']:.1f}"),
                        ("filters asked per GET", lambda result: f"{result['tables_asked']['metadata']:.1f}"),
                        ("KiB of filters", lambda result: f"{result['filter_bytes'] / 1024:,.0f}")):
        lines.append([title, *map(text, results), *["-"] * len(results)])
    return table(["lookups", *(f"{count.replace('_', ' ')}, " + (f"`{result['policy']}`" if result["policy"] else result["name"])
                               for count in counts for result in results)], lines)


def randomised_p_value(sample):
    """As RandomisedPValue of tests/filter/statistics.cc, from a row of reliability.csv: near 0 where false positives are too few."""
    count, trials = int(sample["false_positives"]), int(sample["absent"])
    rate, excess = float(sample["rate"]), float(sample["dispersion"]) - 1
    weight = (trials - 1) / excess - 1 if excess >= 1e-6 and trials >= 2 else None

    def ratio(successes):
        """P(successes + 1) / P(successes), binomial or beta-binomial."""
        choices = (trials - successes) / (successes + 1)
        if weight is None:
            return choices * rate / (1 - rate)
        return choices * (rate * weight + successes) / ((1 - rate) * weight + trials - successes - 1)

    fewer, more, term, at = 0.0, 0.0, 1.0, count
    while at > 0 and term > 1e-17 * (1 + fewer):
        at -= 1
        term /= ratio(at)
        fewer += term
    term, at = 1.0, count
    while at < trials and term > 1e-17 * (1 + more):
        term *= ratio(at)
        at += 1
        more += term
    return (fewer + float(sample["lot"])) / (fewer + 1 + more)


def anderson_darling(p_values):
    ordered = sorted(p_values)
    count = len(ordered)
    return -count - sum((2 * i + 1) * (math.log(ordered[i]) + math.log1p(-ordered[-1 - i])) for i in range(count)) / count


def rate_tests(samples):
    """The sums and the statistic of each test of reliability.csv."""
    tests = {}
    for sample in samples:
        tests.setdefault(sample["test"], []).append(sample)
    sums = ("present", "found", "absent", "false_positives")
    return [{"name": name, "samples": len(rows), **{column: sum(int(row[column]) for row in rows) for column in sums},
             "expected": sum(float(row["rate"]) * int(row["absent"]) for row in rows),
             "anderson_darling": anderson_darling(map(randomised_p_value, rows))} for name, rows in tests.items()]


def reliability(samples):
    return table(["test", "samples", "present keys", "denied", "absent keys", "false positives", "expected", "Anderson-Darling, at most 8.1"],
                 [[f"`{test['name']}`", f"{test['samples']}", f"{test['present']:,}", f"{test['present'] - test['found']}", f"{test['absent']:,}",
                   f"{test['false_positives']:,}", f"{test['expected']:,.0f}", f"{test['anderson_darling']:.1f}"] for test in rate_tests(samples)])
