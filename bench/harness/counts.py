"""What is counted: by db_bench, by RocksDB's LOG, by `exactbloom inspect`, and by readamp. Measures are quotients of these."""
import json
import re

from support import UNUSABLE, WRONG_ANSWER, command_output, fail

JOBS = r'Flush lasted \d+ microseconds, and (\d+) cpu|"compaction_time_cpu_micros": (\d+)'


def by_db_bench(benchmark, printed, finds):
    """Of the last benchmark of a run. `finds`: whether it has to find all keys or none."""
    speed = re.search(rf"^{benchmark} +:.* ([0-9]+) ops/sec [0-9.]+ seconds [0-9]+ operations", printed, re.MULTILINE)
    found = re.search(rf"^{benchmark} .*\((\d+) of (\d+) found\)", printed, re.MULTILINE)
    percentiles = re.search(r"P50: ([0-9.]+) .*?P99: ([0-9.]+) P99.9: ([0-9.]+)", printed)
    ticker = {name: int(count) for name, count in re.findall(r"^rocksdb\.([\w.]+) COUNT : (\d+)", printed, re.MULTILINE)}
    if not speed or finds and not found:
        fail(UNUSABLE, f"db_bench printed no figures of {benchmark}: {printed.strip()[-300:]}")
    if finds and found[1] != {"none": "0", "all": found[2]}[finds]:
        fail(WRONG_ANSWER, f"no report, because {benchmark} found {found[1]} of {found[2]} keys where {finds} are there")
    counts = {"ops": int(speed[1])}
    if found:
        counts["lookups"] = int(found[2])
    if percentiles:
        counts |= zip(("p50", "p99", "p99.9"), map(float, percentiles.groups()))
    if ticker:
        reads = ticker["number.keys.read"] + ticker["number.multiget.keys.read"]
        counts |= {"lookups": reads or ticker["number.db.seek"], "blocks": ticker["block.cache.data.miss"],
                   "filter_blocks": ticker.get("block.cache.filter.miss", 0)}
        if reads:
            passed = ticker["bloom.filter.full.positive"]
            counts |= {"asked": ticker["bloom.filter.useful"] + passed, "wasted": passed - ticker["bloom.filter.full.true.positive"]}
    return counts


def by_load(printed):
    """Seconds that writing took, and those of them in which RocksDB let writes wait; known with --statistics."""
    written = re.search(r"^fill\w+ +:.* ([0-9.]+) seconds", printed, re.MULTILINE)
    stalled = re.search(r"^rocksdb\.stall\.micros COUNT : (\d+)", printed, re.MULTILINE)
    return {"write_seconds": float(written[1]), "stall_seconds": int(stalled[1]) / 1e6} if written and stalled else {}


def by_log(text):
    """Processor time of the flushes and compactions of a process."""
    micros = [int(flush or compaction) for flush, compaction in re.findall(JOBS, text)]
    return {"job_seconds": sum(micros) / 1e6} if micros else {}


def by_levels(printed):
    """Sums of what rewrite_filters prints of each level."""
    levels = re.findall(r"^.* \d+ (\d+) (\d+) (\d+) (\d+)$", printed, re.MULTILINE)
    return dict(zip(("tables", "entries", "table_bytes", "filter_bytes"), (sum(map(int, column)) for column in zip(*levels))))


def by_inspect(tool, path, limit):
    """Filter bytes and entries of all databases in a folder and of their column families, and wasted reads per lookup of an absent key.
    db_bench draws the family of a lookup as it draws that of a write, so a family counts as much as its share of the entries."""
    databases = [path] if (path / "CURRENT").exists() else sorted(entry for entry in path.iterdir() if entry.is_dir())
    found = [json.loads(command_output([tool, "inspect", "--json", database], limit)) for database in databases]
    wasted = sum(level["entries"] * answer["totals"]["wasted_reads"].get(level["column_family"], 0) for answer in found for level in answer["levels"])
    counts = {total: sum(answer["totals"][total] for answer in found) for total in ("filter_bytes", "entries")}
    if not counts["entries"]:
        fail(UNUSABLE, f"nothing of {path.name} was flushed; measure with more keys")
    return counts | {"predicted": wasted / counts["entries"]}


def by_readamp(policy, keys_stored, has_cache):
    """Of a policy in readamp's JSON, with one workload. Its interval is of keys that filters let pass; some of these reads a cache answers.
    Without a filter there is none."""
    counts = {"filter_bytes": policy["filter_bytes"], "entries": keys_stored}
    (workload, result), = policy["workloads"].items()
    if workload == "growth":
        loading = result["loading"]
        if loading["bits_per_key"]:
            counts["entries"] = 8 * policy["filter_bytes"] / loading["bits_per_key"]
        return counts | {"lookups": 1, "wasted": loading["wasted_reads_per_lookup"], "asked": loading["runs_asked"],
                         "over_optimum": loading["over_present_optimum"], "most_bits_per_key": result["most_bits_per_key"],
                         "points": [[point["keys_written"], 1000 * point["wasted_reads_per_lookup"]] for point in result["points"]]}
    predicted = result["predicted_wasted_reads"]
    return counts | {"lookups": result["lookups"], "wasted": result["wasted_reads"], "asked": result["filter_checks"]} | (
        {} if has_cache or not result["interval"] else {"wasted_interval": [end * result["absent_checks"] for end in result["interval"]]}) | (
            {} if predicted is None else {"predicted": predicted / result["lookups"]})
