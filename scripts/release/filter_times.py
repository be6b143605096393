#!/usr/bin/env python3
"""Times of filter_benchmark: the rows of docs/figures/bench.jsonl, and a table of ratios to RocksDB's filters in the same run.

  scripts/release/filter_times.py FILE     prints the table of the run whose --benchmark_out is FILE
"""
import json
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "report"))
sys.dont_write_bytecode = True
from results import markdown_table  # noqa: E402

PEERS = {"bloomfilter:10": "Bloom", "ribbonfilter:{equal_bytes}": "Ribbon"}


def rows_of(run):
    """A row for each benchmark, with the nanoseconds per key of its repetitions, by Google Benchmark's JSON."""
    rows = {}
    for result in sorted(run["benchmarks"], key=lambda result: result["family_index"]):
        if result["run_type"] == "iteration":
            operation, policy, keys = result["run_name"].split("/")
            row = rows.setdefault(result["run_name"], {"operation": operation, "policy": policy, "keys": int(keys), "ns": []})
            row["ns"].append(round(result["cpu_time"], 2))
            if operation == "build":
                row["rate"] = float(f"{result['false_positive_rate']:.4g}")
    return list(rows.values())


def ratio(ours, peer):
    """Median and middle half of the ratios of any two repetitions."""
    low, median, high = statistics.quantiles([a / b for a in ours for b in peer], n=4)
    return f"{median:.2f} ({low:.2f}-{high:.2f})"


def ratio_table(rows):
    """The peers' times, and ratios of each other policy to both, of what was measured of all."""
    found = {}
    for row in rows:
        found.setdefault((row["operation"], row["keys"]), {})[row["policy"]] = row
    policies = [policy for policy in dict.fromkeys(row["policy"] for row in rows) if policy not in PEERS]
    lines = []
    for (operation, keys), measured in found.items():
        if len(measured) < len(policies) + len(PEERS):
            continue
        peers, ours = ([measured[policy] for policy in names] for names in (PEERS, policies))
        name = operation.replace("_200_filters", ", 200 filters in turns").replace("_batch", ", batches of 32")
        lines.append([f"{name}, {keys:,} keys", *(f"{statistics.median(peer['ns']):.1f} ns" for peer in peers),
                      *(ratio(row["ns"], peer["ns"]) for row in ours for peer in peers)])
        if operation == "build":
            lines.append([f"false-positive rate, {keys:,} keys", *(f"{100 * peer['rate']:.3f}%" for peer in peers),
                          *(f"{row['rate'] / peer['rate']:.2f}" for row in ours for peer in peers)])
    return markdown_table(["", *PEERS.values(), *(f"`{policy}` / {peer}" for policy in policies for peer in PEERS.values())], lines)


if __name__ == "__main__":
    print(ratio_table(rows_of(json.loads(pathlib.Path(sys.argv[1]).read_text()))))
