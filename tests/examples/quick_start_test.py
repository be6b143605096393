#!/usr/bin/env python3
"""Compiles and runs a quick start of examples/ with an installed ExactBloom, by the script that its reader would run.

  quick_start_test.py LANGUAGE/SCRIPT --prefix PREFIX --examples EXAMPLES

The program stores 10,000 keys, asks for 10,000 others between them, and prints RocksDB's counter. The filter of its
database then has to be ExactBloom's by what `exactbloom inspect` finds in the file. Exit status 77 says that the language
is not installed, and what is missing.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# What each language needs: programs, or files, and the packages that bring them.
COMMON = {"pkg-config": "pkg-config"}
NEEDED = {
    "c": COMMON | {"cc": "gcc"},
    "cpp": COMMON | {"cmake": "cmake", "c++": "g++"},
    "go": COMMON | {"go": "golang-go", "cc": "gcc"},
    "python": COMMON,
    "rust": COMMON | {"cargo": "cargo", "/usr/share/cargo/registry/rocksdb-*": "librust-rocksdb-dev"},
}
MOST_LINES = 15
# In this order; the first has what is copied.
SOURCES = ["quick_start.*", "src/main.rs", "lookups.*"]
REST = "What follows shows by RocksDB's counters that it works."
# The first table gets a Ribbon filter of 10 bits per key: .15% of the absent keys pass, 15 of 10,000, with a standard deviation
# of 4.
FEWEST_STOPPED, MOST_STOPPED = 9965, 9999


def fail(message):
    sys.exit(f"quick_start_test: {message}")


def missing_of(language):
    """Returns the package that is not installed, or None."""
    for needed, package in NEEDED[language].items():
        is_there = any(pathlib.Path("/").glob(needed[1:])) if needed.startswith("/") else shutil.which(needed)
        if not is_there:
            return package
    return None


def own_lines(folder):
    """The lines that a reader copies. The demonstration begins behind a line in that file, or is a file of its own."""
    text = "".join(file.read_text() for name in SOURCES for file in sorted(folder.glob(name)))
    copied, mark, _ = text.partition(REST)
    if not mark:
        fail(f"{folder} does not say where the demonstration begins")
    copied = re.sub(r'/\*.*?\*/|""".*?"""', "", copied, flags=re.DOTALL)
    lines = [line.strip() for line in copied.splitlines()]
    # In Go, C's headers are named in a comment.
    return [line for line in lines if line and (not re.match(r"//|/\*|# ", line) or re.match(r"// #", line))]


def environment_of(prefix, directory):
    """The prefix is found first, and the compilers' caches lie in the directory, which is deleted."""
    [package] = prefix.glob("lib*/**/pkgconfig/exactbloom-rocksdb.pc")
    return os.environ | {
        "PKG_CONFIG_PATH": str(package.parent), "CMAKE_PREFIX_PATH": str(prefix),
        "GOCACHE": f"{directory}/go", "CARGO_HOME": f"{directory}/cargo"}


def run_script(command, environment, folder):
    done = subprocess.run(command, cwd=folder, env=environment, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, end="")
    if done.returncode != 0:
        fail(f"{command[0]} ended with status {done.returncode}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("script", type=pathlib.Path)
    parser.add_argument("--prefix", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--examples", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    language = arguments.script.parts[0]

    lines = own_lines(arguments.examples / language)
    if len(lines) > MOST_LINES:
        fail("\n".join([f"{language} has {len(lines)} lines to copy:", *lines]))
    missing = missing_of(language)
    if missing is not None:
        print(f"skipped: {missing} is not installed (scripts/install_packages languages)")
        sys.exit(SKIPPED)

    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory) / language
        shutil.copytree(arguments.examples / language, folder)
        environment = environment_of(arguments.prefix, directory)
        output = run_script([f"./{arguments.script.name}"], environment, folder)
        counted = re.search(r"^found (\d+); absent keys that a filter stopped: (\d+)$", output, re.MULTILINE)
        if not counted:
            fail("it printed no counters")
        found, stopped = map(int, counted.groups())
        if found != 10000:
            fail(f"it found {found} of 10000 keys")
        if not FEWEST_STOPPED <= stopped <= MOST_STOPPED:
            fail(f"the filters stopped {stopped} of 10000 absent keys")
        shown = run_script([arguments.prefix / "bin/exactbloom", "inspect", folder / "database"], environment, folder)
        if not re.search(r"\.sst +0 +ribbon +10000 ", shown):
            fail("its table has no Ribbon filter of 10000 keys")


main()
