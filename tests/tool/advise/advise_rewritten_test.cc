// What advise and inspect predict of rewritten tables is what they have when they are rewritten:
// with prefixes in their filters, with one memory budget, and with optimize_filters_for_hits.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../tool_command.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "opened_families.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using testing::Families;
using testing::OpenFamilies;

// Of a column family.
struct FamilySetting {
  std::string policy = "bloomfilter:10";
  bool whole_keys = true;
  std::shared_ptr<const rocksdb::SliceTransform> extractor = nullptr;
  bool for_hits = false;  // optimize_filters_for_hits
};

using FamilySettings = std::map<std::string, FamilySetting>;  // by column family

std::shared_ptr<const rocksdb::SliceTransform> FixedPrefix(std::size_t bytes) {
  return std::shared_ptr<const rocksdb::SliceTransform>(rocksdb::NewFixedPrefixTransform(bytes));
}

// The tool does not know it.
class FirstBytes : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "FirstBytes"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override { return {key.data(), 8}; }
  bool InDomain(const rocksdb::Slice& key) const override { return key.size() >= 8; }
};

class AdviseRewritten : public ::testing::Test {
 protected:
  static rocksdb::Options OptionsOf(const FamilySetting& setting) {
    rocksdb::BlockBasedTableOptions tables = PlannedSizes();
    RegisterFilterPolicies();
    if (!setting.policy.empty()) {
      EXPECT_TRUE(
          rocksdb::FilterPolicy::CreateFromString({}, setting.policy, &tables.filter_policy).ok());
    }
    tables.whole_key_filtering = setting.whole_keys;
    rocksdb::Options options = OptionsWith(tables);
    options.prefix_extractor = setting.extractor;
    options.optimize_filters_for_hits = setting.for_hits;
    options.create_missing_column_families = true;
    options.listeners = {NewTreeListener()};
    return options;
  }

  Families OpenWith(const FamilySettings& settings) const {
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const auto& [name, setting] : settings) descriptors.emplace_back(name, OptionsOf(setting));
    return OpenFamilies(OptionsOf(settings.at("default")), path(), descriptors);
  }

  // Runs whose keys have no order in common with the times at which they are put, in level 0; if
  // `is_deep`, the largest is in level 6. Twenty keys have one prefix of eight bytes.
  void Put(const FamilySettings& settings, bool is_deep = false) const {
    const Families families = OpenWith(settings);
    for (auto* family : families.handles) {
      std::uint64_t number = 0;
      for (const std::uint64_t keys : {30'000U, 6000U, 1000U, 700U}) {
        for (const std::uint64_t end = number + keys; number < end; ++number) {
          const std::uint64_t prefix = number / 20 * 7'654'321 % 100'000'000;
          const std::string key = fmt::format("{:08}{:02}", prefix, number % 20);
          ASSERT_TRUE(families.db->Put({}, family, key, "value").ok());
        }
        ASSERT_TRUE(families.db->Flush({}, family).ok());
        if (is_deep && number == 30'000) MoveDown(*families.db, 6);
      }
    }
  }

  // The division depends on the filters that are there: the second time it has settled. The flush
  // tells the listener of the tables, which CompactFiles does not.
  void Rewrite(const FamilySettings& settings) const {
    const Families families = OpenWith(settings);
    rocksdb::ColumnFamilyHandle* other = nullptr;
    const rocksdb::Options options = OptionsOf(settings.at("default"));
    ASSERT_TRUE(families.db->CreateColumnFamily(options, "other", &other).ok());
    PutAndFlush(*families.db, 1, "value", 0, other);
    ASSERT_TRUE(families.db->DropColumnFamily(other).ok());
    ASSERT_TRUE(families.db->DestroyColumnFamilyHandle(other).ok());
    for (int time = 0; time < 2; ++time) {
      for (auto* family : families.handles) {
        ASSERT_TRUE(RewriteTables(*families.db, family).ok());
      }
    }
  }

  json All() const { return AskToolForJson("advise " + path()).at("all"); }
  std::string path() const { return directory_.path("db"); }

  // Expects the prediction to hold when the tables are rewritten. The wasted reads are by the bits
  // that are set, whose number is random in filters of few prefixes.
  void ExpectPredicted(const FamilySettings& settings, double of_bytes, double of_reads) const {
    const json rewritten = All().at("rewritten");
    Rewrite(settings);
    const json now = All().at("now");
    for (const auto& [what, tolerance] :
         {std::pair("filter_bytes", of_bytes), std::pair("wasted_reads", of_reads)}) {
      const double measured = now.at(what);
      EXPECT_NEAR(rewritten.at(what).get<double>() / measured, 1.0, tolerance)
          << what << ": " << rewritten.at(what) << " predicted, " << measured << " rewritten";
    }
  }

  TemporaryDirectory directory_;
};

const FamilySetting kWholeKeys = {"bloomfilter:10", true, nullptr, false};

FamilySetting PrefixSetting(bool whole_keys, const std::string& policy = "bloomfilter:10") {
  return {policy, whole_keys, FixedPrefix(8), false};
}

TEST_F(AdviseRewritten, FollowsWhatGoesIntoFilters) {
  // By their names: what the tables were written with, and what is set now.
  const std::vector<std::pair<FamilySetting, FamilySetting>> changes = {
      {PrefixSetting(false), kWholeKeys},
      {PrefixSetting(false), PrefixSetting(true)},
      {PrefixSetting(true), kWholeKeys},
      {PrefixSetting(true), PrefixSetting(false)},
      {kWholeKeys, PrefixSetting(false)},
      {kWholeKeys, PrefixSetting(true)},
      {PrefixSetting(false), {"bloomfilter:10", false, FixedPrefix(9), false}},
      {{"", false, FixedPrefix(8), false}, PrefixSetting(false)},
      {{"", true, FixedPrefix(8), false}, PrefixSetting(true)},
      {{"", true, nullptr, false}, PrefixSetting(false, "exactbloom:10")},
      {PrefixSetting(false), PrefixSetting(false)},
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [before, then] = changes[i];
    std::filesystem::remove_all(path());
    Put({{"default", before}}, /*is_deep=*/true);
    OpenWith({{"default", then}});
    ExpectPredicted({{"default", then}}, 0.02, 0.2);
  }
}

// Keys of 8 bytes, and as many of fewer.
TEST_F(AdviseRewritten, CountsKeysThatAreTheirPrefixOnceAndOthersWithoutPrefix) {
  const FamilySettings before = {{"default", kWholeKeys}};
  {
    const Families families = OpenWith(before);
    for (std::uint64_t i = 0; i < 4000; ++i) {
      ASSERT_TRUE(families.db->Put({}, fmt::format("{:08}", i), "value").ok());
      ASSERT_TRUE(families.db->Put({}, fmt::format("z{:06}", i), "value").ok());
    }
    ASSERT_TRUE(families.db->Flush({}).ok());
  }
  const FamilySettings then = {{"default", PrefixSetting(true)}};
  OpenWith(then);
  ExpectPredicted(then, 0.01, 0.05);
}

TEST_F(AdviseRewritten, PredictsNothingOfPrefixesThatAreNotKnown) {
  Put({{"default", kWholeKeys}});
  const FamilySetting unknown = {"bloomfilter:10", true, std::make_shared<FirstBytes>(), false};
  OpenWith({{"default", unknown}});
  const json all = AskToolForJson("advise " + path()).at("column_families").at(0);
  EXPECT_TRUE(all.at("rewritten").is_null()) << all;
  EXPECT_TRUE(all.at("candidates").empty());
  EXPECT_TRUE(Mentions(all.at("refusal"), "the prefix extractor FirstBytes")) << all.at("refusal");
  EXPECT_TRUE(Mentions(AskTool("advise " + path()).out, "\nTo do: compact the column family"));

  // Their own filters tell of them.
  Rewrite({{"default", unknown}});
  EXPECT_FALSE(All().at("rewritten").is_null());
}

TEST_F(AdviseRewritten, PredictsNothingOfPrefixesByLogs) {
  Put({{"default", kWholeKeys}});
  OpenWith({{"default", PrefixSetting(false)}});
  const std::string logs = fmt::format("{0}/LOG {0}/LOG.old.*", path());
  const json family = AskToolForJson("advise " + logs).at("column_families").at(0);
  EXPECT_TRUE(family.at("rewritten").is_null());
  EXPECT_TRUE(Mentions(family.at("refusal"), "logs")) << family.at("refusal");
  EXPECT_FALSE(All().at("rewritten").is_null());

  // Filters with these prefixes tell of them, although the logs do not have the extractor's length.
  std::filesystem::remove_all(path());
  Put({{"default", PrefixSetting(false)}});
  const json by_logs =
      AskToolForJson("advise " + path() + "/LOG").at("column_families").at(0).at("rewritten");
  EXPECT_EQ(by_logs.at("filter_bytes"), All().at("rewritten").at("filter_bytes"));
}

constexpr char kBudget[] = "{id=exactbloom;memory_budget=20K}";
constexpr double kBudgetBytes = 20'480.0;

TEST_F(AdviseRewritten, TakesABudgetOnceForAllColumnFamilies) {
  const FamilySetting setting = {kBudget, true, nullptr, false};
  Put({{"default", setting}});
  const double alone = All().at("rewritten").at("filter_bytes");
  const FamilySettings settings = {{"default", setting}, {"b", setting}};
  std::filesystem::remove_all(path());
  Put(settings);
  const json all = All();
  const json& rewritten = all.at("rewritten");
  EXPECT_LE(rewritten.at("filter_bytes"), kBudgetBytes);
  EXPECT_NEAR(rewritten.at("filter_bytes").get<double>() / alone, 1.0, 0.02);
  for (const json& candidate : all.at("candidates")) {
    EXPECT_LE(candidate.at("filter_bytes"), kBudgetBytes) << candidate.at("policy");
  }
  Rewrite(settings);
  ExpectPredicted(settings, 0.05, 0.1);
}

// Of one family alone, too, the others have their part.
TEST_F(AdviseRewritten, LeavesTheOtherColumnFamiliesTheirPartOfABudget) {
  const FamilySetting joined = {"{id=exactbloom;budget=stores}", true, nullptr, false};
  const FamilySetting sized = {"{id=exactbloom;memory_budget=20K;budget=stores}", true, nullptr,
                               false};
  const FamilySetting own = {kBudget, true, nullptr, false};
  Put({{"default", sized}, {"joined", joined}, {"own", own}});
  std::map<std::string, double> bytes;
  const json inspection = AskToolForJson("inspect " + path());
  for (const json& plan : inspection.at("plans")) {
    bytes[plan.at("column_family")] = plan.at("filter_bytes");
  }
  EXPECT_LE(bytes.at("default") + bytes.at("joined"), 0.62 * kBudgetBytes);
  EXPECT_NEAR(bytes.at("default"), bytes.at("joined"), 0.01 * bytes.at("default"));
  EXPECT_NEAR(bytes.at("own"), 2.0 * bytes.at("default"), 0.03 * bytes.at("own"));
  for (const auto& [family, planned] : bytes) {
    const std::string alone = fmt::format("--column-family {} {}", family, path());
    EXPECT_EQ(AskToolForJson("inspect " + alone).at("plans").at(0).at("filter_bytes"), planned);
    EXPECT_EQ(AskToolForJson("advise " + alone).at("all").at("rewritten").at("filter_bytes"),
              planned);
  }
}

// Where the keys of one are not known, no share of the budget is.
TEST_F(AdviseRewritten, PlansNoneThatShareABudgetWhereTheKeysOfOneAreNotKnown) {
  const FamilySetting shared = {"{id=exactbloom;memory_budget=20K;budget=stores}", true, nullptr,
                                false};
  const FamilySetting own = {kBudget, true, nullptr, false};
  FamilySettings settings = {{"default", shared}, {"own", own}, {"unknown", shared}};
  Put(settings);
  settings.at("unknown").extractor = std::make_shared<FirstBytes>();
  OpenWith(settings);
  for (const char* of : {"", "--column-family default "}) {
    const json plans = AskToolForJson(fmt::format("inspect {}{}", of, path())).at("plans");
    ASSERT_EQ(plans.size(), *of == '\0' ? 1U : 0U) << plans;
    EXPECT_EQ(plans.dump().find("stores"), std::string::npos) << plans;
  }
  const json families = AskToolForJson("advise " + path()).at("column_families");
  EXPECT_TRUE(Mentions(families.at(0).at("refusal"), "the prefix extractor FirstBytes"));
  EXPECT_TRUE(families.at(1).at("refusal").is_null());
}

// A budget of filters and indexes leaves the filters less.
TEST_F(AdviseRewritten, TakesTheIndexesOfABudgetThatCoversThem) {
  const FamilySetting filters = {kBudget, true, nullptr, false};
  Put({{"default", filters}});
  const json level = AskToolForJson("inspect " + path()).at("totals");
  const double of_filters = All().at("rewritten").at("filter_bytes");
  const FamilySetting both = {"{id=exactbloom;memory_budget=20K;covers=filters_and_indexes}", true,
                              nullptr, false};
  OpenWith({{"default", both}});
  const double of_both = All().at("rewritten").at("filter_bytes");
  const double index_bytes = level.at("index_bytes");
  EXPECT_GT(index_bytes, 2000.0);
  EXPECT_NEAR(of_filters - of_both, 0.6 * index_bytes, 0.02 * of_filters);
}

// The division leaves out what gets no filter.
TEST_F(AdviseRewritten, DividesAmongTheTablesThatGetFilters) {
  for (const char* policy : {"exactbloom:10", "{id=exactbloom;ribbon=false}"}) {
    SCOPED_TRACE(policy);
    std::filesystem::remove_all(path());
    const FamilySettings settings = {{"default", {policy, true, nullptr, true}}};
    Put(settings, /*is_deep=*/true);
    ExpectPredicted(settings, 0.01, 0.01);
    const json plan = AskToolForJson("inspect " + path()).at("plans").at(0);
    double bits = 0.0;
    double keys = 0.0;
    for (const json& level : plan.at("tables")) {
      if (level.at("filter") == "none") {
        EXPECT_EQ(level.at("bits_per_key"), 0.0);
        continue;
      }
      bits += level.at("bits_per_key").get<double>() * level.at("keys").get<double>();
      keys += level.at("keys").get<double>();
    }
    EXPECT_NEAR(bits / keys, 10.0, 0.01);
  }
}

// All of the memory may be used, by the keys that get filters: by default 10 bits for each.
TEST_F(AdviseRewritten, DividesMemoryByTheKeysThatGetFilters) {
  const FamilySetting none = {"", true, nullptr, true};
  Put({{"default", none}}, /*is_deep=*/true);
  const json all = All();
  EXPECT_NEAR(all.at("memory_bytes").get<double>(), 7700.0 * 10.0 / 8.0, 10.0);
  bool has_divided = false;
  for (const json& candidate : all.at("candidates")) {
    if (!Mentions(candidate.at("policy"), "exactbloom")) continue;
    has_divided = true;
    EXPECT_GT(candidate.at("filter_bytes"), 0.95 * all.at("memory_bytes").get<double>())
        << candidate.at("policy");
  }
  EXPECT_TRUE(has_divided);
}

}  // namespace
}  // namespace exactbloom
