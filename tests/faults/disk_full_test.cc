// A disk that is full while tables are rebuilt: the error says so, nothing is lost, and work
// continues when there is room again. Flushes and compactions that fail are in
// random_faults_test.cc.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "configurations.h"
#include "exactbloom/rebuild_filters.h"
#include "exactbloom/table_filters.h"
#include "expected_contents.h"
#include "faulty_file_system.h"
#include "sample_database.h"

namespace exactbloom::faults {
namespace {

using rocksdb::Status;

constexpr std::uint64_t kKeys = 256;
constexpr std::uint64_t kTables = 4;
constexpr std::size_t kValueBytes = 200;

// With the smallest space the first write fails, with the largest ones the second or third table of
// a rebuild, after one of 55 kB. None ends between two tables, where RocksDB writes the MANIFEST:
// if that fails in CompactFiles, Resume() of 10.10, built with assertions, aborts.
constexpr std::uint64_t kSpaces[] = {0, 1000, 10'000, 16'000, 30'000, 62'000, 76'000};

class DiskFull : public testing::TestWithParam<Configuration> {
 protected:
  DiskFull() {
    options_ = GetParam().Options();
    options_.env = env_.get();
    options_.disable_auto_compactions = true;
  }

  void Reopen() {
    db_.reset();
    db_ = Open(options_, directory_.path("db"));
    ASSERT_NE(db_, nullptr);
  }

  void PutTables() {
    Writes writes;
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      std::string value = std::to_string(++values_);
      value.resize(kValueBytes, '.');
      ASSERT_TRUE(db_->Put({}, KeyOf(2 * key), value).ok());
      writes.emplace_back(key, value);
      if ((key + 1) % (kKeys / kTables) != 0) continue;
      ASSERT_TRUE(db_->Flush({}).ok());
    }
    expected_.Acknowledge(writes);
  }

  TemporaryDirectory directory_;
  FaultSource faults_;
  std::unique_ptr<rocksdb::Env> env_ = NewFaultyEnv(faults_);
  rocksdb::Options options_;
  ExpectedContents expected_{kKeys};
  std::uint64_t values_ = 0;
  Database db_;
};

INSTANTIATE_TEST_SUITE_P(Some, DiskFull,
                         testing::Values(Configuration{Layout{FilterKind::kClassic, 0}},
                                         Configuration{Layout{FilterKind::kStandard, 1},
                                                       /*partitioned=*/true}),
                         [](const auto& test) { return test.param.Name(); });

TEST_P(DiskFull, RebuildsFailAndGoOn) {
  int full = 0;
  std::uint64_t rewritten_before = 0;
  Configuration other = GetParam();
  other.layout.reset();
  const rocksdb::Options wanted = options_;
  for (const std::uint64_t space : kSpaces) {
    options_.table_factory = other.Options().table_factory;
    Reopen();
    ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
    PutTables();
    options_ = wanted;
    Reopen();
    faults_.LeaveSpace(space);
    RebuildResult result;
    const Status status = RebuildFilters(*db_, {}, &result);
    EXPECT_TRUE(status.ok() || status.IsNoSpace()) << status.ToString();
    EXPECT_EQ(result.rewritten_tables + result.remaining_tables, result.lacking_tables);
    EXPECT_EQ(expected_.FindDifference(*db_), "");
    faults_.MakeRoom();
    if (!status.ok()) {
      ++full;
      rewritten_before += result.rewritten_tables;
      // RocksDB may be about to resume by itself, which it tries every few seconds.
      if (!db_->Resume().ok()) Reopen();
    }
    EXPECT_EQ(expected_.FindDifference(*db_), "");
    EXPECT_EQ(Rebuild(*db_).remaining_tables, 0U);
    EXPECT_EQ(expected_.FindDifference(*db_), "");
    for (const TableFilter& table : ListTableFilters(*db_)) {
      EXPECT_EQ(table.family, FilterFamily::kExactBloom) << table.path;
    }
  }
  EXPECT_GE(full, 3);
  EXPECT_GT(rewritten_before, 0U);
}

}  // namespace
}  // namespace exactbloom::faults
