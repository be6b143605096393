// Following the advice cuts the reads that absent keys waste as it said, in no more memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "level_tree.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using testing::AskToolForJson;

// Reads wasted by a lookup, by RocksDB's counters. The keys lie between stored ones; each is asked
// for once.
double MeasureWastedReads(rocksdb::DB& db, std::uint64_t rounds) {
  TakeCounts(db);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::string suffix = fmt::format("-{}", round);
    for (std::uint64_t i = 0; i < LevelTree::kAllKeys; ++i) {
      std::string value;
      const bool absent = db.Get({}, KeyOf(2 * i) + suffix, &value).IsNotFound();
      if (!absent) ADD_FAILURE() << i;
    }
  }
  const FilterCounts counts = TakeCounts(db);
  EXPECT_EQ(counts.true_positive, 0U);
  EXPECT_GT(counts.positive, 2000U) << "too few for a comparison within a tenth";
  return static_cast<double>(counts.positive) / static_cast<double>(rounds * LevelTree::kAllKeys);
}

void ExpectWithinATenth(double measured, double predicted) {
  EXPECT_NEAR(measured / predicted, 1.0, 0.1);
}

TEST(AdviseEndToEnd, CutsWastedReadsAsPredictedAtEqualMemory) {
  constexpr std::uint64_t kRoundsBefore = 3;
  constexpr std::uint64_t kRoundsAfter = 18;
  const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
  LevelTree tree(OptionsWith(bloom), 3);
  const double before = MeasureWastedReads(tree.db(), kRoundsBefore);

  const json family =
      AskToolForJson("advise --check-costs fixed " + tree.path()).at("column_families").at(0);
  const json& now = family.at("now");
  const json& advice = family.at("advice");
  ASSERT_FALSE(advice.is_null()) << family;

  const TemporaryDirectory directory;
  const std::string copy = directory.path("db");
  std::filesystem::copy(tree.path(), copy);
  const json rebuilt =
      AskToolForJson("rebuild --policy '" + advice.at("policy").get<std::string>() + "' " + copy);
  EXPECT_EQ(rebuilt.at("rewritten_tables"), LevelTree::kRuns);
  const json followed =
      AskToolForJson("advise --check-costs fixed " + copy).at("column_families").at(0);
  // This policy reads what any of ours wrote.
  const Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), copy);
  const double after = MeasureWastedReads(*db, kRoundsAfter);

  const double predicted_before = now.at("wasted_reads");
  const double predicted_after = advice.at("wasted_reads");
  fmt::print(
      "{}\nwasted reads per lookup: {:.6f} (predicted {:.6f}) -> {:.6f} (predicted {:.6f})\n",
      advice.at("policy").get<std::string>(), before, predicted_before, after, predicted_after);
  fmt::print("cut by {:.6f} (predicted {:.6f}); filter bytes {} -> {} (predicted {})\n",
             before - after, predicted_before - predicted_after,
             now.at("filter_bytes").get<std::uint64_t>(),
             followed.at("now").at("filter_bytes").get<std::uint64_t>(),
             advice.at("filter_bytes").get<std::uint64_t>());
  ExpectWithinATenth(before, predicted_before);
  ExpectWithinATenth(after, predicted_after);
  ExpectWithinATenth(before - after, predicted_before - predicted_after);
  ExpectWithinATenth(after / before, predicted_after / predicted_before);
  EXPECT_LT(after, before / 2);
  EXPECT_LE(followed.at("now").at("filter_bytes"), now.at("filter_bytes"));
}

}  // namespace
}  // namespace exactbloom
