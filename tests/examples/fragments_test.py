#!/usr/bin/env python3
"""Compiles the lines of C++ and C in pages that are not whole programs, with an installed ExactBloom.

  fragments_test.py PAGE ... --prefix PREFIX

An indented line that calls ExactBloom or RocksDB begins a fragment, which ends with its block. The fragments of a page are a function
whose parameters have the names that the pages use for the reader's own things. Each is a block within the one before it, since it
may use names of that one and declare them anew.
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

CPP = """
#include <exactbloom/filter_policy.h>
#include <exactbloom/measured_reads.h>
#include <exactbloom/memory_budget.h>
#include <exactbloom/tree_listener.h>
#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
using Family = rocksdb::ColumnFamilyHandle*;
void LookUp(Family);
void Report(const exactbloom::MeasuredLevel&);
"""
CPP_FUNCTION = """
void Page{number}(rocksdb::DB* db, Family family, std::vector<Family> families, rocksdb::Options options, rocksdb::Status status) {{"""
C = """
#include <exactbloom/c.h>
"""
C_FUNCTION = """
void Page{number}(rocksdb_t* db, rocksdb_options_t* options, rocksdb_column_family_handle_t** families, int count, char* error) {{"""
IS_CPP = re.compile(r" {4}(?:(?:const )?(?:rocksdb|exactbloom)::|(?:status = )?db->)")
IS_C = re.compile(r" {4}exactbloom_\w+\(")


def fragments(page):
    """The line number, the language and the code of each fragment."""
    lines = page.read_text().splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        inside = found and found[-1][0] + len(found[-1][2]) == number and line.startswith("    ")
        if IS_C.match(line):
            found.append((number, "c", [line]))
        elif inside and found[-1][1] == "c++":
            found[-1][2].append(line)
        elif IS_CPP.match(line):
            found.append((number, "c++", [line]))
    return found


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("pages", nargs="+", type=pathlib.Path, metavar="PAGE")
parser.add_argument("--prefix", type=lambda path: pathlib.Path(path).resolve(), required=True)
arguments = parser.parse_args()

[package] = arguments.prefix.glob("lib*/**/pkgconfig/exactbloom-rocksdb.pc")
programs = {"c++": CPP, "c": C}
for number, page in enumerate(arguments.pages):
    of_page = fragments(page)
    assert of_page, f"{page} has no fragment"
    for language, function in (("c++", CPP_FUNCTION), ("c", C_FUNCTION)):
        blocks = [(line, code) for line, in_language, code in of_page if in_language == language]
        programs[language] += function.format(number=number)
        for line, code in blocks:
            programs[language] += "\n".join(["{", f'#line {line} "{page.name}"', *code, ""])
        programs[language] += "}" * (len(blocks) + 1) + "\n"

with tempfile.TemporaryDirectory() as directory:
    for language, program in programs.items():
        (pathlib.Path(directory) / f"program.{language}").write_text(program)
        compiler = {"c++": "c++ -std=c++20", "c": "cc"}[language]
        subprocess.run(["sh", "-ec", f"{compiler} -Werror -fsyntax-only -x {language} program.{language} $(pkg-config --cflags exactbloom-rocksdb)"],
                       cwd=directory, env=os.environ | {"PKG_CONFIG_PATH": str(package.parent)}, check=True)
