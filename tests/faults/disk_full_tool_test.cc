// `exactbloom rebuild` on a real file system that is full: a tmpfs in a mount namespace of its own,
// where the system allows that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "run_command.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using testing::Outcome;
using testing::RunCommand;

constexpr std::uint64_t kKeys = 2000;  // of a table
constexpr std::uint64_t kTables = 4;

// Behind the database there is room for opening it, not for a table.
constexpr char kScript[] = R"(
  mount -t tmpfs -o size=2m none {0} || exit 77
  cp -r {1} {0}/db
  head -c 100K /dev/zero > {0}/room
  head -c 2M /dev/zero > {0}/filler 2> {0}.ignored
  rm {0}/room
  {2} rebuild --policy classic_bloom:10 {0}/db
  echo "full: $?"
  rm {0}/filler
  {2} verify {0}/db --absent 0 > {0}.verify
  echo "verified: $?"
  {2} rebuild --policy classic_bloom:10 {0}/db
  echo "with room: $?"
  {2} verify {0}/db --absent 0 --json > {0}.json
  echo "verified: $?"
  tr -d "[:space:]" < {0}.json
)";

TEST(DiskFullTool, RebuildSaysSoAndGoesOnWithRoom) {
  const TemporaryDirectory directory;
  {
    rocksdb::Options options = OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
    options.compression = rocksdb::kNoCompression;
    const Database db = Open(options, directory.path("db"));
    for (std::uint64_t i = 0; i < kTables; ++i) {
      PutAndFlush(*db, kKeys, std::string(100, 'v'), i * kKeys);
    }
  }
  const std::string mount_point = directory.path("full");
  ASSERT_TRUE(std::filesystem::create_directory(mount_point));
  const std::string script =
      fmt::format(kScript, mount_point, directory.path("db"), EXACTBLOOM_TOOL);
  const Outcome outcome = RunCommand("unshare -rm sh -c '" + script + "'", directory.path());
  if (outcome.out.find("full: ") == std::string::npos) {
    GTEST_SKIP() << "this system lets us mount no tmpfs: " << outcome.err;
  }
  const auto says = [](const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
  };
  EXPECT_TRUE(says(outcome.out, "full: 2\nverified: 0\n")) << outcome.out << outcome.err;
  EXPECT_TRUE(says(outcome.err, "stopped after 0 tables")) << outcome.err;
  EXPECT_TRUE(says(outcome.err, "No space left on device")) << outcome.err;
  EXPECT_TRUE(says(outcome.out, "with room: 0\nverified: 0\n")) << outcome.out << outcome.err;
  EXPECT_TRUE(says(outcome.out, fmt::format("\"keys_checked\":{}", kTables * kKeys)))
      << outcome.out;
  EXPECT_TRUE(says(outcome.out, "\"filter\":\"exactbloom\"")) << outcome.out;
}

}  // namespace
}  // namespace exactbloom
