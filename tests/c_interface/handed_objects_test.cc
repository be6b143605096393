// What the objects of exactbloom/c.h are to RocksDB, which takes them as its own C layer's; the
// header is C++ as well.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "exactbloom/c.h"
#include "exactbloom/version.h"
#include "plugin/c_binding/c_types.h"
#include "plugin/filter_bits_interface.h"
#include "plugin/tree/table_in_making.h"

namespace exactbloom {
namespace {

class OtherListener : public rocksdb::EventListener {
 public:
  const char* Name() const override { return "other"; }
};

// The C functions and this file look at the same options.
TEST(HandedObjects, OptionsAreWhatTheCFunctionsChange) {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_max_open_files(options, 123);
  rocksdb_options_set_num_levels(options, 5);
  EXPECT_EQ(options->rep.max_open_files, 123);
  EXPECT_EQ(options->rep.num_levels, 5);
  options->rep.max_background_jobs = 7;
  EXPECT_EQ(rocksdb_options_get_max_background_jobs(options), 7);
  rocksdb_options_destroy(options);
}

TEST(HandedObjects, AListenerIsAddedToTheOthers) {
  rocksdb_options_t* options = rocksdb_options_create();
  const auto other = std::make_shared<OtherListener>();
  options->rep.listeners.push_back(other);
  char* error = nullptr;
  exactbloom_options_add_tree_listener(options, &error);
  EXPECT_EQ(error, nullptr);
  ASSERT_EQ(options->rep.listeners.size(), 2U);
  EXPECT_EQ(options->rep.listeners[0], other);
  EXPECT_STREQ(options->rep.listeners[1]->Name(), tree::kTreeListenerName);
  rocksdb_options_destroy(options);
}

// Nothing of the policy is lost behind the C layer's type: RocksDB's own wrapper has neither an id
// with the options nor their check.
TEST(HandedObjects, APolicyKeepsItsOptions) {
  char* error = nullptr;
  rocksdb_filterpolicy_t* policy =
      exactbloom_filterpolicy_create("{id=standard_bloom;bits_per_key=9;lines=1}", &error);
  ASSERT_NE(policy, nullptr) << error;
  EXPECT_STREQ(policy->Name(), "standard_bloom");
  EXPECT_EQ(policy->GetId(), "standard_bloom:9/lines:1");
  EXPECT_EQ(policy->Inner()->GetId(), policy->GetId());
  const std::unique_ptr<const FilterPolicy> built_in(rocksdb::NewBloomFilterPolicy(10));
  EXPECT_STREQ(policy->CompatibilityName(), built_in->CompatibilityName());
  EXPECT_EQ(policy->ToString(rocksdb::ConfigOptions()),
            "{id=standard_bloom;bits_per_key=9;lines=1}");
  EXPECT_TRUE(policy->ValidateOptions({}, {}).ok());
  const rocksdb::BlockBasedTableOptions tables;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(tables)));
  ASSERT_NE(builder, nullptr);
  builder->AddKey("apple");
  std::unique_ptr<const char[]> block;
  const rocksdb::Slice contents = builder->Finish(&block);
  const std::unique_ptr<rocksdb::FilterBitsReader> reader(policy->GetFilterBitsReader(contents));
  ASSERT_NE(reader, nullptr);
  EXPECT_TRUE(reader->MayMatch("apple"));
  EXPECT_FALSE(reader->MayMatch("pear"));
  rocksdb_filterpolicy_destroy(policy);

  policy = exactbloom_filterpolicy_create("{id=classic_bloom;memory_budget=1M}", &error);
  ASSERT_NE(policy, nullptr) << error;
  EXPECT_TRUE(policy->ValidateOptions({}, {}).IsInvalidArgument());  // for want of a listener
  rocksdb_filterpolicy_destroy(policy);
}

TEST(HandedObjects, NamesAndErrorsAreThoseOfTheCPlusPlusInterface) {
  EXPECT_STREQ(exactbloom_version(), EXACTBLOOM_VERSION);
  exactbloom_register();
  std::shared_ptr<const FilterPolicy> named;
  EXPECT_TRUE(FilterPolicy::CreateFromString({}, "standard_bloom:9", &named).ok());

  char* error = nullptr;
  for (const char* policy : {"fast_bloom", "{id=classic_bloom;colour=red}", "classic_bloom:ten",
                             "{id=classic_bloom;lines=3}"}) {
    EXPECT_EQ(exactbloom_filterpolicy_create(policy, &error), nullptr);
    EXPECT_EQ(std::string(error).find("Invalid argument: exactbloom: "), 0U) << error;
  }
  std::free(error);
}

}  // namespace
}  // namespace exactbloom
