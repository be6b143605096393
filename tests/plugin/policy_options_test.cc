// The grammar of the policies' options: text forms, ranges, factories, OPTIONS files, and the table
// in docs/configuration.md. What else takes a policy as text is tested for passing on this text and
// its errors only.
#include "plugin/policy_options.h"

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::Status;

struct Made {
  Status status;
  PolicyPointer policy;

  std::string Text() const { return policy == nullptr ? status.ToString() : policy->ToString({}); }
};

Made Make(const std::string& text) {
  RegisterFilterPolicies();
  rocksdb::BlockBasedTableOptions table_options;
  const Status status =
      rocksdb::GetBlockBasedTableOptionsFromString({}, {}, "filter_policy=" + text, &table_options);
  return {status, status.ok() ? table_options.filter_policy : nullptr};
}

// The policy that has an option, or a list that begins with one.
std::string PolicyWith(const std::string& option) {
  const std::string name = option.substr(0, option.find('='));
  const std::vector<std::string> plain = OptionNames(PolicyKind::kClassicBloom);
  return std::count(plain.begin(), plain.end(), name) == 0 ? "exactbloom" : "classic_bloom";
}

// Where it is set in a policy.
std::string WithOption(PolicyKind kind, const std::string& option, const std::string& value) {
  return std::string("{id=") + PolicyName(kind) + ";" + option + "=" + value + "}";
}

bool HasOption(PolicyKind kind, const std::string& option) {
  const std::vector<std::string> names = OptionNames(kind);
  return std::count(names.begin(), names.end(), option) != 0;
}

void ExpectWords(const Status& status, const std::vector<std::string>& words) {
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  for (const std::string& word : words) {
    EXPECT_NE(status.ToString().find(word), std::string::npos)
        << word << " not in: " << status.ToString();
  }
}

TEST(PolicyOptions, StringsMakePolicies) {
  const auto expect = [](const std::string& text, const std::string& written) {
    const Made made = Make(text);
    ASSERT_EQ(made.Text(), written) << text;
    EXPECT_EQ(Make(written).Text(), written);
  };
  expect("classic_bloom:10", "classic_bloom:10");
  expect("standard_bloom:9.9", "standard_bloom:9.9");
  expect("classic_bloom", "classic_bloom:10");
  expect("{id=classic_bloom;hash_seed=0}", "classic_bloom:10");
  expect("{id=classic_bloom;bits_per_key=12.5}", "classic_bloom:12.5");
  expect("{id=standard_bloom;bits_per_key=100}", "standard_bloom:100");
  expect("{id=classic_bloom:7;bits_per_key=8}", "classic_bloom:8");
  expect("classic_bloom:0", "classic_bloom:0");
  expect("rocksdb_bloom", "rocksdb_bloom:10");
  expect("exact_ribbon", "exact_ribbon:10");
  expect("{id=rocksdb_bloom;bits_per_key=12}", "rocksdb_bloom:12");
  // As RocksDB accepts bloomfilter:10:false.
  expect("exactbloom:10:false", "exactbloom:10");
  expect("{id=classic_bloom:9.5:true;hash_seed=1}",
         "{id=classic_bloom;bits_per_key=9.5;hash_seed=1}");
  expect("classic_bloom:3.3333333333333335", "classic_bloom:3.3333333333333335");
  // Bytes take the units of RocksDB.
  for (const auto& [bytes, formatted] : std::map<std::string, std::string>{{"0", ""},
                                                                           {"0G", ""},
                                                                           {"1023", "1023"},
                                                                           {"1024", "1K"},
                                                                           {"1025", "1025"},
                                                                           {"512m", "512M"},
                                                                           {"1536M", "1536M"},
                                                                           {"2048K", "2M"},
                                                                           {"1KiB", "1K"},
                                                                           {"2GiB", "2G"},
                                                                           {"2GB", "2G"},
                                                                           {"64mb", "64M"},
                                                                           {"8191T", "8191T"}}) {
    expect("{id=exactbloom;memory_budget=" + bytes + "}",
           formatted.empty() ? "exactbloom:10"
                             : "{id=exactbloom;bits_per_key=10;memory_budget=" + formatted + "}");
  }
}

// Which C, preloading and SetFilterPolicy read without RocksDB's registry.
TEST(PolicyOptions, TextsOfOtherPoliciesAreRefused) {
  const auto read = [](const std::string& text) {
    PolicyOptions options;
    return ParsePolicy(text, &options);
  };
  EXPECT_TRUE(read("classic_bloom:9").ok());
  EXPECT_TRUE(read("id=classic_bloom;bits_per_key=9;hash_seed=1").ok());
  EXPECT_TRUE(read("{id=exact_ribbon;fpr=0.01}").ok());
  for (const char* name : {"", "fast_bloom", "bloomfilter", "{bits_per_key=10}",
                           "{id=classic_bloom;hash_seed=1", "classic_bloom ", "Classic_bloom"}) {
    ExpectWords(read(name), {std::string("the filter policy is '") + name + "', but must be ",
                             "exactbloom, exact_ribbon, classic_bloom, standard_bloom or "
                             "rocksdb_bloom"});
  }
}

// A preloaded policy whose text does not keeps the bits per key of the program.
TEST(PolicyOptions, ATextSetsBitsByItsIdAnOptionOrARate) {
  for (const auto& [text, sets] :
       std::map<std::string, bool>{{"classic_bloom", false},
                                   {"{id=classic_bloom;hash_seed=7}", false},
                                   {"{id=exactbloom;memory_budget=1G}", false},
                                   {"{id=classic_bloom;fpr=0}", false},
                                   {"classic_bloom:10", true},
                                   {"{id=exactbloom:7;memory_budget=1G}", true},
                                   {"{id=classic_bloom;bits_per_key=10}", true},
                                   {"{id=classic_bloom;fpr=0.01}", true}}) {
    PolicyOptions options;
    bool sets_bits = !sets;
    EXPECT_TRUE(ParsePolicy(text, &options, &sets_bits).ok()) << text;
    EXPECT_EQ(sets_bits, sets) << text;
  }
}

// RocksDB makes none of less than 0.5 bits per key, and a target rate replaces the bits.
TEST(PolicyOptions, MakeNoFiltersOfTooFewBitsWithoutARate) {
  const auto makes_none = [](PolicyKind kind, double bits_per_key, double fpr = 0.0) {
    PolicyOptions options = kind;
    options.bits_per_key = bits_per_key;
    options.fpr = fpr;
    return MakesNoFilters(options);
  };
  for (const PolicyKind kind : kPolicyKinds) {
    const bool is_rocksdbs = kind == PolicyKind::kRocksDBBloom;
    EXPECT_TRUE(makes_none(kind, 0.0)) << PolicyName(kind);
    EXPECT_EQ(makes_none(kind, 0.01), is_rocksdbs) << PolicyName(kind);
    EXPECT_EQ(makes_none(kind, 0.49), is_rocksdbs) << PolicyName(kind);
    EXPECT_FALSE(makes_none(kind, 0.5)) << PolicyName(kind);
  }
  EXPECT_FALSE(makes_none(PolicyKind::kExactRibbon, 0.0, 0.01));
}

class ValidOptions : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Options, ValidOptions,
                         testing::Values("fpr=0.01", "fpr=1e-09", "hash_seed=18446744073709551615",
                                         "fpr=0.3333333333333333;hash_seed=7", "memory_budget=512M",
                                         "memory_budget=12.5%",
                                         "memory_budget=1G;budget=stores_1.a-b", "budget=stores",
                                         "memory_budget=1G;covers=filters_and_indexes",
                                         "memory_budget=1", "memory_budget=1000000", "ribbon=false",
                                         "memory_budget=4095T;ribbon=false;hash_seed=3"));

// As a string, through an OPTIONS file, and as C++ fields.
TEST_P(ValidOptions, SurviveTheRoundTrip) {
  const std::string option = GetParam();
  const bool is_size = option.find("fpr=") == 0;
  const std::string text =
      "{id=" + PolicyWith(option) + ";" + (is_size ? "" : "bits_per_key=12;") + option + "}";
  const PolicyPointer policy = Make(text).policy;
  ASSERT_NE(policy, nullptr);
  rocksdb::ConfigOptions semicolons;
  semicolons.delimiter = ";";
  EXPECT_EQ(policy->ToString(semicolons), text);

  // A text without a name means the policy that is there.
  PolicyPointer changed = policy;
  ASSERT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, "{hash_seed=0}", &changed).ok());
  EXPECT_EQ(std::string(changed->Name()), policy->Name());
  EXPECT_EQ(changed->ToString({}).find("hash_seed"), std::string::npos);

  const TemporaryDirectory directory;
  rocksdb::Options written = OptionsWith(policy);
  written.listeners.push_back(NewTreeListener());  // which some need
  Open(written, directory.path("db"));
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ASSERT_TRUE(rocksdb::LoadLatestOptions({}, directory.path("db"), &db_options, &families).ok());
  ASSERT_TRUE(
      rocksdb::CheckOptionsCompatibility({}, directory.path("db"), db_options, families).ok());
  const rocksdb::FilterPolicy* loaded = PolicyOf(families.at(0).options);
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(loaded->ToString(semicolons), policy->ToString(semicolons));
  std::string mismatch;
  rocksdb::ConfigOptions exact;
  exact.sanity_level = rocksdb::ConfigOptions::kSanityLevelExactMatch;
  EXPECT_TRUE(loaded->AreEquivalent(exact, policy.get(), &mismatch)) << mismatch;
  const PolicyPointer without = NewFilterPolicy(is_size ? "classic_bloom:10" : "classic_bloom:12");
  EXPECT_FALSE(without->AreEquivalent(exact, policy.get(), &mismatch));
}

TEST(PolicyOptions, TheTextNamesTheFieldsOfTheStruct) {
  StandardBloomOptions options;
  const auto expect = [&options](const std::string& text) {
    EXPECT_EQ(NewFilterPolicy(options)->ToString({}), text);
    EXPECT_EQ(Make(text).Text(), text);
  };
  expect("standard_bloom:10");
  options.hash_seed = 3;
  expect("{id=standard_bloom;bits_per_key=10;hash_seed=3}");
  options.hash_seed = 0;
  options.fpr = 0.01;
  expect("{id=standard_bloom;fpr=0.01}");
  ExactBloomOptions of_tree;
  EXPECT_EQ(NewFilterPolicy(of_tree)->ToString({}), "exactbloom:10");
  of_tree.memory_budget = std::uint64_t{3} << 20;
  of_tree.ribbon = false;
  EXPECT_EQ(NewFilterPolicy(of_tree)->ToString({}),
            "{id=exactbloom;bits_per_key=10;memory_budget=3M;ribbon=false}");
  ExactRibbonOptions ribbon;
  ribbon.hash_seed = 3;
  EXPECT_EQ(NewFilterPolicy(ribbon)->ToString({}), "{id=exact_ribbon;bits_per_key=10;hash_seed=3}");
  ribbon.fpr = 0.01;
  EXPECT_EQ(NewFilterPolicy(ribbon)->ToString({}), "{id=exact_ribbon;fpr=0.01;hash_seed=3}");
  EXPECT_EQ(NewFilterPolicy("exact_ribbon:4.5")->ToString({}), "exact_ribbon:4.5");
}

TEST(PolicyOptions, OfRocksDBAreSetWithoutExactBloom) {
  rocksdb::Options options;
  const rocksdb::Status status = SetFilterPolicy(&options, "bloomfilter:10");
  EXPECT_NE(status.ToString().find("are set without ExactBloom, as by NewBloomFilterPolicy"),
            std::string::npos)
      << status.ToString();
  EXPECT_EQ(SetFilterPolicy(&options, "other:10").ToString().find("NewBloomFilterPolicy"),
            std::string::npos);
}

TEST(PolicyOptions, BadValuesAreRefusedWithOptionValueAndRange) {
  const std::map<std::string, std::vector<std::string>> bad = {
      {"fpr", {"1", "-0.1", "9e-10", "nan", "1%", "0.51"}},
      {"ribbon", {"True", "1", ""}},
      {"covers", {"indexes", "", "filters_and_indexes"}},
      {"hash_seed", {"-1", "1.5", "18446744073709551616", "0x1"}},
      {"memory_budget",
       {"2X",
        "-1",
        "1.5G",
        "",
        "G",
        "1 G",
        "1GBB",
        "1Gi",
        "1e9",
        "0x10",
        "8192T",
        "9007199254740992",
        "18446744073709551616",
        "18014398509481984K",
        "99999999999T",
        "101%",
        "-1%",
        "%",
        "ten%",
        "nan%"}},
      {"budget", {"two words", "a/b", "a:b", "2GiB", "100", "7k", std::string(65, 'a')}},
      {"bits_per_key",
       {"abc", "-1", "101", "nan", "inf", "1e400", "10x", "10 10", "0x10", "1,5", "10:2",
        "10/hash_seed:1", "10:False", "10:false:false", ""}}};
  for (const PolicyKind kind : kPolicyKinds) {
    for (const auto& [option, values] : bad) {
      if (!HasOption(kind, option)) continue;
      for (const std::string& value : values) {
        const std::vector<std::string> words = {option + " is ", "'" + value + "'", "but must be "};
        ExpectWords(Make(WithOption(kind, option, value)).status, words);
        if (option != "bits_per_key") continue;
        ExpectWords(Make(PolicyName(kind) + (":" + value)).status, words);
      }
    }
  }
}

// One option needs another, and the standard library hands them over in an order of its own.
TEST(PolicyOptions, TheirOrderIsFree) {
  const PolicyPointer without_budget = Make("exactbloom:12").policy;
  for (const bool has_id : {true, false}) {
    std::vector<std::string> options = {"bits_per_key=12", "budget=stores",
                                        "covers=filters_and_indexes", "memory_budget=1G"};
    if (has_id)
      options.insert(std::upper_bound(options.begin(), options.end(), "id"), "id=exactbloom");
    do {
      std::string text = "{";
      for (const std::string& option : options) text += option + ";";
      text.back() = '}';
      PolicyPointer policy = without_budget;
      const Status status = rocksdb::FilterPolicy::CreateFromString({}, text, &policy);
      ASSERT_TRUE(status.ok()) << text << ": " << status.ToString();
      EXPECT_EQ(policy->ToString({}),
                "{id=exactbloom;bits_per_key=12;memory_budget=1G;budget=stores;"
                "covers=filters_and_indexes}");
    } while (std::next_permutation(options.begin(), options.end()));
  }
}

TEST(PolicyOptions, BadValuesOfAnOptionsFileAreRefused) {
  RegisterFilterPolicies();
  const TemporaryDirectory directory;
  const std::string path = directory.path("options.ini");
  std::ofstream(path) << "[Version]\nrocksdb_version=7.8.3\noptions_file_version=1.1\n"
                         "[DBOptions]\n[CFOptions \"default\"]\n"
                         "[TableOptions/BlockBasedTable \"default\"]\n"
                         "filter_policy=classic_bloom:10x\n";
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ExpectWords(rocksdb::LoadOptionsFromFile({}, path, &db_options, &families),
              {"bits_per_key is '10x'"});
}

// level_bits divided the memory among the levels. Its files are refused even where RocksDB is told
// to ignore options that it does not know, which it does in files of later versions.
TEST(PolicyOptions, ARemovedOptionIsRefusedWithWhatReplacesIt) {
  const std::vector<std::string> words = {"level_bits is '14:9'", "has been removed",
                                          "exactbloom:10", "exact_ribbon:10"};
  RegisterFilterPolicies();
  for (const PolicyKind kind : kPolicyKinds) {
    const std::string text = std::string("{id=") + PolicyName(kind) + ";level_bits=14:9}";
    ExpectWords(Make(text).status, words);
    for (const bool ignores : {false, true}) {
      SCOPED_TRACE(text + (ignores ? " ignoring" : ""));
      rocksdb::ConfigOptions config;
      config.ignore_unknown_options = ignores;
      PolicyPointer policy;
      ExpectWords(rocksdb::FilterPolicy::CreateFromString(config, text, &policy), words);
      const TemporaryDirectory directory;
      const std::string path = directory.path("options.ini");
      std::ofstream(path) << "[Version]\nrocksdb_version=99.0.0\noptions_file_version=1.1\n"
                             "[DBOptions]\n[CFOptions \"default\"]\n"
                             "[TableOptions/BlockBasedTable \"default\"]\nfilter_policy="
                          << text << "\n";
      rocksdb::DBOptions db_options;
      std::vector<rocksdb::ColumnFamilyDescriptor> families;
      const Status loaded = rocksdb::LoadOptionsFromFile(config, path, &db_options, &families);
      ExpectWords(loaded, words);
    }
  }
}

TEST(PolicyOptions, BadFactoryArgumentsAreRefusedByOpen) {
  for (const auto& [text, bits_per_key] :
       {std::pair("100.5", 100.5), std::pair("nan", std::nan(""))}) {
    for (const BloomKind kind : {BloomKind::kClassic, BloomKind::kStandard}) {
      const TemporaryDirectory directory;
      Database db;
      ExpectWords(
          rocksdb::DB::Open(OptionsWith(NewPolicy(kind, bits_per_key)), directory.path("db"),
                            Receive(&db)),
          {std::string("bits_per_key is '") + text + "', but must be a number from 0 to 100"});
      EXPECT_FALSE(std::filesystem::exists(directory.path("db/CURRENT")));
    }
  }
  ExactRibbonOptions bad;
  bad.fpr = 0.7;
  for (const auto& [policy, words] :
       {std::pair(NewFilterPolicy("exact_ribbon:100.5"), "bits_per_key is '100.5'"),
        std::pair(NewFilterPolicy(bad), "fpr is '0.7'")}) {
    const TemporaryDirectory directory;
    Database db;
    ExpectWords(rocksdb::DB::Open(OptionsWith(policy), directory.path("db"), Receive(&db)),
                {words});
  }
}

// What would have no effect is not taken in silence.
TEST(PolicyOptions, BitsPerKeyBesideWhatReplacesThemAreRefused) {
  const auto refusal = [](const std::string& text) {
    RegisterFilterPolicies();
    const TemporaryDirectory directory;
    rocksdb::ConfigOptions config;
    config.ignore_unsupported_options = false;
    PolicyPointer policy;
    const Status made = rocksdb::FilterPolicy::CreateFromString(config, text, &policy);
    if (!made.ok()) return made;
    Database db;
    return rocksdb::DB::Open(OptionsWith(policy), directory.path("db"), Receive(&db));
  };
  for (const char* text :
       {"{id=classic_bloom;bits_per_key=12;fpr=0.01}", "{id=exact_ribbon;bits_per_key=12;fpr=0.01}",
        "{id=classic_bloom:9;fpr=0.01;bits_per_key=12}"}) {
    ExpectWords(refusal(text), {"bits_per_key '12' has no effect beside fpr '0.01'"});
  }
  EXPECT_TRUE(refusal("{id=classic_bloom;fpr=0;bits_per_key=9}").ok());
}

TEST(PolicyOptions, OptionsOfAnotherPolicyAreRefusedWithWhatThereIs) {
  for (const char* text : {"{id=classic_bloom;size_ratio=10}", "{id=classic_bloom;ribbon=true}",
                           "{id=standard_bloom;memory_budget=1M}"}) {
    ExpectWords(Make(text).status, {"has no option", "those of exactbloom are bits_per_key"});
  }
  for (const char* text : {"{id=rocksdb_bloom;hash_seed=1}", "{id=rocksdb_bloom;fpr=0.01}",
                           "{id=rocksdb_bloom;ribbon=true}"}) {
    ExpectWords(Make(text).status,
                {"rocksdb_bloom has no option", "its options are bits_per_key;"});
  }
  for (const char* text : {"{id=exact_ribbon;ribbon=true}", "{id=exact_ribbon;memory_budget=1M}",
                           "{id=exact_ribbon;budget=stores}"}) {
    ExpectWords(Make(text).status,
                {"exact_ribbon has no option", "its options are bits_per_key, fpr, hash_seed;"});
  }
  for (const char* text : {"{id=exactbloom;fpr=0.01}", "{id=exactbloom;size_ratio=10}"}) {
    ExpectWords(Make(text).status, {"has no option", "memory_budget, budget, covers, ribbon",
                                    "those of classic_bloom"});
  }
}

// What is there stays, and what is missing comes.
TEST(SetFilterPolicy, ChangesTheFilterPolicyOnly) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::BlockBasedTableOptions table_options;
  table_options.block_size = 1234;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  for (int time = 0; time < 2; ++time) {
    const Status status = SetFilterPolicy(&options);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(PolicyOf(options)->GetId(), "exactbloom:10");
    EXPECT_EQ(options.listeners.size(), 1U);
    EXPECT_EQ(options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_size,
              1234U);
  }
  const TemporaryDirectory directory;
  PutAndFlush(*Open(options, directory.path("db")), 1000);

  rocksdb::DBOptions db_options;
  rocksdb::ColumnFamilyOptions family;
  family.table_factory = nullptr;
  ASSERT_TRUE(SetFilterPolicy(&db_options, &family, "classic_bloom:9").ok());
  EXPECT_EQ(PolicyOf(rocksdb::Options(db_options, family))->GetId(), "classic_bloom:9");
  EXPECT_TRUE(db_options.listeners.empty());

  ExpectWords(SetFilterPolicy(&options, "exactbloom:many"), {"bits_per_key is 'many'"});
  ExpectWords(SetFilterPolicy(&options, "bloomfilter:10"), {"must be exactbloom"});
  EXPECT_EQ(PolicyOf(options)->GetId(), "exactbloom:10");
  options.table_factory.reset(rocksdb::NewPlainTableFactory());
  ExpectWords(SetFilterPolicy(&options), {"the table factory is PlainTable"});
}

TEST(SetFilterPolicy, TakesTheOptionsOfEachPolicy) {
  const auto set = [](const PolicySetting& setting) {
    rocksdb::Options options;
    EXPECT_TRUE(SetFilterPolicy(&options, setting).ok());
    EXPECT_EQ(NewFilterPolicy(setting)->ToString({}), PolicyOf(options)->ToString({}));
    return PolicyOf(options)->ToString({});
  };
  EXPECT_EQ(set(ExactBloomOptions()), "exactbloom:10");
  EXPECT_EQ(set(ExactRibbonOptions{12}), "exact_ribbon:12");
  EXPECT_EQ(set(ClassicBloomOptions{9.9, 0.0, 7}),
            "{id=classic_bloom;bits_per_key=9.9;hash_seed=7}");
  EXPECT_EQ(set(StandardBloomOptions{10, 0.01}), "{id=standard_bloom;fpr=0.01}");
  ExactBloomOptions bounded;
  bounded.budget = "stores";
  const auto expect_size = [&](const BudgetSize& size, const std::string& text) {
    bounded.memory_budget = size;
    EXPECT_EQ(set(bounded), "{id=exactbloom;bits_per_key=10;" + text + "budget=stores}");
  };
  expect_size(0, "");
  expect_size("0", "");
  expect_size(3 << 20, "memory_budget=3M;");
  expect_size(std::uint64_t{2} << 30, "memory_budget=2G;");
  expect_size("2GiB", "memory_budget=2G;");
  expect_size(std::string("12.5%"), "memory_budget=12.5%;");
}

// The options that a program has stay as they were.
// Around a block-based one, whose options it hands out. Clone overrides in later versions only.
class OuterFactory : public rocksdb::TableFactory {
 public:
  const char* Name() const { return "Outer"; }
  const Customizable* Inner() const { return inner_.get(); }
  using TableFactory::NewTableReader;
  Status NewTableReader(const rocksdb::ReadOptions& read_options,
                        const rocksdb::TableReaderOptions& options,
                        std::unique_ptr<rocksdb::RandomAccessFileReader>&& file,
                        std::uint64_t file_size, std::unique_ptr<rocksdb::TableReader>* reader,
                        bool prefetches) const {
    return inner_->NewTableReader(read_options, options, std::move(file), file_size, reader,
                                  prefetches);
  }
  rocksdb::TableBuilder* NewTableBuilder(const rocksdb::TableBuilderOptions& options,
                                         rocksdb::WritableFileWriter* file) const {
    return inner_->NewTableBuilder(options, file);
  }
  std::unique_ptr<TableFactory> Clone() const { return nullptr; }

 private:
  std::unique_ptr<TableFactory> inner_{rocksdb::NewBlockBasedTableFactory()};
};

TEST(SetFilterPolicy, KeepsAFactoryAroundABlockBasedOne) {
  rocksdb::Options options;
  const auto outer = std::make_shared<OuterFactory>();
  options.table_factory = outer;
  ExpectWords(SetFilterPolicy(&options), {"the table factory is Outer"});
  EXPECT_EQ(options.table_factory, outer);
}

TEST(SetFilterPolicy, RefusesBadOptions) {
  rocksdb::Options options;
  const auto refuses = [&](const PolicySetting& setting, const std::string& words) {
    ExpectWords(SetFilterPolicy(&options, setting), {words});
    const TemporaryDirectory directory;
    Database db;
    ExpectWords(
        rocksdb::DB::Open(OptionsWith(NewFilterPolicy(setting)), directory.path(), Receive(&db)),
        {words});
  };
  for (const auto& [size, text] :
       {std::pair(BudgetSize(-1), "-1"), std::pair(BudgetSize(""), ""),
        std::pair(BudgetSize("2X"), "2X"), std::pair(BudgetSize(1ULL << 53), "9007199254740992")}) {
    ExactBloomOptions bounded;
    bounded.memory_budget = size;
    refuses(bounded, "memory_budget is '" + std::string(text) + "', but must be a whole number");
  }
  ExactBloomOptions named;
  named.budget = "two words";
  refuses(named, "budget is 'two words'");
  refuses(ExactRibbonOptions{101}, "bits_per_key is '101'");
  refuses(ClassicBloomOptions{10, 0.7}, "fpr is '0.7'");
  refuses(StandardBloomOptions{10, 1e-10}, "fpr is '1e-10'");
  refuses("exactblom:10", "the filter policy is 'exactblom'");
  EXPECT_EQ(PolicyOf(options), nullptr);
  EXPECT_TRUE(options.listeners.empty());
}

TEST(ConfigurationDocument, HasTheOptionsDefaultsAndRangesOfTheCode) {
  const std::regex row(R"(\| `(\w+)` \|.*\| ([^|]*) \| ([^|]*) \|)");
  std::set<std::string> documented;
  std::ifstream document(EXACTBLOOM_CONFIGURATION_DOCUMENT);
  std::smatch cells;
  for (std::string line; std::getline(document, line);) {
    if (!std::regex_match(line, cells, row)) continue;
    const std::string name = cells[1];
    SCOPED_TRACE(name);
    documented.insert(name);
    const std::string policy = PolicyWith(name);
    const std::string value = cells[3] == "empty" ? "" : cells[3].str();
    EXPECT_EQ(Make("{id=" + policy + ";" + name + "=" + value + "}").Text(), Make(policy).Text());
    // No option's value may have a space, not even a name.
    const std::string range = name + " is 'no sense', but must be " + cells[2].str();
    const std::string refusal = Make("{id=" + policy + ";" + name + "=no sense}").status.ToString();
    EXPECT_EQ(refusal.substr(std::min(refusal.size(), refusal.find(name))), range);
  }
  std::set<std::string> known;
  for (const PolicyKind kind : kPolicyKinds) {
    for (const std::string& name : OptionNames(kind)) known.insert(name);
  }
  EXPECT_EQ(documented, known);
}

}  // namespace
}  // namespace exactbloom
