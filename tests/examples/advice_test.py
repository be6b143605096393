#!/usr/bin/env python3
"""Follows what `exactbloom advise` prints, word for word, and counts the filters of the tables that are written then.

  advice_test.py --prefix PREFIX

Stock db_bench and ldb, and programs in C++ that use the ExactBloom in PREFIX. Only paths are replaced: /usr/local by the prefix, and
PROGRAM by what is run. Where a way gives no filters, the advice must have said so.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--prefix", type=lambda path: pathlib.Path(path).resolve(), required=True)
arguments, rest = parser.parse_known_args()
[package] = arguments.prefix.glob("lib*/**/pkgconfig/exactbloom-rocksdb.pc")
environment = os.environ | {"PKG_CONFIG_PATH": str(package.parent), "PATH": f"{arguments.prefix}/bin:{os.environ['PATH']}"}

CONDITION = "in any other program new tables get no filter"
NONE = {"none"}
OURS = {"exact_bloom", "exact_ribbon"}

# Opens argv[1], overwrites keys, and rewrites all tables.
PROGRAM = r"""
#include <exactbloom/filter_policy.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

int main(int argc, char** argv) {
  rocksdb::Options options;
  rocksdb::BlockBasedTableOptions table_options;
  %(set)s
  rocksdb::DB* db = nullptr;
  if (!rocksdb::DB::Open(options, argv[1], &db).ok()) return 1;
  for (int i = 0; i < 1000; ++i) db->Put({}, std::to_string(i), "value");
  if (!db->Flush({}).ok()) return 2;
  rocksdb::ColumnFamilyHandle* family = db->DefaultColumnFamily();
  {
    %(rewrite)s
    if (!status.ok()) return 3;
  }
  delete db;
}
"""
# What a program does that loads an OPTIONS file, argv[2].
LOADS = """
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = true;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::DBOptions database;
  if (!rocksdb::LoadOptionsFromFile(config, argv[2], &database, &families).ok()) return 4;
  options = rocksdb::Options(database, families[0].options);
"""


class Advice:
    """The ways that the text names."""

    def __init__(self, text):
        self.text = " ".join(text.split())
        # Paragraphs that lines to copy follow, which are indented.
        self.blocks = [(" ".join(heading.split()), re.sub("^  ", "", lines, flags=re.MULTILINE))
                       for heading, lines in re.findall(r"((?:^\S.*\n)+)((?:^  .*\n)+)", text, re.MULTILINE)]
        self.code = self.block("In C++")
        self.options = self.block("Replace the lines of these names, since RocksDB keeps the first of two")
        self.rewrite = self.block("To rewrite all, in the program (docs/operations.md, Replacing filters):")
        self.preload = self.block("Or by preloading, for all column families of a program that has a shared librocksdb.so:")

    def block(self, words):
        return next((lines for heading, lines in self.blocks if words in heading), None)


class AdviceTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def run_command(self, command):
        result = subprocess.run(["sh", "-ec", command], cwd=self.folder, env=environment, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}")
        return result.stdout

    grown = None  # a folder with the database of most tests, and its advice

    def grow(self):
        if AdviceTest.grown is None:
            advice = self.grow_by("fillrandom")
            folder = tempfile.TemporaryDirectory()
            self.addClassCleanup(folder.cleanup)
            AdviceTest.grown = shutil.copytree(self.folder / "DB", f"{folder.name}/DB"), advice
            return advice
        shutil.copytree(AdviceTest.grown[0], self.folder / "DB")
        return AdviceTest.grown[1]

    def grow_by(self, benchmarks, bits=10):
        self.run_command(f"db_bench --db=DB --num=60000 --value_size=20 --bloom_bits={bits} --write_buffer_size=400000 "
                         f"--target_file_size_base=1000000 --max_bytes_for_level_base=1500000 --benchmarks={benchmarks}")
        self.assertEqual(self.filters("DB"), {"bloom"})
        return Advice(self.run_command("exactbloom advise --details DB"))

    def filters(self, database):
        tables = json.loads(self.run_command(f"exactbloom inspect --json {database}"))["files"]
        kinds = collections.Counter(table["filter"]["family"] for table in tables)
        self.assertTrue(kinds, "there are no tables")
        return set(kinds)

    def compile_program(self, advice):
        """Makes ./a.out DB, which sets the policy as the code does, and ./a.out DB OPTIONS, which loads a file."""
        # RocksDB's own policy cannot fail.
        code = advice.code + ("if (!status.ok()) return 5;" if "status" in advice.code else "")
        choice = f"if (argc > 2) {{ exactbloom::RegisterFilterPolicies(); {LOADS} }} else {{ {code} }}"
        (self.folder / "program.cc").write_text(PROGRAM % {"set": choice, "rewrite": advice.rewrite})
        self.run_command("c++ program.cc $(pkg-config --cflags --libs exactbloom-rocksdb)")

    def options_file(self, advice):
        """The newest OPTIONS file with the lines of these names replaced."""
        text = sorted(self.folder.glob("DB/OPTIONS-*"))[-1].read_text()
        section = None
        for line in advice.options.splitlines():
            if line.startswith("["):
                section = line
            elif not line.strip().startswith("#"):
                name = line.split("=")[0].strip()
                begin = text.index(section)
                end = text.find("\n[", begin) + 1 or len(text)
                replaced, count = re.subn(rf"^ *{name}=.*", lambda _: line, text[begin:end], flags=re.MULTILINE)
                self.assertEqual(count, 1, f"{name} in {section}")
                text = text[:begin] + replaced + text[end:]
        (self.folder / "OPTIONS").write_text(text)
        return "OPTIONS"

    def test_code_and_options_of_a_program_that_registers_the_names(self):
        advice = self.grow()
        self.compile_program(advice)
        shutil.copytree(self.folder / "DB", self.folder / "OTHER")
        for command in ("./a.out DB", f"./a.out OTHER {self.options_file(advice)}"):
            self.run_command(command)
            self.assertLessEqual(self.filters(command.split()[1]), OURS)

    def test_preloading(self):
        advice = self.grow()
        # advise names the prefix that the build was configured with.
        line = re.sub(r"(?<=LD_PRELOAD=)\S+(?=/exactbloom/)", str(package.parent.parent), advice.preload)
        self.assertIn("\nPROGRAM\n", line)
        self.run_command(line.replace("\nPROGRAM\n", "\ndb_bench --db=DB --use_existing_db --num=60000 --benchmarks=overwrite,compact"))
        self.assertLessEqual(self.filters("DB"), OURS)

    def test_options_of_stock_programs(self):
        advice = self.grow()
        file = self.options_file(advice)
        self.run_command(f"db_bench --db=NEW --options_file={file} --num=60000 --benchmarks=fillrandom,flush")
        self.assertEqual(self.filters("NEW"), NONE)
        self.assertIn(CONDITION, advice.text)
        self.assertLess(advice.text.index("In C++:"), advice.text.index(CONDITION))
        self.assertIn("no filter: the program that wrote it", self.run_command("exactbloom inspect NEW"))
        sorted(self.folder.glob("DB/OPTIONS-*"))[-1].write_text((self.folder / file).read_text())
        self.run_command("ldb --db=DB --try_load_options --ignore_unknown_options compact")
        self.assertIn("none", self.filters("DB"))

    def test_rocksdbs_own_policy(self):
        # It is within 5% of the best at few bits per key, in one sorted run.
        advice = self.grow_by("fillseq,compact", bits=2)
        self.assertIsNone(advice.preload)
        self.assertNotIn(CONDITION, advice.text)
        file = self.options_file(advice)
        self.run_command(f"db_bench --db=NEW --options_file={file} --num=60000 --benchmarks=fillseq,compact")
        self.assertEqual(self.filters("NEW"), {"ribbon"})
        self.compile_program(advice)
        self.run_command("./a.out DB")
        self.assertEqual(self.filters("DB"), {"ribbon"})


if __name__ == "__main__":
    unittest.main(argv=[__file__, *rest])
