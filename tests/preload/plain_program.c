/* A program on RocksDB's C interface that knows nothing of ExactBloom.
     plain_program DIRECTORY [none | bloom | ribbon | options OPTION_STRING]
   Writes keys, and looks up as many that are absent; prints how many lookups a filter stopped, and
   a sum over all values found. "none" sets no filter policy and no table options. */
#include <locale.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <string.h>

#include "../c_interface/lookups.h"

int main(int argc, char** argv) {
  char* error = NULL;
  unsigned long sum = 0;
  const char* mode = argc > 2 ? argv[2] : "none";
  rocksdb_options_t* base = rocksdb_options_create();
  rocksdb_options_t* options = rocksdb_options_create();
  if (argc < 2) return 2;
  setlocale(LC_ALL, "");
  if (strcmp(mode, "bloom") == 0) set_policy(options, rocksdb_filterpolicy_create_bloom_full(9.5));
  if (strcmp(mode, "ribbon") == 0)
    set_policy(options, rocksdb_filterpolicy_create_ribbon_hybrid(12, 1));
  if (strcmp(mode, "options") == 0) {
    rocksdb_get_options_from_string(base, argv[3], options, &error);
    check(error, "options");
  }
  set_database(options);
  rocksdb_t* db = rocksdb_open(options, argv[1], &error);
  check(error, "open");

  const long stopped = stopped_lookups(db, options, &sum);
  printf("stopped %ld sum %lu\n", stopped, sum);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  rocksdb_options_destroy(base);
  return 0;
}
