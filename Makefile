# Shortcuts for the CMake presets; the work is in CMakeLists.txt. On a bare Debian 12 or 13 `make readamp`
# and `make test` install what is missing, build and run.
.PHONY: readamp report experiments latency costs scale figures test install languages check stress crash-test arm64 arm64-programs s390x fuzz build bench matrix in-tree java package packages coverage configure clean

PRESET ?= release

readamp: configure
	cmake --build --preset release --target readamp
	build/bin/readamp --directory build --json build/readamp.json

# Wasted reads in trees of random keys, latencies, processor time and memory, a large tree, and wasted reads against memory: views of
# bench/measure. SCALE=0.1 makes quick ones, with wider intervals. VERSION=11.8.1 measures a release build of that version, with
# ExactBloom in it and for this processor, which takes long to compile.
release_programs = $$(scripts/install_packages roots >&2 && scripts/in_tree --bench $(VERSION))
experiments latency costs scale report: configure
	cmake --build --preset release --target exactbloom_rocksdb_shared exactbloom_tool readamp rewrite_filters
	bench/measure $@ $(if $(SCALE),--scale $(SCALE)) $(if $(VERSION),--output build/measured/$(VERSION) --release "$(release_programs)")

# The pictures and tables of the documents, from the library's own numbers and from the committed results.
figures: configure
	@scripts/install_packages figures
	cmake --build --preset release --target analysis_data
	scripts/figures/run

test: build
	ctest --preset $(PRESET)

# The libraries and the tool to /usr/local, or PREFIX; nothing else is built.
PREFIX ?= /usr/local
# The prefix may have blanks, which would make several words for make's abspath.
install: CONFIGURE_OPTIONS = -DCMAKE_INSTALL_PREFIX="$$(realpath -ms -- "$(PREFIX)")"
install: configure
	cmake --build --preset release --target exactbloom exactbloom_rocksdb exactbloom_rocksdb_shared exactbloom_tool
	cmake --install build

# The programs of docs/getting-started.md in every language that this Debian has.
languages: configure
	@scripts/install_packages languages
	cmake --build --preset $(PRESET) --target exactbloom_rocksdb_shared exactbloom_tool
	ctest --preset $(PRESET) --label-regex languages

# What `make test` leaves out: the benchmarks, and tests that try all cases.
check: configure
	cmake --build --preset $(PRESET) --target check_programs analysis_test filter_rate_test
	ctest --preset check

# Faults of disks and a hundred kills, for some minutes, and ten minutes of random changes of several databases at once.
stress: build
	EXACTBLOOM_TEST_LARGE=1 build/bin/faults_test
	EXACTBLOOM_TEST_LARGE=1 build/bin/tree_random_test

# RocksDB's own crash test with ExactBloom in every second start, for ten minutes, or HOURS=1. VERSION=11.8.1 tests the object that is
# compiled for that version.
crash_test_build = build$(if $(VERSION),/crash-test/$(VERSION))
crash-test: configure
	@scripts/install_packages build crash-test $(if $(VERSION),roots)
	$(if $(VERSION),prefix=$$(scripts/rocksdb build $(VERSION)) && \
	  cmake --preset $(PRESET) -B $(crash_test_build) -DCMAKE_PREFIX_PATH="$$prefix")
	cmake --build $(crash_test_build) --target exactbloom_rocksdb_shared
	scripts/crash_test --minutes $(if $(HOURS),$$((60 * $(HOURS))),$(or $(MINUTES),10)) --directory build \
	  --object $(crash_test_build)/lib/exactbloom/libexactbloom_rocksdb.so $(if $(VERSION),--version $(VERSION))

# What runs in a program's process for 64-bit ARM: compiled in a root of Debian 12, or SUITE=trixie, and tested under qemu in
# another one. RELEASE=1 builds everything, and tests all that needs no compiler, which takes long, and the packages.
SUITE ?= bookworm
arm64:
	@scripts/install_packages roots emulation
	scripts/debian_root --cross $(SUITE) make arm64-programs RELEASE=$(RELEASE)
	scripts/arm64 $(SUITE) ctest --preset arm64$(if $(RELEASE),-release)
	$(if $(RELEASE),tests/install/arm64_package_test.sh $(SUITE))

# The part that compiles, in its root.
arm64-programs:
	@scripts/install_packages cross
	cmake --preset arm64 $(if $(RELEASE),-DEXACTBLOOM_SKIPPED_TESTS=)
	cmake --build --preset arm64 $(if $(RELEASE),--target all)

# The golden blocks as code for s390x.
s390x:
	@scripts/install_packages build emulation
	cmake --preset s390x
	cmake --build --preset s390x
	ctest --preset s390x

# Each fuzzer for FUZZ_SECONDS, 60 unless set.
fuzz:
	@scripts/install_packages build fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	tests/fuzz/run_fuzzers build/fuzz

build: configure
	cmake --build --preset $(PRESET)

# Times of filters by themselves; make figures compares them with those of RocksDB's filters. VERSION as above.
bench: configure
	cmake --build --preset release --target filter_benchmark
	mkdir -p build/measured/$(VERSION)
	$(if $(VERSION),"$(release_programs)",build/bin)/filter_benchmark --benchmark_out=build/measured/$(VERSION)/bench.json

# Builds and tests with each supported RocksDB, or with VERSION=11.8.1, and writes the table in docs/install.md.
matrix:
	@scripts/install_packages build roots
	scripts/matrix $(VERSION) --table docs/install.md

# Compiles the plugin in RocksDB's source by both of its builds, and tests the objects; with VERSION=11.8.1 also the whole
# library, which takes long.
in-tree:
	@scripts/install_packages build $(if $(VERSION),roots lint)
	scripts/in_tree $(VERSION)

# RocksDB's Java binding with ExactBloom in it, of the installed version or VERSION=11.8.1, and the program of examples/java.
java:
	@scripts/install_packages build java $(if $(VERSION),roots)
	jar=$$(scripts/in_tree --java $(VERSION)) && tests/examples/java_test.sh "$$jar" && echo "$$jar"

# The Debian packages for this Debian, tested outside the tree.
package:
	@scripts/install_packages build package
	cmake --preset package
	cmake --build --preset package
	cd build/package && rm -f *.deb && cpack
	tests/install/package_test.sh build/package

# Those for Debian 12 and 13, built in roots of both and used in bare ones; they are in build/packages/.
packages:
	@scripts/install_packages roots
	tests/install/bare_root_test.sh bookworm
	tests/install/bare_root_test.sh trixie

# Which lines of analysis, filter and plugin the tests run.
coverage:
	@scripts/install_packages build coverage
	cmake --preset coverage
	cmake --build --preset coverage
	find build/coverage -name '*.gcda' -delete
	ctest --preset coverage
	gcovr --root . --object-directory build/coverage --filter 'src/(analysis|theory|filter)/' --filter plugin/ --filter include/ \
	  --gcov-ignore-parse-errors --print-summary --fail-under-line 97

configure:
	@scripts/install_packages build
	cmake --preset $(PRESET) $(CONFIGURE_OPTIONS)

clean:
	rm -rf build
