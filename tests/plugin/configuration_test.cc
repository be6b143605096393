// The ways to configure a policy, and the refusal of bad values.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/options_util.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::Status;

constexpr std::uint64_t kKeys = 4000;

Status ReadTableOptions(const std::string& text, BlockBasedTableOptions* table_options) {
  RegisterFilterPolicies();
  return rocksdb::GetBlockBasedTableOptionsFromString({}, {}, text, table_options);
}

std::string IdOf(const std::string& policy) {
  BlockBasedTableOptions table_options;
  const Status status = ReadTableOptions("filter_policy=" + policy, &table_options);
  EXPECT_TRUE(status.ok()) << policy << ": " << status.ToString();
  return table_options.filter_policy == nullptr ? "" : table_options.filter_policy->GetId();
}

TEST(Configuration, FactoriesNameTheirPolicies) {
  EXPECT_EQ(NewPolicy(FilterKind::kClassic)->GetId(), "classic_bloom:10");
  EXPECT_EQ(NewPolicy(FilterKind::kStandard, 9.9)->GetId(), "standard_bloom:9.9");
  EXPECT_STREQ(NewPolicy(FilterKind::kClassic)->Name(), "classic_bloom");
  EXPECT_STREQ(NewPolicy(FilterKind::kClassic)->CompatibilityName(),
               PolicyPointer(rocksdb::NewBloomFilterPolicy(10))->CompatibilityName());
}

TEST(Configuration, OptionStringsMakePolicies) {
  EXPECT_EQ(IdOf("classic_bloom:10"), "classic_bloom:10");
  EXPECT_EQ(IdOf("standard_bloom:9.9"), "standard_bloom:9.9");
  EXPECT_EQ(IdOf("classic_bloom"), "classic_bloom:10");
  EXPECT_EQ(IdOf("{id=classic_bloom;bits_per_key=12.5}"), "classic_bloom:12.5");
  EXPECT_EQ(IdOf("{id=standard_bloom;bits_per_key=100}"), "standard_bloom:100");
  EXPECT_EQ(IdOf("{id=classic_bloom:7;bits_per_key=8}"), "classic_bloom:8");
  EXPECT_EQ(IdOf("classic_bloom:0"), "classic_bloom:0");
  EXPECT_EQ(IdOf("classic_bloom:0.1"), "classic_bloom:0.1");
  EXPECT_EQ(IdOf("classic_bloom:3.3333333333333335"), "classic_bloom:3.3333333333333335");
}

// OPTIONS files.

class OptionsFile : public testing::TestWithParam<const char*> {
 protected:
  OptionsFile() { RegisterFilterPolicies(); }

  rocksdb::Options OptionsOfPolicy() const {
    BlockBasedTableOptions table_options;
    const Status status =
        ReadTableOptions(std::string("filter_policy=") + GetParam(), &table_options);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return OptionsWith(table_options);
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
};

INSTANTIATE_TEST_SUITE_P(Policies, OptionsFile,
                         testing::Values("classic_bloom:10", "standard_bloom:10",
                                         "classic_bloom:9.87654321", "standard_bloom:0"));

TEST_P(OptionsFile, RoundTripKeepsThePolicyAndItFilters) {
  PutAndFlush(*Open(OptionsOfPolicy(), path_), kKeys);
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const Status status = rocksdb::LoadLatestOptions({}, path_, &db_options, &families);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(families.size(), 1U);
  ASSERT_NE(PolicyOf(families[0].options), nullptr);
  EXPECT_EQ(PolicyOf(families[0].options)->GetId(), GetParam());
  EXPECT_TRUE(rocksdb::CheckOptionsCompatibility({}, path_, db_options, families).ok());
  rocksdb::Options options(db_options, families[0].options);
  options.statistics = rocksdb::CreateDBStatistics();
  const Database db = Open(options, path_);
  ExpectPresent(*db, kKeys);
  const FilterCounts counts = AskAbsent(*db, kKeys - 1);
  if (std::string(GetParam()).find(":0") == std::string::npos) {
    ExpectFiltering(counts, kKeys - 1);
  } else {
    EXPECT_EQ(counts.useful, 0U);
  }
}

TEST(Configuration, AnOptionsFileOfDefaultsHoldsTheShortForm) {
  BlockBasedTableOptions table_options;
  ASSERT_TRUE(ReadTableOptions("filter_policy={id=classic_bloom;lines=0}", &table_options).ok());
  EXPECT_EQ(table_options.filter_policy->ToString({}), "classic_bloom:10");
}

// Bad values.

// What every refusal must contain.
void ExpectRefusal(const Status& status, const std::string& value,
                   const std::string& option = "bits_per_key",
                   const std::string& range = "from 0 to 100") {
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  for (const std::string& part : {option + " ", "'" + value + "'", range}) {
    EXPECT_NE(status.ToString().find(part), std::string::npos)
        << part << " not in: " << status.ToString();
  }
}

class BadBitsPerKey : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Values, BadBitsPerKey,
                         testing::Values("abc", "-1", "101", "nan", "inf", "1e400", "10x", "10 10",
                                         "0x10", "1,5", "10:2"));

TEST_P(BadBitsPerKey, IsRefusedInAPolicyString) {
  BlockBasedTableOptions table_options;
  for (const char* name : {"classic_bloom:", "standard_bloom:"}) {
    ExpectRefusal(
        ReadTableOptions(std::string("filter_policy=") + name + GetParam(), &table_options),
        GetParam());
  }
}

TEST_P(BadBitsPerKey, IsRefusedAsAnOption) {
  BlockBasedTableOptions table_options;
  const std::string text = std::string("{id=classic_bloom;bits_per_key=") + GetParam() + "}";
  ExpectRefusal(ReadTableOptions("filter_policy=" + text, &table_options), GetParam());
}

TEST_P(BadBitsPerKey, IsRefusedInAnOptionsFile) {
  RegisterFilterPolicies();
  const TemporaryDirectory directory;
  const std::string path = directory.path("options.ini");
  std::ofstream(path) << "[Version]\nrocksdb_version=7.8.3\noptions_file_version=1.1\n"
                         "[DBOptions]\n[CFOptions \"default\"]\n"
                         "[TableOptions/BlockBasedTable \"default\"]\nfilter_policy=classic_bloom:"
                      << GetParam() << "\n";
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ExpectRefusal(rocksdb::LoadOptionsFromFile({}, path, &db_options, &families), GetParam());
}

TEST(Configuration, EmptyBitsPerKeyIsRefused) {
  BlockBasedTableOptions table_options;
  ExpectRefusal(ReadTableOptions("filter_policy=classic_bloom:", &table_options), "");
}

TEST(Configuration, UnknownOptionIsRefused) {
  BlockBasedTableOptions table_options;
  const Status status =
      ReadTableOptions("filter_policy={id=classic_bloom;bits=10}", &table_options);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("bits"), std::string::npos) << status.ToString();
}

TEST(Configuration, BadFactoryArgumentsAreRefusedByOpen) {
  struct Case {
    double bits_per_key;
    const char* text;
  };
  for (const auto& [bits_per_key, text] :
       {Case{-1, "-1"}, Case{100.5, "100.5"}, Case{std::nan(""), "nan"},
        Case{std::numeric_limits<double>::infinity(), "inf"}}) {
    for (const FilterKind kind : {FilterKind::kClassic, FilterKind::kStandard}) {
      const TemporaryDirectory directory;
      Database db;
      const Status status = rocksdb::DB::Open(OptionsWith(NewPolicy(kind, bits_per_key)),
                                              directory.path("db"), Receive(&db));
      ExpectRefusal(status, text);
      EXPECT_FALSE(std::filesystem::exists(directory.path("db/CURRENT")));
    }
  }
}

TEST(Configuration, RegisteringTwiceDoesNothing) {
  RegisterFilterPolicies();
  RegisterFilterPolicies();
  EXPECT_EQ(IdOf("classic_bloom:10"), "classic_bloom:10");
}

}  // namespace
}  // namespace exactbloom
