# A thin door to the CMake presets; the work is in CMakeLists.txt. On a bare Debian 12 machine
# `make readamp` and `make test` install what is missing, build and run.
.PHONY: readamp report test aarch64 build bench bench-rocksdb in-tree package configure clean

PRESET ?= release

readamp: configure
	cmake --build --preset release --target readamp
	build/bin/readamp --directory build --json build/readamp.json

# Which filter, how many bits? Measured into docs/report; some minutes.
report: configure
	cmake --build --preset release --target readamp_sweep
	scripts/make_report

test: build
	ctest --preset $(PRESET)

# The libraries without RocksDB for 64-bit ARM, tested under qemu.
aarch64:
	@scripts/install_packages
	@scripts/install_packages scripts/packages_emulation.txt
	cmake --preset aarch64
	cmake --build --preset aarch64
	ctest --preset aarch64

build: configure
	cmake --build --preset $(PRESET)

# Without the source that the script fetches one peer is missing, and the benchmark says so.
bench: configure
	-scripts/fetch_rocksdb_source
	$(MAKE) build
	build/bin/filter_benchmark --json build/bench.json

bench-rocksdb: build
	scripts/bench_rocksdb --json build/bench-rocksdb.json

# Inside RocksDB's source, by both of its builds; the tests run with the objects that come out.
in-tree:
	@scripts/install_packages
	scripts/in_tree

# The Debian package, tried out from outside the tree.
package:
	@scripts/install_packages
	cmake --preset package
	cmake --build --preset package
	cd build/package && cpack
	tests/install/package_test.sh build/package/exactbloom_*.deb

configure:
	@scripts/install_packages
	cmake --preset $(PRESET)

clean:
	rm -rf build
