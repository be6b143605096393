// verify and rebuild on databases that are damaged, in use, or cannot be opened.
#include <gtest/gtest.h>
#include <rocksdb/merge_operator.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using testing::ExpectRefusal;

constexpr std::uint64_t kKeys = 400;
constexpr std::uint64_t kTables = 3;

class DatabaseErrors : public ::testing::Test {
 protected:
  Database Make(const PolicyPointer& policy) const {
    Database db = Open(OptionsWith(policy), directory_.path());
    for (std::uint64_t i = 0; i < kTables; ++i) PutAndFlush(*db, kKeys, "value", i * kKeys);
    return db;
  }

  // Writes into a data block of the second table.
  std::string DamageSecond() const {
    const fs::path table = TableFilesIn(directory_.path()).at(1);
    std::fstream file(table, std::ios::in | std::ios::out);
    file.seekp(100);
    file.write("damaged!", 8);
    return table.filename();
  }

  TemporaryDirectory directory_;
};

TEST_F(DatabaseErrors, VerifyNamesADamagedTableAndGoesOn) {
  Make(NewPolicy(FilterKind::kClassic));
  const std::string damaged = DamageSecond();
  const json report = AskToolForJson("verify " + directory_.path(), 1);
  EXPECT_EQ(report.at("tables"), kTables);
  EXPECT_EQ(report.at("keys_checked"), (kTables - 1) * kKeys);
  EXPECT_EQ(report.at("false_negatives"), 0);
  ASSERT_EQ(report.at("unreadable").size(), 1U);
  const std::string table = report["unreadable"][0].at("table");
  EXPECT_NE(table.find(damaged), std::string::npos) << table;
  const std::string reason = report["unreadable"][0].at("reason");
  EXPECT_NE(reason.find("Corruption"), std::string::npos) << reason;
  EXPECT_EQ(AskTool("verify " + directory_.path()).err, "exactbloom: 1 table could not be read\n");
}

TEST_F(DatabaseErrors, ADatabaseInUseIsVerifiedButNotRebuilt) {
  const Database db = Make(NewPolicy(FilterKind::kClassic));
  EXPECT_EQ(AskToolForJson("verify " + directory_.path()).at("keys_checked"), kTables * kKeys);
  const std::string rebuild = "rebuild --policy standard_bloom:10 " + directory_.path();
  ExpectRefusal(AskTool(rebuild), "is in use by another process");
  EXPECT_EQ(AskToolForJson(rebuild + " --dry-run").at("lacking_tables"), kTables);
  ExpectPresent(*db, kTables * kKeys);
}

TEST_F(DatabaseErrors, RebuildRefusesWhatItCannotOpenUnchanged) {
  class Sum : public rocksdb::AssociativeMergeOperator {
   public:
    bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* /*existing*/,
               const rocksdb::Slice& /*value*/, std::string* /*result*/,
               rocksdb::Logger* /*logger*/) const override {
      return true;
    }
    const char* Name() const override { return "Sum"; }
  };
  rocksdb::Options options = OptionsWith(NewPolicy(FilterKind::kClassic));
  options.merge_operator = std::make_shared<Sum>();
  PutAndFlush(*Open(options, directory_.path()), kKeys);
  ExpectRefusal(AskTool("rebuild " + directory_.path()), "Could not load MergeOperator: Sum");
  ExpectRefusal(AskTool("rebuild --dry-run " + directory_.path()), "MergeOperator: Sum");
  EXPECT_EQ(AskToolForJson("verify " + directory_.path()).at("keys_checked"), kKeys);
}

TEST_F(DatabaseErrors, RebuildRefusesBadQuestions) {
  ExpectRefusal(AskTool("rebuild " + directory_.path()), "not a RocksDB database");
  ExpectRefusal(AskTool("rebuild " + directory_.path("nowhere")), "No such file");
  Make(NewPolicy(FilterKind::kClassic));
  ExpectRefusal(AskTool("rebuild --policy quotient:3 " + directory_.path()), "quotient:3");
  ExpectRefusal(AskTool("rebuild --policy classic_bloom:1000 " + directory_.path()), "1000");
  ExpectRefusal(AskTool("rebuild --rate fast " + directory_.path()), "--rate");
  ExpectRefusal(AskTool("rebuild"), "PATH");
}

TEST_F(DatabaseErrors, ADirectoryThatCannotBeWrittenIsRefused) {
  Make(NewPolicy(FilterKind::kClassic));
  // Root may write everywhere, so another user runs it.
  const std::string nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
  if (AskTool("--version", nobody).status != 0) {
    GTEST_SKIP() << "another user cannot run the tool";
  }
  fs::permissions(directory_.path(), fs::perms::all & ~fs::perms::others_write);
  ExpectRefusal(AskTool("rebuild " + directory_.path(), nobody), "Permission denied");
  fs::permissions(directory_.path("CURRENT"), fs::perms::none);
  ExpectRefusal(AskTool("verify " + directory_.path(), nobody), "Permission denied");
}

}  // namespace
}  // namespace exactbloom
