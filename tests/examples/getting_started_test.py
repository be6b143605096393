#!/usr/bin/env python3
"""Compiles and runs a program of docs/getting-started.md by its commands, with an installed ExactBloom.

  getting_started_test.py PAGE LANGUAGE --prefix PREFIX

LANGUAGE is the word behind the fence of the program. The program must equal its file in examples/, beside the page's folder, and
print what the page says, but for the size of a filter. Then the page's `grep` must find the page's line in the info log. Exit
status 77: the language is not installed.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What each language needs, programs or files, and the packages that bring them.
NEEDED = {
    "c": {"cc": "gcc"},
    "cpp": {"c++": "g++"},
    "go": {"go": "golang-go", "cc": "gcc"},
    "python": {},
    "rust": {"cargo": "cargo", "/usr/share/cargo/registry/rocksdb-*": "librust-rocksdb-dev"},
}


def missing_of(language):
    """Returns the package that is not installed, or None."""
    for needed, package in ({"pkg-config": "pkg-config"} | NEEDED[language]).items():
        if not (any(pathlib.Path("/").glob(needed[1:])) if needed.startswith("/") else shutil.which(needed)):
            return package
    return None


def without_sizes(text):
    """The sorted runs in JSON, without what depends on the size of a filter of one key."""
    answer = json.loads(text)
    for run in answer["sorted_runs"]:
        assert 0 < run.pop("filter_bytes") < 200 and 0 < run.pop("wasted_per_1000") < 1, text
    return answer


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("page", type=lambda path: pathlib.Path(path).resolve())
parser.add_argument("language", choices=NEEDED)
parser.add_argument("--prefix", type=lambda path: pathlib.Path(path).resolve(), required=True)
arguments = parser.parse_args()

page = arguments.page.read_text()
languages = re.findall(r"^```(\w+)$", page, re.MULTILINE)
assert sorted(languages) == sorted(NEEDED), f"the page has programs in {languages}"
[(name, program, commands)] = re.findall(
    rf"^## [^`]*`(\S+)`\n(?:[^`\n][^\n]*\n)*```{arguments.language}\n(.*?)^```\n((?:    [^\n]*\n)+)", page, re.DOTALL | re.MULTILINE)
[(shown_command, shown_line)] = re.findall(r"^    \$ (.*)\n    (.*)$", page, re.MULTILINE)
example = arguments.page.parent.parent / name
assert program == example.read_text(), f"{example} differs from the page"
missing = missing_of(arguments.language)
if missing is not None:
    print(f"skipped: {missing} is not installed (scripts/install_packages languages)")
    sys.exit(77)

[package] = arguments.prefix.glob("lib*/**/pkgconfig/exactbloom-rocksdb.pc")
with tempfile.TemporaryDirectory() as directory:
    folder = pathlib.Path(directory) / arguments.language
    shutil.copytree(example.parents[name.count("/") - 2], folder)  # examples/LANGUAGE
    # The prefix is found first, and the compilers' caches lie in the directory, which is deleted.
    environment = os.environ | {
        "PKG_CONFIG_PATH": str(package.parent), "PATH": f"{arguments.prefix}/bin:{os.environ['PATH']}",
        "GOCACHE": f"{directory}/cache", "CARGO_HOME": f"{directory}/cargo"}

    def output_of(command):
        return subprocess.run(["sh", "-ec", command], cwd=folder, env=environment, text=True, check=True, stdout=subprocess.PIPE).stdout

    printed = output_of(commands)
    if arguments.language == "c":
        [shown_runs] = re.findall(r'^    (\{"sorted_runs.*)$', page, re.MULTILINE)
        assert without_sizes(printed) == without_sizes(shown_runs), printed
    else:
        assert printed == {"cpp": "OK\n", "rust": ""}.get(arguments.language, "default level 0 keys 1\n"), printed
        assert arguments.language in ("cpp", "rust") or f"`{printed.strip()}`" in page, printed
    # Time, thread and kernel are others.
    _, _, message = shown_line.split(" ", 2)
    before, _, after = message.partition("avx2")
    pattern = re.escape(before) + r"\w+" + re.escape(after) + "$"
    logged = output_of(shown_command)
    assert re.search(pattern, logged, re.MULTILINE), logged
    shown = output_of("exactbloom inspect --tables db")
    assert re.search(r"\.sst +0 +classic +1 ", shown), shown  # for one key it has the lower rate
    print(logged, end="")
