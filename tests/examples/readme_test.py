#!/usr/bin/env python3
"""Runs README's command blocks as they stand, with an installed ExactBloom.

  readme_test.py README --prefix PREFIX

Only paths are replaced: /usr/local by the prefix, and the database and OPTIONS file of the commands by those that they are tried
with; and the million keys of db_bench by fewer. The blocks that need root or take long (`make ...`) are those that .ci/run begins with.
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("readme", type=pathlib.Path)
parser.add_argument("--prefix", type=lambda path: pathlib.Path(path).resolve(), required=True)
arguments = parser.parse_args()

text = arguments.readme.read_text()
[package] = arguments.prefix.glob("lib*/**/pkgconfig/exactbloom-rocksdb.pc")
environment = os.environ | {"PKG_CONFIG_PATH": str(package.parent), "PATH": f"{arguments.prefix}/bin:{os.environ['PATH']}"}


def block_with(words):
    """The indented block that has these words."""
    [block] = [block for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE) if words in block]
    return "".join(line.removeprefix("    ") for line in block.splitlines(keepends=True))


def run(command):
    print(f"+ {command}")
    return subprocess.run(["sh", "-ec", command], cwd=folder, env=environment, text=True, check=True, stdout=subprocess.PIPE).stdout


def expect(pattern, found):
    assert re.search(pattern, found, re.MULTILINE), f"{pattern} is not in:\n{found}"


def newest_options(database):
    return sorted((folder / database).glob("OPTIONS-*"))[-1]


with tempfile.TemporaryDirectory() as directory:
    folder = pathlib.Path(directory)

    # The C++ program: the database has the policy and the listener in its OPTIONS file.
    [program] = re.findall(r"^```cpp\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    [command] = re.findall(r"`(c\+\+ program\.cc [^`]*)`", text)
    (folder / "program.cc").write_text(program)
    expect(r"exactbloom: column family \[default\]: exactbloom:10", run(command))
    for setting in (r"^ *filter_policy=.*exactbloom", r"^ *listeners=.*exactbloom_tree"):
        expect(setting, newest_options("db").read_text())

    # The lines of an OPTIONS file, in a whole one, and those that switch off.
    lines = block_with("listeners=exactbloom_tree").replace("[TableOptions", '[CFOptions "default"]\n[TableOptions')
    first, inspect, last = block_with("rocksdb_bloom").splitlines()
    for setting, policy in (("filter_policy=exactbloom:10", "exactbloom:10"), (first, "rocksdb_bloom:10"), (last, "bloomfilter:10")):
        lines = re.sub(r"filter_policy=.*", setting, lines)
        (folder / "OPTIONS").write_text(f"[Version]\n  rocksdb_version=7.8.3\n  options_file_version=1.1\n{lines}")
        expect(policy, run("exactbloom check --registers OPTIONS"))

    # Preloading, and the tool on the database that was written so.
    preload = block_with("LD_PRELOAD").replace("/usr/local/lib", str(package.parent.parent))
    found = run(preload.replace(" PROGRAM\n", " db_bench --db=DB --num=20000 --benchmarks=fillrandom,flush\n"))
    expect(r"exactbloom: column family \[default\]: exactbloom:10", found)
    expect("exactbloom: preloaded with EXACTBLOOM_POLICY=exactbloom:10", (folder / "DB/LOG").read_text())
    # The file that RocksDB has written, with the listeners of db_bench, could be loaded.
    run("exactbloom check --registers DB")
    run(inspect)
    for line in block_with("exactbloom advise DB").splitlines():
        if line.startswith("$ "):
            run(line.removeprefix("$ ").replace("--num=1000000", "--num=100000"))
