// Wrong inputs of exactbloom and readamp, each with one line on stderr that names what is wrong and
// where.
//
// Those of filter_benchmark and scripts/report/run are with their tests in
// tests/bench. Here are command lines, and files that are not what they should be; errors_test.cc
// has databases that are damaged or forbidden.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sample_database.h"
#include "tool/support/number_text.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

// {} in the arguments is a directory with
//   db          a database of one table
//   empty       an empty directory
//   text        a text that is nothing else
//   binary      bytes that are nothing else
//   nothing     an empty file
// There is no `none`.
struct WrongInput {
  const char* arguments;
  const char* words;  // in the line
};

class WrongInputs : public ::testing::Test {
 protected:
  WrongInputs() {
    PutAndFlush(*Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory_.path("db")), 100);
    std::filesystem::create_directory(directory_.path("empty"));
    std::ofstream(directory_.path("text")) << "some words\nin two lines\n";
    std::ofstream(directory_.path("binary")) << std::string("\xff\xfe\0\x01{\n", 6);
    std::ofstream(directory_.path("nothing"));
  }

  void ExpectRefusals(const std::string& program, const std::vector<WrongInput>& inputs) const {
    for (const auto& [arguments, words] : inputs) {
      SCOPED_TRACE(arguments);
      const TemporaryDirectory output;
      const std::string command =
          program + " " + fmt::format(fmt::runtime(arguments), directory_.path());
      testing::ExpectRefusal(testing::RunCommand(command, output.path()), words);
    }
  }

  TemporaryDirectory directory_;
};

TEST_F(WrongInputs, OfTheProgram) {
  ExpectRefusals(EXACTBLOOM_TOOL,
                 {{"", "a subcommand is required: rate, plan, inspect"},
                  {"''", "a subcommand is required"},
                  {"inspct {}/db", "unknown subcommand inspct: did you mean inspect?"},
                  {"insepct {}/db", "did you mean inspect?"},
                  {"insp {}/db", "did you mean inspect?"},
                  {"inspection {}/db", "did you mean inspect?"},
                  {"rat --m 1", "did you mean rate?"},
                  {"r", "unknown subcommand r: it is not one of rate, plan"},
                  {"lpan --keys 5", "did you mean plan?"},
                  {"sing", "unknown subcommand sing: it is not one of rate, plan"},
                  {"--verson", "unknown option --verson: did you mean --version?"}});
}

TEST_F(WrongInputs, OfRate) {
  ExpectRefusals(EXACTBLOOM_TOOL,
                 {{"rate --m 0 --n 1 --k 1", "--m is 0"},
                  {"rate --m 5 --n 1 --k 6", "--k is 6"},
                  {"rate --m 5 --n 1 --k 0", "'0' is not a whole number from 1 to 72"},
                  {"rate --m 5 --n 1 --k 73", "'73' is not a whole number from 1 to 72"},
                  {"rate --m 5 --n x --k 1", "rate: --n: 'x' is not a whole number"},
                  {"rate --m 1.5 --n 1 --k 1", "--m: '1.5'"},
                  {"rate --m 1e30 --n 4 --k 3", "'1e30'"},
                  {"rate --m -1 --n 4 --k 3", "'-1'"},
                  {"rate --m 5 --n 1 --k", "--k needs a value"},
                  {"rate --m 5 --n 1", "rate: --k is required"},
                  {"rate --mm 5 --n 1 --k 1", "unknown option --mm: did you mean --m?"},
                  {"rate --m 5 --n 1 --k 1 --jsn", "unknown option --jsn: did you mean --json?"},
                  {"rate --m 5 --n 1 --k 1 7", "rate: unexpected argument '7'"},
                  {"rate --m 500 --n 4 --k 6 --lines 1", "512"},
                  {"rate --m 512 --n 4 --k 6 --lines 3", "--lines: '3' is not one of 0, 1"},
                  {"rate --m 512 --n 4 --k 6 --kind quotient",
                   "--kind: 'quotient' is not one of classic, standard"}});
}

TEST_F(WrongInputs, OfPlan) {
  ExpectRefusals(
      EXACTBLOOM_TOOL,
      {{"plan --keys 0 --fpr 0.1", "0 keys"},
       {"plan --keys 10 --fpr 1.5", "--fpr 1.5"},
       {"plan --keys 10 --fpr 150%", "--fpr 1.5"},
       {"plan --keys 10 --fpr 0", "--fpr 0"},
       {"plan --keys 10 --fpr nan", "--fpr: 'nan' is not a number such as 0.01 or 1%"},
       {"plan --keys 10 --frp 1%", "unknown option --frp: did you mean --fpr?"},
       {"plan --keys 10 --bits-per-key 101", "101"},
       {"plan --keys 10 --memory 10", "--memory 10"},
       {"plan --keys 10 --memory 5Q", "--memory: '5Q' is not a number of bytes"},
       {"plan --keys 10", "one of --bits-per-key, --fpr, --memory, --wasted-reads is"},
       {"plan --keys 10 --fpr 1% --memory 1K", "only one of --bits-per-key, --fpr"},
       {"plan --fpr 0.1", "--keys"},
       {"plan --keys 5 --levels 5,50 --fpr 1%", "--levels"},
       {"plan --levels 50,5 --bits-per-key 4", "--levels: 5 keys come after 50"},
       {"plan --levels 5,50 --fpr 1%", "give --wasted-reads"},
       {"plan --keys 5 --wasted-reads 1%", "--wasted-reads requires --levels"},
       {"plan --levels 0,5 --bits-per-key 4", "0 keys"},
       {"plan --levels 5,50 --wasted-reads 2", "wasted reads"},
       {"plan --levels 5,50 --bits-per-key 4 --bottommost xor", "is not one of bloom, ribbon"},
       {"plan --keys 5 --bits-per-key 4 --bottommost ribbon", "--levels"}});
}

TEST_F(WrongInputs, OfInspectAndVerify) {
  for (const char* subcommand : {"inspect", "verify"}) {
    ExpectRefusals(EXACTBLOOM_TOOL + std::string(" ") + subcommand,
                   {{"", "PATH is required"},
                    {"{}/none", "none: "},
                    {"{}/empty", "empty is not a RocksDB database"},
                    {"{0}/db {0}/text", "give one database, or table files"},
                    {"{}/db --sumary", "unknown option --sumary"}});
  }
  ExpectRefusals(
      EXACTBLOOM_TOOL,
      {{"inspect {}/db --summry", "did you mean --summary?"},
       {"inspect --lookups {0}/none {0}/db", "cannot read the key file"},
       {"inspect --lookups {0}/nothing {0}/db", "has no keys"},
       {"verify {}/db --absent many", "--absent: 'many' is not a whole number"},
       {"verify {}/db --threads 0", "--threads: '0' is not a whole number from 1 to 256"},
       {"verify {}/db --seed -1", "--seed: '-1'"}});
}

TEST_F(WrongInputs, OfAdvise) {
  ExpectRefusals(EXACTBLOOM_TOOL,
                 {{"advise", "advise: PATH is required"},
                  {"advise {}/none", "none"},
                  {"advise {}/text", "text"},
                  {"advise {}/db --memory lots", "--memory: 'lots' is not a number of bytes"},
                  {"advise {}/empty", "no file CURRENT"},
                  {"advise {}/db --fpr 1%", "unknown option --fpr"}});
}

TEST_F(WrongInputs, OfRebuild) {
  ExpectRefusals(EXACTBLOOM_TOOL,
                 {{"rebuild", "rebuild: PATH is required"},
                  {"rebuild {}/none", "none"},
                  {"rebuild {}/empty", "empty is not a RocksDB database"},
                  {"rebuild --rate fast {}/db", "--rate: 'fast' is not a number of bytes"},
                  {"rebuild --max-bytes -1 {}/db", "--max-bytes: '-1'"},
                  {"rebuild --policy classic_blom:10 {}/db", "did you mean classic_bloom:10?"},
                  {"rebuild --policy '{{id=clasic_bloom;lines=1}}' {}/db",
                   "did you mean {id=classic_bloom;lines=1}?"},
                  {"rebuild --policy quotient:3 {}/db", "quotient:3"},
                  {"rebuild --policy classic_bloom:1000 {}/db", "bits_per_key is '1000'"},
                  {"rebuild --policy '{{id=classic_bloom;colour=red}}' {}/db",
                   "classic_bloom has no option 'colour' for the value 'red'"},
                  {"rebuild --dryrun {}/db", "did you mean --dry-run?"}});
}

TEST_F(WrongInputs, OfCheck) {
  ExpectRefusals(EXACTBLOOM_TOOL, {{"check", "is required"},
                                   {"check {}/none", "none cannot be read"},
                                   {"check {}/empty", "empty"},
                                   {"check {}/text", "text is not an OPTIONS file"},
                                   {"check {}/binary", "binary"},
                                   {"check {}/text --jsn", "did you mean --json?"}});
}

TEST_F(WrongInputs, OfReadamp) {
  ExpectRefusals(
      READAMP,
      {{"--policies classic_bloom:abc", "bits_per_key is 'abc'"},
       {"--policies none,classic_bloom:101", "0 to 100"},
       {"--policies classic_blom:10", "did you mean classic_bloom:10?"},
       {"--policies none,ribonfilter:9.5", "did you mean ribbonfilter:9.5?"},
       {"--policies ''", "--policies: an empty name"},
       {"--policies '{{id=classic_bloom;colour=red}}'",
        "classic_bloom has no option 'colour' for the value 'red'"},
       {"--keys {}/none", "none"},
       {"--keys /dev/null", "no keys"},
       {"--json {}/none/result.json --synthetic 1e3", "none/result.json"},
       {"--threads 0", "--threads: '0' is not a whole number from 1 to 64"},
       {"--synthetic ten", "--synthetic: 'ten'"},
       {"--synthetic 1e9", "'1e9' is not a whole number from 100 to 100000000"},
       {"--stored 150%", "--stored: '150%' is not from 0.0001 to 0.9999"},
       {"--no-such-option", "unknown option --no-such-option"},
       {"--polices none", "did you mean --policies?"},
       {"--from-db {}/none", "none"},
       {"--from-db {}/empty", "empty"},
       {"--from-db {}/db --synthetic 1000", "--from-db"},
       {"--workloads absent,distant", "--workloads: 'distant' is not one of absent, present"},
       {"--tree binary", "--tree: 'binary' is not one of settled, loaded, level0, universal"},
       {"--filters half", "--filters: 'half' is not one of full, partitioned"},
       {"--block-cache some", "--block-cache: 'some'"},
       {"words", "unexpected argument 'words'"}});
}

TEST(Numbers, AreReadAsUsersWriteThem) {
  using namespace support;
  EXPECT_EQ(ReadCount("1e6"), 1'000'000U);
  EXPECT_EQ(ReadCount("18446744073709551615"), std::uint64_t{18'446'744'073'709'551'615U});
  EXPECT_EQ(ReadCount("9007199254740993"), 9'007'199'254'740'993U);
  EXPECT_EQ(ReadShare("1%"), 0.01);
  EXPECT_EQ(ReadShare("0.01"), 0.01);
  EXPECT_EQ(ReadBytes("64M"), std::uint64_t{64} << 20);
  EXPECT_EQ(ReadBytes("1.5GiB"), std::uint64_t{3} << 29);
  EXPECT_EQ(ReadBytes("2 kb"), 2048U);
  EXPECT_EQ(ReadBytes("1e9"), 1'000'000'000U);
  for (const char* text : {"", " ", "x", "1x", "1e", "0.5", "-1", "1%", "1e30", "inf", "nan"}) {
    EXPECT_EQ(ReadCount(text), std::nullopt) << text;
  }
  for (const char* text : {"", "%", "1%%", "x%", "nan", "inf%", "0,5"}) {
    EXPECT_EQ(ReadShare(text), std::nullopt) << text;
  }
  for (const char* text : {"", "M", "1Q", "1MM", "1iB", "-1K", "99999999P"}) {
    EXPECT_EQ(ReadBytes(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace exactbloom
