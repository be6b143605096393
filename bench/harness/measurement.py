"""Measures the cells of a plan: repetition by repetition, the policies in turns."""
import json
import os
import re
import shlex
import shutil
import sys
import time

from counts import by_db_bench, by_inspect, by_levels, by_load, by_log, by_readamp
from plan import LOAD, TREE, put_in
from support import UNUSABLE, command_output, fail
from summary import is_decided, rows_of

TRIAL = ", trial"
# A tree that is rewritten has Bloom filters of as many bits before: ExactBloom's division counts what the filters of other runs take,
# and those that have none not at all.
TREE_BITS = 10
TREE_POLICY = f"bloomfilter:{TREE_BITS}"
MOST_DEVIATION = 0.05  # of bits per key, where trees are the same
SEEDS_PER_REPETITION, SEED_OF_WORKLOADS = 1000, 500  # lookups are not in the order of the writes


def copy_database(source, path):
    """Tables are never changed, so links to them do, as in a checkpoint."""
    shutil.copytree(source, path, copy_function=lambda old, new: (os.link if old.endswith(".sst") else shutil.copy2)(old, new))


class Measurement:
    """Databases are in `folder` as long as something asks them. Trees that are rewritten stay there if a run is stopped."""

    def __init__(self, plan, journal, folder, programs):
        self.plan, self.journal, self.folder, self.programs = plan, journal, folder, programs
        self.loaded, self.last, self.seconds = {}, time.monotonic(), []

    def run(self):
        for tree in self.plan.trees:
            for repetition in range(tree.most):
                self.repeat(tree, repetition)
                if repetition + 1 >= tree.repetitions and is_decided(rows_of(self.plan, tree, self.journal)):
                    break
            self.remove_databases()

    def repeat(self, tree, repetition):
        turn = repetition % len(tree.policies)
        for workload in (LOAD, *tree.workloads):
            for name in tree.policies[turn:] + tree.policies[:turn]:
                self.cell(tree, workload, name, repetition)
        if not tree.keep:
            self.remove_databases()

    def cell(self, tree, workload, name, repetition):
        """The counts of a cell, measured now if they are not known."""
        if tree.keep and workload == LOAD:
            repetition = 0
        known = self.journal.get(tree.name, workload, name, repetition)
        if not known:
            self.say(tree, workload, name, repetition)
            if tree.readamp:
                self.run_readamp(tree, repetition)
            elif workload == LOAD:
                self.load(tree, name, repetition)
            else:
                self.ask(tree, workload, name, repetition)
            known = self.journal.get(tree.name, workload, name, repetition)
        return known["counts"]

    def load(self, tree, name, repetition):
        """Makes the database, and keeps it if workloads ask it. In trees without workloads the last process asks it."""
        setting, path = self.setting(tree, name, repetition), self.path(tree, name)
        shutil.rmtree(path, ignore_errors=True)
        if tree.rewritten:
            counts = self.rewrite(tree, setting, self.plan.policy(name.removesuffix(TRIAL)).get("bits"), repetition, path)
        else:
            counts = self.run_steps(tree, setting, repetition, path)
        if self.programs.tool:
            counts |= by_inspect(self.programs.tool, path, self.programs.limit)
        if tree.written:
            counts |= {"keys_written": self.plan.sizes[tree.written], "keys_handled": self.plan.sizes[tree.written]}
        self.add(tree, LOAD, name, repetition, setting, counts)
        if tree.workloads and not name.endswith(TRIAL):
            self.loaded[tree.name, name] = path
        else:
            shutil.rmtree(path)
        if tree.rewritten:
            self.check_bits(tree, name, repetition, counts)

    def run_steps(self, tree, setting, repetition, path):
        is_asked = not (tree.workloads or tree.written or tree.rewritten)
        for number, step in enumerate(tree.load, 1):
            counts = self.db_bench(tree, setting, path, step, ["--use_existing_db=1"] * (number > 1), SEEDS_PER_REPETITION * repetition + number,
                                   tree.workload.get("finds", "") if is_asked and number == len(tree.load) else None)
        return counts

    def rewrite(self, tree, setting, policy_bits, repetition, path):
        """The tree of the repetition with the filters of a policy."""
        repetition = 0 if tree.keep else repetition
        source = self.path(tree, TREE)
        if not self.journal.get(tree.name, LOAD, TREE, repetition):
            shutil.rmtree(source, ignore_errors=True)
            self.say(tree, LOAD, TREE, repetition)
            self.add(tree, LOAD, TREE, repetition, TREE_POLICY, self.run_steps(tree, TREE_POLICY, repetition, source))
        elif not source.exists():
            fail(UNUSABLE, f"the databases of {tree.name} are gone; begin --anew")
        self.loaded[tree.name, TREE] = source
        copy_database(source, path)
        if policy_bits not in (None, TREE_BITS):
            self.programs.db_bench.rewrite(f"bloomfilter:{policy_bits}", path, tree.options, tree.table, tree.database)
        printed, usage = self.programs.db_bench.rewrite(setting, path, tree.options, tree.table, tree.database)
        counts = by_levels(printed) | usage | by_log((path / "LOG").read_text(errors="replace"))
        return counts | {"keys_written": counts["entries"]}

    def check_bits(self, tree, name, repetition, counts):
        """Refuses filters that have more or fewer bits than was set, compared with those of the first policy or of the one they are like."""
        policy, first = self.plan.policy(name.removesuffix(TRIAL)), tree.policies[0]
        if name.endswith(TRIAL) or name == first or "like" not in policy and "bits" not in policy:
            return
        peer = self.cell(tree, LOAD, policy.get("like", first), repetition)
        wanted = 1 if "like" in policy else policy["bits"] / self.plan.policy(first).get("bits", policy["bits"])
        found = counts["filter_bytes"] / peer["filter_bytes"]
        if abs(found / wanted - 1) > MOST_DEVIATION:
            fail(UNUSABLE, f"{tree.name}: filters of {name} have {found:.3f} times the bits of their peer instead of {wanted:.3f}")

    def ask(self, tree, workload, name, repetition):
        """A workload on the database, or on a copy if it writes."""
        if (tree.name, name) not in self.loaded:
            self.load(tree, name, 0 if tree.keep else repetition)
        setting = self.journal.get(tree.name, LOAD, name, 0 if tree.keep else repetition)["setting"]
        path, described = self.loaded[tree.name, name], self.plan.workloads[workload]
        if described.get("copy"):
            path = path.with_name("copy")
            shutil.rmtree(path, ignore_errors=True)
            copy_database(self.loaded[tree.name, name], path)
        written = described.get("written")
        more = {"options": {"disable_auto_compactions": "true"} if tree.rewritten and not described.get("copy") else {}, "table": described.get("table", {})}
        counts = self.db_bench(tree, setting, path, described["run"], ["--use_existing_db=1"], SEEDS_PER_REPETITION * repetition + SEED_OF_WORKLOADS,
                               None if written else described.get("finds", ""), **more)
        counts |= {"keys_written": self.plan.sizes[written]} if written else {"keys_handled": counts.get("lookups")}
        if described.get("copy"):
            shutil.rmtree(path)
        self.add(tree, workload, name, repetition, setting, counts)

    def db_bench(self, tree, setting, path, step, more, seed, finds, options=None, table=None):
        """Runs a step, benchmarks and flags. With `finds` the last benchmark makes lookups, and its figures are counted."""
        benchmarks, *flags = step.split()
        printed, usage = self.programs.db_bench.run_policy(setting, path, benchmarks, [f"--seed={self.plan.seed + seed}", *tree.flags, *flags, *more],
                                                           tree.options | (options or {}), tree.table | (table or {}), tree.database)
        log = path / "LOG"
        counts = usage | by_load(printed) | (by_log(log.read_text(errors="replace")) if log.exists() else {})
        return counts if finds is None else counts | by_db_bench(benchmarks.split(",")[-1], printed, finds)

    def path(self, tree, name):
        return self.folder / re.sub("[^a-z0-9]+", "_", f"{tree.name} {name}".lower())

    def run_readamp(self, tree, repetition):
        """All policies in one process, which reports nothing if an answer was wrong."""
        settings = [self.readamp_setting(tree, name) for name in tree.policies]
        output = self.folder / "readamp.json"
        command_output([self.programs.readamp, f"--seed={self.plan.seed + repetition}", f"--directory={self.folder}", f"--json={output}", f"--policies={','.join(settings)}",
                        *shlex.split(tree.readamp)], self.programs.limit)
        found = json.loads(output.read_text())
        has_cache = found["settings"]["block_cache_bytes"] > 0
        for name, setting, policy in zip(tree.policies, settings, found["policies"]):
            tree_settings = {"keys_stored": found["keys_stored"]} | found["settings"]["tree"]
            self.add(tree, LOAD, name, repetition, policy["policy"], by_readamp(policy, found["keys_stored"], has_cache) | {"settings": tree_settings})

    def readamp_setting(self, tree, name):
        policy = self.plan.policy(name)
        return put_in(policy.get("readamp") or policy["setting"], tree.sizes)

    def setting(self, tree, name, repetition):
        """The text of a policy, with the bits that give it the bytes of another."""
        policy = self.plan.policy(name.removesuffix(TRIAL))
        text = put_in(policy["setting"], self.plan.sizes)
        if "like" not in policy:
            return text
        if name.endswith(TRIAL):
            return put_in(text, {"bits": policy["try"]})
        like = self.cell(tree, LOAD, policy["like"], repetition)
        bits = 8 * like["filter_bytes"] / like["entries"]
        if "try" in policy:
            tried = self.cell(tree, LOAD, name + TRIAL, 0)
            bits *= policy["try"] * tried["entries"] / (8 * tried["filter_bytes"])
        return put_in(text, {"bits": f"{bits:.3f}"})

    def add(self, tree, workload, name, repetition, setting, counts):
        self.seconds.append(time.monotonic() - self.last)
        self.last += self.seconds[-1]
        self.journal.add({"tree": tree.name, "workload": workload, "policy": name, "repetition": repetition, "setting": setting,
                          "seconds": round(self.seconds[-1], 2), "counts": counts})

    def remove_databases(self):
        for path in self.loaded.values():
            shutil.rmtree(path)
        self.loaded.clear()

    def say(self, tree, workload, name, repetition):
        """Which cell is measured, and how long the rest will take if its cells take as long as those so far."""
        cells = self.plan.cells()
        left = sum(self.journal.get(*cell) is None for cell in cells)
        minutes = sum(self.seconds) / max(len(self.seconds), 1) * left / 60
        where = f"{tree.name}, {workload}" if tree.workloads else tree.name
        text = f"{len(cells) - left + 1}/{len(cells)} {where}, repetition {repetition + 1}: {name}" + f"; {minutes:.0f} min to go" * bool(self.seconds)
        sys.stderr.write(f"\r\x1b[K{text[:100]}" if sys.stderr.isatty() else f"{text}\n")
        sys.stderr.flush()
