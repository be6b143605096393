// The objects of exactbloom/c.h have the types of RocksDB's C interface; the header is also C++.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>

#include "exactbloom/c.h"
#include "exactbloom/tree_listener.h"
#include "plugin/c_binding/c_types.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom {
namespace {

class OtherListener : public rocksdb::EventListener {
 public:
  const char* Name() const override { return "other"; }
};

// The C functions and c_types.h see the same options.
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

TEST(HandedObjects, AListenerIsAddedBeforeTheOthers) {
  rocksdb_options_t* options = rocksdb_options_create();
  const auto other = std::make_shared<OtherListener>();
  options->rep.listeners.push_back(other);
  char* error = nullptr;
  exactbloom_options_add_tree_listener(options, &error);
  exactbloom_options_add_tree_listener(options, &error);  // once
  EXPECT_EQ(error, nullptr);
  ASSERT_EQ(options->rep.listeners.size(), 2U);
  EXPECT_EQ(options->rep.listeners[1], other);
  EXPECT_STREQ(options->rep.listeners[0]->Name(), kTreeListenerName);
  rocksdb_options_destroy(options);
}

// The policy keeps its id and the validation of its options, which RocksDB's own wrapper does not
// forward.
TEST(HandedObjects, APolicyKeepsItsOptions) {
  char* error = nullptr;
  rocksdb_filterpolicy_t* policy =
      exactbloom_filterpolicy_create("{id=standard_bloom;bits_per_key=9;hash_seed=1}", &error);
  ASSERT_NE(policy, nullptr) << error;
  EXPECT_STREQ(policy->Name(), "standard_bloom");
  EXPECT_EQ(policy->GetId(), "standard_bloom");
  EXPECT_EQ(policy->Inner()->GetId(), policy->GetId());
  const std::unique_ptr<const FilterPolicy> built_in(rocksdb::NewBloomFilterPolicy(10));
  EXPECT_STREQ(policy->CompatibilityName(), built_in->CompatibilityName());
  EXPECT_EQ(policy->ToString(rocksdb::ConfigOptions()),
            "{id=standard_bloom;bits_per_key=9;hash_seed=1}");
  std::string mismatch;
  rocksdb_filterpolicy_t* other =
      exactbloom_filterpolicy_create("{id=standard_bloom;bits_per_key=9;hash_seed=2}", &error);
  EXPECT_TRUE(policy->AreEquivalent({}, policy, &mismatch));
  EXPECT_FALSE(policy->AreEquivalent({}, other, &mismatch));
  rocksdb_filterpolicy_destroy(other);
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

  policy = exactbloom_filterpolicy_create("{id=exactbloom;memory_budget=1M}", &error);
  ASSERT_NE(policy, nullptr) << error;
  EXPECT_TRUE(policy->ValidateOptions({}, {}).IsInvalidArgument());  // for want of a listener
  rocksdb_filterpolicy_destroy(policy);
}

}  // namespace
}  // namespace exactbloom
