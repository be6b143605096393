// What a sweep measures: every policy at every number of bits per key, in every tree.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "readamp/readamp_settings.h"

namespace exactbloom::sweep {

// The settings of the command line.
struct SweepSettings {
  // The settings of keys, tree and lookups; the list of policies in it is not used.
  readamp::ReadampSettings readamp;

  // Policies with placeholders:
  //   {bits}         the bits per key of the point
  //   {equal_bytes}  the setting at which a policy of RocksDB takes that many bits per key
  std::vector<std::string> policies = {
      "bloomfilter:{bits}",
      "ribbonfilter:{equal_bytes}",
      "classic_bloom:{bits}",
      "{id=classic_bloom;bits_per_key={bits};lines=1}",
      "{id=classic_bloom;bits_per_key={bits};size_ratio=auto}",
      "{id=classic_bloom;bits_per_key={bits};size_ratio=auto;lines=1}",
      "{id=classic_bloom;bits_per_key={bits};size_ratio=auto;bottommost=ribbon}"};
  std::vector<std::string> trees = {"large"};  // or partitioned, small_partitions

  double least_bits = 6.0;  // per key
  double most_bits = 16.0;
  double step = 2.0;

  int repetitions = 5;  // of the lookups and the builds, whose processor times show their spread
  // Some of the lookups are made again with reads delayed by these microseconds.
  std::vector<double> read_latencies_us = {100.0, 1000.0};

  // Queries of filters per point for the value of exact sizing; 0: leave it out.
  std::uint64_t sizing_queries = 4'000'000;
  std::string results = "sweep.jsonl";
};

struct PlannedPoint {
  std::string tree;
  std::string family;  // the policy with its placeholders
  double bits = 0.0;   // per key

  // The fields that tell its line of the results from others.
  nlohmann::json Identity() const;
};

// The trees first, then the bits, then the policies: points that are compared with each other are
// measured one after the other. Throws InputError for a tree that does not exist and for bits that
// RocksDB does not take.
std::vector<PlannedPoint> PlanPoints(const SweepSettings& settings);

// The policy of a point for that many stored keys. Throws InputError for a policy that RocksDB does
// not take.
std::string ExpandPolicy(const PlannedPoint& point, std::uint64_t keys);

// The settings of readamp that make the tree.
readamp::ReadampSettings TreeSettings(const SweepSettings& settings, const std::string& tree);

// The settings that decide a point's figures and are the same for all points of a sweep.
nlohmann::json SharedSettings(const SweepSettings& settings);

// 16 hexadecimal digits that differ where these settings do.
std::string Fingerprint(const nlohmann::json& shared_settings);

}  // namespace exactbloom::sweep
