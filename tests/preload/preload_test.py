#!/usr/bin/env python3
"""Programs that know nothing of ExactBloom, with its shared object preloaded.

preload_test.py BUILD_DIRECTORY DB_BENCH LDB LIBROCKSDB [TEST ...]
"""
import glob
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD, DB_BENCH, LDB, LIBROCKSDB = map(os.path.abspath, sys.argv[1:5])
HERE = pathlib.Path(__file__).resolve().parent
OBJECT = f"{BUILD}/lib/exactbloom/libexactbloom_rocksdb.so"
TOOL = f"{BUILD}/bin/exactbloom"
KEYS = 20000
LOOKUPS = 10000
# The category LC_NUMERIC of a compiled locale: an index, then the decimal point ",", no grouping, and the same as wide characters.
COMMA_LOCALE = (b"\x14\x11\x03 \x06\0\0\0" + struct.pack("<6I", 32, 34, 35, 36, 40, 44) + b",\0\0\0" +
                struct.pack("<2I", ord(","), 0) + b"ASCII\0")


class Preloaded(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.db = f"{self.directory}/db"

    def run_with(self, policy, *command, objects=OBJECT, status=0, variables=None, **more):
        """Runs a command with EXACTBLOOM_POLICY, unless that is None. Returns its output; errors has its standard error."""
        environment = {name: value for name, value in os.environ.items() if name not in ("EXACTBLOOM_POLICY", "LD_PRELOAD")}
        environment |= {name: value for name, value in (("LD_PRELOAD", objects), ("EXACTBLOOM_POLICY", policy)) if value is not None}
        done = subprocess.run(command, env=environment | (variables or {}), cwd=self.directory, capture_output=True, text=True,
                              check=False, **more)
        self.errors = done.stderr
        self.assertEqual(done.returncode, status, done.stdout[-1000:] + done.stderr[-1000:])
        return done.stdout

    def run_plain(self, policy, *arguments, **more):
        shutil.rmtree(self.db, ignore_errors=True)
        output = self.run_with(policy, f"{BUILD}/bin/plain_program", self.db, *arguments, **more)
        stopped, total = re.fullmatch(r"stopped (-?\d+) sum (\d+)\n", output).groups()
        return int(stopped), int(total)

    def run_db_bench(self, policy, *arguments, **more):
        """Returns how many lookups of absent keys the filters stop."""
        shutil.rmtree(self.db, ignore_errors=True)
        output = self.run_with(policy, DB_BENCH, f"--db={self.db}", "--benchmarks=fillrandom,flush,readmissing",
                               f"--num={KEYS}", f"--reads={LOOKUPS}", "--statistics=true", *arguments, **more)
        return int(re.search(r"rocksdb.bloom.filter.useful COUNT : (\d+)", output)[1])

    def log(self):
        lines = pathlib.Path(self.db, "LOG").read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(line.partition("exactbloom: ")[2] for line in lines)

    def policies(self):
        """The filter policies in the newest OPTIONS file."""
        newest = max(glob.glob(f"{self.db}/OPTIONS-*"))
        return re.findall(r"filter_policy=(.*)", pathlib.Path(newest).read_text(encoding="utf-8"))

    def inspect(self):
        return subprocess.run([TOOL, "inspect", "--tables", self.db], capture_output=True, text=True, check=True).stdout

    def assert_one_line(self, pattern):
        self.assertRegex(self.errors, rf"\A[^\n]*{pattern}[^\n]*\n\Z")


class StockPrograms(Preloaded):
    def test_db_bench_gets_a_policy_where_it_has_none(self):
        self.assertEqual(self.run_db_bench(None), 0)
        self.assertEqual(self.log(), "")
        self.assertGreater(self.run_db_bench("{id=classic_bloom;hash_seed=1}"), 0.97 * LOOKUPS)
        self.assertEqual(self.policies(), ["{id=classic_bloom;bits_per_key=10;hash_seed=1}"])
        self.assertRegex(self.log(), r"preloaded with EXACTBLOOM_POLICY=\{id=classic_bloom;hash_seed=1\}; replaced until now: nothing\n"
                                     r"column family \[default\] had no filter policy, and gets \{id=classic_bloom;bits_per_key=10;hash_seed=1\}\n")
        self.assertRegex(self.inspect(), r"classic")

    def test_db_bench_keeps_its_bits_per_key(self):
        self.assertGreater(self.run_db_bench("standard_bloom", "--bloom_bits=16"), 0.995 * LOOKUPS)
        self.assertEqual(self.policies(), ["standard_bloom:16"])
        self.assertRegex(self.log(), r"replaced until now: NewBloomFilterPolicy \d+\n"
                                     r"column family \[default\] has the filter policy standard_bloom:16\n")
        for policy, flags, wanted in (("standard_bloom:7", ["--bloom_bits=16"], "standard_bloom:7"),
                                      ("{id=standard_bloom;fpr=0.01}", ["--bloom_bits=16"], "{id=standard_bloom;fpr=0.01}"),
                                      ("exact_ribbon", ["--bloom_bits=16"], "exact_ribbon:16"),
                                      ("{id=exact_ribbon;fpr=0.01;hash_seed=7}", [], "{id=exact_ribbon;fpr=0.01;hash_seed=7}"),
                                      ("classic_bloom", ["--bloom_bits=9", "--use_ribbon_filter=true"], "classic_bloom:9")):
            self.assertGreater(self.run_db_bench(policy, *flags), 0.95 * LOOKUPS)
            self.assertEqual(self.policies(), [wanted])
        self.assertRegex(self.log(), r"NewRibbonFilterPolicy \d")

    def test_db_bench_only_replaces(self):
        self.assertEqual(self.run_db_bench("classic_bloom  replace-only "), 0)
        self.assertIn("column family [default] has no filter policy, and gets none", self.log())
        self.run_db_bench("exactbloom replace-only")  # which the user chose: no warning of tables without filters
        self.assertNotIn("its tables have", self.log())
        self.assertGreater(self.run_db_bench("classic_bloom replace-only", "--bloom_bits=12"), 0.99 * LOOKUPS)
        self.assertEqual(self.policies(), ["classic_bloom:12"])

    def test_db_bench_with_filters_that_follow_the_tree(self):
        # The policy reads RocksDB's filters by a policy that it makes by the very functions that are replaced.
        for policy in ("exactbloom", "{id=exactbloom;memory_budget=1M}"):
            for bits in ((), ("--bloom_bits=11",)):
                self.assertGreater(self.run_db_bench(policy, "--write_buffer_size=300000", *bits), 0.97 * LOOKUPS)
                self.assertIn("with a tree listener", self.log())
                self.assertNotIn("the tree is not known", self.log())

    def test_names_in_an_options_file(self):
        options = f"{self.directory}/options"
        for policy, bounds in (("classic_bloom:10", (9700, LOOKUPS)), ("standard_bloom:10", (9700, LOOKUPS)), ("exact_ribbon:10", (9950, LOOKUPS)), ("nullptr", (0, 0))):
            pathlib.Path(options).write_text(
                "[Version]\n  rocksdb_version=7.8.3\n  options_file_version=1.1\n[DBOptions]\n  create_if_missing=true\n"
                "[CFOptions \"default\"]\n  compression=kNoCompression\n"
                f"[TableOptions/BlockBasedTable \"default\"]\n  filter_policy={policy}\n", encoding="utf-8")
            stopped = self.run_db_bench(None, f"--options_file={options}")
            self.assertTrue(bounds[0] <= stopped <= bounds[1], (policy, stopped))
            self.assertEqual(self.policies(), [policy])

    def test_ldb(self):
        self.run_with("classic_bloom", LDB, f"--db={self.db}", "--create_if_missing", "--bloom_bits=13", "put", "key", "value")
        self.assertEqual(self.policies(), ["classic_bloom:13"])
        self.assertEqual(self.run_with("exactbloom", LDB, f"--db={self.db}", "--bloom_bits=13", "get", "key"),
                         "value\n")
        # Without the object everything is readable.
        self.assertEqual(self.run_with(None, LDB, f"--db={self.db}", "get", "key", objects=None), "value\n")

    def test_what_follows_when_the_object_is_gone(self):
        def stopped(*arguments):
            output = self.run_with(None, DB_BENCH, f"--db={self.db}", "--use_existing_db", "--benchmarks=readmissing", f"--num={KEYS}",
                                   f"--reads={LOOKUPS}", "--statistics=true", *arguments, objects=None)
            return int(re.search(r"rocksdb.bloom.filter.useful COUNT : (\d+)", output)[1])

        self.assertGreater(self.run_db_bench("exactbloom"), 0.97 * LOOKUPS)
        self.assertEqual(self.policies(), ["exactbloom:10"])
        options = shutil.copy(max(glob.glob(f"{self.db}/OPTIONS-*")), f"{self.directory}/OPTIONS")
        self.assertRegex(pathlib.Path(options).read_text(encoding="utf-8"), "listeners=.*exactbloom_tree")
        # The program's own options: RocksDB's policy lets every key pass, and no policy uses no filter.
        self.assertEqual(stopped("--bloom_bits=10"), 0)
        self.assertEqual(stopped(), 0)
        # The OPTIONS file, read by the program or by RocksDB's LoadLatestOptions: no policy, no filter and no error.
        self.assertEqual(stopped(f"--options_file={options}"), 0)
        self.assertEqual(self.policies(), ["nullptr"])
        shutil.copy(options, f"{self.db}/OPTIONS-999999")
        self.run_with(None, LDB, f"--db={self.db}", "--try_load_options", "compact", objects=None)
        self.assertEqual(self.errors, "")
        self.assertEqual(stopped("--bloom_bits=10"), 0)  # the compaction wrote tables without filters

    def test_the_way_back_has_filters_all_the_time(self):
        def stopped(policy, benchmarks):
            output = self.run_with(policy, DB_BENCH, f"--db={self.db}", "--use_existing_db", f"--benchmarks={benchmarks}",
                                   f"--num={KEYS}", f"--reads={LOOKUPS}", "--statistics=true", "--bloom_bits=10",
                                   objects=OBJECT if policy else None)
            return int(re.search(r"rocksdb.bloom.filter.useful COUNT : (\d+)", output)[1])

        self.run_db_bench("exactbloom:10")
        for policy, benchmarks in (("rocksdb_bloom", "readmissing"), ("rocksdb_bloom", "compact,readmissing"), (None, "readmissing")):
            self.assertGreater(stopped(policy, benchmarks), 0.97 * LOOKUPS, (policy, benchmarks))
            self.assertEqual("No filter of ExactBloom is left: set bloomfilter:10" in self.inspect(), "compact" in benchmarks)
        self.assertEqual(self.policies(), ["bloomfilter:10:false"])
        self.assertNotRegex(self.inspect().partition("\n\n")[2], "exact_bloom|exact_ribbon|exactbloom")

    def test_the_way_back_of_a_program_that_opens_with_the_options_of_last_time(self):
        def run_ldb(policy, *command):
            self.run_with(policy, LDB, f"--db={self.db}", *command, objects=OBJECT if policy else None)
            return self.policies()

        for first, bits in (("exactbloom:11", 11), ("{id=classic_bloom;bits_per_key=12;hash_seed=1}", 12)):
            with self.subTest(first):
                shutil.rmtree(self.db, ignore_errors=True)
                run_ldb(first, "--create_if_missing", "put", "key", "value")
                # Another policy keeps the one that the OPTIONS file has.
                before = self.policies()
                self.assertEqual(run_ldb("standard_bloom:9", "--try_load_options", "compact"), before)
                self.assertNotIn("No filter of ExactBloom is left", self.inspect())
                for _ in range(2):
                    self.assertEqual(run_ldb("rocksdb_bloom", "--try_load_options", "compact"), [f"rocksdb_bloom:{bits}"])
                    self.assertIn("No filter of ExactBloom is left", self.inspect())
                newest = pathlib.Path(max(glob.glob(f"{self.db}/OPTIONS-*")))
                newest.write_text(newest.read_text(encoding="utf-8").replace("=rocksdb_bloom:", "=bloomfilter:"), encoding="utf-8")
                self.assertEqual(run_ldb(None, "--try_load_options", "compact"), [f"bloomfilter:{bits}:false"])


class PlainProgram(Preloaded):
    def test_results_are_the_same_with_a_filter(self):
        stopped, total = self.run_plain(None, objects=None)
        self.assertEqual(stopped, 0)
        self.assertEqual(self.run_plain(None), (0, total))
        self.assertEqual(self.log(), "")
        stopped, same_total = self.run_plain("classic_bloom:12")
        self.assertEqual(same_total, total)
        self.assertGreater(stopped, 0.99 * LOOKUPS)
        self.assertEqual(self.policies(), ["classic_bloom:12"])

    def test_policies_of_the_c_interface_are_replaced(self):
        for mode, bits in (("bloom", "9.5"), ("ribbon", "12")):
            stopped, _ = self.run_plain("standard_bloom replace-only", mode)
            self.assertGreater(stopped, 0.95 * LOOKUPS)
            self.assertEqual(self.policies(), [f"standard_bloom:{bits}"])
            self.assertIn("replaced until now: C interface 1\n", self.log())

    def test_names_in_option_strings_are_replaced(self):
        forms = ("bloomfilter:7.5", "bloomfilter:7.5:false", "bloomfilter:7.5:true", "rocksdb.BloomFilter:7.5", "ribbonfilter:7.5",
                 "ribbonfilter:7.5:3", "rocksdb.RibbonFilter:7.5", "{id=bloomfilter:7.5:false}")
        for form in forms:
            with self.subTest(form):
                text = f"block_based_table_factory={{filter_policy={form}}}"
                self.run_plain("{id=classic_bloom;hash_seed=1} replace-only", "options", text)
                self.assertEqual(self.policies(), ["{id=classic_bloom;bits_per_key=7.5;hash_seed=1}"])
                self.assertIn("replaced until now: option strings 1", self.log())
        # So many bits as RocksDB makes of them.
        for bits, taken in (("0.4", "0"), ("0.5", "1"), ("101", "100")):
            with self.subTest(bits):
                self.run_plain("standard_bloom replace-only", "options", f"block_based_table_factory={{filter_policy=bloomfilter:{bits}}}")
                self.assertEqual(self.policies(), [f"standard_bloom:{taken}"])
        # In a locale with a decimal comma, as a C library of any language has it.
        os.mkdir(f"{self.directory}/comma")
        pathlib.Path(self.directory, "comma", "LC_NUMERIC").write_bytes(COMMA_LOCALE)
        self.run_plain("classic_bloom replace-only", "options", "block_based_table_factory={filter_policy=bloomfilter:7.5}",
                       variables={"LOCPATH": self.directory, "LC_ALL": "", "LC_NUMERIC": "comma"})
        self.assertEqual(self.policies(), ["classic_bloom:7.5"])
        # A policy that builds nothing, by the name that OPTIONS of RocksDB 6 have for all filters.
        stopped, _ = self.run_plain("classic_bloom replace-only", "options",
                                    "block_based_table_factory={filter_policy=rocksdb.BuiltinBloomFilter}")
        self.assertGreater(stopped, 0.95 * LOOKUPS)
        self.assertEqual(self.policies(), ["classic_bloom:10"])
        self.run_plain("classic_bloom:10", "options", "block_based_table_factory={filter_policy=standard_bloom:8}")
        self.assertEqual(self.policies(), ["standard_bloom:8"])  # asked for by name
        self.run_plain(None, "options", "block_based_table_factory={filter_policy=bloomfilter:8:false}")
        self.assertEqual(self.policies(), ["bloomfilter:8:false"])

    def test_tables_that_were_written_without_it(self):
        _, total = self.run_plain(None, objects=None)
        output = self.run_with("classic_bloom:12", f"{BUILD}/bin/plain_program", self.db)
        self.assertRegex(output, rf"^stopped [1-9]\d* sum {total}\n")

    def test_a_setuid_program_runs_without_it(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root and setpriv")
        program = f"{self.directory}/program"
        shutil.copy(f"{BUILD}/bin/plain_program", program)
        os.chmod(program, 0o4755)
        os.chmod(self.directory, 0o777)
        output = self.run_with("nonsense", "setpriv", "--reuid=65534", "--clear-groups", program, self.db)
        self.assertRegex(output, "^stopped 0 ")
        self.assertEqual(self.log(), "")


class OpenedDatabases(Preloaded):
    def opened(self, policy, **more):
        shutil.rmtree(self.directory)
        os.mkdir(self.directory)
        output = self.run_with(policy, f"{BUILD}/bin/opened_databases", self.directory, **more)
        return dict(line.split(": ") for line in output.splitlines())

    def test_every_way_to_open_gives_a_policy(self):
        stock = self.opened(None)
        ours = self.opened("exactbloom")
        self.assertEqual(stock.keys(), ours.keys())
        added = "exactbloom:10"
        expected = {name: added for name in stock} | {
            "created bloom": "exactbloom:8", "created ribbon": "exactbloom:9",
            "created own": "OwnPolicy", "created compared": "none", "created plain": "no block-based tables",
            "written file": "a filter", "compared file": "none"}
        self.assertEqual(ours, expected)
        self.assertEqual({name for name, policy in stock.items() if policy == "none"},
                         {name for name in stock if expected[name] == added} |
                         {"created compared", "written file", "compared file"})
        self.db = f"{self.directory}/created"
        for line in ("column family [one] had no filter policy, and gets exactbloom:10",
                     "column family [own] has the filter policy OwnPolicy",
                     "column family [compared] gets no filter policy: to its comparator IgnoringCase different bytes may be",
                     "column family [two, three] had no filter policy, and gets",
                     "column family [plain] has no block-based tables, and gets no filter policy"):
            self.assertIn(line, self.log())
        for database in ("open", "families", "transactions", "transaction_families", "optimistic", "ttl"):
            self.db = f"{self.directory}/{database}"
            self.assertEqual(self.log().count("preloaded with"), 1, database)

    def test_replacing_only(self):
        stock = self.opened(None)
        ours = self.opened("classic_bloom replace-only")
        self.assertEqual({name for name in stock if stock[name] != ours[name]}, {"created bloom", "created ribbon"})


class Refusals(Preloaded):
    def test_a_wrong_string_ends_the_program(self):
        for policy, reason in (("classic_bloom:ten", "bits_per_key is 'ten', but must be a number from 0 to 100"),
                               ("classic_bloom:10 replace", "'10 replace'"),
                               ("replace-only", "the filter policy is 'replace-only'")):
            with self.subTest(policy):
                self.run_with(policy, f"{BUILD}/bin/plain_program", self.db, status=1)
                self.assert_one_line(re.escape(reason))
                self.assertTrue(self.errors.startswith(f"EXACTBLOOM_POLICY is '{policy.strip()}': "), self.errors)
                self.assertFalse(os.path.exists(self.db))

    def test_a_blank_string_is_none(self):
        for policy in ("", " ", "\t \n"):
            self.assertEqual(self.run_plain(policy)[0], 0)
            self.assertEqual(self.errors, "")
        self.run_with(" ", "/bin/true")
        self.assertEqual(self.errors, "")
        self.run_with(" ", "sh", "-c", "EXACTBLOOM_POLICY=classic_bloom /bin/true; :")
        self.assert_one_line("but /bin/true uses no librocksdb.so")

    def test_a_file_that_has_taken_descriptor_2_gets_no_message(self):
        own = f"{self.directory}/own"
        closes = "os.close(2);"
        opens = f"os.open({own!r}, os.O_CREAT | os.O_TRUNC | os.O_WRONLY) == 2 or os._exit(3)\n"
        loads = f"import ctypes; ctypes.CDLL({LIBROCKSDB!r}).rocksdb_filterpolicy_create_bloom(ctypes.c_double(10))"
        without_it = ("sh", "-c", 'exec "$0" "$@" 2>&-')
        for policy, status, begin, program in (("classic_bloom", 0, (), closes + opens), ("classic_bloom", 0, without_it, opens),
                                               ("nonsense", 1, (), closes + opens + loads)):
            with self.subTest(program):
                self.run_with(policy, *begin, sys.executable, "-c", "import os;" + program, status=status)
                self.assertEqual((self.errors, pathlib.Path(own).read_text(encoding="utf-8")), ("", ""))

    def test_a_program_without_rocksdb(self):
        self.run_with(None, "/bin/true")
        self.assertEqual(self.errors, "")
        self.run_with("classic_bloom:10", "/bin/true")
        self.assert_one_line("EXACTBLOOM_POLICY is set, but /bin/true uses no librocksdb.so, or has RocksDB linked statically; this object")
        # A script is told at most once, however many processes it has; some shells end without their libraries' destructors.
        self.run_with("classic_bloom:10", "sh", "-c", "(/bin/true); /bin/true; echo $(/bin/true)")
        self.assertRegex(self.errors, r"\A([^\n]*but sh uses no librocksdb.so[^\n]*\n)?\Z")

    def test_a_process_that_forks(self):
        # The child ends after its parent, which it sees by the end of the pipe.
        self.run_with("classic_bloom:10", sys.executable, "-c",
                      "import os; r, w = os.pipe(); os.fork() or (os.close(w), os.read(r, 1))")
        self.assert_one_line("uses no librocksdb.so")

    def test_a_child_ends_while_a_thread_of_its_parent_holds_the_loaders_lock(self):
        # The thread holds the lock of dl_iterate_phdr until the child has ended, which the end of the pipe shows. Python 3.12
        # warns of forks beside threads.
        self.run_with("classic_bloom:10", sys.executable, "-W", "ignore", "-c", """if True:
            import ctypes, os, threading
            libc, (reader, writer) = ctypes.CDLL(None), os.pipe()
            held = threading.Event()
            @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
            def hold(info, size, data):
                held.set()
                os.read(reader, 1)
                return 1
            holder = threading.Thread(target=lambda: libc.dl_iterate_phdr(hold, None))
            holder.start()
            held.wait()
            if os.fork() == 0:
                libc.exit(0)
            os.close(writer)
            holder.join()""", timeout=60)
        self.assert_one_line("uses no librocksdb.so")

    def test_a_long_name_is_cut(self):
        self.run_with("classic_bloom:10", "x" * 10000, executable="/bin/true")
        self.assert_one_line("but x{8000,} *; this object changes nothing")

    def test_a_rocksdb_that_is_not_the_one_it_was_made_for(self):
        for program, policy, pattern in (
                ("other_version", None, r"made for RocksDB \d+\.\d+, but .*/libother_version_rocksdb.so has RocksDB 99.1.0; this object changes nothing"),
                ("other_version", "classic_bloom:10", "made for RocksDB .*, but .* has RocksDB 99.1.0; this object changes nothing"),
                ("same_version", "classic_bloom:10", r"RocksDB [\d.]+ is linked into .*/libsame_version_rocksdb.so, where it cannot be reached, and not librocksdb"),
                ("static", "classic_bloom:10", r"RocksDB [\d.]+ is linked into the program, where it cannot be reached")):
            self.run_with(policy, f"{BUILD}/bin/{program}_program")
            self.assert_one_line(pattern)

    def test_two_copies(self):
        stock = self.run_with(None, f"{BUILD}/bin/two_copies_program", f"{self.directory}/stock", "bloom", objects=None)
        ours = self.run_with("classic_bloom:12", f"{BUILD}/bin/two_copies_program", self.db, "bloom")
        self.assertEqual(stock, ours)
        self.assert_one_line(r"the program has two copies of RocksDB, .*/lib\w*rocksdb.so.* and .*/lib\w*rocksdb.so.*; this object changes nothing")
        self.assertEqual(self.policies(), ["bloomfilter"])

    def test_itself_twice(self):
        copy = shutil.copy(OBJECT, f"{self.directory}/copy.so")
        self.run_plain("classic_bloom:12", objects=f"{OBJECT} {copy}")
        self.assert_one_line(f"loaded twice, of which only {OBJECT} is used and {copy} does nothing")
        self.assertEqual(self.policies(), ["classic_bloom:12"])

    def test_the_core_is_missing_or_of_another_build(self):
        copy = shutil.copy(OBJECT, f"{self.directory}/copy.so")
        another = r"_core.so is of another build, ExactBloom [\d.]+, than the preloaded [\d.]+: restart the program"
        for pattern, variables in (("cannot load the policies: .*libexactbloom_rocksdb_core.so", {}), (another, {}),
                                   (another, {"STAND_IN_SAME_VERSION": "1"})):
            self.assertEqual(self.run_plain("classic_bloom:12", objects=copy, variables=variables)[0], 0)
            self.assert_one_line(pattern)
            shutil.copy(f"{BUILD}/lib/libstand_in_core.so", f"{self.directory}/libexactbloom_rocksdb_core.so")


    def test_a_refused_call_of_c_says_why_where_it_can(self):
        copy = shutil.copy(OBJECT, f"{self.directory}/copy.so")
        self.run_with(None, sys.executable, "-c", f"""if True:
            import ctypes
            ours, error = ctypes.CDLL({copy!r}), ctypes.c_char_p()
            ours.exactbloom_metrics.restype = ctypes.c_void_p
            said = b"Not implemented: exactbloom: cannot load the policies"
            ours.exactbloom_register(None)
            ours.exactbloom_register(ctypes.byref(error))
            assert error.value.startswith(said), error.value
            error = ctypes.c_char_p()
            assert ours.exactbloom_metrics(None, None, None) is None
            assert ours.exactbloom_metrics(None, None, ctypes.byref(error)) is None
            assert error.value.startswith(said), error.value""", objects=None)
        self.assert_one_line("cannot load the policies: .*libexactbloom_rocksdb_core.so")


class LateRocksDB(Preloaded):
    def load(self, policy, *arguments):
        return self.run_with(policy, sys.executable, str(HERE / "late_loader.py"), LIBROCKSDB, self.db, *arguments)

    def test_it_is_found(self):
        for policy, name, wanted in (("classic_bloom:9", None, "classic_bloom:9"), (None, "exact_ribbon:12", "exact_ribbon:12"),
                                     ("standard_bloom", "ribbonfilter:11", "standard_bloom:11")):
            arguments = ("--string", f"block_based_table_factory={{filter_policy={name}}}") if name else ()
            self.load(policy, *arguments)
            self.assertEqual((self.policies(), self.errors), ([wanted], ""))
            shutil.rmtree(self.db)

    def test_another_copy_keeps_its_functions(self):
        other = f"{BUILD}/lib/libother_version_rocksdb.so"
        self.assertEqual(self.load("classic_bloom:9", "--other-after", other), "reaches itself: 1\n")
        self.assertEqual(self.policies(), ["classic_bloom:9"])
        self.assertEqual(self.errors, "")
        shutil.rmtree(self.db)
        self.assertEqual(self.load("classic_bloom:9", "--other-before", other), "reaches itself: 1\n")
        self.assertEqual(self.policies(), ["nullptr"])
        self.assert_one_line("two copies of RocksDB")


    def test_it_is_called_from_an_object_that_does_not_need_it(self):
        for policy, wanted in ((None, "nullptr"), ("classic_bloom:9", "classic_bloom:9")):
            with self.subTest(policy):
                self.run_with(policy, f"{BUILD}/bin/late_host", f"{BUILD}/lib/liblate_plugin.so", self.db)
                self.assertEqual((self.policies(), self.errors), ([wanted] * 2, ""))
                self.assertEqual("replaced until now: C interface 1\n" in self.log(), policy is not None)
                shutil.rmtree(self.db)


class LateThreads(Preloaded):
    """Threads and processes that make their first call of RocksDB at once, one of them in the loader."""

    def run_threads(self, mode, delay=0):
        self.run_with("classic_bloom:9", f"{BUILD}/bin/late_threads", mode, LIBROCKSDB, f"{BUILD}/lib/liblate_user.so", str(delay),
                      variables={"CALLS_IN_CONSTRUCTOR": "1"} if mode == "load" else None)
        self.assertEqual(self.errors, "")

    def run_with_delays(self, mode, runs):
        for i in range(runs):
            with self.subTest(f"{mode} {i}"):
                self.run_threads(mode, i * 37 % 1500)

    def test_a_library_that_calls_rocksdb_is_loaded_during_the_first_call(self):
        self.run_with_delays("load", 60)

    def test_a_library_that_calls_rocksdb_is_closed_during_the_first_call(self):
        self.run_with_delays("close", 60)

    def test_children_that_are_forked_during_the_first_call_work_on(self):
        self.run_with_delays("fork", 60)

    def test_a_library_that_used_rocksdb_is_closed_and_loaded_again(self):
        self.run_threads("again")

    def test_an_object_that_is_closed_stays_as_long_as_its_core(self):
        # The core reports a wrong variable by a function of the object.
        self.run_with("nonsense", sys.executable, "-c", f"""if True:
            import _ctypes, ctypes
            rocksdb, ours, error = ctypes.CDLL({LIBROCKSDB!r}), ctypes.CDLL({OBJECT!r}), ctypes.c_char_p()
            ours.exactbloom_register(ctypes.byref(error))
            _ctypes.dlclose(ours._handle)
            rocksdb.rocksdb_options_create.restype = ctypes.c_void_p
            options = ctypes.c_void_p(rocksdb.rocksdb_options_create())
            rocksdb.rocksdb_get_options_from_string(options, b"block_based_table_factory={{filter_policy=bloomfilter:9}}", options,
                                                    ctypes.byref(error))""", objects=None, status=1)
        self.assert_one_line("EXACTBLOOM_POLICY is 'nonsense'")


class StaticDatabase(Preloaded):
    def test_a_destructor_of_a_static_object_writes_tables(self):
        for policy, wanted in ((None, "none\n"), ("exactbloom", "a filter\n")):
            with self.subTest(policy):
                shutil.rmtree(f"{self.directory}/database", ignore_errors=True)
                self.assertEqual(self.run_with(policy, f"{BUILD}/bin/plain_static_database"), 2 * wanted)


class Exports(unittest.TestCase):
    """The shared objects export what tests/preload/exports.txt lists, functions of C++ without their parameters."""

    def test_exports(self):
        lines = (HERE / "exports.txt").read_text().splitlines()
        expected = {}
        for line in lines:
            if line and not line.startswith("#"):
                expected.setdefault(line.split(": ")[0], []).append(line.split(": ")[1])
        for name, symbols in expected.items():
            output = subprocess.run(["nm", "--dynamic", "--defined-only", "--demangle", f"{BUILD}/lib/exactbloom/{name}"], capture_output=True,
                                    text=True, check=True).stdout
            exported = [line.split(" ", 2)[2].partition("(")[0] for line in output.splitlines()]
            self.assertEqual(sorted(exported), sorted(symbols), name)

    def test_the_preloaded_object_needs_the_c_library_only(self):
        output = subprocess.run(["readelf", "--dynamic", OBJECT], capture_output=True, text=True, check=True).stdout
        needed = re.findall(r"NEEDED.*\[(.*)\]", output)
        self.assertEqual([name for name in needed if not re.match(r"libdl\.|ld-linux", name)], ["libc.so.6"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
