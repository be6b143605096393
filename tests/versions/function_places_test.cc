// The virtual functions of the filter interfaces are where each version of RocksDB calls them.
// Compiled for each version, given by ROCKSDB_MAJOR and ROCKSDB_MINOR, with ExactBloom's
// declarations, and for versions with a source archive also with RocksDB's internal header: the
// declarations agree if both pass.
#include <gtest/gtest.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>

#include <cstddef>
#include <cstring>
#include <memory>

#include "plugin/filter_bits_interface.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;
using rocksdb::Status;
using Buffer = std::unique_ptr<const char[]>;

constexpr int kVersion = 100 * ROCKSDB_MAJOR + ROCKSDB_MINOR;
constexpr bool kHasAddKeyAndAlt = kVersion >= 906;
constexpr bool kHasCalculateSpace = kVersion >= 1009;

// The index of a virtual function in the table of its class, by the Itanium C++ ABI: a pointer to
// the function holds the offset in bytes, plus one on processors where the low bit means "virtual".
// The destructor has indexes 0 and 1.
template <typename Function>
std::size_t PlaceOf(Function function) {
  std::ptrdiff_t words[2];
  static_assert(sizeof(function) == sizeof(words));
  std::memcpy(words, &function, sizeof(words));
#if defined(__aarch64__) || defined(__arm__)
  return static_cast<std::size_t>(words[0]) / sizeof(void*);
#else
  return static_cast<std::size_t>(words[0] - 1) / sizeof(void*);
#endif
}

TEST(Builder, FunctionsAreWhereTheVersionHasThem) {
  using Builder = NewestFilterBitsBuilder;
  const std::size_t after_alt = kHasAddKeyAndAlt ? 4 : 3;
  EXPECT_EQ(PlaceOf(&FilterBitsBuilder::AddKey), 2U);
  if (kHasAddKeyAndAlt) {
    EXPECT_EQ(PlaceOf(&Builder::AddKeyAndAlt), 3U);
  }
  EXPECT_EQ(PlaceOf(&FilterBitsBuilder::EstimateEntriesAdded), after_alt);
  EXPECT_EQ(PlaceOf<Slice (FilterBitsBuilder::*)(Buffer*)>(&FilterBitsBuilder::Finish),
            after_alt + 1);
  EXPECT_EQ(PlaceOf<Slice (FilterBitsBuilder::*)(Buffer*, Status*)>(&FilterBitsBuilder::Finish),
            after_alt + 2);
  EXPECT_EQ(PlaceOf(&FilterBitsBuilder::MaybePostVerify), after_alt + 3);
  EXPECT_EQ(PlaceOf(&FilterBitsBuilder::ApproximateNumEntries), after_alt + 4);
  if (kHasCalculateSpace) {
    EXPECT_EQ(PlaceOf(&Builder::CalculateSpace), after_alt + 5);
    EXPECT_EQ(PlaceOf(&Builder::EstimatedFpRate), after_alt + 6);
  }
}

TEST(Reader, FunctionsAreWhereEveryVersionHasThem) {
  EXPECT_EQ(PlaceOf<bool (FilterBitsReader::*)(const Slice&)>(&FilterBitsReader::MayMatch), 2U);
  EXPECT_EQ(PlaceOf<void (FilterBitsReader::*)(int, Slice**, bool*)>(&FilterBitsReader::MayMatch),
            3U);
}

// Has its function behind those of RocksDB's class.
template <typename Base>
struct OneMore : Base {
  virtual void Added() {}
};

TEST(Classes, HaveNoOtherFunctions) {
  EXPECT_EQ(PlaceOf(&OneMore<FilterBitsReader>::Added), 4U);
  EXPECT_EQ(PlaceOf(&OneMore<FilterBitsBuilder>::Added),
            8U + (kHasAddKeyAndAlt ? 1 : 0) + (kHasCalculateSpace ? 2 : 0));
}

}  // namespace
}  // namespace exactbloom
