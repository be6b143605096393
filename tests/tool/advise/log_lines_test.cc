// What advise LOG reads in the lines of info logs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_command.h"
#include "tool/advise/info_log.h"
#include "tool/advise/table_events.h"

namespace exactbloom {
namespace {

using nlohmann::json;

TEST(InfoLogLines, GiveEachCounterToItsNumber) {
  tool::InfoLogReader reader;
  EXPECT_FALSE(reader.Log().Present().has_value());
  for (const char* line :
       {"Uptime(secs): 600.0 total, 600.0 interval", " rocksdb.number.keys.read COUNT : 100",
        "rocksdb.number.multiget.keys.read COUNT : 20", "rocksdb.memtable.miss COUNT : 50",
        "rocksdb.l0.hit COUNT : 7", "rocksdb.l1.hit COUNT : 8", "rocksdb.l2andup.hit COUNT : 9",
        "rocksdb.number.db.seek COUNT : 30", "rocksdb.bloom.filter.full.positive COUNT : 40",
        "rocksdb.bloom.filter.full.true.positive COUNT : 25",
        "rocksdb.block.cache.data.hit COUNT : 60", "rocksdb.block.cache.data.miss COUNT : 5",
        "other.memtable.miss COUNT : 1", "Uptime(secs): 700.0 total, 100.0 interval"}) {
    reader.Read(line);
  }
  const tool::InfoLog log = reader.Log();
  EXPECT_EQ(log.seconds, 600.0) << "no counters follow the later time";
  EXPECT_EQ(log.lookups, 120U);
  EXPECT_EQ(log.in_tables, 50U);
  EXPECT_EQ(log.found_in_tables, 24U);
  EXPECT_EQ(log.Present(), 24.0 / 50.0);
  EXPECT_EQ(log.seeks, 30U);
  EXPECT_EQ(log.passed_in_vain, 15U);
  EXPECT_EQ(log.data_block_hits, 60U);
  EXPECT_EQ(log.data_block_misses, 5U);
  reader.Read("rocksdb.bloom.filter.full.true.positive COUNT : 41");
  EXPECT_EQ(reader.Log().passed_in_vain, 0U);
  reader.Read("rocksdb.l0.hit COUNT : 99");
  EXPECT_EQ(reader.Log().Present(), 1.0);
  reader.Read("rocksdb.memtable.miss COUNT : 0");
  EXPECT_FALSE(reader.Log().Present().has_value());
}

TEST(InfoLogLines, GiveOptionsToTheColumnFamilyThatTheyFollow) {
  tool::InfoLogReader reader;
  const std::string time = "2026/11/28-03:40:28.538135 1470 ";
  for (const std::string& line :
       {time + "Options.of_no_family: 1", time + "--------------- Options for column family [a]b]:",
        time + "Options.comparator: leveldb.BytewiseComparator",
        time + "table_factory options:   flush_block_policy_factory: F (0x1)",
        std::string("  block_cache: 0x55"), std::string("  block_cache_options:"),
        std::string("    capacity : 8000"), std::string("    num_shard_bits : 3"),
        std::string("    capacity : 9000"), std::string("  no option"), std::string(),
        time + "Options.filter_policy: nullptr", time + "[db/db.cc:1] Recovered",
        time + "Options.behind: 1", time + "--------------- Options for column family [c]:",
        time + "Options.comparator: mine"}) {
    reader.Read(line);
  }
  EXPECT_EQ(reader.Options().size(), 2U);
  tool::LoggedOptions options = reader.Options().at("a]b");
  EXPECT_EQ(options.at("comparator"), "leveldb.BytewiseComparator");
  EXPECT_EQ(options.at("flush_block_policy_factory"), "F (0x1)");
  EXPECT_EQ(options.at("filter_policy"), "nullptr");
  EXPECT_EQ(options.at("capacity"), "8000") << "the second is of another cache";
  EXPECT_EQ(options.count("behind"), 0U);
  EXPECT_EQ(reader.Options().at("c"), (tool::LoggedOptions{{"comparator", "mine"}}));
  const tool::InfoLog log = reader.Log();
  ASSERT_EQ(log.caches.size(), 1U) << "c has none";
  EXPECT_EQ(log.caches.at("a]b").address, "0x55");
  EXPECT_EQ(log.caches.at("a]b").capacity, 8000U);
  EXPECT_EQ(log.caches.at("a]b").shard_bits, 3);
  reader.Read("Options for column family [a]b]:");
  EXPECT_TRUE(reader.Options().at("a]b").empty()) << "the database was opened anew";
}

// The lines of a log, as RocksDB writes them.
class TableEventLines : public ::testing::Test {
 protected:
  void Read(const std::string& text) { events_.Read("2026/11/28-02:40:28.538135 1470 " + text); }

  void ReadEvent(const json& event) { Read("EVENT_LOG_v1 " + event.dump()); }

  void Create(std::uint64_t number, int job, const std::string& family = "default",
              std::uint64_t id = 0) {
    ReadEvent({{"event", "table_file_creation"},
               {"cf_name", family},
               {"job", job},
               {"file_number", number},
               {"file_size", 500},
               {"table_properties",
                {{"column_family_id", id},
                 {"num_entries", 10},
                 {"num_range_deletions", 2},
                 {"num_filter_entries", 0},
                 {"filter_size", 100},
                 {"index_size", 50},
                 {"num_data_blocks", 4},
                 {"filter_policy", "bloomfilter"},
                 {"prefix_extractor_name", "nullptr"}}}});
  }

  void Compact(int job, const std::vector<std::uint64_t>& inputs) {
    ReadEvent({{"event", "compaction_started"},
               {"job", job},
               {"files_L0", {inputs.front()}},
               {"files_L1", std::vector<std::uint64_t>(inputs.begin() + 1, inputs.end())}});
  }

  void Finish(int job, int level) {
    ReadEvent({{"event", "compaction_finished"}, {"job", job}, {"output_level", level}});
  }

  // "2 in level 0 of a, 1536 bytes each; "
  std::string Unknown() const {
    std::string text;
    for (const auto& [family, levels] : events_.Unknown()) {
      for (const auto& [level, unknown] : levels) {
        text += fmt::format("{} in level {} of {}, {:g} bytes each; ", unknown.tables, level,
                            family, unknown.bytes_of_one);
      }
    }
    return text;
  }

  void ReadStatistics(const std::string& family) {
    for (const std::string& line : {"** Compaction Stats [" + family + "] **",
                                    std::string("Level    Files   Size     Score Read(GB)"),
                                    std::string("  L0      2/1    1.50 KB   0.5      0.0"),
                                    std::string("  L2      3/0    0.75 MB   0.0      0.0"),
                                    std::string(" Sum      5/1    0.75 MB   0.0      0.0"),
                                    "** Compaction Stats [" + family + "] **",
                                    std::string("Priority    Files   Size     Score Read(GB)"),
                                    std::string(" Low      7/0    9.00 MB   0.0      0.0")}) {
      events_.Read(line);
    }
  }

  // "9:0 11:2", of numbers and levels.
  std::string Tables() const {
    std::string text;
    for (const auto& [number, table] : events_.Tables()) {
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", number, table.level);
    }
    return text;
  }

  tool::TableEvents events_;
};

TEST_F(TableEventLines, TakeATableByItsProperties) {
  Create(9, 3, "b", 2);
  const tool::LoggedTable table = events_.Tables().at(9);
  EXPECT_EQ(table.column_family, "b");
  EXPECT_EQ(table.filter.column_family, "b");
  EXPECT_EQ(table.level, 0);
  EXPECT_EQ(table.filter.file_bytes, 500U);
  EXPECT_EQ(table.filter.entries, 10U);
  EXPECT_EQ(table.filter.range_deletes, 2U);
  EXPECT_EQ(table.filter.filter_keys, 8U) << "as many as keys, where RocksDB does not count them";
  EXPECT_EQ(table.filter.bytes, 100U);
  EXPECT_EQ(table.filter.index_bytes, 50U);
  EXPECT_EQ(table.filter.data_blocks, 4U);
  EXPECT_EQ(table.filter.policy, "bloomfilter");
  EXPECT_EQ(table.filter.prefix_extractor, "");
}

TEST_F(TableEventLines, ThatAreCutOffTellNothing) {
  for (const char* event : {"", "{", "{\"event\": \"table_file_cr", "[]", "5", "{}",
                            "{\"event\": 5}", "{\"event\": \"table_file_creation\"}"}) {
    Read("EVENT_LOG_v1 " + std::string(event));
  }
  Read("Moving");
  Read("] Moving #");
  Create(8, 3);
  Finish(3, 1);
  for (const char* move : {"] Moving #8", "] Moved #8 to", "] Moved #8 to level-"}) Read(move);
  EXPECT_EQ(Tables(), "8:0");
  ReadEvent({{"event", "table_file_deletion"}, {"job", 3}, {"file_number", 8}});
  EXPECT_EQ(Tables(), "");
  EXPECT_EQ(Unknown(), "");
}

TEST_F(TableEventLines, FollowCompactionsMovesAndDeletions) {
  for (std::uint64_t number : {8, 9, 10}) Create(number, 3);
  Compact(5, {8, 9});
  Create(11, 5);
  Create(12, 6);
  EXPECT_EQ(Tables(), "8:0 9:0 10:0 12:0") << "the compaction runs";
  Finish(5, 2);
  EXPECT_EQ(Tables(), "10:0 11:2 12:0");
  Read("[db/db_impl.cc:1] [default] Moving #10 to level-4 123 bytes");
  Read("[default] Moved #11 to level-3 123 bytes");  // as from RocksDB 10.8 on
  Read("[default] Moved #12 files to level-2 123 bytes OK: files[1 0 1 1 1] max score 0.5");
  Read("[default] Moving #77 to level-5 123 bytes");
  EXPECT_EQ(Tables(), "10:4 11:3 12:0");
  ReadEvent({{"event", "table_file_deletion"}, {"job", 6}, {"file_number", 12}});
  EXPECT_EQ(Tables(), "10:4 11:3");
  Create(13, 5);
  EXPECT_EQ(Tables(), "10:4 11:3 13:0") << "the job compacts no more";
  Compact(7, {10});
  Create(14, 7);
  Read("Recovering from manifest file: /db/MANIFEST-000015");
  EXPECT_EQ(Tables(), "10:4 11:3 13:0") << "the compaction has not ended";
  Create(16, 7);
  EXPECT_EQ(Tables(), "10:4 11:3 13:0 16:0") << "numbers of jobs begin anew";
}

// RocksDB logs the end of a compaction in the same event whether it succeeded or not.
TEST_F(TableEventLines, KeepTheInputsOfACompactionThatFails) {
  const auto compacted = [](const std::string& status) {
    return "[db/compaction/compaction_job.cc:864] [default] compacted to: files[2 0] max score "
           "0.00, MB/sec: 5.8 rd, 4.3 wr, level 1, files in(2, 0) out(1 +0 blob) MB in(9.2, 0.0 "
           "+0.0 blob) out(0.7 +0.0 blob), read-write-amplify(1.1) write-amplify(0.1) " +
           status;
  };
  const std::string rest = ", records in: 24, records dropped: 7 output_compression: Snappy";
  const std::string stopped = compacted("Shutdown in progress: Database shutdown" + rest);
  Create(8, 3);
  Create(9, 3);
  Compact(5, {8, 9});
  Create(11, 5);
  Read(stopped);
  Finish(5, 1);
  EXPECT_EQ(Tables(), "8:0 9:0");
  Compact(6, {8, 9});
  Create(12, 6);
  Read(compacted("IO error: No space left on device: While appe"));  // the line was too long
  Finish(6, 1);
  EXPECT_EQ(Tables(), "8:0 9:0");
  Compact(7, {8, 9});
  Create(13, 7);
  Read(compacted("OK" + rest));
  events_.Read("2026/11/28-02:40:28.538135 1471 " + stopped);  // another thread
  Finish(7, 1);
  EXPECT_EQ(Tables(), "13:1");
  Compact(8, {13});
  Create(14, 8);
  Read("[db/compaction/compaction_job.cc:864] [default] compacted to: files[2 0] max sc");
  Finish(8, 2);
  EXPECT_EQ(Tables(), "14:2") << "without a status it succeeded";
}

TEST_F(TableEventLines, TakeBackMovesThatFail) {
  for (const std::string moves : {"Moving", "Moved"}) {  // up to RocksDB 10.7, and later
    Create(8, 3);
    Create(9, 3);
    Read("[db/db_impl.cc:1] [default] " + moves + " #8 to level-2 123 bytes");
    Read("[db/db_impl.cc:2] [default] Moved #1 files to level-2 123 bytes OK: files[1 0 1]");
    Read("[db/db_impl.cc:1] [default] " + moves + " #8 to level-3 123 bytes");
    Read("[db/db_impl.cc:1] [default] " + moves + " #9 to level-3 123 bytes");
    EXPECT_EQ(Tables(), "8:3 9:3");
    Read(
        "[db/db_impl.cc:2] [default] Moved #2 files to level-3 246 bytes IO error: No space left "
        "on device: files[1 0 1]");
    EXPECT_EQ(Tables(), "8:2 9:0");
  }
}

TEST_F(TableEventLines, DropTheTablesOfFlushesThatFail) {
  json properties = {{"column_family_id", 0}, {"num_entries", 0}, {"filter_size", 0}};
  const json nothing = {{"event", "table_file_creation"},
                        {"cf_name", "default"},
                        {"job", 3},
                        {"file_number", 8},
                        {"file_size", 0},
                        {"table_properties", properties}};
  ReadEvent(nothing);
  EXPECT_EQ(Tables(), "");
  json failed = nothing;  // as from RocksDB 10.10 on
  failed["file_size"] = 500;
  failed["status"] = "IO error: No space left on device";
  ReadEvent(failed);
  EXPECT_EQ(Tables(), "");
  failed["status"] = "OK";
  ReadEvent(failed);
  Read("[db/flush_job.cc:890] [default] [JOB 3] Level-0 flush table #8: started");
  Read("[db/flush_job.cc:973] [default] [JOB 3] Level-0 flush table #8: 500 bytes OK");
  EXPECT_EQ(Tables(), "8:0");
  Create(9, 4);
  Read("[db/flush_job.cc:973] [default] [JOB 4] Level-0 flush table #9: 500 bytes IO error: No");
  EXPECT_EQ(Tables(), "8:0");
  for (const char* commit : {"Level-0 commit table #10", "[default] Level-0 commit table #10",
                             "Level-0 commit table #10 (+1 blob files)"}) {
    Create(10, 5);
    Read("[db/memtable_list.cc:519] [default] Level-0 commit table #10 started");
    Read("[db/memtable_list.cc:722] " + std::string(commit) + ": memtable #1 done");
    EXPECT_EQ(Tables(), "8:0 10:0");
    Read("[db/memtable_list.cc:746] " + std::string(commit) + ": memtable #1 failed");
    EXPECT_EQ(Tables(), "8:0");
  }
}

TEST_F(TableEventLines, DropAColumnFamilyOfEitherLine) {
  Read("Created column family [a] (ID 1)");
  ReadStatistics("a");
  Create(8, 3, "b", 2);
  Create(9, 3, "c", 3);
  Read("Dropped column family with id 2");
  EXPECT_EQ(Tables(), "9:0");
  EXPECT_NE(Unknown(), "");
  Read("Dropped column family with id 1");
  EXPECT_EQ(Unknown(), "");
}

TEST_F(TableEventLines, CountWhatLevelsHaveBesides) {
  ReadStatistics("default");
  EXPECT_EQ(Unknown(),
            "2 in level 0 of default, 768 bytes each; "
            "3 in level 2 of default, 262144 bytes each; ");
  Create(9, 3);
  ReadStatistics("default");
  EXPECT_EQ(Unknown(),
            "1 in level 0 of default, 1036 bytes each; "
            "3 in level 2 of default, 262144 bytes each; ");
  const auto flush = [&](int job, const std::vector<int>& levels) {
    ReadEvent({{"event", "flush_finished"}, {"job", job}, {"lsm_state", levels}});
  };
  Read("[default] [JOB 4] Flushing memtable with next log file: 7");
  flush(4, {1, 0, 2});
  EXPECT_EQ(Unknown(), "2 in level 2 of default, 262144 bytes each; ");
  flush(4, {1, 2, 2});
  EXPECT_EQ(Unknown(),
            "2 in level 1 of default, 0 bytes each; "
            "2 in level 2 of default, 262144 bytes each; ");
  Read("[db/flush_job.cc:901] [other] [JOB 5] Flushing memtable with next log file: 7");
  Read("[db/flush_job.cc:901] [default] [JOB 5] Flushing memtable with next log file: 7");
  flush(5, {9});
  EXPECT_EQ(Unknown().find("9 in"), std::string::npos) << "a flush of several column families";
  Read("[db/flush_job.cc:901] [other] [JOB 6] Flushing memtable with next log file: 7");
  flush(6, {3});
  EXPECT_TRUE(Mentions(Unknown(), "3 in level 0 of other, 0 bytes each; "));
}

TEST_F(TableEventLines, FollowMovesThatNoLineTells) {
  const auto flush = [&](const std::vector<int>& levels) {
    Read("[default] [JOB 4] Flushing memtable with next log file: 7");
    ReadEvent({{"event", "flush_finished"}, {"job", 4}, {"lsm_state", levels}});
  };
  for (std::uint64_t number : {8, 9, 10, 11}) Create(number, 3);
  flush({1, 0, 3});
  EXPECT_EQ(Tables(), "8:2 9:2 10:2 11:0");
  EXPECT_EQ(Unknown(), "");
  flush({1, 2, 3});
  EXPECT_EQ(Tables(), "8:2 9:2 10:2 11:0");
  EXPECT_EQ(Unknown(), "2 in level 1 of default, 0 bytes each; ");
  // A compaction may be listed before the event of its end.
  Compact(5, {8, 9, 10});
  Create(12, 4);
  flush({2, 1, 0});
  EXPECT_EQ(Tables(), "8:2 9:2 10:2 11:0 12:0");
}

// A line of a job need not name its family, and a name may look like one of these lines.
TEST_F(TableEventLines, TellTheFamilyOfAJob) {
  for (const std::string family : {"default", "Jobs", "J", "a]b", "a[b", "a] [b", "[", "x.cc:1"}) {
    SCOPED_TRACE(family);
    const std::string name = "[" + family + "] ";
    for (const std::string& source :
         {std::string("[db/flush_job.cc:861] "), std::string("[WARN] [db/flush_job.cc:861] "),
          std::string("(Original Log Time 2026/11/28-02:40:28.538135) [db/flush_job.cc:861] ")}) {
      events_ = {};
      Read("[db/db_impl/db_impl_compaction_flush.cc:109] [JOB 6] Syncing log #16");
      Read(source + name + "[JOB 6] Flushing memtable with next log file: 7");
      Read("[DEBUG] [db/db_impl/db_impl_files.cc:364] [JOB 6] Delete db/000012.log type=0 #12");
      ReadEvent({{"event", "flush_finished"}, {"job", 6}, {"lsm_state", {3}}});
      EXPECT_EQ(Unknown(), "3 in level 0 of " + family + ", 0 bytes each; ") << source;
    }
  }
}

TEST_F(TableEventLines, KnowHowManyTablesWereThereAtTheOpening) {
  Create(9, 3);
  Read("SST files in /db dir, Total Num: 6, files: 000008.sst 000009.sst");
  EXPECT_EQ(events_.Unlisted(), 0U);
  Read("Recovering from manifest file: /db/MANIFEST-000015");
  EXPECT_EQ(events_.Unlisted(), 5U);
  Read("[default] [JOB 4] Flushing memtable with next log file: 7");
  ReadEvent({{"event", "flush_finished"}, {"job", 4}, {"lsm_state", {3}}});
  EXPECT_EQ(events_.Unlisted(), 3U) << "two are of a level";
  ReadStatistics("default");
  EXPECT_EQ(events_.Unlisted(), 0U);
}

}  // namespace
}  // namespace exactbloom
