// overlap's counts of obsolete keys, compared with the keys that were put into the sorted runs.
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "sample_database.h"
#include "tool/overlap/obsolete_keys.h"
#include "tool_command.h"
#include "wrong_filters.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kKeys = 2000;

json Overlap(const std::string& directory, const std::string& arguments = "", int status = 0) {
  return testing::AskToolForJson("overlap " + directory + " " + arguments, status);
}

void ExpectCounted(const json& estimate, std::uint64_t keys) {
  for (const char* number : {"low", "keys", "high"}) EXPECT_EQ(estimate.at(number), keys) << number;
}

rocksdb::Options TestOptions(const PolicyPointer& policy = NewPolicy(BloomKind::kClassic)) {
  rocksdb::Options options = OptionsWith(policy);
  options.compression = rocksdb::kNoCompression;
  return options;
}

// Two tables of level 0 of kKeys keys in the same range, of which they share so many per cent.
void PutTwoTables(rocksdb::DB& db, std::uint64_t percent) {
  PutAndFlush(db, kKeys);
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const bool is_shared = i % 100 < percent;
    ASSERT_TRUE(db.Put({}, KeyOf(is_shared ? 2 * i : 2 * i + 1), "newer").ok());
  }
  ASSERT_TRUE(db.Flush({}).ok());
}

TEST(Overlap, CountsTheKeysThatNewerRunsHave) {
  for (const PolicyPointer& policy : {NewPolicy(BloomKind::kClassic), PolicyPointer()}) {
    for (const std::uint64_t percent : {0U, 10U, 100U}) {
      SCOPED_TRACE(percent);
      const TemporaryDirectory directory;
      PutTwoTables(*Open(TestOptions(policy), directory.path()), percent);
      const json overlap = Overlap(directory.path());
      ASSERT_EQ(overlap.at("runs").size(), 2U);
      EXPECT_EQ(overlap["runs"][1].at("keys"), kKeys);
      ExpectCounted(overlap["runs"][0].at("obsolete"), 0);
      ExpectCounted(overlap["runs"][1].at("obsolete"), kKeys * percent / 100);
      EXPECT_TRUE(overlap.at("not_read").empty());
    }
  }
}

// Binomial numbers of 1 in 10 of 20,000 keys: in one of a thousand the interval lacks the number.
TEST(Overlap, EstimatesFromASample) {
  constexpr std::uint64_t kObsolete = 20'000;
  constexpr std::uint64_t kStep = 10;
  constexpr int kTrials = 2000;
  std::mt19937_64 random(1);
  std::binomial_distribution<std::uint64_t> sample(kObsolete, 1.0 / kStep);
  int outside = 0;
  double sum = 0.0;
  for (int i = 0; i < kTrials; ++i) {
    const tool::KeysEstimate estimate =
        tool::EstimateOf(sample(random), kStep, /*unread=*/0, /*keys=*/1'000'000);
    sum += estimate.keys;
    if (!estimate.interval.Contains(kObsolete)) ++outside;
  }
  EXPECT_NEAR(sum / kTrials, kObsolete, 0.005 * kObsolete);
  EXPECT_LE(outside, 10);
  EXPECT_LT(tool::EstimateOf(2000, kStep, 0, 1'000'000).interval.high, 1.1 * kObsolete);
  EXPECT_EQ(tool::EstimateOf(100, 1, 50, 120).interval.high, 120.0);
}

// The bytes of level and database are those of the obsolete keys' share of each run, and a
// compaction frees about as many.
TEST(Overlap, TellsWhatACompactionFrees) {
  const TemporaryDirectory directory;
  const Database db = Open(TestOptions(), directory.path());
  PutAndFlush(*db, kKeys, std::string(100, 'v'));
  PutAndFlush(*db, kKeys, std::string(100, 'v'), kKeys / 2);
  const json before = Overlap(directory.path()).at("column_families").at(0);
  EXPECT_EQ(before.at("column_family"), "default");
  EXPECT_EQ(before.at("keys"), 2 * kKeys);
  EXPECT_EQ(before.at("levels").size(), 1U);
  EXPECT_EQ(before["levels"][0].at("freed_bytes"), before.at("freed_bytes"));
  ASSERT_TRUE(ForceCompaction(*db).ok());
  const json after = Overlap(directory.path()).at("column_families").at(0);
  EXPECT_EQ(after.at("obsolete").at("high"), 0.0);
  ExpectCounted(before.at("obsolete"), 2 * kKeys - after.at("keys").get<std::uint64_t>());
  const double freed = before.at("bytes").get<double>() - after.at("bytes").get<double>();
  EXPECT_NEAR(before.at("freed_bytes").get<double>() / freed, 1.0, 0.05);
}

TEST(Overlap, KeepsColumnFamiliesApart) {
  const TemporaryDirectory directory;
  {
    const rocksdb::Options options = TestOptions();
    const Database db = Open(options, directory.path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(options, "other", &other).ok());
    PutAndFlush(*db, kKeys);
    PutAndFlush(*db, kKeys, "value", 0, other);
    PutAndFlush(*db, kKeys, "value", 0, other);
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
  }
  const json overlap = Overlap(directory.path());
  ASSERT_EQ(overlap.at("column_families").size(), 2U);
  EXPECT_EQ(overlap["column_families"][0].at("obsolete").at("high"), 0.0);
  ExpectCounted(overlap["column_families"][1].at("obsolete"), kKeys);
  const std::string text = testing::AskTool("overlap " + directory.path()).out;
  EXPECT_EQ(text.find("A compaction of everything"), 0U);
  EXPECT_EQ(text.rfind("A compaction of everything"), 0U) << "one answer for all";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  const json other = Overlap(directory.path(), "--column-family other");
  EXPECT_EQ(other.at("column_families").size(), 1U);
  EXPECT_EQ(other["column_families"][0], overlap["column_families"][1]);
  testing::ExpectRefusal(testing::AskTool("overlap --column-family none " + directory.path()),
                         "has no tables of column family none");
}

TEST(Overlap, CountsKeysInAnOrderThatIsNotKnownAtMost) {
  const ForeignComparator foreign;
  const TemporaryDirectory directory;
  {
    rocksdb::Options options = TestOptions();
    options.comparator = &foreign;
    const Database db = Open(options, directory.path());
    PutAndFlush(*db, kKeys);
    PutAndFlush(*db, kKeys);
  }
  const json overlap = Overlap(directory.path());
  EXPECT_EQ(overlap.at("runs").at(1).at("obsolete").at("keys"), 0.0);
  EXPECT_EQ(overlap["runs"][1]["obsolete"].at("high"), kKeys);
  EXPECT_EQ(overlap.at("not_read").size(), 1U);
  const std::string text = testing::AskTool("overlap " + directory.path()).out;
  EXPECT_TRUE(Mentions(text, "There may be more: not all keys can be read.")) << text;
  EXPECT_TRUE(Mentions(text, "99.9% interval"));
}

// Any of its keys may have made older ones obsolete.
TEST(Overlap, CountsWhatANewerTableThatCannotBeReadMayHaveAtMost) {
  const TemporaryDirectory directory;
  {
    const Database db = Open(TestOptions(), directory.path());
    for (std::uint64_t run = 0; run < 3; ++run) PutAndFlush(*db, kKeys, "value", 2 * kKeys * run);
  }
  const std::string newest = TableFilesIn(directory.path()).at(2);
  std::fstream(newest).seekp(100).write("damaged!", 8);  // in a block of data
  const json runs = Overlap(directory.path(), "", 1).at("runs");
  ASSERT_EQ(runs.size(), 3U);
  for (const std::size_t older : {1U, 2U}) {
    EXPECT_EQ(runs[older].at("obsolete").at("keys"), 0.0);
    EXPECT_EQ(runs[older]["obsolete"].at("high"), kKeys);
  }
}

TEST(Overlap, NamesTablesWhoseKeysCannotBeRead) {
  const TemporaryDirectory directory;
  {
    const Database db = Open(TestOptions(), directory.path());
    for (int run = 0; run < 3; ++run) PutAndFlush(*db, kKeys);
  }
  const std::vector<fs::path> tables = TableFilesIn(directory.path());
  std::fstream(tables.at(1)).seekp(100).write("damaged!", 8);  // in a block of data
  fs::resize_file(tables.at(2), 0);
  const json overlap = Overlap(directory.path(), "", 1);
  EXPECT_EQ(overlap.at("not_read").at("it cannot be read"), 2);
  const json& unreadable = overlap.at("unreadable");
  ASSERT_EQ(unreadable.size(), 2U) << unreadable;
  for (const json& table : unreadable) {
    EXPECT_EQ(table.at("column_family"), "default");
    EXPECT_EQ(table.at("level"), 0);
    EXPECT_TRUE(Mentions(table.at("reason"), "Corruption")) << table;
  }
  EXPECT_EQ(unreadable[0].at("table"), tables[2].string()) << "the newest first";
  EXPECT_EQ(unreadable[1].at("table"), tables[1].string());
  const testing::Outcome text = testing::AskTool("overlap " + directory.path());
  EXPECT_EQ(text.status, 1);
  EXPECT_TRUE(Mentions(text.out, "2 tables: it cannot be read")) << text.out;
  EXPECT_EQ(text.err.find("exactbloom: 2 tables cannot be read, first: "), 0U) << text.err;
  EXPECT_TRUE(Mentions(text.err, tables[2].filename())) << text.err;
}

// Flushes and compactions remove tables while they are read.
TEST(Overlap, WorksBesideAWriter) {
  const TemporaryDirectory directory;
  rocksdb::Options options = TestOptions();
  options.disable_auto_compactions = false;
  options.level0_file_num_compaction_trigger = 2;
  const Database db = Open(options, directory.path());
  PutAndFlush(*db, kKeys);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      PutAndFlush(*db, kKeys);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  for (int i = 0; i < 5; ++i) {
    const json overlap = Overlap(directory.path());
    EXPECT_FALSE(overlap.at("runs").empty());
    EXPECT_TRUE(overlap.at("unreadable").empty());
  }
  stop = true;
  writer.join();
}

TEST(Overlap, TakesNoTableFilesAlone) {
  const TemporaryDirectory directory;
  PutAndFlush(*Open(TestOptions(), directory.path()), kKeys);
  const std::string file = TableFilesIn(directory.path()).front();
  const testing::Outcome outcome = testing::AskTool("overlap " + file);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "exactbloom: overlap takes a database: table files alone have no age\n");
}

}  // namespace
}  // namespace exactbloom
