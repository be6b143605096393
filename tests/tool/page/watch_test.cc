// watch: a line for each look, with the mean and the range so far.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "../tool_command.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using testing::AskTool;

TEST(Watch, SaysWhatWasSeenAndItsRange) {
  const TemporaryDirectory directory;
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path()), 3000);
  const json now = testing::AskToolForJson("inspect " + directory.path()).at("totals");
  const testing::Outcome outcome =
      AskTool("watch --json --every 0.1s --for 0.2s " + directory.path());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::vector<json> looks;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) looks.push_back(json::parse(line));
  ASSERT_EQ(looks.size(), 3U);
  for (const json& look : looks) {
    EXPECT_EQ(look.at("wasted_reads"), now.at("wasted_reads").at("default"));
    EXPECT_EQ(look.at("bits_per_key"), now.at("bits_per_key"));
    EXPECT_EQ(look.at("tables"), 1);
    EXPECT_EQ(look.at("wasted_reads_so_far").at("least"), look["wasted_reads"]);
    EXPECT_EQ(look.at("wasted_reads_so_far").at("most"), look["wasted_reads"]);
  }
  const std::string text = AskTool("watch --every 0.1s --for 0.1s " + directory.path()).out;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << "a header, a line, and two looks";
  std::istringstream wide(text);
  for (std::string line; std::getline(wide, line);) EXPECT_LE(line.size(), 80U);
  testing::ExpectRefusal(AskTool("watch " + TableFilesIn(directory.path()).front().string()),
                         "watch takes a database");
}

}  // namespace
}  // namespace exactbloom
