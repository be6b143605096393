// What is compared: ExactBloom's layouts under each kernel, and RocksDB's filters, all through the
// two interfaces by which RocksDB itself calls a filter.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmark_settings.h"
#include "exactbloom/layout.h"
#include "exactbloom/sizing.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom::filter_benchmark {

using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;

// A filter design.
struct Contender {
  std::string name;
  std::optional<Layout> layout;  // of ExactBloom's; RocksDB's designs have no exact theory
  std::function<Policy(std::uint64_t keys, double bits_per_key)> make_policy;
};

// ExactBloom's: the one list of layouts.
std::vector<Contender> Layouts();

// RocksDB's. FastLocalBloom with AVX2 comes first if it can run; if not, `missing` says why.
std::vector<Contender> Peers(std::string* missing);

// The kernels of this processor, the best one first.
std::vector<std::string> Kernels();

// While it lives, new readers and finished filters of ExactBloom use the kernel; an empty name
// changes nothing.
class ForcedKernel {
 public:
  explicit ForcedKernel(const std::string& kernel);
  ~ForcedKernel();
  ForcedKernel(const ForcedKernel&) = delete;
  ForcedKernel& operator=(const ForcedKernel&) = delete;

 private:
  std::string before_;
};

std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(const rocksdb::FilterPolicy& policy);

// A finished filter in memory as RocksDB reads it from a file: the block has its own allocation.
// Its first byte lies at a given offset in a cache line, the same for all filters of a run, because
// the offset decides whether a cache-line layout touches one line or two.
class FilterMemory {
 public:
  FilterMemory(const rocksdb::Slice& block, std::size_t offset);

  const rocksdb::Slice& block() const { return block_; }

 private:
  std::unique_ptr<char[]> data_;
  rocksdb::Slice block_;
};

// Adds the first `keys` keys to a new builder and finishes it. Returns the nanoseconds that this
// took, without making the keys, and hands the block to `consume`.
double BuildFilter(const rocksdb::FilterPolicy& policy, std::uint64_t keys,
                   const std::function<void(const rocksdb::Slice&)>& consume);

}  // namespace exactbloom::filter_benchmark
