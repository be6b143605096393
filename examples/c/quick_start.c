/* A database with ExactBloom's filters, in C. `./run` compiles and runs it. */
#include <exactbloom/c.h>

static rocksdb_options_t* filtered_options(char** error) {
  rocksdb_options_t* options = rocksdb_options_create();
  exactbloom_options_set_filter_policy(options, "exactbloom:10", error);
  return options;
}

/* ---- What follows shows by RocksDB's counters that it works. ---- */

#include <stdio.h>
#include <string.h>

static int failed(char* error) {
  if (error != NULL) fprintf(stderr, "quick_start: %s\n", error);
  return error != NULL;
}

int main(int argc, char** argv) {
  char* error = NULL;
  rocksdb_options_t* options = filtered_options(&error);
  if (argc != 2 || failed(error)) return 2;
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_enable_statistics(options);
  rocksdb_t* db = rocksdb_open(options, argv[1], &error);
  if (failed(error)) return 2;

  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  char key[16];
  int found = 0;
  for (int i = 0; i < 20000; i += 2) {
    snprintf(key, sizeof key, "%08d", i);
    rocksdb_put(db, write, key, 8, "value", 5, &error);
    if (failed(error)) return 2;
  }
  rocksdb_flush(db, flush, &error);
  for (int i = 0; i < 20000; ++i) { /* every other key is absent */
    size_t size = 0;
    snprintf(key, sizeof key, "%08d", i);
    char* value = rocksdb_get(db, read, key, 8, &size, &error);
    if (failed(error)) return 2;
    found += value != NULL;
    rocksdb_free(value);
  }
  const char* name = "rocksdb.bloom.filter.useful COUNT : ";
  char* statistics = rocksdb_options_statistics_get_string(options);
  const char* useful = strstr(statistics, name);
  if (useful != NULL) useful += strlen(name);
  printf("found %d; absent keys that a filter stopped: %.*s\n", found,
         useful == NULL ? 0 : (int)strcspn(useful, "\n"), useful == NULL ? "" : useful);

  rocksdb_free(statistics);
  rocksdb_flushoptions_destroy(flush);
  rocksdb_readoptions_destroy(read);
  rocksdb_writeoptions_destroy(write);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  return 0;
}
