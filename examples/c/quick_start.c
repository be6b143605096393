#include <exactbloom/c.h>
#include <stdio.h>

int main(void) {
  char* error = NULL;
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  exactbloom_options_set_filter_policy(options, "exactbloom:10", &error);
  rocksdb_t* db = error == NULL ? rocksdb_open(options, "db", &error) : NULL;
  if (error == NULL) exactbloom_follow_database(db, NULL, 0, &error);
  if (error == NULL) rocksdb_put(db, rocksdb_writeoptions_create(), "key", 3, "value", 5, &error);
  if (error == NULL) rocksdb_flush(db, rocksdb_flushoptions_create(), &error);
  char* runs = error == NULL ? exactbloom_sorted_runs(db, &error) : NULL;
  puts(error == NULL ? runs : error);
  rocksdb_free(runs);
  if (db != NULL) rocksdb_close(db);
  return error != NULL;
}
