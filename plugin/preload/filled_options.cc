#include "filled_options.h"

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <cstring>

#include "../bloom_filter_policy.h"
#include "preloaded_policies.h"

namespace exactbloom::preload {

using rocksdb::BlockBasedTableOptions;
using rocksdb::TableFactory;

// What RocksDB makes of the name that OPTIONS files of RocksDB 6 have for all of its filters: a
// policy that reads them, and builds none.
constexpr char kReadOnlyPolicy[] = "rocksdb.BuiltinBloomFilter";

void FillFamily(const std::string& name, rocksdb::ColumnFamilyOptions* options, Notes* notes) {
  const auto note = [&](const std::string& what) {
    notes->push_back("column family [" + name + "] " + what);
  };
  const TableFactory* factory = options->table_factory.get();
  const bool is_block_based =
      factory != nullptr && std::strcmp(factory->Name(), TableFactory::kBlockBasedTableName()) == 0;
  const auto* tables = is_block_based ? factory->GetOptions<BlockBasedTableOptions>() : nullptr;
  if (tables == nullptr) return note("has no block-based tables, and gets no filter policy");
  const rocksdb::FilterPolicy* present = tables->filter_policy.get();
  const bool is_read_only =
      present != nullptr && std::strcmp(present->Name(), kReadOnlyPolicy) == 0;
  // A program that opens with the OPTIONS file of last time would keep its policy for ever.
  const auto ours = OptionsOf(present);
  const bool is_left = ours && HasOwnFilters(*ours) && !HasOwnFilters(Config().policy);
  if (present != nullptr && !is_read_only && !is_left) {
    return note("has the filter policy " + present->ToString({}));
  }
  if (!Config().adds && present == nullptr) return note("has no filter policy, and gets none");
  if (!is_left && options->comparator->CanKeysWithDifferentByteContentsBeEqual()) {
    return note(std::string("gets no filter policy: to its comparator ") +
                options->comparator->Name() + " different bytes may be the same key");
  }
  std::string had = "no filter policy";
  if (present != nullptr) {
    had = is_left ? present->ToString({})
                  : std::string(kReadOnlyPolicy) + ", which builds no filters";
  }
  BlockBasedTableOptions filled = *tables;
  filled.filter_policy = is_left ? PolicyForBits(ours->bits_per_key) : PolicyForNone();
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(filled));
  note("had " + had + ", and gets " + filled.filter_policy->ToString({}));
}

Families FilledFamilies(const Families& families, Notes* notes) {
  Families filled = families;
  for (rocksdb::ColumnFamilyDescriptor& family : filled) {
    FillFamily(family.name, &family.options, notes);
  }
  return filled;
}

// The notes say which families have no policy of ExactBloom, and why.
void AddListener(rocksdb::DBOptions* options) {
  AddTreeListener(Config().policy, options, /*warns_of_other_policies=*/false);
}

void Announce(const rocksdb::DB& db, const Notes& notes) {
  const rocksdb::DBOptions options = db.GetDBOptions();
  rocksdb::Info(options.info_log, "exactbloom: preloaded with %s=%s; replaced until now: %s%s",
                kVariable, Config().text.c_str(), DescribeCounts().c_str(),
                FollowsTree(Config().policy) ? "; with a tree listener" : "");
  for (const std::string& note : notes) {
    rocksdb::Info(options.info_log, "exactbloom: %s", note.c_str());
  }
}

}  // namespace exactbloom::preload
