#!/usr/bin/env python3
"""Compiles and runs the program of docs/getting-started.md that needs the theory alone, with an installed ExactBloom.

  theory_program_test.py PAGE --prefix PREFIX

The program must equal its file in examples/, and print what the page says.
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("page", type=lambda path: pathlib.Path(path).resolve())
parser.add_argument("--prefix", type=lambda path: pathlib.Path(path).resolve(), required=True)
arguments = parser.parse_args()

[(name, program, command, output)] = re.findall(
    r"^## [^`\n]*`(examples/theory/\S+)`\n.*?```c\+\+\n(.*?)^```\n    (c\+\+ [^\n]*)\n\n.*?^    ([^\n]*)\n", arguments.page.read_text(),
    re.DOTALL | re.MULTILINE)
example = arguments.page.parent.parent / name
assert program == example.read_text(), f"{example} differs from the page"

[package] = arguments.prefix.glob("lib*/**/pkgconfig/exactbloom-theory.pc")
with tempfile.TemporaryDirectory() as directory:
    (pathlib.Path(directory) / example.name).write_text(program)
    printed = subprocess.run(["sh", "-ec", command], cwd=directory, env=os.environ | {"PKG_CONFIG_PATH": str(package.parent)},
                             text=True, check=True, stdout=subprocess.PIPE).stdout
    assert printed == output + "\n", printed
    libraries = subprocess.run(["ldd", f"{directory}/estimate_keys"], text=True, check=True, stdout=subprocess.PIPE).stdout
    assert "rocksdb" not in libraries, libraries
    print(printed, end="")
