# The sources of ExactBloom, for every build: CMake reads the first list here, RocksDB's own builds read
# the same lines when this repository is linked into a RocksDB tree as plugin/exactbloom. RocksDB's
# CMake parses these lines with regular expressions, so each stays on one line.
exactbloom_SOURCES = src/analysis/false_positive_rate.cc src/analysis/line_rate.cc src/analysis/positive_chain.cc src/analysis/rate_chain.cc src/analysis/probe_search.cc src/analysis/rate_bounds.cc src/analysis/sizing.cc src/analysis/filter_sizer.cc src/analysis/occupancy.cc src/analysis/efficiency.cc src/analysis/counting_filter.cc src/analysis/levels.cc src/analysis/key_count_estimate.cc src/analysis/confidence_interval.cc src/filter/array_builder.cc src/filter/block_format.cc src/filter/bloom_filter_builder.cc src/filter/bloom_filter_view.cc src/filter/draw_kernel.cc src/filter/draw_kernel_avx512.cc src/filter/filter_sizing.cc src/filter/kernel_avx2.cc src/filter/kernel_avx512.cc src/filter/kernel_scalar.cc src/filter/kernel_table.cc src/filter/line_fields.cc plugin/bits_builder.cc plugin/bits_reader.cc plugin/bloom_filter_policy.cc plugin/policy_options.cc plugin/registration.cc
exactbloom_HEADERS = include/exactbloom/filter_policy.h
exactbloom_FUNC = RegisterExactBloom
# RocksDB's Makefile takes the rest, relative to the RocksDB tree; its CMake build uses cmake/rocksdb_plugin.cmake.
exactbloom_CXXFLAGS = -Iplugin/exactbloom/include
