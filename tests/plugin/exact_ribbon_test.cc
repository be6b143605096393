// exact_ribbon: Ribbon filters of the same bits per key in all tables, without a listener.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/options_util.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "listed_filters.h"
#include "plugin/filter_bits_interface.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

PolicyPointer PolicyOfText(const std::string& text) {
  RegisterFilterPolicies();
  PolicyPointer policy;
  const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString({}, text, &policy);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return policy;
}

// Of the only table.
FilterBlocks BlocksOf(rocksdb::DB& db) {
  const std::vector<ListedFilter> tables = ListTableFilters(db);
  EXPECT_EQ(tables.size(), 1U);
  return tables.empty() ? FilterBlocks() : ReadFilterBlocks(db, tables[0].path).value();
}

FilterPlan PlanOf(std::uint64_t keys, double rate = 0.0) {
  FilterOptions options;
  options.false_positive_rate = rate;
  return FilterBuilder::Create(options)->Plan(keys);
}

constexpr std::uint64_t kKeys = 5000;

class ExactRibbon : public testing::TestWithParam<bool> {
 protected:
  // The parameter is whether filters are partitioned.
  static rocksdb::Options Options(const std::string& policy) {
    rocksdb::BlockBasedTableOptions tables = PlannedSizes();
    if (GetParam()) PartitionFilters(1024, &tables);
    tables.filter_policy = PolicyOfText(policy);
    return OptionsWith(tables);
  }

  // Within what a partition's own trailer and columns take. The last one may have few keys.
  static void ExpectRibbon(rocksdb::DB& db, std::uint64_t keys, double rate) {
    const FilterBlocks blocks = BlocksOf(db);
    EXPECT_EQ(blocks.keys, keys);
    EXPECT_LE(blocks.bloom, GetParam() ? 1U : 0U);
    EXPECT_EQ(blocks.ribbon > 1, GetParam());
    EXPECT_LE(blocks.Rate(keys), (GetParam() ? 2.0 : 1.05) * rate);
  }

  std::string Path(const std::string& name) const { return directory_.path(name); }

 private:
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, ExactRibbon, testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "Partitioned" : "Full");
});

TEST_P(ExactRibbon, OfFlushesAndCompactionsNeedsNoListener) {
  const Database db = Open(Options("exact_ribbon:10"), Path("db"));
  PutAndFlush(*db, kKeys);
  ExpectRibbon(*db, kKeys, PlanOf(kKeys).FalsePositiveRate());
  PutAndFlush(*db, kKeys, "value", kKeys);
  ASSERT_TRUE(ForceCompaction(*db).ok());
  ExpectRibbon(*db, 2 * kKeys, PlanOf(2 * kKeys).FalsePositiveRate());
  ExpectPresent(*db, 2 * kKeys);
  EXPECT_GE(AskAbsent(*db, 2 * kKeys - 1).useful, 2 * kKeys - 1 - 70) << "at some .15%";
}

TEST_P(ExactRibbon, OfTablesForIngestion) {
  const rocksdb::Options options = Options("{id=exact_ribbon;fpr=0.001}");
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  ASSERT_TRUE(writer.Open(Path("table.sst")).ok());
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(writer.Put(KeyOf(2 * i), "value").ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
  const Database db = Open(options, Path("db"));
  ASSERT_TRUE(db->IngestExternalFile({Path("table.sst")}, {}).ok());
  const FilterBlocks blocks = BlocksOf(*db);
  EXPECT_EQ(blocks.keys, kKeys);
  EXPECT_GT(blocks.ribbon, 0U);
  EXPECT_LE(blocks.Rate(kKeys), 0.001);
  EXPECT_GT(blocks.Rate(kKeys), 0.0005);
  ExpectPresent(*db, kKeys);
  EXPECT_GE(AskAbsent(*db, kKeys - 1).useful, kKeys - 1 - 25);
}

TEST_P(ExactRibbon, SurvivesAnOptionsFile) {
  for (const std::string text : {"exact_ribbon:2.5", "{id=exact_ribbon;fpr=0.001;hash_seed=7}"}) {
    SCOPED_TRACE(text);
    const std::string path = Path(std::to_string(text.size()));
    {
      const Database db = Open(Options(text), path);
      PutAndFlush(*db, kKeys);
    }
    rocksdb::DBOptions db_options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    ASSERT_TRUE(rocksdb::LoadLatestOptions({}, path, &db_options, &families).ok());
    ASSERT_TRUE(rocksdb::CheckOptionsCompatibility({}, path, db_options, families).ok());
    EXPECT_TRUE(db_options.listeners.empty());
    rocksdb::ConfigOptions semicolons;
    semicolons.delimiter = ";";
    const rocksdb::Options loaded(db_options, families.at(0).options);
    ASSERT_NE(PolicyOf(loaded), nullptr);
    EXPECT_EQ(PolicyOf(loaded)->ToString(semicolons), text);
    const Database again = Open(loaded, path);
    ExpectPresent(*again, kKeys);
    const ListedFilter table = ListTableFilters(*again).at(0);
    EXPECT_EQ(table.policy, "exact_ribbon");
    const FilterBlocks blocks = ReadFilterBlocks(*again, table.path).value();
    EXPECT_GT(blocks.ribbon, 0U);
    EXPECT_EQ(blocks.hash_seed, text.find("hash_seed=7") == std::string::npos ? 0U : 7U);
  }
}

// In which a Ribbon filter would pass some absent keys more. exactbloom gives it more bits.
TEST_P(ExactRibbon, OfLogRecoveryWithAHundredKeysIsAClassicFilter) {
  constexpr std::uint64_t kLogged = 100;
  for (const std::string policy : {"exact_ribbon:10"}) {
    SCOPED_TRACE(policy);
    rocksdb::Options options = Options(policy);
    options.avoid_flush_during_recovery = false;
    options.avoid_flush_during_shutdown = true;
    {
      const Database db = Open(options, Path(policy));
      for (std::uint64_t i = 0; i < kLogged; ++i) {
        ASSERT_TRUE(db->Put({}, KeyOf(2 * i), "value").ok());
      }
    }
    const Database db = Open(options, Path(policy));
    ExpectPresent(*db, kLogged);
    const FilterBlocks blocks = BlocksOf(*db);
    EXPECT_EQ(blocks.bloom, 1U);
    EXPECT_EQ(blocks.ribbon, 0U);
    const FilterPlan plan = PlanOf(kLogged);
    EXPECT_EQ(plan.Kind(), FilterKind::kClassicBloom);
    EXPECT_DOUBLE_EQ(blocks.Rate(kLogged), plan.FalsePositiveRate());
    // A filter of so few keys has a rate of its own, with a deviation of a tenth.
    constexpr std::uint64_t kAsked = 100'000;
    std::uint64_t passed = 0;
    ListedFilter table = ListTableFilters(*db).at(0);
    const PolicyPointer reads = PolicyOfText(policy);
    ASSERT_TRUE(ReadTableFilter(*db->GetFileSystem(), std::string(table.path), &table,
                                [&](rocksdb::Slice block) {
                                  const std::unique_ptr<rocksdb::FilterBitsReader> reader(
                                      reads->GetFilterBitsReader(block));
                                  for (std::uint64_t i = 0; i < kAsked; ++i) {
                                    passed += reader->MayMatch(KeyOf(2 * i + 1)) ? 1 : 0;
                                  }
                                })
                    .ok());
    EXPECT_LE(static_cast<double>(passed), 1.4 * plan.FalsePositiveRate() * kAsked);
    EXPECT_GT(passed, 0U);
  }
}

}  // namespace
}  // namespace exactbloom
