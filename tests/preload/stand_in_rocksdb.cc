// Stands in for a RocksDB of the version STAND_IN_VERSION, as far as the preloaded object looks.
#include <string>

namespace rocksdb {

class FilterPolicy;

__attribute__((visibility("default"))) std::string GetRocksVersionAsString(bool with_patch);
std::string GetRocksVersionAsString(bool with_patch) { return with_patch ? STAND_IN_VERSION : ""; }

// Returns what no RocksDB does.
__attribute__((visibility("default"))) const FilterPolicy* NewBloomFilterPolicy(double bits,
                                                                                bool block_based);
const FilterPolicy* NewBloomFilterPolicy(double bits, bool block_based) {
  static int place[128];
  return reinterpret_cast<const FilterPolicy*>(
      &place[static_cast<int>(bits) + (block_based ? 1 : 0)]);
}

}  // namespace rocksdb

// Whether a call within the library gets to the function above.
extern "C" __attribute__((visibility("default"))) int stand_in_reaches_itself() {
  const char* one = reinterpret_cast<const char*>(rocksdb::NewBloomFilterPolicy(1, false));
  const char* three = reinterpret_cast<const char*>(rocksdb::NewBloomFilterPolicy(3, false));
  return three - one == 2 * sizeof(int) ? 1 : 0;
}
