// rebuild gives tables the wanted filter, in portions, and reports what it did.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/utilities/options_util.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plugin/files/table_file.h"
#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using testing::ReadFile;

constexpr std::uint64_t kKeys = 2000;
constexpr std::uint64_t kTables = 4;

class RebuildCommand : public ::testing::Test {
 protected:
  RebuildCommand() {
    const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
    const Database db = Open(OptionsWith(bloom), directory_.path());
    for (std::uint64_t i = 0; i < kTables; ++i) PutAndFlush(*db, kKeys, "value", i * kKeys);
  }

  json Rebuild(const std::string& arguments, int status = 0) const {
    return AskToolForJson("rebuild " + directory_.path() + " " + arguments, status);
  }

  TemporaryDirectory directory_;
};

TEST_F(RebuildCommand, RewritesWhatLacksThePolicysFilter) {
  EXPECT_EQ(Rebuild("").at("lacking_tables"), 0);
  const json dry = Rebuild("--policy classic_bloom:10 --dry-run");
  EXPECT_EQ(dry.at("tables"), kTables);
  EXPECT_EQ(dry.at("lacking_tables"), kTables);
  EXPECT_EQ(dry.at("rewritten_tables"), 0);
  const json done = Rebuild("--policy classic_bloom:10");
  EXPECT_EQ(done.at("rewritten_tables"), kTables);
  EXPECT_EQ(done.at("rewritten_bytes"), dry.at("lacking_bytes"));
  EXPECT_EQ(done.at("remaining_tables"), 0);
  const json verified = AskToolForJson("verify " + directory_.path());
  EXPECT_EQ(verified.at("keys_checked"), kTables * kKeys);
  EXPECT_EQ(verified.at("levels").at(0).at("filter"), "exactbloom");
  EXPECT_TRUE(verified.at("within_interval"));
  // The policy is in the OPTIONS file now.
  EXPECT_EQ(Rebuild("").at("lacking_tables"), 0);
  ExpectPresent(*Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory_.path()),
                kTables * kKeys);
}

TEST_F(RebuildCommand, StopsAtAnInterruptAndGoesOn) {
  // At this rate it would sleep for minutes after the first table.
  const testing::Outcome stopped =
      AskTool("rebuild --policy classic_bloom:10 --rate 1K " + directory_.path(),
              "timeout --preserve-status -s INT 5");
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_TRUE(Mentions(stopped.out, "rewritten   1 table, "));
  EXPECT_TRUE(Mentions(stopped.out, "The same command continues"));
  const std::uint64_t bytes = Rebuild("--dry-run").at("bytes");
  const json next = Rebuild(fmt::format("--max-bytes {}b", bytes / kTables * 3 / 2));
  EXPECT_EQ(next.at("lacking_tables"), kTables - 1);
  EXPECT_EQ(next.at("rewritten_tables"), 1);
  EXPECT_EQ(Rebuild("").at("rewritten_tables"), kTables - 2);
}

// The filters of the same kind differ in their bits.
TEST_F(RebuildCommand, RewritesOtherSizesAndAllWhenAsked) {
  Rebuild("--policy classic_bloom:10");
  EXPECT_EQ(Rebuild("--policy classic_bloom:14").at("rewritten_tables"), 0);
  EXPECT_EQ(Rebuild("--policy classic_bloom:14 --bits").at("rewritten_tables"), kTables);
  EXPECT_EQ(Rebuild("--policy classic_bloom:14 --bits").at("lacking_tables"), 0);
  EXPECT_EQ(Rebuild("--policy classic_bloom:14 --all").at("rewritten_tables"), kTables);
  const json inspected = AskToolForJson("inspect " + directory_.path());
  for (const json& file : inspected.at("files")) {
    EXPECT_NEAR(file.at("filter").at("bits_per_key"), 14.0, 0.1);
  }
}

// Tables that a writer compacts away while they are looked at are no damage.
TEST_F(RebuildCommand, LooksBesideAWriter) {
  rocksdb::Options options = OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
  const Database db = Open(options, directory_.path());
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    for (std::uint64_t i = 0; !ends; ++i) {
      PutAndFlush(*db, 50, "value", 50 * (i % 100));
      if (i % 4 == 0) {
        EXPECT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
      }
    }
  });
  for (int i = 0; i < 20; ++i) {
    const testing::Outcome look =
        AskTool("rebuild --policy classic_bloom:10 --dry-run " + directory_.path());
    EXPECT_EQ(look.status, 0) << look.out << look.err;
  }
  ends = true;
  writer.join();
}

// By its options the database would compact its tables.
class RebuildOfABusyTree : public RebuildCommand {
 protected:
  RebuildOfABusyTree() {
    const Database db = Open(OptionsWith(nullptr), directory_.path());
    EXPECT_TRUE(db->PauseBackgroundWork().ok());
    EXPECT_TRUE(db->SetOptions({{"level0_file_num_compaction_trigger", "2"},
                                {"disable_auto_compactions", "false"}})
                    .ok());
  }

  void ExpectTheSameTreeAndOptions() const {
    const json inspected = AskToolForJson("inspect " + directory_.path());
    EXPECT_EQ(inspected.at("levels").at(0).at("level"), 0);
    EXPECT_EQ(inspected.at("levels").at(0).at("tables"), kTables);
    rocksdb::DBOptions options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    ASSERT_TRUE(rocksdb::LoadLatestOptions({}, directory_.path(), &options, &families).ok());
    EXPECT_FALSE(families.front().options.disable_auto_compactions);
  }
};

TEST_F(RebuildOfABusyTree, KeepsTheTreeAndTheOptions) {
  EXPECT_EQ(Rebuild("--policy classic_bloom:10").at("rewritten_tables"), kTables);
  ExpectTheSameTreeAndOptions();
}

TEST_F(RebuildOfABusyTree, KeepsThemWhenItIsKilled) {
  // At this rate it sleeps after the first table.
  AskTool("rebuild --policy classic_bloom:10 --rate 1K " + directory_.path(), "timeout -s KILL 5");
  ExpectTheSameTreeAndOptions();
  EXPECT_EQ(Rebuild("").at("rewritten_tables"), kTables - 1);
}

// One of the tables is damaged: it is named, nothing is lost, and if RocksDB opens such a database,
// the other tables are rewritten.
class RebuildOfDamage : public RebuildCommand {
 protected:
  RebuildOfDamage()
      : damaged_(TableFilesIn(directory_.path()).at(1)), sound_bytes_(ReadFile(damaged_)) {}

  std::map<fs::path, std::string> Contents() const {
    std::map<fs::path, std::string> contents;
    for (const fs::path& table : TableFilesIn(directory_.path())) contents[table] = ReadFile(table);
    return contents;
  }

  std::uint64_t OffsetOf(const std::string& block) const {
    std::unique_ptr<files::TableFile> file;
    EXPECT_TRUE(files::TableFile::Open(*rocksdb::FileSystem::Default(), damaged_, &file).ok());
    return file->MetaBlocks().at(block).offset;
  }

  void DamageAt(std::uint64_t offset) const {
    std::fstream(damaged_).seekp(static_cast<std::streamoff>(offset)) << "damaged!";
  }

  std::string Command(const std::string& arguments = "") const {
    return fmt::format("rebuild --policy classic_bloom:10 {} {}", arguments, directory_.path());
  }

  // Expects the damaged table to be named and left.
  void ExpectTheOthersRewritten() const {
    const std::string damaged_bytes = ReadFile(damaged_);
    const json report = AskToolForJson(Command(), 1);
    EXPECT_EQ(report.at("tables"), kTables);
    EXPECT_EQ(report.at("rewritten_tables"), kTables - 1);
    ASSERT_EQ(report.at("damaged_files").size(), 1U);
    EXPECT_TRUE(Mentions(report["damaged_files"][0], damaged_.filename()));
    EXPECT_EQ(ReadFile(damaged_), damaged_bytes);
    const testing::Outcome again = AskTool(Command());
    EXPECT_TRUE(Mentions(again.out, "damaged: "));
    EXPECT_EQ(again.err, "exactbloom: 1 damaged file is left as it is\n");
  }

  // With the original bytes restored, the database has all its keys.
  void ExpectAllWithSoundBytes() const {
    std::ofstream(damaged_, std::ios::binary) << sound_bytes_;
    ExpectPresent(*Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory_.path()),
                  kTables * kKeys);
  }

  fs::path damaged_;
  std::string sound_bytes_;
};

TEST_F(RebuildOfDamage, OfAFilterIsFoundAndItsTableLeft) {
  DamageAt(OffsetOf("fullfilter.rocksdb.BuiltinBloomFilter"));
  EXPECT_EQ(AskToolForJson(Command("--dry-run"), 1).at("rewritten_tables"), 0);
  ExpectTheOthersRewritten();
  ExpectAllWithSoundBytes();
}

TEST_F(RebuildOfDamage, ATruncatedTableOfADatabaseThatOpensNeverthelessIsNamedAndLeft) {
  rocksdb::Options options = OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
  options.paranoid_checks = false;
  Open(options, directory_.path());
  fs::resize_file(damaged_, sound_bytes_.size() - 100);
  ExpectTheOthersRewritten();
  ExpectAllWithSoundBytes();
}

TEST_F(RebuildOfDamage, ATableThatRocksDbDoesNotOpenIsNamedAndAllTablesStay) {
  const auto expect_refusal = [this](const char* what) {
    SCOPED_TRACE(what);
    const auto before = Contents();
    for (const char* arguments : {"--dry-run", ""}) {
      const testing::Outcome outcome = AskTool(Command(arguments));
      testing::ExpectRefusal(outcome, "cannot be opened: Corruption");
      EXPECT_TRUE(Mentions(outcome.err, damaged_.stem()));
    }
    EXPECT_EQ(Contents(), before);
  };
  DamageAt(OffsetOf("rocksdb.properties") - 20);  // in the index, just before them
  expect_refusal("index");
  std::ofstream(damaged_, std::ios::binary) << sound_bytes_;
  DamageAt(sound_bytes_.size() - 80);  // in the metaindex, just before the footer
  expect_refusal("metaindex");
  fs::resize_file(damaged_, sound_bytes_.size() / 2);
  expect_refusal("truncated");
  fs::remove(damaged_);
  expect_refusal("missing");
  ExpectAllWithSoundBytes();
}

}  // namespace
}  // namespace exactbloom
