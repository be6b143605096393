# A thin door to the CMake presets; the work is in CMakeLists.txt. On a bare Debian 12 machine
# `make readamp` and `make test` install what is missing, build and run.
.PHONY: readamp test build bench clean packages

PRESET ?= release

readamp: build
	build/bin/readamp --json build/readamp.json

test: build
	ctest --preset $(PRESET)

build: packages
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

bench: build
	build/bin/filter_benchmark --benchmark_counters_tabular=true

packages:
	@scripts/install_packages

clean:
	rm -rf build
