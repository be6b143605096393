"""Reads views.toml: what a view measures, with its sizes put in."""
import re
import shlex
import tomllib
from types import SimpleNamespace

from support import ROOT, UNUSABLE, fail

LOAD, AGAIN = "load", ", again"
TREE = "the tree"  # in the place of a policy: what is rewritten for each policy
SET_BY_VIEW = {"--workloads", "--policies", "--seed", "--directory", "--json"}  # options of readamp
UNSET = {"options": [], "flags": "", "table": {}, "database": {}, "workload": {"name": LOAD}, "workloads": [], "load": [], "readamp": "",
         "keep": False, "rewritten": False, "written": "", "concludes": {}, "bits": None}


def put_in(text, sizes):
    """Replaces {name} by the size of that name, and leaves others alone."""
    return re.sub(r"\{(\w+)\}", lambda found: str(sizes.get(found[1], found[0])), text)


def within(outer, inner):
    """What is said inside replaces what is said outside, except that options and words of command lines are added."""
    return outer | inner | {"options": outer["options"] + inner.get("options", [])} | {
        words: f"{outer[words]} {inner.get(words, '')}".strip() for words in ("flags", "readamp")}


def words_of(given_input):
    """The words of --input, which may not set what the view does: readamp would take both."""
    try:
        words = shlex.split(given_input)
    except ValueError as problem:
        fail(UNUSABLE, f"--input {given_input}: {problem}")
    if taken := SET_BY_VIEW & {word.partition("=")[0] for word in words}:
        fail(UNUSABLE, f"--input has {taken.pop()}, which the view sets")
    return words


def names(words, name):
    """Whether words are in a name, and no parts of longer ones: 6 bits are not 16 bits."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)" if words else "", name)


class Plan:
    """A view: its sizes, its policies by name, and its trees in their order. Options of views.toml say what is in a tree, those of its
    group and of the view what they have in common."""

    def __init__(self, name, scale=1.0, replaced=None, policies=None, repetitions=None, most=None, again=False, only=None, given_input=None, seed=1):
        self.data = tomllib.loads((ROOT / "bench/harness/views.toml").read_text())
        view = self.data["views"][name]
        self.name, self.title, self.directory = name, view["title"], view.get("directory", "build")
        self.measures, self.policies, self.over = self.data["measures"], self.data["policies"], view.get("over", {})
        replaced = replaced or {}
        if unknown := replaced.keys() - view["sizes"].keys():
            fail(UNUSABLE, f"{name} has no size {unknown.pop()}; it has {', '.join(view['sizes'])}")
        self.sizes = {size: value if size == "seconds" else max(1, round(value * scale)) for size, value in view["sizes"].items()} | replaced
        self.repetitions, self.most, self.seed = repetitions, most, seed
        self.again, self.chosen = again or view.get("again", False), policies
        if policies:
            self.policies = {policy: {"setting": policy} for policy in policies} | self.policies
            self.over = {policies[0]: ""} if self.over else {}
        self.workloads = {workload: described | {"run": put_in(described["run"], self.sizes)}
                          for workload, described in view.get("workloads", {}).items()}
        self.input_words = words_of(given_input or "")
        self.input = given_input or view.get("input", "")
        outer = UNSET | {key: value for key, value in view.items() if key in UNSET or key in ("policies", "repetitions", "measures")} | {
            "workloads": [], "most": view.get("most", 0)}
        self.trees = [tree for group in view["groups"].values() for tree in self.trees_of(group, view["groups"], outer)
                      if any(names(words, tree.name) for words in only or [""])]
        if not self.trees:
            fail(UNUSABLE, f"{name} has no such tree")

    def trees_of(self, group, groups, outer):
        inner = {key: value for key, value in group.items() if key not in ("trees", "trees_of", "first", "variants")}
        trees = group.get("trees") or groups[group["trees_of"]]["trees"][:group["first"]]
        for variant, flags in group.get("variants", {"": ""}).items():
            for tree in trees:
                for bits in tree.get("bits", [None]):
                    found = within(within(within(outer, inner), tree), {"flags": flags, "bits": bits})
                    yield self.tree(found, variant)

    def tree(self, described, variant):
        sizes = self.sizes | ({"bits": described["bits"]} if described["bits"] else {})
        tree = SimpleNamespace(**described)
        tree.name = put_in(tree.name, sizes) + f"; {variant}" * bool(variant)
        tree.options = {key: value for name in tree.options for key, value in self.data["options"][name].items()}
        tree.flags, tree.load = put_in(tree.flags, sizes).split(), [put_in(step, sizes) for step in tree.load]
        tree.readamp = put_in(put_in(tree.readamp, {"input": self.input}), sizes)
        tree.sizes = sizes
        tree.repetitions = min(tree.repetitions, self.repetitions or tree.repetitions)
        tree.most = max(tree.repetitions, min(tree.most, self.most or tree.most))
        if self.chosen:
            tree.policies = self.chosen
            tree.concludes = tree.concludes | {"policy": self.chosen[-1], "peer": self.chosen[0]}
        if self.again:
            tree.policies = [*tree.policies, tree.policies[0] + AGAIN]
        return tree

    def cells(self):
        """What is measured at least, by tree, workload, policy and repetition."""
        return [(tree.name, workload, name, repetition) for tree in self.trees for repetition in range(tree.repetitions)
                for workload in dict.fromkeys((LOAD, *tree.workloads)) if not (tree.keep and repetition and workload == LOAD) for name in tree.policies]

    def policy(self, name):
        name = name.removesuffix(AGAIN)
        return self.policies.get(name) or fail(UNUSABLE, f"there is no policy {name}")
