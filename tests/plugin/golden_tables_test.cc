// The golden SSTables of all versions that the present RocksDB reads: ExactBloom reads them and
// filters, stock RocksDB reads them without ExactBloom. The filters of all others are described,
// too. golden_test.cc compares what the writer makes with golden blocks.
#include "golden_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "exactbloom/filter.h"
#include "exactbloom/sizing.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "sst/table_file.h"
#include "sst/table_filters.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kAsked = kGoldenKeys - 1;

// A file, by the version of RocksDB that wrote it.
using GoldenFile = std::pair<std::string, GoldenTable>;

std::vector<GoldenFile> GoldenFiles() {
  std::vector<GoldenFile> files;
  for (const auto& folder : std::filesystem::directory_iterator(EXACTBLOOM_GOLDEN_TABLES)) {
    for (const GoldenTable& golden : GoldenTables()) {
      if (!std::filesystem::exists(folder.path() / golden.file)) continue;
      files.emplace_back(folder.path().filename(), golden);
    }
  }
  std::sort(files.begin(), files.end(), [](const GoldenFile& left, const GoldenFile& right) {
    return std::tie(left.first, left.second.file) < std::tie(right.first, right.second.file);
  });
  return files;
}

class GoldenTableTest : public testing::TestWithParam<GoldenFile> {
 protected:
  // A database whose only table is a copy of the golden one.
  void Ingest() {
    const Database db = OpenWith(golden_.MakePolicy());
    const rocksdb::Status status = db->IngestExternalFile({path_}, {});
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  Database OpenWith(const PolicyPointer& policy) const {
    return Open(golden_.OptionsWith(policy), directory_.path("db"));
  }

  const GoldenTable golden_ = GetParam().second;
  const std::string path_ =
      EXACTBLOOM_GOLDEN_TABLES + ("/" + GetParam().first + "/" + golden_.file);
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Files, GoldenTableTest, testing::ValuesIn(GoldenFiles()),
                         [](const auto& test) {
                           const std::string& file = test.param.second.file;
                           std::string name = file.substr(0, file.find('.'));
                           name += "_of_" + test.param.first;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(GoldenTables, AreThereForTheVersionsWithOtherFormats) {
  std::map<std::string, std::size_t> files;
  for (const auto& [version, golden] : GoldenFiles()) ++files[version];
  EXPECT_EQ(files["7.8.3"], GoldenTables().size());
  for (const char* version : {"9.10.0", "11.8.1"}) EXPECT_GE(files[version], 4U) << version;
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
  ExpectOursFilters(*OpenWith(golden_.MakePolicy()));
  for (const rocksdb::FilterPolicy* stock : std::initializer_list<const rocksdb::FilterPolicy*>{
           rocksdb::NewBloomFilterPolicy(10), rocksdb::NewRibbonFilterPolicy(10)}) {
    const Database db = OpenWith(PolicyPointer(stock));
    ExpectPresent(*db, kGoldenKeys);
    const FilterCounts counts = AskAbsent(*db, kAsked);
    EXPECT_EQ(counts.useful, 0U);
    EXPECT_EQ(counts.FalsePositives(), kAsked) << "our filter was not found, or did not match";
  }
  // One policy reads the blocks of both kinds.
  ExpectOursFilters(*OpenWith(NewPolicy(BloomKind::kStandard)));
}

// Which blocks are Ribbon filters, `r`, and which Bloom filters of ours, `b`.
std::string KindsOf(const std::string& path, TableFilter* filter) {
  std::string kinds;
  const auto add = [&](rocksdb::Slice block) {
    const std::string_view bytes(block.data(), block.size());
    const FilterView view(bytes);
    const bool is_usable = view.Status() == BlockStatus::kUsable;
    kinds += !is_usable ? '?' : view.Kind() == FilterKind::kRibbon ? 'r' : 'b';
  };
  EXPECT_TRUE(ReadTableFilter(*rocksdb::FileSystem::Default(), path, filter, add).ok());
  return kinds;
}

TEST_P(GoldenTableTest, SaysWhatItsFilterIs) {
  TableFilter filter;
  const std::string kinds = KindsOf(path_, &filter);
  EXPECT_EQ(filter.partitioned, golden_.partitioned);
  EXPECT_EQ(filter.blocks > 1, golden_.partitioned);
  EXPECT_EQ(filter.filter_keys, kGoldenKeys);
  EXPECT_EQ(filter.compatibility_name, golden_.MakePolicy()->CompatibilityName());
  if (golden_.setting == "exact_ribbon:10") {
    EXPECT_EQ(kinds, std::string(filter.blocks, 'r'));
    return;
  }
  EXPECT_EQ(kinds, std::string(filter.blocks, 'b'));
  const bool is_classic = golden_.setting == "classic_bloom:10";
  const BloomKind kind = is_classic ? BloomKind::kClassic : BloomKind::kStandard;
  EXPECT_EQ(filter.family, FilterFamily::kExactBloom);
  EXPECT_EQ(filter.kind, kind);
  EXPECT_EQ(filter.keys, kGoldenKeys);
  EXPECT_EQ(filter.format_version, 1);
  EXPECT_EQ(filter.hash_seed, 0U);
  if (golden_.partitioned) return;
  const int probes = OptimalProbes(kind, filter.bits, kGoldenKeys);
  EXPECT_EQ(filter.bits, 10 * kGoldenKeys);
  EXPECT_EQ(filter.min_probes, probes);
  EXPECT_EQ(filter.max_probes, probes);
}

}  // namespace
}  // namespace exactbloom
