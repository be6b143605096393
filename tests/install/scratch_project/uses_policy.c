#include <exactbloom/c.h>
#include <stdio.h>

int main(int argc, char** argv) {
  char* error = NULL;
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_block_based_table_options_t* tables = rocksdb_block_based_options_create();
  rocksdb_filterpolicy_t* policy = exactbloom_filterpolicy_create("classic_bloom:10", &error);
  if (argc != 2 || policy == NULL) return 2;
  rocksdb_block_based_options_set_filter_policy(tables, policy);
  rocksdb_options_set_block_based_table_factory(options, tables);
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_t* db = rocksdb_open(options, argv[1], &error);
  printf("ExactBloom %s in C: %s\n", exactbloom_version(), db == NULL ? error : "OK");
  if (db != NULL) rocksdb_close(db);
  rocksdb_block_based_options_destroy(tables);
  rocksdb_options_destroy(options);
  rocksdb_free(error);
  return db != NULL ? 0 : 1;
}
