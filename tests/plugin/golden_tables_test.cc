// The golden SSTables: ExactBloom reads them and filters, stock RocksDB reads them without
// ExactBloom, and the writer still makes the bytes of their filters.
#include "golden_tables.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "bits_builder_fixture.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/table_filters.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kAsked = kGoldenKeys - 1;

class GoldenTableTest : public testing::TestWithParam<GoldenTable> {
 protected:
  // A database whose only table is a copy of the golden one.
  void SetUp() override {
    const Database db = OpenWith(NewPolicy(GetParam().layout));
    const rocksdb::Status status = db->IngestExternalFile({path_}, {});
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  Database OpenWith(const PolicyPointer& policy) const {
    return Open(GetParam().OptionsWith(policy), directory_.path("db"));
  }

  const std::string path_ = EXACTBLOOM_GOLDEN_TABLES + ("/" + GetParam().file);
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Files, GoldenTableTest, testing::ValuesIn(GoldenTables()),
                         [](const auto& test) {
                           return test.param.file.substr(0, test.param.file.find('.'));
                         });

void ExpectOursFilters(rocksdb::DB& db) {
  ExpectPresent(db, kGoldenKeys);
  ExpectFiltering(AskAbsent(db, kAsked), kAsked);
  const FilterCounts counts = MultiGetAll(db, kGoldenKeys);
  EXPECT_EQ(counts.true_positive, kGoldenKeys);
  EXPECT_GT(counts.useful, kAsked * 9 / 10);
}

TEST_P(GoldenTableTest, IsReadByUsByStockRocksDbAndByUsAgain) {
  ExpectOursFilters(*OpenWith(NewPolicy(GetParam().layout)));
  for (const rocksdb::FilterPolicy* stock : std::initializer_list<const rocksdb::FilterPolicy*>{
           rocksdb::NewBloomFilterPolicy(10), rocksdb::NewRibbonFilterPolicy(10)}) {
    const Database db = OpenWith(PolicyPointer(stock));
    ExpectPresent(*db, kGoldenKeys);
    const FilterCounts counts = AskAbsent(*db, kAsked);
    EXPECT_EQ(counts.useful, 0U);
    EXPECT_EQ(counts.FalsePositives(), kAsked) << "our filter was not found, or did not match";
  }
  // One policy reads the blocks of all layouts.
  ExpectOursFilters(*OpenWith(NewPolicy(FilterKind::kStandard)));
}

TEST_P(GoldenTableTest, SaysWhatItsFilterIs) {
  TableFilter filter;
  ASSERT_TRUE(ReadTableFilter(*rocksdb::FileSystem::Default(), path_, &filter).ok());
  EXPECT_EQ(filter.family, FilterFamily::kExactBloom);
  EXPECT_EQ(filter.layout.kind, GetParam().layout.kind);
  EXPECT_EQ(filter.layout.Lines(), GetParam().layout.Lines());
  EXPECT_EQ(filter.partitioned, GetParam().partitioned);
  EXPECT_EQ(filter.blocks > 1, GetParam().partitioned);
  EXPECT_EQ(filter.keys, kGoldenKeys);
  EXPECT_EQ(filter.format_version, GetParam().layout.Lines() == 0 ? 1 : 2);
}

// Other bytes need a new version of the format, with its own golden tables.
TEST_P(GoldenTableTest, WriterMakesTheSameFilters) {
  const PolicyPointer policy = NewPolicy(GetParam().layout);
  const auto builder = NewBuilder(*policy);
  std::uint64_t number = 0;
  const rocksdb::Status status =
      VisitFilterBlocks(*rocksdb::FileSystem::Default(), path_, [&](rocksdb::Slice block) {
        const BloomFilterView view({block.data(), block.size()});
        const std::uint64_t end = number + view.Description().keys;
        for (; number < end; ++number) builder->AddKey(KeyOf(2 * number));
        EXPECT_EQ(FinishAndVerify(*builder).contents.ToString(true), block.ToString(true));
        return rocksdb::Status::OK();
      });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(number, kGoldenKeys);
}

}  // namespace
}  // namespace exactbloom
