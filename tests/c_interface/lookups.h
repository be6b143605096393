/* What the programs in C write and look up, by RocksDB's C interface. */
#ifndef EXACTBLOOM_TESTS_LOOKUPS_H
#define EXACTBLOOM_TESTS_LOOKUPS_H

#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program if there is an error. */
static void check(const char* error, const char* what) {
  if (error == NULL) return;
  fprintf(stderr, "%s: %s\n", what, error);
  exit(3);
}

static void set_policy(rocksdb_options_t* options, rocksdb_filterpolicy_t* policy) {
  rocksdb_block_based_table_options_t* tables = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_filter_policy(tables, policy);
  rocksdb_options_set_block_based_table_factory(options, tables);
  rocksdb_block_based_options_destroy(tables);
}

/* For a new database, which counts. */
static void set_database(rocksdb_options_t* options) {
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_compression(options, rocksdb_no_compression);
  rocksdb_options_enable_statistics(options);
}

/* Writes a table, and returns how many of 10,000 lookups of absent keys its filter stops. No key
   may be lost; *sum is over all values found. */
static long stopped_lookups(rocksdb_t* db, rocksdb_options_t* options, unsigned long* sum) {
  enum { kKeys = 10000 };
  char* error = NULL;
  char key[16];
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  int i;
  for (i = 0; i < 2 * kKeys; i += 2) {
    sprintf(key, "%08d", i);
    rocksdb_put(db, write, key, 8, key, 8, &error);
    check(error, "put");
  }
  rocksdb_flush(db, flush, &error);
  check(error, "flush");
  *sum = 0;
  for (i = 0; i < 2 * kKeys; ++i) {
    size_t size = 0;
    sprintf(key, "%08d", i);
    char* value = rocksdb_get(db, read, key, 8, &size, &error);
    check(error, "get");
    if ((value != NULL) != (i % 2 == 0)) check(key, "wrong answer for a key");
    if (value != NULL) *sum = *sum * 31 + strtoul(value + 4, NULL, 10) % 10000 + size;
    rocksdb_free(value);
  }
  rocksdb_writeoptions_destroy(write);
  rocksdb_readoptions_destroy(read);
  rocksdb_flushoptions_destroy(flush);
  char* statistics = rocksdb_options_statistics_get_string(options);
  const char* useful = strstr(statistics, "rocksdb.bloom.filter.useful COUNT : ");
  const long stopped = useful == NULL ? -1 : strtol(strchr(useful, ':') + 1, NULL, 10);
  rocksdb_free(statistics);
  return stopped;
}

#endif
