# Shortcuts for the CMake presets; the work is in CMakeLists.txt. On a bare Debian 12 or 13 `make readamp`
# and `make test` install what is missing, build and run.
.PHONY: readamp report figures test install languages check stress aarch64 fuzz build bench bench-rocksdb matrix in-tree package packages mutation coverage release configure clean

PRESET ?= release

readamp: configure
	cmake --build --preset release --target readamp
	build/bin/readamp --directory build --json build/readamp.json --html build/readamp.html

# Which filter, how many bits? Measured, a quarter of an hour, and shown on the page build/report/index.html. REPORT_KEYS=50000
# makes a quick one, with wider intervals.
REPORT_KEYS ?= 500000
report: configure
	cmake --build --preset release --target readamp_sweep readamp
	scripts/report/run --measure $(REPORT_KEYS)

# The figures of docs/, from the library's own numbers and from the committed results of a sweep and of growing trees.
figures: configure
	@scripts/install_packages scripts/packages_figures.txt
	cmake --build --preset release --target analysis_data
	scripts/analysis_figures
	scripts/report/run --results docs/figures/sweep.jsonl --growth docs/figures/growth.jsonl --document docs/report.md
	cp build/report/wasted_reads.svg docs/figures/wasted_reads.svg
	cp build/report/growth.svg docs/figures/growing_trees.svg

test: build
	ctest --preset $(PRESET)

# The libraries and the tool to /usr/local, or PREFIX; nothing else is built.
PREFIX ?= /usr/local
install: configure
	cmake --build --preset release --target exactbloom exactbloom_rocksdb exactbloom_rocksdb_shared exactbloom_tool
	cmake --install build --prefix $(PREFIX)

# The quick starts of examples/ in every language that this Debian has.
languages: configure
	@scripts/install_packages scripts/packages_languages.txt
	cmake --build --preset $(PRESET) --target exactbloom_rocksdb_shared exactbloom_tool
	ctest --preset $(PRESET) --label-regex languages

# What `make test` leaves out: the benchmarks, and tests that try all cases.
check: configure
	cmake --build --preset $(PRESET) --target check_programs analysis_test filter_rate_test
	ctest --preset check

# Faults of disks and a hundred kills, for some minutes; prints what was injected and survived.
stress: build
	EXACTBLOOM_TEST_LARGE=1 build/bin/faults_test

# The libraries without RocksDB for 64-bit ARM, tested under qemu.
aarch64:
	@scripts/install_packages
	@scripts/install_packages scripts/packages_emulation.txt
	cmake --preset aarch64
	cmake --build --preset aarch64
	ctest --preset aarch64

# Each fuzzer for FUZZ_SECONDS, 60 unless set.
fuzz:
	@scripts/install_packages
	@scripts/install_packages scripts/packages_fuzz.txt
	cmake --preset fuzz
	cmake --build --preset fuzz
	scripts/fuzz build/fuzz

build: configure
	cmake --build --preset $(PRESET)

# Without RocksDB's source one peer is missing, and the benchmark says so.
bench: configure
	cmake --preset $(PRESET) -DROCKSDB_SOURCE="$$(scripts/rocksdb_source)"
	cmake --build --preset $(PRESET) --target filter_benchmark
	build/bin/filter_benchmark --json build/bench.json

# With VERSION=11.8.1 by a db_bench of that version, built with ExactBloom in it for this processor, which takes long.
ifdef VERSION
bench-rocksdb: configure
	@scripts/install_packages scripts/packages_matrix.txt
	scripts/bench_rocksdb --in-tree --db-bench "$$(scripts/in_tree --db-bench $(VERSION))" --json build/bench-rocksdb.json
else
bench-rocksdb: build
	scripts/bench_rocksdb --json build/bench-rocksdb.json
endif

# Builds and tests with each supported RocksDB, or with VERSION=11.8.1, and writes the table in docs/building.md.
matrix:
	@scripts/install_packages
	@scripts/install_packages scripts/packages_matrix.txt
	scripts/matrix $(VERSION) --table docs/building.md

# Compiles the plugin in RocksDB's source by both of its builds, and tests the objects; with VERSION=11.8.1 also the whole
# library, which takes long.
in-tree:
	@scripts/install_packages
	@$(if $(VERSION),scripts/install_packages scripts/packages_matrix.txt)
	@$(if $(VERSION),scripts/install_packages scripts/packages_lint.txt)
	scripts/in_tree $(VERSION)

# The Debian packages for this Debian, tested outside the tree.
package:
	@scripts/install_packages
	@scripts/install_packages scripts/packages_package.txt
	cmake --preset package
	cmake --build --preset package
	cd build/package && rm -f *.deb && cpack
	tests/install/package_test.sh build/package

# Those for Debian 12 and 13, built in roots of both, and used in bare ones.
packages:
	@scripts/install_packages scripts/packages_matrix.txt
	scripts/packages

# Breaks the code in listed ways; each has to make a test fail. Takes a quarter of an hour.
mutation:
	@scripts/install_packages
	scripts/mutation

# Which lines of L0 to L2 the tests run, and why the others are not.
coverage:
	@scripts/install_packages
	scripts/coverage

# All figures of a release, measured anew and collected in docs/, which takes hours; goes on where it was stopped.
# scripts/release/run --list says what it does, scripts/release/run --only STEP does a part.
release:
	@scripts/install_packages
	scripts/release/run

configure:
	@scripts/install_packages
	cmake --preset $(PRESET)

clean:
	rm -rf build
