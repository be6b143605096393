// advise LOG: databases that are known by their info logs only, beside the same databases.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "../tool_command.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using testing::ExpectRefusal;

// A database that grows by itself, with the default sizes of RocksDB divided by a thousand.
rocksdb::Options GrowingOptions(const std::string& policy) {
  RegisterFilterPolicies();
  rocksdb::BlockBasedTableOptions table = PlannedSizes();
  EXPECT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, policy, &table.filter_policy).ok());
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 128 << 10;
  options.max_bytes_for_level_base = 512 << 10;
  if (policy.find("exactbloom") == 0) options.listeners = {NewTreeListener()};
  return options;
}

// Puts keys in a mixed order, so that each table has keys of the whole range.
void Grow(rocksdb::DB& db, std::uint64_t keys, rocksdb::ColumnFamilyHandle* family = nullptr) {
  if (family == nullptr) family = db.DefaultColumnFamily();
  constexpr std::uint64_t kStep = 7919;  // a prime
  const std::string value(20, 'v');
  for (std::uint64_t i = 0; i < keys; ++i) {
    ASSERT_TRUE(db.Put({}, family, KeyOf(2 * (i * kStep % keys)), value).ok());
  }
  ASSERT_TRUE(db.Flush({}, family).ok());
  AwaitQuiet(db);
}

// The info logs of a database, for the command line.
std::string LogsOf(const std::string& path, const std::string& prefix = "LOG") {
  std::string logs;
  for (const auto& file : fs::directory_iterator(path)) {
    if (file.path().filename().string().rfind(prefix, 0) == 0) logs += file.path().string() + " ";
  }
  return logs;
}

void ExpectWithinTenth(const json& by_log, const json& by_database, const char* what) {
  const double expected = by_database;
  EXPECT_NEAR(by_log.get<double>(), expected, 0.1 * expected) << what;
}

void ExpectLike(const json& by_log, const json& by_database) {
  for (const char* number : {"keys", "sorted_runs", "memory_bytes"}) {
    ExpectWithinTenth(by_log.at(number), by_database.at(number), number);
  }
  for (const char* state : {"now", "rewritten"}) {
    for (const char* sum : {"filter_bytes", "wasted_reads"}) {
      ExpectWithinTenth(by_log.at(state).at(sum), by_database.at(state).at(sum), state);
    }
  }
  ASSERT_EQ(by_log.at("candidates").size(), by_database.at("candidates").size());
  EXPECT_EQ(by_log.at("advice").is_null(), by_database.at("advice").is_null());
  if (by_log.at("advice").is_null() || by_database.at("advice").is_null()) return;
  ExpectWithinTenth(by_log.at("advice").at("wasted_reads"),
                    by_database.at("advice").at("wasted_reads"), "advice");
  ExpectWithinTenth(by_log.at("advice").at("filter_bytes"),
                    by_database.at("advice").at("filter_bytes"), "advice");
}

// The names of those of the first column family.
std::string WarningsIn(const json& advice) {
  std::string names;
  for (const json& warning : advice.at("column_families").at(0).at("warnings")) {
    names += warning.at("name").get<std::string>() + " ";
  }
  return names;
}

class AdviseLog : public ::testing::Test {
 protected:
  std::string path() const { return directory_.path("db"); }

  json ByDatabase() const { return AskToolForJson("advise " + path()); }

  json ByLogs(const std::string& logs) const { return AskToolForJson("advise " + logs); }

  // Writes the lines of the LOG that `keeps` into another file, whose path it returns.
  template <typename Keeps>
  std::string Copy(const Keeps& keeps) const {
    std::ifstream log(path() + "/LOG");
    std::ofstream copy(directory_.path("copy"));
    for (std::string line; std::getline(log, line);) {
      if (keeps(line)) copy << line << "\n";
    }
    return directory_.path("copy");
  }

  TemporaryDirectory directory_;
};

TEST_F(AdviseLog, AgreesWithTheDatabaseWhereAllEventsAreThere) {
  for (const char* policy :
       {"bloomfilter:10", "bloomfilter:6.5", "ribbonfilter:12", "classic_bloom:9",
        "exact_ribbon:10", "{id=classic_bloom;fpr=0.003}", "exactbloom:10", "nullptr"}) {
    SCOPED_TRACE(policy);
    fs::remove_all(path());
    {
      const Database db = Open(GrowingOptions(policy), path());
      Grow(*db, 60'000);
    }
    const json by_logs = ByLogs(LogsOf(path()));
    const json by_database = ByDatabase();
    EXPECT_EQ(by_logs.at("known"), 1.0);
    EXPECT_TRUE(Mentions(AskTool("advise " + LogsOf(path())).out, "tell of all tables."));
    EXPECT_TRUE(by_logs.at("database").is_null());
    ExpectLike(by_logs.at("all"), by_database.at("all"));
    EXPECT_EQ(WarningsIn(by_logs), WarningsIn(by_database));
    // RocksDB's options files have more options behind the bits per key, and perhaps braces.
    const std::string now = by_database.at("all").at("now").at("policy");
    EXPECT_TRUE(Mentions(now, by_logs.at("all").at("now").at("policy"))) << now;
  }
}

// ribbonfilter builds Bloom filters in level 0, unless told otherwise.
TEST_F(AdviseLog, AgreesWithTheDatabaseOnPartitionsAndLevel0) {
  for (const char* policy :
       {"bloomfilter:10", "rocksdb_bloom:10", "ribbonfilter:12", "ribbonfilter:12:-1"}) {
    for (const bool is_partitioned : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", policy, is_partitioned));
      fs::remove_all(path());
      rocksdb::Options options = GrowingOptions(policy);
      options.write_buffer_size = 64 << 20;
      options.disable_auto_compactions = true;
      auto& table = *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
      if (is_partitioned) PartitionFilters(4096, &table);
      {
        const Database db = Open(options, path());
        PutAndFlush(*db, 20'000);
        MoveDown(*db, 2);
        PutAndFlush(*db, 20'000);
      }
      const json by_logs = ByLogs(LogsOf(path())).at("all").at("now");
      const json by_database = ByDatabase().at("all").at("now");
      for (const char* sum : {"filter_bytes", "wasted_reads"}) {
        ExpectWithinTenth(by_logs.at(sum), by_database.at(sum), sum);
      }
      const double built = by_database.at("build_bytes");  // by the largest partition
      EXPECT_NEAR(by_logs.at("build_bytes").get<double>(), built, 0.2 * built);
    }
  }
}

TEST_F(AdviseLog, WarnsOfTheSameAsTheDatabase) {
  for (const bool has_prefixes_alone : {false, true}) {
    fs::remove_all(path());
    rocksdb::Options options = GrowingOptions("bloomfilter:10");
    auto& table = *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = has_prefixes_alone;
    table.whole_key_filtering = !has_prefixes_alone;
    options.optimize_filters_for_hits = !has_prefixes_alone;
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
    {
      const Database db = Open(options, path());
      PutAndFlush(*db, 2000);
      ASSERT_TRUE(ForceCompaction(*db).ok());
      PutAndFlush(*db, 2000);
    }
    const std::string expected =
        has_prefixes_alone ? "prefixes_only " : "optimize_filters_for_hits level0_not_pinned ";
    EXPECT_EQ(WarningsIn(ByDatabase()), expected);
    EXPECT_EQ(WarningsIn(ByLogs(LogsOf(path()))), expected);
  }
}

// Tables of keys in order overlap no others, so that RocksDB moves them without reading them.
TEST_F(AdviseLog, FollowsTablesThatMove) {
  rocksdb::Options options = GrowingOptions("bloomfilter:10");
  options.level_compaction_dynamic_level_bytes = false;
  {
    const Database db = Open(options, path());
    for (std::uint64_t table = 0; table < 10; ++table) {
      PutAndFlush(*db, 4000, std::string(20, 'v'), 4000 * table);
    }
    AwaitQuiet(*db);
  }
  const std::string log = testing::ReadFile(path() + "/LOG");
  ASSERT_TRUE(std::regex_search(log, std::regex(R"(\] (Moving|Moved) #\d+ to level-)")));
  EXPECT_EQ(ByLogs(LogsOf(path())).at("all").at("sorted_runs"),
            ByDatabase().at("all").at("sorted_runs"));
}

TEST_F(AdviseLog, AgreesForSeveralFamiliesWithStatistics) {
  rocksdb::Options options = GrowingOptions("bloomfilter:10");
  options.statistics = rocksdb::CreateDBStatistics();
  {
    const Database db = Open(options, path());
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(GrowingOptions("classic_bloom:8"), "[a] (b)", &family).ok());
    rocksdb::ColumnFamilyHandle* dropped = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(options, "dropped", &dropped).ok());
    Grow(*db, 40'000);
    Grow(*db, 10'000, family);
    Grow(*db, 10'000, dropped);
    ASSERT_TRUE(db->DropColumnFamily(dropped).ok());
    AskAbsent(*db, 1000);
    std::string value;
    for (std::uint64_t i = 0; i < 3000; ++i) ASSERT_TRUE(db->Get({}, KeyOf(2 * i), &value).ok());
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(dropped).ok());
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  }
  const json by_logs = ByLogs(LogsOf(path()));
  const json by_database = ByDatabase();
  ASSERT_EQ(by_logs.at("column_families").size(), 2U);
  for (std::size_t i : {0, 1}) {
    ExpectLike(by_logs.at("column_families").at(i), by_database.at("column_families").at(i));
  }
}

TEST_F(AdviseLog, PutsRolledLogsInOrder) {
  rocksdb::Options options = GrowingOptions("bloomfilter:10");
  options.max_log_file_size = 40'000;
  {
    const Database db = Open(options, path());
    Grow(*db, 60'000);
  }
  const std::string old = LogsOf(path(), "LOG.old");
  ASSERT_FALSE(old.empty());
  const json by_logs = ByLogs(path() + "/LOG " + old);
  EXPECT_EQ(by_logs.at("known"), 1.0);
  ExpectLike(by_logs.at("all"), ByDatabase().at("all"));
}

// As the rolled logs of RocksDB 7.8.
TEST_F(AdviseLog, TakesThePolicyOfTablesWhereNoOptionsAreLogged) {
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic, 9)), path()), 20'000);
  const std::string copy =
      Copy([](const std::string& line) { return line.find("EVENT_LOG_v1") != std::string::npos; });
  EXPECT_EQ(ByLogs(copy).at("all").at("now").at("policy"), "classic_bloom:9");
}

// Of every third table the event is lost. How many tables there are is known by the next flush, and
// their bytes by a table of statistics.
TEST_F(AdviseLog, TakesTablesWithoutEventsToBeLikeTheOthers) {
  std::string statistics;
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path());
    PutAndFlush(*db, 20'000);
    MoveDown(*db, 2);
    for (int flush = 0; flush < 6; ++flush) {
      for (std::uint64_t i = 0; i <= 5000; ++i)
        ASSERT_TRUE(db->Put({}, KeyOf(8 * i), "value").ok());
      ASSERT_TRUE(db->Flush({}).ok());
    }
    ASSERT_TRUE(db->GetProperty("rocksdb.stats", &statistics));
  }
  const json by_database = ByDatabase();
  int events = 0;
  const std::string copy = Copy([&events](const std::string& line) {
    return !Mentions(line, "table_file_creation") || events++ % 3 != 0;
  });
  for (const bool has_statistics : {false, true}) {
    SCOPED_TRACE(has_statistics);
    if (has_statistics) std::ofstream(copy, std::ios::app) << statistics;
    const json by_log = ByLogs(copy);
    EXPECT_NEAR(by_log.at("known"), 0.8, 0.1);
    ExpectLike(by_log.at("all"), by_database.at("all"));
    const std::string text = AskTool("advise " + copy).out;
    EXPECT_TRUE(Mentions(text, "The events in the logs tell of ")) << text;
    EXPECT_TRUE(Mentions(text, "% of the bytes of the tables")) << text;
  }
}

TEST_F(AdviseLog, GivesNoneWhereEventsTellOfLessThanHalfOfTheBytes) {
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.avoid_flush_during_shutdown = true;
  {
    const Database db = Open(options, path());
    for (int i = 0; i < 5; ++i) PutAndFlush(*db, 500);
    ASSERT_TRUE(db->Put({}, KeyOf(1), "value").ok());
  }
  Open(options, path()).reset();  // writes a table of that key, and nothing of levels
  ExpectRefusal(AskTool("advise " + path() + "/LOG"), "tell of only 16.7% of the bytes");
  EXPECT_EQ(ByLogs(LogsOf(path())).at("known"), 1.0);
}

TEST_F(AdviseLog, RefusesLogsWithoutEventsAndOtherFiles) {
  rocksdb::Options options = GrowingOptions("bloomfilter:10");
  options.info_log_level = rocksdb::ERROR_LEVEL;  // as Kafka Streams has it
  PutAndFlush(*Open(options, path()), 100);
  ExpectRefusal(AskTool("advise " + path() + "/LOG"), "info_log_level");
  ExpectRefusal(AskTool("advise " + path() + "/CURRENT"), "is neither a database's directory nor");
  ExpectRefusal(AskTool("advise " + path() + "/LOG.none"), "No such file");
  ExpectRefusal(AskTool("advise --lookups " + path() + "/CURRENT " + path() + "/LOG"),
                "takes a database");
  ExpectRefusal(AskTool("advise " + path() + " " + path()), "one directory");
}

// Counters of lookups and seeks, where a program has statistics.
TEST_F(AdviseLog, ReadsCounters) {
  {
    const Database db = Open(GrowingOptions("bloomfilter:10"), path());
    Grow(*db, 20'000);
  }
  const std::string copy = Copy([](const std::string& /*line*/) { return true; });
  std::ofstream(copy, std::ios::app)
      << "** DB Stats **\nUptime(secs): 600.0 total, 600.0 interval\n"
         "2026/11/28-03:40:28.538135 1470 [db/db_impl/db_impl.cc:1089] STATISTICS:\n"
         " rocksdb.memtable.miss COUNT : 1000\nrocksdb.l0.hit COUNT : 600\n"
         "rocksdb.l1.hit COUNT : 300\nrocksdb.number.db.seek COUNT : 7000\n";
  const json advice = ByLogs(copy);
  EXPECT_DOUBLE_EQ(advice.at("present"), 0.9);
  EXPECT_EQ(advice.at("counted").at("seconds"), 600.0);
  std::string text = AskTool("advise " + copy).out;
  std::replace(text.begin(), text.end(), '\n', ' ');  // of lines
  EXPECT_TRUE(Mentions(text, "which the logs do not have"));
}

}  // namespace
}  // namespace exactbloom
