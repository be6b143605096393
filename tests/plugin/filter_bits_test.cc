// The contract between RocksDB's tables and the builder and reader of a policy.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bits_builder_fixture.h"
#include "exactbloom/bloom_filter.h"
#include "plugin/filter_bits_interface.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;
using rocksdb::Status;

// The longest batch that RocksDB asks for.
constexpr int kMostInBatch = 32;

class FilterBits : public testing::TestWithParam<FilterKind> {
 protected:
  std::unique_ptr<FilterBitsBuilder> NewBuilder() const { return exactbloom::NewBuilder(*policy_); }

  std::unique_ptr<FilterBitsReader> NewReader(const Slice& contents) const {
    return std::unique_ptr<FilterBitsReader>(policy_->GetFilterBitsReader(contents));
  }

  static void AddKeys(FilterBitsBuilder& builder, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) builder.AddKey(KeyOf(first + i));
  }

  PolicyPointer policy_ = NewPolicy(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Kinds, FilterBits,
                         testing::Values(FilterKind::kClassic, FilterKind::kStandard),
                         [](const auto& test) {
                           return test.param == FilterKind::kClassic ? "Classic" : "Standard";
                         });

TEST_P(FilterBits, ReusedBuilderEqualsAFreshOne) {
  const auto used = NewBuilder();
  AddKeys(*used, 0, 700);
  FinishAndVerify(*used);
  FinishAndVerify(*used);  // a partition of no keys
  AddKeys(*used, 5000, 300);
  const auto fresh = NewBuilder();
  AddKeys(*fresh, 5000, 300);
  EXPECT_EQ(FinishAndVerify(*used).contents.ToString(),
            FinishAndVerify(*fresh).contents.ToString());
}

TEST_P(FilterBits, FilterOfNoKeysAnswersAbsent) {
  const Filter filter = FinishAndVerify(*NewBuilder());
  EXPECT_GT(filter.contents.size(), 5U);
  const auto reader = NewReader(filter.contents);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_FALSE(reader->MayMatch(KeyOf(i)));
}

TEST_P(FilterBits, FinishTakesANullStatus) {
  const auto builder = NewBuilder();
  AddKeys(*builder, 0, 10);
  std::unique_ptr<const char[]> buffer;
  const Slice contents = builder->Finish(&buffer, nullptr);
  EXPECT_EQ(contents.data(), buffer.get());
  EXPECT_TRUE(NewReader(contents)->MayMatch(KeyOf(3)));
}

TEST_P(FilterBits, FinishSetsTheStatusToOk) {
  const auto builder = NewBuilder();
  std::unique_ptr<const char[]> buffer;
  Status status = Status::Corruption("left over");
  builder->Finish(&buffer, &status);
  EXPECT_TRUE(status.ok());
}

TEST_P(FilterBits, EntriesAreCountedBeforeFinishWithoutAdjacentDuplicates) {
  const auto builder = NewBuilder();
  EXPECT_EQ(builder->EstimateEntriesAdded(), 0U);
  for (const char* key : {"key", "key", "prefix", "", "", "key"}) builder->AddKey(key);
  EXPECT_EQ(builder->EstimateEntriesAdded(), 4U);
  const Filter filter = FinishAndVerify(*builder);
  EXPECT_EQ(builder->EstimateEntriesAdded(), 0U);
  const auto reader = NewReader(filter.contents);
  for (const char* key : {"key", "prefix", ""}) EXPECT_TRUE(reader->MayMatch(key));
}

TEST_P(FilterBits, KeyMayDieAfterAddKey) {
  const auto builder = NewBuilder();
  for (int i = 0; i < 100; ++i) {
    std::string key = KeyOf(static_cast<std::uint64_t>(i));
    builder->AddKey(key);
    std::fill(key.begin(), key.end(), '?');
  }
  const Filter filter = FinishAndVerify(*builder);
  const auto reader = NewReader(filter.contents);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(reader->MayMatch(KeyOf(i)));
}

TEST_P(FilterBits, ApproximateNumEntriesIsAskedBeforeAnyKeyAndNotTooLarge) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{40}, std::size_t{4096}}) {
    const auto builder = NewBuilder();
    const std::size_t entries = builder->ApproximateNumEntries(bytes);
    if (entries == 0) {
      EXPECT_LE(bytes, 40U);
      continue;
    }
    AddKeys(*builder, 0, entries);
    const std::size_t size = FinishAndVerify(*builder).contents.size();
    EXPECT_LE(size, bytes);
    EXPECT_GT(size + 2, bytes) << "the estimate wastes space";
  }
}

TEST_P(FilterBits, BatchesOfEverySizeAreAnsweredWholly) {
  const auto builder = NewBuilder();
  AddKeys(*builder, 0, 1000);
  const Filter filter = FinishAndVerify(*builder);
  const auto reader = NewReader(filter.contents);
  for (int count = 1; count <= kMostInBatch; ++count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
      texts.push_back(KeyOf(static_cast<std::uint64_t>(i % 3 == 0 ? i : 5000 + 32 * count + i)));
    }
    std::vector<Slice> keys(texts.begin(), texts.end());
    std::vector<Slice*> pointers;
    for (Slice& key : keys) pointers.push_back(&key);
    for (const bool before : {false, true}) {
      // An allocation of the exact size, for the address sanitizer.
      const std::unique_ptr<bool[]> results(new bool[static_cast<std::size_t>(count)]);
      std::fill_n(results.get(), count, before);
      reader->MayMatch(count, pointers.data(), results.get());
      for (int i = 0; i < count; ++i) {
        const auto index = static_cast<std::size_t>(i);
        ASSERT_EQ(results[index], reader->MayMatch(keys[index])) << count << ' ' << i;
        if (i % 3 == 0) {
          ASSERT_TRUE(results[index]);
        }
      }
    }
  }
}

TEST_P(FilterBits, ContentsMayLieAtAnyAlignment) {
  const auto builder = NewBuilder();
  AddKeys(*builder, 0, 1000);
  const Filter filter = FinishAndVerify(*builder);
  const std::string bytes = filter.contents.ToString();
  for (std::size_t shift = 0; shift < 64; ++shift) {
    const std::unique_ptr<char[]> moved(new char[shift + bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), moved.get() + shift);
    const auto reader = NewReader(Slice(moved.get() + shift, bytes.size()));
    std::uint64_t refused = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(reader->MayMatch(KeyOf(i)));
      refused += reader->MayMatch(KeyOf(1000 + i)) ? 0U : 1U;
    }
    ASSERT_GT(refused, 950U);
  }
}

}  // namespace
}  // namespace exactbloom
