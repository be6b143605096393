// Policies that make wrong filters.
#pragma once

#include <rocksdb/comparator.h>

#include <cstdint>
#include <string>

#include "sample_database.h"

namespace exactbloom {

// Builds classic filters of ten bits per key, but clears one bit so that the filter denies `key`,
// a key or a prefix, and no other key that was added.
PolicyPointer PolicyThatForgets(const std::string& key);

// Builds the same filters, but sets all their bits.
PolicyPointer PolicyThatPassesAll();

// Builds blocks that let all keys pass, as ExactBloom does where memory or a budget runs short: for
// the filters with `key`, in tables with partitions only these.
PolicyPointer PolicyThatGivesUp(const std::string& key);

// Builds Ribbon filters of ExactBloom, but flips the lowest bit of a byte: of one that holds slots,
// or of one of the trailer, which makes the block unusable.
PolicyPointer PolicyThatDamagesRibbon(bool in_trailer);

// Builds filters that pass all keys, and claim to hold so many.
PolicyPointer PolicyThatClaims(std::uint64_t keys);

// Like bytewise order, under a name that only its own program knows.
class ForeignComparator : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "test.ForeignComparator"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/,
                             const rocksdb::Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

}  // namespace exactbloom
