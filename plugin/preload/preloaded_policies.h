// The filter policies that EXACTBLOOM_POLICY gives to a program.
#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>

#include "../policy_options.h"
#include "preload_core.h"

namespace exactbloom::preload {

// EXACTBLOOM_POLICY, read: a policy as filter_policy= takes it, and behind it, after blanks,
// `replace-only` or nothing.
struct Wish {
  std::string text;
  NamedPolicy policy;
  bool adds = true;  // to column families that have no filter policy
};

// InvalidArgument where it makes no sense.
rocksdb::Status ReadWish(const std::string& text, Wish* wish);

// What EXACTBLOOM_POLICY says. If it makes no sense, says so on standard error in one line and ends
// the process. Throws std::bad_alloc.
const Wish& TheWish();

// The policy for a program that asked for `bits_per_key`, which the wish may overrule; without a
// number, for one that asked for none. All with the same options are one object, so that they share
// a memory_budget. Databases open with it without a tree listener too, since not every database
// that a program opens can be given one. Throws std::bad_alloc.
std::shared_ptr<const rocksdb::FilterPolicy> PolicyForBits(double bits_per_key);
std::shared_ptr<const rocksdb::FilterPolicy> PolicyForNone();

// Makes `bloomfilter:10`, `ribbonfilter:10` and RocksDB's other forms of these names stand for
// PolicyForBits in option strings. Throws std::bad_alloc.
void ReplaceNames();

void Count(Asked asked);

// Returns which calls were answered how often: `NewBloomFilterPolicy 1, option strings 2`; or
// `nothing`.
std::string DescribeCounts();

}  // namespace exactbloom::preload
