// What advise predicts of settings is what lookups read once all tables are rewritten with them,
// by RocksDB's counters; lookups that find their key, seeks, and lines to copy.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../tool_command.h"
#include "exactbloom/filter_policy.h"
#include "opened_families.h"
#include "sample_database.h"
#include "tool/advise/advise.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using testing::Families;
using testing::OpenFamilies;

struct Situation {
  const char* name;
  const char* policy;
  double present = 0.0;
  std::uint64_t partition_bytes = 0;
  bool prefixes = false;
  int families = 1;
  // The keys of the runs, from the newest on: of level 0 where there are more than three.
  std::vector<std::uint64_t> runs = {2000, 6000, 20'000};
};

// A stored key; with `absent`, 1 to 999, one beside it that is not, and whose prefix is not.
std::string KeyIn(const Situation& situation, std::uint64_t number, std::uint64_t absent = 0) {
  if (!situation.prefixes) return KeyOf(2 * number + (absent == 0 ? 0 : 1));
  constexpr std::uint64_t kRows = 40;  // of a prefix
  return fmt::format("{:08}{:04}", 1000 * (number / kRows) + absent, number % kRows);
}

class AdvisePrediction : public ::testing::TestWithParam<Situation> {
 protected:
  static rocksdb::Options OptionsOf(const std::string& policy) {
    rocksdb::BlockBasedTableOptions tables = PlannedSizes();
    RegisterFilterPolicies();
    EXPECT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, policy, &tables.filter_policy).ok());
    const Situation& situation = GetParam();
    if (situation.partition_bytes != 0) PartitionFilters(situation.partition_bytes, &tables);
    tables.whole_key_filtering = !situation.prefixes;
    rocksdb::Options options = OptionsWith(tables);
    if (situation.prefixes) options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(8));
    options.create_missing_column_families = true;
    return options;
  }

  static Families OpenAll(const std::string& path, const std::string& policy) {
    const rocksdb::Options options = OptionsOf(policy);
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors = {{"default", options}};
    for (int i = 1; i < GetParam().families; ++i) {
      descriptors.emplace_back(fmt::format("family{}", i), options);
    }
    return OpenFamilies(options, path, descriptors);
  }

  // The runs share the range of keys, and have no key in common. Those of each further column
  // family are smaller.
  static std::uint64_t Put(Families& families) {
    std::uint64_t all = 0;
    const std::vector<std::uint64_t>& runs = GetParam().runs;
    for (const std::uint64_t keys : runs) all += keys;
    std::vector<std::size_t> run_of(all);
    std::size_t next = 0;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      for (std::uint64_t i = 0; i < runs[run]; ++i) run_of[next++] = run;
    }
    // Prefixes are of one run, since a lookup reads every run that has its prefix.
    if (!GetParam().prefixes) std::shuffle(run_of.begin(), run_of.end(), std::mt19937_64(1));
    for (std::size_t f = 0; f < families.handles.size(); ++f) {
      for (std::size_t run = runs.size(); run-- > 0;) {
        for (std::uint64_t i = 0; i < all; i += f + 1) {
          if (run_of[i] != run) continue;
          EXPECT_TRUE(
              families.db->Put({}, families.handles[f], KeyIn(GetParam(), i), "value").ok());
        }
        EXPECT_TRUE(families.db->Flush({}, families.handles[f]).ok());
        const bool has_levels = runs.size() <= 3 && f == 0;
        if (has_levels && run > 0) MoveDown(*families.db, static_cast<int>(run));
      }
    }
    return all;
  }

  // The data blocks that a lookup reads.
  static double Measure(const std::string& path, const std::string& policy, std::uint64_t keys) {
    Families families = OpenAll(path, policy);
    for (auto* family : families.handles) {
      EXPECT_TRUE(RewriteTables(*families.db, family).ok());
    }
    TakeCounts(*families.db);
    std::mt19937_64 random(7);
    std::bernoulli_distribution is_present(GetParam().present);
    constexpr std::uint64_t kLookups = 60'000;
    for (std::uint64_t i = 0; i < kLookups; ++i) {
      const std::size_t f = i % families.handles.size();
      const bool found = is_present(random);
      const std::uint64_t number = random() % (keys / (f + 1)) * (f + 1);
      std::string value;
      const auto status =
          families.db->Get({}, families.handles[f],
                           KeyIn(GetParam(), number, found ? 0 : 1 + random() % 999), &value);
      EXPECT_EQ(status.ok(), found);
    }
    return static_cast<double>(TakeCounts(*families.db).data_blocks) / kLookups;
  }

  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(
    Situations, AdvisePrediction,
    ::testing::Values(
        Situation{"AllAbsent", "bloomfilter:6"}, Situation{"NearlyAllFound", "bloomfilter:4", 0.99},
        Situation{"Partitions", "bloomfilter:6", 0.0, 512},
        Situation{"PrefixesInPartitions", "bloomfilter:6", 0.0, 4096, true},
        Situation{
            "SixSmallTables", "bloomfilter:4", 0.0, 0, false, 1, {100, 100, 100, 100, 100, 100}},
        Situation{"TenFamilies", "bloomfilter:5", 0.0, 0, false, 10, {2000, 2000, 4000, 1000}}),
    [](const auto& test) { return std::string(test.param.name); });

// Of exactbloom the filters depend on what was written before.
TEST_P(AdvisePrediction, IsWhatLookupsRead) {
  const Situation& situation = GetParam();
  const std::string path = directory_.path("db");
  std::uint64_t keys = 0;
  {
    Families families = OpenAll(path, situation.policy);
    keys = Put(families);
  }
  const json all =
      AskToolForJson(fmt::format("advise --present {} {}", situation.present, path)).at("all");
  std::vector<std::pair<std::string, double>> settings = {
      {all.at("now").at("policy"), all.at("rewritten").at("wasted_reads")}};
  for (const json& candidate : all.at("candidates")) {
    settings.emplace_back(candidate.at("policy"), candidate.at("wasted_reads"));
  }
  int compared = 0;
  for (const auto& [policy, wasted] : settings) {
    if (Mentions(policy, "exactbloom")) continue;
    SCOPED_TRACE(policy);
    const std::string copy = directory_.path("copy");
    fs::remove_all(copy);
    fs::copy(path, copy);
    const double measured = Measure(copy, policy, keys) - situation.present;
    EXPECT_NEAR(measured / wasted, 1.0, 0.1) << measured << " of " << wasted;
    ++compared;
  }
  EXPECT_GE(compared, 2);
}

tool::Tree TreeOf(const std::vector<std::uint64_t>& keys, double asked) {
  tool::Tree tree;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    tree.levels[static_cast<int>(i) + 1] = {{1, keys[i], i + 1 == keys.size(), asked, {}, {}}};
    tree.levels[static_cast<int>(i) + 1][0].most_keys = keys[i];
  }
  return tree;
}

// Each bit less doubles what little is wasted.
TEST(FindCandidates, TakesTheFewestBitsWhereLookupsFindTheirKey) {
  const std::vector<tool::Tree> trees = {TreeOf({10'000, 100'000}, 0.1)};
  constexpr std::uint64_t kMemory = 110'000 * 10 / 8;
  constexpr double kPresent = 0.99;
  for (const tool::TreePlan& candidate : FindCandidates(trees, {}, kMemory, kPresent)) {
    SCOPED_TRACE(candidate.policy);
    const auto reads_at = [&](double bits) {
      PolicyOptions options = candidate.options;
      options.bits_per_key = bits;
      return kPresent + PlanOf(options, trees, candidate.ribbonfilter).filters.wasted_reads;
    };
    const double usual = reads_at(candidate.ribbonfilter ? 14.0 : 10.0);
    const double bits = candidate.options.bits_per_key;
    EXPECT_LT(bits, candidate.ribbonfilter ? 11.5 : 8.5);
    EXPECT_LE(reads_at(bits) / usual, 1.0 + tool::kFreeReads);
    EXPECT_GT(reads_at(bits - 0.2) / usual, 1.0 + tool::kFreeReads);
  }
  for (const tool::TreePlan& candidate : FindCandidates(trees, {}, kMemory, 0.0)) {
    EXPECT_GT(candidate.options.bits_per_key, 9.4) << candidate.policy;
  }
}

TEST(FindPrefixLength, IsOfTheGroupsThatKeysForm) {
  const auto length_of = [](const char* form, std::uint64_t groups, std::uint64_t rows) {
    std::vector<std::string> keys;
    for (std::uint64_t group = 0; group < groups; ++group) {
      for (std::uint64_t row = 0; row < rows; ++row) {
        const std::uint64_t scattered = group * 0x9E3779B97F4A7C15U;
        keys.push_back(fmt::format(fmt::runtime(form), scattered, row));
      }
    }
    std::sort(keys.begin(), keys.end());
    return tool::FindPrefixLength(keys);
  };
  EXPECT_EQ(length_of("{:016x}{:08x}", 500, 40), 16U);
  EXPECT_EQ(length_of("{:016x}:{:08x}", 500, 40), 16U);
  EXPECT_EQ(length_of("account-{:020}/{}", 500, 40), 28U);
  EXPECT_EQ(length_of("{0:016x}", 500, 1), 0U) << "random";
  EXPECT_EQ(length_of("{1:08}", 1, 1000), 0U) << "counted";
  EXPECT_EQ(tool::FindPrefixLength({}), 0U);
}

class AdviseLines : public ::testing::Test {
 protected:
  // A database of rows of accounts, with these counters in its LOG.
  void Make(const std::string& path, const std::map<std::string, std::uint64_t>& counters,
            PolicyPointer policy = PolicyPointer(rocksdb::NewBloomFilterPolicy(10))) const {
    {
      const Database db = Open(OptionsWith(std::move(policy)), path);
      PutRows(*db, db->DefaultColumnFamily(), 20);
    }
    Count(path, counters);
  }

  // A database of two column families, each with some rows in an account; one row each are keys
  // that form no groups.
  void MakeTwo(const std::string& path, std::uint64_t rows, std::uint64_t other_rows,
               const std::map<std::string, std::uint64_t>& counters) const {
    {
      const Database db = Open(OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))), path);
      rocksdb::ColumnFamilyHandle* other = nullptr;
      ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), "other", &other).ok());
      PutRows(*db, db->DefaultColumnFamily(), rows);
      PutRows(*db, other, other_rows);
      ASSERT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
    }
    Count(path, counters);
  }

  static void PutRows(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, std::uint64_t rows) {
    for (std::uint64_t i = 0; i < 6000; ++i) {
      const std::uint64_t account = i / rows * 0x9E3779B97F4A7C15U;
      EXPECT_TRUE(db.Put({}, family, fmt::format("{:016x}{:08}", account, i % rows), "value").ok());
      if (i % 3000 == 2999) {
        EXPECT_TRUE(db.Flush({}, family).ok());
      }
    }
  }

  static void Count(const std::string& path, const std::map<std::string, std::uint64_t>& counters) {
    std::ofstream log(path + "/LOG", std::ios::app);
    log << "Uptime(secs): 10.0 total\nrocksdb.bloom.filter.full.positive COUNT : 5\n";
    for (const auto& [name, count] : counters) log << name << " COUNT : " << count << "\n";
  }

  TemporaryDirectory directory_;
};

TEST_F(AdviseLines, NameAPrefixExtractorForSeeks) {
  const std::string path = directory_.path("db");
  Make(path, {{"rocksdb.number.db.seek", 30'000}});
  const std::string text = AskTool("advise " + path).out;
  EXPECT_EQ(text.find("Advice: a prefix extractor for column family default, since no filter"), 0U);
  EXPECT_TRUE(Mentions(text, "30,000 seeks and 0 lookups"));
  EXPECT_TRUE(Mentions(text, "\n  [CFOptions \"default\"]\n    prefix_extractor=fixed:16\n"));
  EXPECT_EQ(text.find("SetFilterPolicy"), std::string::npos);
  const json seeks = AskToolForJson("advise " + path).at("all").at("seeks");
  EXPECT_EQ(seeks.at("prefix_bytes"), 16);
  EXPECT_EQ(seeks.at("reads_now"), 2.0);
  EXPECT_NEAR(seeks.at("keys_per_prefix"), 20.0, 1.0);
  EXPECT_LT(seeks.at("reads"), 0.02);
}

// The reads are then those with filters of the present setting.
TEST_F(AdviseLines, NameAPrefixExtractorWhereTheSettingStays) {
  const std::string path = directory_.path("db");
  Make(path, {{"rocksdb.number.db.seek", 30'000}}, NewFilterPolicy("exact_ribbon:10"));
  const json all = AskToolForJson("advise " + path).at("all");
  EXPECT_TRUE(all.at("advice").is_null());
  EXPECT_EQ(all.at("seeks").at("prefix_bytes"), 16);
  EXPECT_LT(all.at("seeks").at("reads"), 0.01);
}

TEST_F(AdviseLines, NameAPrefixExtractorForTheColumnFamilyWhoseKeysSuggestIt) {
  const std::string path = directory_.path("db");
  MakeTwo(path, 1, 20, {{"rocksdb.number.db.seek", 30'000}});
  EXPECT_EQ(AskToolForJson("advise " + path).at("verdict"),
            "Advice: a prefix extractor for column family other, since no filter serves its seeks "
            "now.");
  for (const char* arguments : {"", "--details "}) {
    const std::string text = AskTool("advise " + (arguments + path)).out;
    EXPECT_TRUE(Mentions(text, "\n  [CFOptions \"other\"]\n    prefix_extractor=fixed:16\n"));
    EXPECT_EQ(text.find("[CFOptions \"default\"]"), std::string::npos) << text;
    EXPECT_EQ(text.find("suggest none"), std::string::npos) << text;
  }
}

TEST_F(AdviseLines, NameThePrefixExtractorOfEachColumnFamily) {
  const std::string path = directory_.path("db");
  MakeTwo(path, 10, 20, {{"rocksdb.number.db.seek", 30'000}});
  const std::string text = AskTool("advise --details " + path).out;
  for (const char* name : {"default", "other"}) {
    EXPECT_TRUE(Mentions(
        text, fmt::format("\n  [CFOptions \"{}\"]\n    prefix_extractor=fixed:16\n", name)));
  }
  EXPECT_TRUE(Mentions(text, "with 10 keys each"));
  EXPECT_TRUE(Mentions(text, "with 20 keys each"));
  const std::string brief = AskTool("advise " + path).out;
  EXPECT_TRUE(Mentions(brief, "[CFOptions \"default\"]"));
  EXPECT_EQ(brief.find("[CFOptions \"other\"]"), std::string::npos) << brief;
  EXPECT_LE(std::count(brief.begin(), brief.end(), '\n'), tool::kMostLines) << brief;
}

TEST_F(AdviseLines, AdviseNoPrefixExtractorThatNoKeysSuggest) {
  const std::string path = directory_.path("db");
  MakeTwo(path, 1, 1, {{"rocksdb.number.db.seek", 30'000}});
  const std::string text = AskTool("advise " + path).out;
  EXPECT_EQ(text.find("prefix extractor for"), std::string::npos) << text;
  EXPECT_TRUE(Mentions(text, "suggest none"));
  EXPECT_TRUE(Mentions(text, "for all 2 column families"));
}

TEST_F(AdviseLines, TakeTheShareOfFoundKeysFromTheLog) {
  const std::string path = directory_.path("db");
  Make(path, {{"rocksdb.memtable.miss", 1000},
              {"rocksdb.l0.hit", 400},
              {"rocksdb.l1.hit", 30},
              {"rocksdb.l2andup.hit", 560},
              {"rocksdb.number.keys.read", 1000}});
  EXPECT_EQ(AskToolForJson("advise " + path).at("present"), 0.99);
  EXPECT_TRUE(Mentions(AskTool("advise " + path).out, "99% of the lookups are taken to find"));
  EXPECT_EQ(AskToolForJson("advise --present 0.5 " + path).at("present"), 0.5);
}

TEST_F(AdviseLines, HoldNoControlBytes) {
  const std::string path = directory_.path("a\nb'\x1b[1m");
  {
    const rocksdb::Options options = OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
    const Database db = Open(options, path);
    for (const std::string name : {"f\r\n  filter_policy=nullptr", "g\x1b]0;x\x07", "h#i"}) {
      rocksdb::ColumnFamilyHandle* family = nullptr;
      ASSERT_TRUE(db->CreateColumnFamily(options, name, &family).ok());
      for (const std::uint64_t keys : {4000, 400}) PutAndFlush(*db, keys, "value", 0, family);
      db->DestroyColumnFamilyHandle(family);
    }
  }
  for (const char* arguments : {"", "--details", "--present 0.9"}) {
    const std::string text =
        AskTool(fmt::format("advise {} {}/a*", arguments, directory_.path())).out;
    EXPECT_TRUE(Mentions(text, "Advice: "));
    for (const char c : text) EXPECT_TRUE(c == '\n' || std::isprint(c) != 0) << int{c};
    EXPECT_EQ(text.find("\n  filter_policy=nullptr"), std::string::npos) << text;
    EXPECT_EQ(text.find("\"h#i\""), std::string::npos) << "RocksDB ends the line there";
  }
}

}  // namespace
}  // namespace exactbloom
