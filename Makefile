# A thin door to the CMake presets; the work is in CMakeLists.txt. On a bare Debian 12 machine
# `make readamp` and `make test` install what is missing, build and run.
.PHONY: readamp test build bench bench-rocksdb clean packages

PRESET ?= release

readamp: build
	build/bin/readamp --json build/readamp.json

test: build
	ctest --preset $(PRESET)

build: packages
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

# Without the source that the script fetches one peer is missing, and the benchmark says so.
bench: packages
	-scripts/fetch_rocksdb_source
	$(MAKE) build
	build/bin/filter_benchmark --json build/bench.json

bench-rocksdb: build
	scripts/bench_rocksdb --json build/bench-rocksdb.json

packages:
	@scripts/install_packages

clean:
	rm -rf build
