// The functions of the filter interfaces are where a version of RocksDB looks for them. Compiled
// for each version, which ROCKSDB_MAJOR and ROCKSDB_MINOR name: with ExactBloom's declarations and,
// for the versions whose source is at hand, with RocksDB's own internal header. What holds for both
// says that the declarations agree.
#include <gtest/gtest.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

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

// The place of a virtual function in the table of its class, by the Itanium C++ ABI: a pointer to
// it holds the offset in bytes, plus one where the low bit says "virtual". The destructor takes
// places 0 and 1.
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

template <typename Class, typename Result, typename... Arguments>
Class ClassOf(Result (Class::*)(Arguments...));

// Whether RocksDB's own class has the function, and not only ExactBloom's addition behind it.
template <typename Function>
constexpr bool IsRocksDBs(Function function) {
  return std::is_same_v<decltype(ClassOf(function))*, FilterBitsBuilder*>;
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

TEST(Builder, RocksDBsClassHasTheFunctionsOfItsVersion) {
  using Builder = NewestFilterBitsBuilder;
  EXPECT_EQ(IsRocksDBs(&Builder::AddKeyAndAlt), kHasAddKeyAndAlt);
  EXPECT_EQ(IsRocksDBs(&Builder::CalculateSpace), kHasCalculateSpace);
  EXPECT_EQ(IsRocksDBs(&Builder::EstimatedFpRate), kHasCalculateSpace);
}

TEST(Reader, FunctionsAreWhereEveryVersionHasThem) {
  EXPECT_EQ(PlaceOf<bool (FilterBitsReader::*)(const Slice&)>(&FilterBitsReader::MayMatch), 2U);
  EXPECT_EQ(PlaceOf<void (FilterBitsReader::*)(int, Slice**, bool*)>(&FilterBitsReader::MayMatch),
            3U);
}

// A function more would change what a class of its own has behind them.
struct OneMore : FilterBitsReader {
  virtual void Added() {}
};

TEST(Reader, HasNoOtherFunctions) { EXPECT_EQ(PlaceOf(&OneMore::Added), 4U); }

struct OneMoreOfBuilder : FilterBitsBuilder {
  virtual void Added() {}
};

TEST(Builder, HasNoOtherFunctions) {
  EXPECT_EQ(PlaceOf(&OneMoreOfBuilder::Added),
            8U + (kHasAddKeyAndAlt ? 1 : 0) + (kHasCalculateSpace ? 2 : 0));
}

}  // namespace
}  // namespace exactbloom
