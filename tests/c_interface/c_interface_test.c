/* exactbloom/c.h in a program that is C, on RocksDB's C interface.
     c_interface_test DIRECTORY    an empty directory for databases */
#include <exactbloom/c.h>
#include <exactbloom/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what, int line, const char* shown) {
  if (holds) return;
  fprintf(stderr, "c_interface_test.c:%d: %s; it is: %s\n", line, what, shown ? shown : "(null)");
  ++failures;
}
#define EXPECT(condition, shown) expect((condition), #condition, __LINE__, (shown))

static int has(const char* text, const char* part) {
  return text != NULL && strstr(text, part) != NULL;
}

static void refuses(const char* policy, const char* message) {
  char* error = NULL;
  EXPECT(exactbloom_filterpolicy_create(policy, &error) == NULL, policy);
  EXPECT(has(error, message), error);
  EXPECT(has(error, "Invalid argument: exactbloom: "), error);
  rocksdb_free(error);

  error = NULL;
  rocksdb_options_t* options = rocksdb_options_create();
  exactbloom_options_set_filter_policy(options, policy, &error);
  EXPECT(has(error, message), error);
  rocksdb_free(error);
  rocksdb_options_destroy(options);
}

static void test_errors(void) {
  refuses("", "the filter policy is ''");
  refuses("nullptr", "the filter policy is ''");
  refuses("fast_bloom:10",
          "the filter policy is 'fast_bloom', but must be exactbloom, classic_bloom");
  refuses("{id=fast_bloom;bits_per_key=10}", "'fast_bloom'");
  refuses("{bits_per_key=10}", "the filter policy is '{bits_per_key=10}'");
  refuses("{id=classic_bloom;lines=1", "the filter policy is '{id=classic_bloom;lines=1'");
  refuses("classic_bloom:ten", "bits_per_key is 'ten', but must be a number from 0 to 100");
  refuses("{id=classic_bloom;bits_per_key=101}", "bits_per_key is '101'");
  refuses("{id=classic_bloom;colour=red}", "classic_bloom has no option 'colour'");
  refuses("{id=standard_bloom;fpr=0.01;level_bits=9:8}", "exclude each other");

  /* Any pointer may be NULL. */
  refuses(NULL, "the filter policy is NULL");
  EXPECT(exactbloom_filterpolicy_create(NULL, NULL) == NULL, "a policy");
  EXPECT(exactbloom_filterpolicy_create("fast_bloom:10", NULL) == NULL, "a policy");
  rocksdb_filterpolicy_destroy(exactbloom_filterpolicy_create("classic_bloom:10", NULL));
  exactbloom_options_add_tree_listener(NULL, NULL);
  exactbloom_options_set_filter_policy(NULL, "exactbloom:10", NULL);

  /* An error replaces the one that is there, and no error leaves it. */
  char* error = NULL;
  EXPECT(exactbloom_filterpolicy_create("one", &error) == NULL, "a policy");
  EXPECT(exactbloom_filterpolicy_create("two", &error) == NULL, "a policy");
  EXPECT(has(error, "'two'"), error);
  rocksdb_filterpolicy_t* policy = exactbloom_filterpolicy_create("classic_bloom:10", &error);
  EXPECT(policy != NULL, error);
  EXPECT(has(error, "'two'"), error);
  rocksdb_filterpolicy_destroy(policy);
  exactbloom_options_add_tree_listener(NULL, &error);
  EXPECT(has(error, "Invalid argument: exactbloom: the options are NULL"), error);
  exactbloom_set_memory_budget("stores", "3 apples", &error);
  EXPECT(has(error, "memory_budget is '3 apples'"), error);
  exactbloom_set_memory_budget("two words", "1M", &error);
  EXPECT(has(error, "budget is 'two words'"), error);
  EXPECT(exactbloom_memory_budget_use(NULL, &error) == NULL, "a use");
  EXPECT(has(error, "the budget's name is NULL"), error);
  free(error);
}

static rocksdb_options_t* new_options(void) {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_compression(options, rocksdb_no_compression);
  rocksdb_options_enable_statistics(options);
  return options;
}

static void set_policy(rocksdb_options_t* options, const char* text) {
  char* error = NULL;
  rocksdb_filterpolicy_t* policy = exactbloom_filterpolicy_create(text, &error);
  EXPECT(policy != NULL, error);
  rocksdb_block_based_table_options_t* tables = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_filter_policy(tables, policy);
  rocksdb_options_set_block_based_table_factory(options, tables);
  rocksdb_block_based_options_destroy(tables);
}

/* Writes a table, and returns how many of 10,000 lookups of absent keys its filter stops. */
static long stopped_lookups(rocksdb_t* db, rocksdb_options_t* options) {
  char* error = NULL;
  char key[16];
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  int i;
  for (i = 0; i < 20000; i += 2) {
    sprintf(key, "%08d", i);
    rocksdb_put(db, write, key, 8, "value", 5, &error);
    EXPECT(error == NULL, error);
  }
  rocksdb_flush(db, flush, &error);
  EXPECT(error == NULL, error);
  for (i = 0; i < 20000; ++i) {
    size_t size = 0;
    sprintf(key, "%08d", i);
    char* value = rocksdb_get(db, read, key, 8, &size, &error);
    EXPECT((value != NULL) == (i % 2 == 0), key); /* no key is lost */
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

static const char* path_of(const char* directory, const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

/* Opens a database with these options, and expects its filters to stop at least so many of the
   lookups. */
static void expect_database(rocksdb_options_t* options, const char* directory, const char* name,
                            long least) {
  char* error = NULL;
  char shown[32];
  rocksdb_t* db = rocksdb_open(options, path_of(directory, name), &error);
  EXPECT(db != NULL, error);
  const long stopped = stopped_lookups(db, options);
  sprintf(shown, "%ld", stopped);
  EXPECT(stopped > least && stopped <= 10000, shown);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

static void test_policy(const char* directory) {
  char* error = NULL;
  rocksdb_options_t* options = new_options();
  exactbloom_options_set_filter_policy(options, "{id=classic_bloom;bits_per_key=12;lines=1}",
                                       &error);
  EXPECT(error == NULL, error);
  /* At 12 bits per key 0.4% pass. */
  expect_database(options, directory, "policy", 9900);
}

/* Names are known once they are registered. */
static void test_names(const char* directory) {
  char* error = NULL;
  exactbloom_register();
  exactbloom_register();
  rocksdb_options_t* base = new_options();
  rocksdb_options_t* options = new_options();
  rocksdb_get_options_from_string(
      base, "block_based_table_factory={filter_policy=standard_bloom:12}", options, &error);
  EXPECT(error == NULL, error);
  rocksdb_options_destroy(base);
  expect_database(options, directory, "names", 9900);
}

static void test_listener(const char* directory) {
  char* error = NULL;
  rocksdb_options_t* options = new_options();
  set_policy(options, "exactbloom:10");
  EXPECT(rocksdb_open(options, path_of(directory, "listener"), &error) == NULL,
         "opened without a listener");
  EXPECT(has(error, "needs a tree listener"), error);
  rocksdb_free(error);
  error = NULL;
  exactbloom_options_add_tree_listener(options, &error);
  EXPECT(error == NULL, error);
  expect_database(options, directory, "listener", 9800);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  EXPECT(strcmp(exactbloom_version(), EXACTBLOOM_VERSION) == 0, exactbloom_version());
  test_errors();
  test_policy(argv[1]);
  test_names(argv[1]);
  test_listener(argv[1]);
  if (failures == 0) puts("c_interface_test: passed");
  return failures == 0 ? 0 : 1;
}
