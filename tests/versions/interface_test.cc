// ExactBloom's builder and reader have every function where a version of RocksDB looks for it.
// Compiled once for each version, which ROCKSDB_MAJOR and ROCKSDB_MINOR name.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "allocation_failure.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "plugin/bits_builder.h"
#include "plugin/bits_reader.h"
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

class BuilderOfLayout : public testing::TestWithParam<int> {
 protected:
  std::unique_ptr<FilterBitsBuilder> NewBuilder() {
    const rocksdb::BlockBasedTableOptions table_options;
    return NewBitsBuilder(*BloomFilterBuilder::Create({layout_, 10.0, 0}),
                          rocksdb::FilterBuildingContext(table_options), memory_fit_);
  }

  // RocksDB calls through its own class, and so does the test if that class has the function.
  static NewestFilterBitsBuilder& Newest(FilterBitsBuilder& builder) {
    return dynamic_cast<NewestFilterBitsBuilder&>(builder);
  }

  const Layout layout_{FilterKind::kClassic, GetParam()};
  MemoryFit memory_fit_;
};

INSTANTIATE_TEST_SUITE_P(Lines, BuilderOfLayout, testing::Range(0, kMaxLines + 1),
                         testing::PrintToStringParamName());

TEST_P(BuilderOfLayout, BuildsAFilterThatTheReaderReads) {
  const auto builder = NewBuilder();
  for (int i = 0; i < 1000; ++i) builder->AddKey(std::to_string(i));
  EXPECT_EQ(builder->EstimateEntriesAdded(), 1000U);
  Buffer buffer;
  Status status;
  const Slice contents = builder->Finish(&buffer, &status);
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(builder->MaybePostVerify(contents).ok());
  const auto reader = NewBitsReader(BloomFilterView({contents.data(), contents.size()}));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(reader->MayMatch(std::to_string(i)));
  int refused = 0;
  for (int i = 0; i < 1000; ++i) refused += reader->MayMatch(std::to_string(1000 + i)) ? 0 : 1;
  EXPECT_GT(refused, 950);
}

TEST_P(BuilderOfLayout, AddKeyAndAltCountsEachEntryOnce) {
  const auto builder = NewBuilder();
  builder->AddKey("aa");
  for (const auto& [key, alt] : {std::pair("ab", "a"),
                                 {"ab", "a"},
                                 {"ac", "a"},
                                 {"b", "b"},
                                 {"ba", "b"},
                                 {"c", "ba"},
                                 {"ba", "c"},
                                 {"c", "c"},
                                 {"", ""}}) {
    Newest(*builder).AddKeyAndAlt(key, alt);
  }
  EXPECT_EQ(builder->EstimateEntriesAdded(), 8U);  // aa, a, ab, ac, b, ba, c and the empty key
  Buffer buffer;
  const Slice contents = builder->Finish(&buffer);
  const auto reader = NewBitsReader(BloomFilterView({contents.data(), contents.size()}));
  for (const char* entry : {"aa", "a", "ab", "ac", "b", "ba", "c", ""}) {
    EXPECT_TRUE(reader->MayMatch(entry)) << entry;
  }
}

// From 9.6 on, RocksDB omits the last partition if no entry was added, and all of its keys would be
// absent.
TEST_P(BuilderOfLayout, EntriesAreNotZeroWhenMemoryWasShort) {
  const auto builder = NewBuilder();
  faults::Starve([&] { builder->AddKey("key"); });
  EXPECT_GT(builder->EstimateEntriesAdded(), 0U);
  Buffer buffer;
  const Slice contents = builder->Finish(&buffer);
  const std::unique_ptr<FilterBitsReader> stock(
      std::unique_ptr<const rocksdb::FilterPolicy>(rocksdb::NewBloomFilterPolicy(10))
          ->GetFilterBitsReader(contents));
  EXPECT_TRUE(stock->MayMatch("key"));
  EXPECT_TRUE(NewBitsReader(BloomFilterView({contents.data(), contents.size()}))->MayMatch("key"));
  EXPECT_EQ(builder->EstimateEntriesAdded(), 0U);
}

// The next partition of a table begins with the prefix that the one before ended with.
TEST_P(BuilderOfLayout, AddKeyAndAltForgetsAtFinish) {
  const auto builder = NewBuilder();
  Newest(*builder).AddKeyAndAlt("ab", "a");
  Buffer buffer;
  builder->Finish(&buffer);
  Newest(*builder).AddKeyAndAlt("ac", "a");
  EXPECT_EQ(builder->EstimateEntriesAdded(), 2U);
  const Slice contents = builder->Finish(&buffer);
  const auto reader = NewBitsReader(BloomFilterView({contents.data(), contents.size()}));
  EXPECT_TRUE(reader->MayMatch("a"));
  EXPECT_TRUE(reader->MayMatch("ac"));
  EXPECT_FALSE(reader->MayMatch("ab"));
}

TEST_P(BuilderOfLayout, CalculateSpaceIsTheSizeOfTheBlock) {
  for (const std::uint64_t keys : {0U, 1U, 77U, 1000U}) {
    const auto builder = NewBuilder();
    for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(std::to_string(i));
    const std::size_t space = Newest(*builder).CalculateSpace(keys);
    Buffer buffer;
    EXPECT_EQ(builder->Finish(&buffer).size(), space) << keys;
    EXPECT_GE(builder->ApproximateNumEntries(space), keys);
  }
  EXPECT_LT(Newest(*NewBuilder()).CalculateSpace(std::size_t{1} << 40), kBlockBytesLimit);
}

TEST_P(BuilderOfLayout, EstimatedFpRateIsExact) {
  const auto builder = NewBuilder();
  for (const std::uint64_t keys : {0U, 1U, 77U, 1000U}) {
    const std::size_t space = Newest(*builder).CalculateSpace(keys);
    EXPECT_DOUBLE_EQ(Newest(*builder).EstimatedFpRate(keys, space),
                     SizeAtBitsPerKey(layout_, keys, 10.0).false_positive_rate)
        << keys;
  }
  EXPECT_EQ(Newest(*builder).EstimatedFpRate(1000, 0), 1.0);
  EXPECT_EQ(Newest(*builder).EstimatedFpRate(1000, 40), 1.0);  // the trailer alone
}

}  // namespace
}  // namespace exactbloom
