/* A library that calls RocksDB when it is loaded or closed, as static objects of a plugin do. The loader holds its lock
   meanwhile. */
#include <rocksdb/c.h>
#include <stdlib.h>

void make_policy(void) { rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_create_bloom(10)); }

__attribute__((constructor)) static void load(void) {
  if (getenv("CALLS_IN_CONSTRUCTOR")) make_policy();
}

__attribute__((destructor)) static void unload(void) { make_policy(); }
