// The golden SSTables of all versions that the present RocksDB reads: ExactBloom reads them and
// filters, stock RocksDB reads them without ExactBloom. The filters of all others are described,
// too. golden_test.cc compares what the writer makes with golden blocks.
#include "golden_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "tool/files/table_file.h"
#include "tool/files/table_filters.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kAsked = kGoldenKeys - 1;

// The versions of RocksDB that have a folder.
std::vector<std::string> GoldenVersions() {
  std::vector<std::string> versions;
  for (const auto& folder : std::filesystem::directory_iterator(EXACTBLOOM_GOLDEN_TABLES)) {
    versions.push_back(folder.path().filename());
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

class GoldenTableTest : public testing::TestWithParam<std::tuple<std::string, GoldenTable>> {
 protected:
  // A database whose only table is a copy of the golden one.
  void Ingest() {
    const Database db = OpenWith(NewPolicy(golden_.kind));
    const rocksdb::Status status = db->IngestExternalFile({path_}, {});
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  Database OpenWith(const PolicyPointer& policy) const {
    return Open(golden_.OptionsWith(policy), directory_.path("db"));
  }

  const GoldenTable golden_ = std::get<GoldenTable>(GetParam());
  const std::string path_ =
      EXACTBLOOM_GOLDEN_TABLES + ("/" + std::get<std::string>(GetParam()) + "/" + golden_.file);
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Files, GoldenTableTest,
                         testing::Combine(testing::ValuesIn(GoldenVersions()),
                                          testing::ValuesIn(GoldenTables())),
                         [](const auto& test) {
                           const std::string& file = std::get<GoldenTable>(test.param).file;
                           std::string name = file.substr(0, file.find('.'));
                           name += "_of_" + std::get<std::string>(test.param);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(GoldenTables, AreThereForTheVersionsWithOtherFormats) {
  const std::vector<std::string> versions = GoldenVersions();
  for (const char* version : {"7.8.3", "9.10.0", "11.8.1"}) {
    EXPECT_EQ(std::count(versions.begin(), versions.end(), version), 1) << version;
  }
}

void ExpectOursFilters(rocksdb::DB& db) {
  ExpectPresent(db, kGoldenKeys);
  ExpectFiltering(AskAbsent(db, kAsked), kAsked);
  const FilterCounts counts = MultiGetAll(db, kGoldenKeys);
  EXPECT_EQ(counts.true_positive, kGoldenKeys);
  EXPECT_GT(counts.useful, kAsked * 9 / 10);
}

TEST_P(GoldenTableTest, IsReadByUsByStockRocksDbAndByUsAgain) {
  std::unique_ptr<files::TableFile> file;
  ASSERT_TRUE(files::TableFile::Open(*rocksdb::FileSystem::Default(), path_, &file).ok());
  if (const char* versions = RocksDBNeededFor(file->FormatVersion(), false); versions != nullptr) {
    GTEST_SKIP() << "format_version " << file->FormatVersion() << " needs RocksDB " << versions;
  }
  Ingest();
  ExpectOursFilters(*OpenWith(NewPolicy(golden_.kind)));
  for (const rocksdb::FilterPolicy* stock : std::initializer_list<const rocksdb::FilterPolicy*>{
           rocksdb::NewBloomFilterPolicy(10), rocksdb::NewRibbonFilterPolicy(10)}) {
    const Database db = OpenWith(PolicyPointer(stock));
    ExpectPresent(*db, kGoldenKeys);
    const FilterCounts counts = AskAbsent(*db, kAsked);
    EXPECT_EQ(counts.useful, 0U);
    EXPECT_EQ(counts.FalsePositives(), kAsked) << "our filter was not found, or did not match";
  }
  // One policy reads the blocks of both kinds.
  ExpectOursFilters(*OpenWith(NewPolicy(FilterKind::kStandard)));
}

TEST_P(GoldenTableTest, SaysWhatItsFilterIs) {
  TableFilter filter;
  ASSERT_TRUE(ReadTableFilter(*rocksdb::FileSystem::Default(), path_, &filter).ok());
  EXPECT_EQ(filter.family, FilterFamily::kExactBloom);
  EXPECT_EQ(filter.kind, golden_.kind);
  EXPECT_EQ(filter.partitioned, golden_.partitioned);
  EXPECT_EQ(filter.blocks > 1, golden_.partitioned);
  EXPECT_EQ(filter.keys, kGoldenKeys);
  EXPECT_EQ(filter.format_version, 1);
  EXPECT_EQ(filter.hash_seed, 0U);
  EXPECT_EQ(filter.compatibility_name, NewPolicy(golden_.kind)->CompatibilityName());
  EXPECT_EQ(filter.path, path_);
  EXPECT_EQ(filter.level, -1);
  if (golden_.partitioned) return;
  const FilterSize size = SizeAtBitsPerKey(golden_.kind, kGoldenKeys, 10);
  EXPECT_EQ(filter.bits, size.bits);
  EXPECT_EQ(filter.min_probes, size.probes);
  EXPECT_EQ(filter.max_probes, size.probes);
}

}  // namespace
}  // namespace exactbloom
