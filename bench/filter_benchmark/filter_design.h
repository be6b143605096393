// What is compared: ExactBloom's kinds and RocksDB's filters, all through the two interfaces by
// which RocksDB itself calls a filter.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom::filter_benchmark {

using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;

struct FilterDesign {
  std::string name;
  std::optional<FilterKind> kind;  // of ExactBloom's; RocksDB's designs have no exact theory
  std::function<Policy(std::uint64_t keys, double bits_per_key)> make_policy;
};

// ExactBloom's: the one list of kinds.
std::vector<FilterDesign> OurDesigns();

// RocksDB's. FastLocalBloom with AVX2 comes first if it can run; if not, `missing` says why.
std::vector<FilterDesign> PeerDesigns(std::string* missing);

}  // namespace exactbloom::filter_benchmark
