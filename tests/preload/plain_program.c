/* A program on RocksDB's C interface that knows nothing of ExactBloom.
     plain_program DIRECTORY [none | bloom | ribbon | options OPTION_STRING]
   Writes keys, and looks up as many that are absent; prints how many lookups a filter stopped, and
   a sum over all values found. "none" sets no filter policy and no table options. */
#include <locale.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* error = NULL;

static void check(const char* what) {
  if (error == NULL) return;
  fprintf(stderr, "plain_program: %s: %s\n", what, error);
  exit(3);
}

static void set_policy(rocksdb_options_t* options, rocksdb_filterpolicy_t* policy) {
  rocksdb_block_based_table_options_t* tables = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_filter_policy(tables, policy);
  rocksdb_options_set_block_based_table_factory(options, tables);
  rocksdb_block_based_options_destroy(tables);
}

int main(int argc, char** argv) {
  enum { kKeys = 10000 };
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
    check("options");
  }
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_compression(options, rocksdb_no_compression);
  rocksdb_options_enable_statistics(options);
  rocksdb_t* db = rocksdb_open(options, argv[1], &error);
  check("open");

  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  char key[16];
  unsigned long sum = 0;
  int i;
  for (i = 0; i < 2 * kKeys; i += 2) {
    sprintf(key, "%08d", i);
    rocksdb_put(db, write, key, 8, key, 8, &error);
    check("put");
  }
  rocksdb_flush(db, flush, &error);
  check("flush");
  for (i = 0; i < 2 * kKeys; ++i) {
    size_t size = 0;
    sprintf(key, "%08d", i);
    char* value = rocksdb_get(db, read, key, 8, &size, &error);
    check("get");
    if (value != NULL) sum = sum * 31 + strtoul(value + 4, NULL, 10) % 10000 + size;
    rocksdb_free(value);
  }
  char* statistics = rocksdb_options_statistics_get_string(options);
  const char* useful = strstr(statistics, "rocksdb.bloom.filter.useful COUNT : ");
  printf("stopped %ld sum %lu\n", useful == NULL ? -1 : strtol(useful + 36, NULL, 10), sum);
  rocksdb_free(statistics);
  rocksdb_writeoptions_destroy(write);
  rocksdb_readoptions_destroy(read);
  rocksdb_flushoptions_destroy(flush);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  rocksdb_options_destroy(base);
  return 0;
}
