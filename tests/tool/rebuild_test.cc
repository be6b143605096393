// rebuild gives tables the wanted filter, in portions, and reports what it did.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;

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

TEST_F(RebuildCommand, GoesOnInPortions) {
  const std::uint64_t bytes = Rebuild("--dry-run").at("bytes");
  const std::string portion = fmt::format("--max-bytes {}b", bytes / kTables * 3 / 2);
  std::string arguments = "--policy standard_bloom:12 " + portion;
  for (std::uint64_t left = kTables; left > 0; --left) {
    const json result = Rebuild(arguments);
    EXPECT_EQ(result.at("lacking_tables"), left);
    EXPECT_EQ(result.at("rewritten_tables"), 1);
    EXPECT_EQ(result.at("remaining_tables"), left - 1);
    arguments = portion;
  }
  EXPECT_EQ(Rebuild("").at("lacking_tables"), 0);
}

TEST_F(RebuildCommand, StopsAtAnInterruptAndGoesOn) {
  // At this rate it would sleep for minutes after the first table.
  const testing::Outcome stopped =
      AskTool("rebuild --policy classic_bloom:10 --rate 1K " + directory_.path(),
              "timeout --preserve-status -s INT 2");
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("rewritten: 1 table, "), std::string::npos) << stopped.err;
  EXPECT_NE(stopped.out.find("The same command continues"), std::string::npos) << stopped.out;
  const json rest = Rebuild("");
  EXPECT_EQ(rest.at("lacking_tables"), kTables - 1);
  EXPECT_EQ(rest.at("rewritten_tables"), kTables - 1);
}

}  // namespace
}  // namespace exactbloom
