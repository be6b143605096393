#!/usr/bin/env python3
"""The rule of the layers: what a file may include and name, and where files lie.

Includes only run down: each layer lists the layers that its files may include, besides files of its own folder.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_FILES_OF_A_FOLDER = 25

# The public headers, by the layer that they belong to; the rest of include/exactbloom/ is of analysis.
PUBLIC = {"filter.h": "filter", "c.h": "plugin", "filter_policy.h": "plugin", "filter_sets.h": "sets",
          "measured_reads.h": "plugin", "memory_budget.h": "plugin", "metrics.h": "plugin", "rocksdb_namespace.h": "live_tree", "tree_listener.h": "live_tree"}
# Layer, folders, the layers below that it may include.
LAYERS = [
    ("analysis", ["src/analysis"], []),
    ("theory", ["src/theory", "include/exactbloom/theory"], ["analysis"]),
    ("model", ["src/model"], ["analysis"]),
    ("kernels", ["src/filter/kernels"], ["analysis", "filter headers"]),
    ("filter", ["src/filter"], ["analysis", "kernels"]),
    ("sets", ["src/sets"], ["theory", "filter"]),
    ("live_tree", ["plugin/live_tree"], ["model", "analysis"]),
    ("plugin", ["plugin"], ["model", "analysis", "filter headers", "builder state", "live_tree"]),
    ("preload", ["plugin/preload"], ["plugin", "analysis", "filter headers", "live_tree"]),
    ("sst", ["sst"], ["analysis", "filter headers", "xxhash"]),
    ("support", ["support"], ["theory", "model", "plugin", "analysis", "filter", "kernels"]),
    ("tool", ["tool"], ["support", "sst", "theory", "model", "public headers", "policy options"]),
    ("bench", ["bench"], ["support", "sst", "plugin", "model", "live_tree", "filter", "kernels", "theory", "analysis"]),
    ("examples", ["examples"], ["public headers"]),
]
# The options of the policies as text, and the text of metrics.
POLICY_OPTIONS = ("plugin/policy_options.h", "plugin/metrics/metrics_text.h")
FILTER_HEADERS = ("include/exactbloom/filter.h",)
STANDARD = r"[a-z_]+"
ROCKSDB = r"rocksdb/[a-z_/]+\.h"
INTRINSICS = r"(immintrin|x86intrin|cpuid|[a-z]+mmintrin|arm_neon)\.h"
# What it may include besides, and name only if it may include it. The programs may include and name everything.
SYSTEM = {
    "analysis": [STANDARD],
    "theory": [STANDARD],
    "model": [STANDARD],
    "kernels": [STANDARD, r"xxhash\.h"],
    "filter": [STANDARD],
    "sets": [STANDARD],
    "live_tree": [STANDARD, ROCKSDB],
    "plugin": [STANDARD, ROCKSDB, r"malloc(_np)?\.h", r"unistd\.h"],
    "preload": [STANDARD, ROCKSDB, r"(dlfcn|link|pthread|sys/stat|unistd)\.h"],
    "sst": [STANDARD, ROCKSDB, r"(fcntl|sys/stat|unistd)\.h"],
}
NAMES = {
    ROCKSDB: r"rocksdb(?!_ribbon_rate\.h)|ROCKSDB",
    INTRINSICS: r"_mm\d*_|__m(?:128|256|512)|v(?:ld|st)1q?_|__builtin_ia32|__builtin_cpu",
}
# Headers of other projects that are named as our own would be.
FOREIGN = {"table/block_based/filter_policy_internal.h": "plugin"}


def tracked():
    if (ROOT / ".git").exists():
        names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    else:  # a copy of the tree
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and "build" not in path.parts]
    return [pathlib.PurePath(name) for name in names if name and (ROOT / name).is_file()]


FILES = set(tracked())


def layer_of(file):
    if file.parent == pathlib.PurePath("include/exactbloom"):
        return PUBLIC.get(file.name, "analysis")
    holders = [(folder, name) for name, folders, _ in LAYERS for folder in folders if str(file).startswith(folder + "/")]
    return max(holders, key=lambda holder: len(holder[0]))[1] if holders else None


def find(file, header):
    candidates = (pathlib.PurePath(os.path.normpath(root / header)) for root in (file.parent, *map(pathlib.PurePath, ("include", "bench", ""))))
    return next((path for path in candidates if path in FILES), None)


def may_include(layer, below, target):
    target_layer = layer_of(target)
    if target_layer == layer or target_layer in below:
        return True
    return (
        ("filter headers" in below and str(target) in FILTER_HEADERS)
        or ("public headers" in below and target.parts[0] == "include")
        or ("policy options" in below and str(target) in POLICY_OPTIONS)
        or ("builder state" in below and target.name == "builder_state.h")
        or ("xxhash" in below and target.name == "inlined_xxhash.h")
    )


def check_file(file, problems):
    layer = layer_of(file)
    below = next(below for name, _, below in LAYERS if name == layer)
    code = re.sub(r"//[^\n]*", "", (ROOT / file).read_text())
    intrinsics = [INTRINSICS] if layer == "kernels" and re.search(r"_(avx2|neon)\.(cc|h)$|^kernel\.cc$", file.name) else []
    for form, header in re.findall(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', code, re.MULTILINE):
        if form == "<":
            if not any(re.fullmatch(pattern, header) for pattern in SYSTEM.get(layer, [".*"]) + intrinsics):
                problems.append(f"{file} may not include <{header}>")
        elif FOREIGN.get(header) != layer:
            target = find(file, header)
            if target is None:
                problems.append(f"{file} includes {header}, which is not there")
            elif not may_include(layer, below, target):
                problems.append(f"{file} may not include {header}: {layer_of(target)} is not below {layer}")
    for header, names in NAMES.items():
        named = re.search(names, code)
        if named and layer in SYSTEM and header not in SYSTEM[layer] + intrinsics:
            problems.append(f"{file} may not name {named[0]}")


def main():
    problems = []
    product = [file for file in FILES if file.parts[0] in ("include", "src", "plugin", "sst", "support", "tool", "bench", "examples", "scripts", "cmake")]
    sources = [file for file in product if file.suffix in (".cc", ".h") and layer_of(file)]
    for file in sorted(sources):
        check_file(file, problems)
    for name, _, _ in LAYERS:
        if not any(layer_of(file) == name for file in sources):
            problems.append(f"no sources of the layer {name}")

    folders = {}
    for file in product:
        folders.setdefault(file.parent, []).append(file)
    problems += [f"{folder} has {len(files)} files" for folder, files in folders.items() if len(files) > MOST_FILES_OF_A_FOLDER]
    problems += [f"{folder}: a folder is a layer or an idea" for folder in folders if folder.name in ("util", "utils", "common", "misc")]

    places = {}
    for file in sources:
        if file.suffix == ".h" and file.parts[0] not in ("include", "examples"):  # programs to copy, which include none of ours
            places.setdefault(file.name, []).append(str(file))
    problems += [f"one name, two ideas: {' '.join(files)}" for files in places.values() if len(files) > 1]
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
