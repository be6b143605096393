// A program that knows RocksDB's headers only, and gets a policy and a database from a library.
//   late_host LATE_PLUGIN DIRECTORY
#include <dlfcn.h>
#include <rocksdb/c.h>
#include <rocksdb/db.h>

#include <cstdio>

int main(int /*argc*/, char** argv) {
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    std::fprintf(stderr, "late_host: %s\n", dlerror());
    return 3;
  }
  const auto find = [plugin](auto* type, const char* name) {
    return reinterpret_cast<decltype(type)>(dlsym(plugin, name));
  };
  const auto new_policy =
      find(static_cast<rocksdb_filterpolicy_t* (*)(double)>(nullptr), "new_policy");
  const auto delete_policy =
      find(static_cast<void (*)(rocksdb_filterpolicy_t*)>(nullptr), "delete_policy");
  const auto open_database =
      find(static_cast<rocksdb::DB* (*)(const char*)>(nullptr), "open_database");
  const auto family_options =
      find(static_cast<const rocksdb::ColumnFamilyOptions* (*)()>(nullptr), "family_options");

  rocksdb_filterpolicy_t* policy = new_policy(10);
  if (policy == nullptr) return 4;
  delete_policy(policy);
  rocksdb::DB* db = open_database(argv[2]);
  if (db == nullptr) return 5;
  rocksdb::ColumnFamilyHandle* family = nullptr;
  if (!db->CreateColumnFamily(*family_options(), "other", &family).ok()) return 6;
  if (!db->DestroyColumnFamilyHandle(family).ok()) return 7;
  delete db;
  return 0;
}
