#!/usr/bin/env python3
"""Pastes README's first program, compiles it by README's command with an installed ExactBloom, and runs it.

  readme_program_test.py README --prefix PREFIX

The database that it opens has to have the policy and the listener in its OPTIONS file.
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
[program] = re.findall(r"^```cpp\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
[command] = re.findall(r"`(c\+\+ program\.cc [^`]*)`", text)
[package] = arguments.prefix.glob("lib*/**/pkgconfig/exactbloom-rocksdb.pc")
environment = os.environ | {"PKG_CONFIG_PATH": str(package.parent), "LD_LIBRARY_PATH": str(package.parent.parent)}
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "program.cc").write_text(program)
    done = subprocess.run(["sh", "-ec", f"{command}\n./a.out"], cwd=folder, env=environment, text=True, check=True, stdout=subprocess.PIPE)
    assert done.stdout == "OK\n", done.stdout
    [options] = sorted(pathlib.Path(folder).glob("db/OPTIONS-*"))[-1:]
    for expected in (r"^ *filter_policy=.*exactbloom", r"^ *listeners=.*exactbloom_tree"):
        assert re.search(expected, options.read_text(), re.MULTILINE), f"the OPTIONS file lacks {expected}"
