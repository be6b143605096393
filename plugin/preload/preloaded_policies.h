// The filter policies of a program that runs with EXACTBLOOM_POLICY.
#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>

#include "../policy_options.h"
#include "preload_core.h"

namespace exactbloom::preload {

// The value of EXACTBLOOM_POLICY: a policy as filter_policy= takes it, optionally followed by
// blanks and `replace-only`.
struct PreloadConfig {
  std::string text;
  PolicyOptions policy;
  bool sets_bits = false;  // bits_per_key, or what replaces it
  bool adds = true;        // also to column families without a filter policy
};

// Sets where the message of an invalid EXACTBLOOM_POLICY goes.
void ReportTo(ReportFunction* report);

// Parses EXACTBLOOM_POLICY, unless that was done. Throws std::bad_alloc.
void ReadVariable();

// Returns EXACTBLOOM_POLICY, as it was parsed first. An invalid value terminates the process with a
// message. Throws std::bad_alloc.
const PreloadConfig& Config();

// PolicyForBits returns the policy for a call that requested `bits_per_key`, which
// EXACTBLOOM_POLICY may overrule, and PolicyForNone the one for options without a filter policy.
// Equal options share one object, and so one memory_budget. Databases open with it even without a
// tree listener, because not every database that a program opens can get one. Both throw
// std::bad_alloc.
std::shared_ptr<const rocksdb::FilterPolicy> PolicyForBits(double bits_per_key);
std::shared_ptr<const rocksdb::FilterPolicy> PolicyForNone();

// Lets `bloomfilter:10`, `ribbonfilter:10` and RocksDB's other forms of these names mean
// PolicyForBits in option strings. Throws std::bad_alloc.
void ReplaceNames();

void Count(Asked asked);

// Returns how many calls of each kind were replaced: `NewBloomFilterPolicy 1, option strings 2`, or
// `nothing`.
std::string DescribeCounts();

}  // namespace exactbloom::preload
