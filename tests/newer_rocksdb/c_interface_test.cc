// From RocksDB 11.6 on, programs on the C interface see which policy made a table's filter.
#include <gtest/gtest.h>
#include <rocksdb/c.h>

#include <memory>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "rocksdb_version.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 6)

// An error message of the C interface, which is null if there was none.
class Error {
 public:
  ~Error() { rocksdb_free(text_); }

  char** out() { return &text_; }
  std::string Text() const { return text_ == nullptr ? "" : text_; }

 private:
  char* text_ = nullptr;
};

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

Owned<rocksdb_options_t> OptionsOf(const std::string& policy) {
  const Owned<rocksdb_options_t> base(rocksdb_options_create(), rocksdb_options_destroy);
  Owned<rocksdb_options_t> options(rocksdb_options_create(), rocksdb_options_destroy);
  rocksdb_options_set_create_if_missing(base.get(), 1);
  rocksdb_options_set_disable_auto_compactions(base.get(), 1);
  const std::string text = "block_based_table_factory={filter_policy=" + policy + "}";
  Error error;
  rocksdb_get_options_from_string(base.get(), text.c_str(), options.get(), error.out());
  EXPECT_EQ(error.Text(), "");
  return options;
}

// Opens the database with a policy, and writes a table with a key.
Owned<rocksdb_t> WriteTable(const std::string& path, const std::string& policy) {
  Error error;
  Owned<rocksdb_t> db(rocksdb_open(OptionsOf(policy).get(), path.c_str(), error.out()),
                      rocksdb_close);
  EXPECT_EQ(error.Text(), "");
  if (db == nullptr) return db;
  const Owned<rocksdb_writeoptions_t> write(rocksdb_writeoptions_create(),
                                            rocksdb_writeoptions_destroy);
  const Owned<rocksdb_flushoptions_t> flush(rocksdb_flushoptions_create(),
                                            rocksdb_flushoptions_destroy);
  rocksdb_put(db.get(), write.get(), "key", 3, "value", 5, error.out());
  EXPECT_EQ(error.Text(), "");
  rocksdb_flush(db.get(), flush.get(), error.out());
  EXPECT_EQ(error.Text(), "");
  return db;
}

// A table filter shows the properties of the tables that an iterator would read, the newest first.
unsigned char AddPolicy(void* names, const rocksdb_table_properties_t* properties) {
  std::size_t size = 0;
  const char* name = rocksdb_table_properties_filter_policy_name(properties, &size);
  static_cast<std::vector<std::string>*>(names)->emplace_back(name, size);
  return 1;
}

std::vector<std::string> PoliciesOfTables(rocksdb_t* db) {
  std::vector<std::string> names;
  const Owned<rocksdb_readoptions_t> read(rocksdb_readoptions_create(),
                                          rocksdb_readoptions_destroy);
  rocksdb_readoptions_set_table_filter(
      read.get(), &names, [](void* /*names*/) {}, AddPolicy);
  const Owned<rocksdb_iterator_t> iterator(rocksdb_create_iterator(db, read.get()),
                                           rocksdb_iter_destroy);
  rocksdb_iter_seek_to_first(iterator.get());
  return names;
}

TEST(CInterface, TablePropertiesNameTheFilterPolicy) {
  RegisterFilterPolicies();
  const TemporaryDirectory directory;
  const std::string path = directory.path("db");
  WriteTable(path, "bloomfilter:10");
  WriteTable(path, "{id=classic_bloom;bits_per_key=10;lines=1}");
  const Owned<rocksdb_t> db = WriteTable(path, "standard_bloom:12");
  ASSERT_NE(db, nullptr);
  EXPECT_EQ(PoliciesOfTables(db.get()),
            (std::vector<std::string>{"standard_bloom", "classic_bloom", "bloomfilter"}));
}

#else

TEST(CInterface, TablePropertiesNameTheFilterPolicy) {
  EXACTBLOOM_SKIP_BEFORE((Version{11, 6}), "table properties in the C interface");
}

#endif

}  // namespace
}  // namespace exactbloom
