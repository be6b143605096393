#include "filter_overlap.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <bitset>
#include <cstring>

#include "filter/block_format.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

constexpr std::size_t kBuiltInFilterTrailerBytes = 5;

std::uint64_t Ones(const std::string& first, const std::string& second) {
  std::uint64_t ones = 0;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= first.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, first.data() + at, sizeof(a));
    std::memcpy(&b, second.data() + at, sizeof(b));
    ones += std::bitset<64>(a | b).count();
  }
  for (; at < first.size(); ++at) {
    ones += std::bitset<8>(static_cast<unsigned char>(first[at] | second[at])).count();
  }
  return ones;
}

// Why filters of a family cannot be compared.
const char* ReasonOf(FilterFamily family) {
  switch (family) {
    case FilterFamily::kNone:
      return "there is no filter";
    case FilterFamily::kRibbon:
      return "Ribbon filters store no bits of a key";
    case FilterFamily::kLegacyBloom:
      return "Bloom filters of RocksDB's older format repeat their bits";
    default:
      return "the filter is empty or of an unknown format";
  }
}

}  // namespace

std::optional<FilterGeometry> GeometryOf(const TableFilter& filter, std::string* why_not) {
  FilterGeometry geometry;
  geometry.family = filter.family;
  geometry.probes = filter.max_probes;
  if (!filter.status.ok()) {
    *why_not = "the table cannot be read";
  } else if (filter.family == FilterFamily::kExactBloom) {
    geometry.layout = filter.layout;
    geometry.bits = filter.bits;
    geometry.hash_seed = filter.hash_seed;
  } else if (filter.family == FilterFamily::kBloom && filter.bytes > kBuiltInFilterTrailerBytes) {
    geometry.layout = {FilterKind::kStandard, 1};
    geometry.bits = (filter.bytes - kBuiltInFilterTrailerBytes) * 8;
  } else {
    *why_not = ReasonOf(filter.family);
  }
  if (geometry.bits == 0) return std::nullopt;
  if (filter.blocks == 1) return geometry;
  *why_not = "partitions have no counterpart in another table";
  return std::nullopt;
}

std::string WhyNotComparable(const FilterGeometry& first, const FilterGeometry& second) {
  if (first.family != second.family) return "filters of different families";
  if (first.layout != second.layout) {
    return "filters of different layouts";
  }
  if (first.bits != second.bits) return "filters of different sizes (m)";
  if (first.probes != second.probes) return "different numbers of probes (k)";
  return first.hash_seed == second.hash_seed ? "" : "different hash seeds";
}

Status ReadFilterArray(const std::string& path, const FilterGeometry& geometry,
                       std::string* array) {
  array->clear();
  Status status = VisitFilterBlocks(*rocksdb::FileSystem::Default(), path, [&](const Slice& block) {
    if (geometry.family == FilterFamily::kExactBloom) {
      const filter::DecodedBlock decoded = filter::DecodeBlock({block.data(), block.size()});
      if (decoded.array == nullptr) return Status::Corruption(path, "the filter has changed");
      array->assign(reinterpret_cast<const char*>(decoded.array),
                    filter::ArrayBytes(decoded.description.bits));
    } else {
      array->assign(block.data(),
                    block.size() - std::min(block.size(), kBuiltInFilterTrailerBytes));
    }
    return Status::OK();
  });
  if (!status.ok()) return status;
  return array->size() == filter::ArrayBytes(geometry.bits)
             ? Status::OK()
             : Status::Corruption(path, "the filter has changed");
}

std::optional<SharedKeysEstimate> EstimateShared(const FilterGeometry& geometry,
                                                 const std::string& first,
                                                 const std::string& second, double z) {
  return EstimateSharedKeys(geometry.layout, geometry.bits, Ones(first, first),
                            Ones(second, second), Ones(first, second), geometry.probes, z);
}

}  // namespace exactbloom::tool
