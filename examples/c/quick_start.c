#include <exactbloom/c.h>
#include <stdio.h>

int main(void) {
  char* error = NULL;
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  exactbloom_options_set_filter_policy(options, "exactbloom:10", &error);
  rocksdb_t* db = error == NULL ? rocksdb_open(options, "db", &error) : NULL;
  if (error == NULL) rocksdb_put(db, rocksdb_writeoptions_create(), "key", 3, "value", 5, &error);
  if (error == NULL) rocksdb_flush(db, rocksdb_flushoptions_create(), &error);
  puts(error == NULL ? "OK" : error);
  if (db != NULL) rocksdb_close(db);
  return error != NULL;
}
