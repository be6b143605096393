// The points of a sweep: every policy at every number of bits per key, in every tree.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sweep_settings.h"

namespace exactbloom::sweep {

// Placeholders of a policy:
//   {bits}         the bits per key of the point
//   {equal_bytes}  the setting at which a policy of RocksDB makes a filter of that many bits per
//                  key: Ribbon is configured by the rate of a Bloom filter and takes fewer
//   {size_ratio}   that of the tree
struct PlannedPoint {
  std::string tree;
  std::string family;  // the policy with its placeholders
  double bits = 0.0;   // per key
};

// The trees first, then the bits, then the policies: points that are compared with each other are
// measured one after the other. Throws InputError for a tree that does not exist and for bits that
// RocksDB does not take.
std::vector<PlannedPoint> Plan(const SweepSettings& settings);

// The policy of a point for so many stored keys. Throws InputError for a policy that RocksDB does
// not take.
std::string ExpandPolicy(const PlannedPoint& point, int size_ratio, std::uint64_t keys);

// The settings of readamp that make the tree.
readamp::Settings TreeSettings(const SweepSettings& settings, const std::string& tree);

// What the tree is, for the report.
std::string DescribeTree(const std::string& tree);

// The settings that decide a point's figures and are the same for all points of a sweep.
nlohmann::json SharedSettings(const SweepSettings& settings);

// 16 hexadecimal digits that differ where these settings do.
std::string Fingerprint(const nlohmann::json& shared_settings);

// A family's name in figures and tables, such as "classic_bloom lines=1".
std::string Label(const std::string& family);

}  // namespace exactbloom::sweep
