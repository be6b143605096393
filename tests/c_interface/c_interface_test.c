/* exactbloom/c.h in a program that is C, on RocksDB's C interface.
     c_interface_test DIRECTORY    an empty directory for databases */
#include <exactbloom/c.h>
#include <exactbloom/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lookups.h"

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

static void test_version(void) {
  char version[32];
  sprintf(version, "%d.%d.%d", EXACTBLOOM_VERSION_MAJOR, EXACTBLOOM_VERSION_MINOR,
          EXACTBLOOM_VERSION_PATCH);
  EXPECT(strcmp(version, EXACTBLOOM_VERSION) == 0, version);
  EXPECT(strcmp(exactbloom_version(), EXACTBLOOM_VERSION) == 0, exactbloom_version());
}

static void test_errors(void) {
  refuses("fast_bloom:10",
          "the filter policy is 'fast_bloom', but must be exactbloom, exact_ribbon, classic_bloom");

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
  exactbloom_set_memory_budget("stores", "3 apples", NULL, &error);
  EXPECT(has(error, "memory_budget is '3 apples'"), error);
  exactbloom_set_memory_budget("two words", "1M", NULL, &error);
  EXPECT(has(error, "budget is 'two words'"), error);
  exactbloom_set_memory_budget("stores", "1M", "all", &error);
  EXPECT(has(error, "covers is 'all'"), error);
  EXPECT(exactbloom_memory_budget_use(NULL, &error) == NULL, "a use");
  EXPECT(has(error, "the budget's name is NULL"), error);
  exactbloom_follow_database(NULL, NULL, 0, &error);
  EXPECT(has(error, "the database is NULL"), error);
  EXPECT(exactbloom_sorted_runs(NULL, &error) == NULL, "runs");
  EXPECT(has(error, "the database is NULL"), error);
  EXPECT(exactbloom_measured_reads(NULL, &error) == NULL, "reads");
  EXPECT(has(error, "the database is NULL"), error);
  EXPECT(exactbloom_metrics(NULL, NULL, &error) == NULL, "metrics");
  EXPECT(has(error, "the database is NULL"), error);
  free(error);
}

static rocksdb_options_t* new_options(void) {
  rocksdb_options_t* options = rocksdb_options_create();
  set_database(options);
  return options;
}

static const char* path_of(const char* directory, const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

#define NO_ANSWERS "{\"denied\":0,\"passed\":0,\"found\":0,\"false_positive_rate\":null}"

/* Expects what RocksDB counted in those lookups: one table of level 0 denied so many keys. */
static void expect_measured(rocksdb_t* db, long stopped) {
  char* error = NULL;
  char expected[128];
  rocksdb_perfcontext_t* context = rocksdb_perfcontext_create();
  char* reads = exactbloom_measured_reads(db, &error);
  char* levels = exactbloom_measured_levels(&error);
  EXPECT(error == NULL, error);
  sprintf(expected,
          "{\"keys\":{\"denied\":%ld,\"passed\":%ld,\"found\":10000,\"false_positive_rate\":0.",
          stopped, 20000 - stopped);
  EXPECT(has(reads, expected), reads);
  EXPECT(has(reads, "},\"prefixes\":" NO_ANSWERS ",\"seeks\":" NO_ANSWERS
                    ",\"lookups\":20000,\"found\":10000,\"wasted_per_1000\":"),
         reads);
  sprintf(expected, "{\"levels\":[{\"level\":0,\"denied\":%ld,\"passed\":%ld,\"found\":10000,",
          stopped, 20000 - stopped);
  EXPECT(has(levels, expected), levels);
  rocksdb_free(reads);
  rocksdb_free(levels);
  exactbloom_measure_levels(1, &error);
  rocksdb_perfcontext_reset(context);
  exactbloom_measure_levels(0, &error);
  rocksdb_perfcontext_destroy(context);
}

/* Opens a database with these options, and expects its filters to stop at least so many of the
   lookups. */
static void expect_database(rocksdb_options_t* options, const char* directory, const char* name,
                            long least) {
  char* error = NULL;
  char shown[32];
  unsigned long sum = 0;
  rocksdb_t* db = rocksdb_open(options, path_of(directory, name), &error);
  EXPECT(db != NULL, error);
  rocksdb_set_perf_level(rocksdb_enable_count);
  exactbloom_measure_levels(1, &error);
  const long stopped = stopped_lookups(db, options, &sum);
  exactbloom_measure_levels(0, &error);
  rocksdb_set_perf_level(rocksdb_disable);
  EXPECT(error == NULL, error);
  sprintf(shown, "%ld", stopped);
  EXPECT(stopped > least && stopped <= 10000, shown);
  expect_measured(db, stopped);
  error = NULL;
  exactbloom_follow_database(db, NULL, 0, &error);
  const int follows = error == NULL;
  EXPECT(follows || has(error, "has no tree listener"), error);
  free(error);
  error = NULL;
  char* runs = exactbloom_sorted_runs(db, &error);
  EXPECT(error == NULL, error);
  EXPECT(has(runs,
             "{\"sorted_runs\":[{\"column_family\":\"default\","
             "\"column_family_hex\":\"64656661756c74\",\"level\":0,\"runs\":1,\"tables\":1,"
             "\"keys\":10000,\"filter_bytes\":") == follows,
         runs);
  EXPECT(has(runs, ",\"filter\":\"exact_ribbon\",\"wasted_per_1000\":") == follows, runs);
  EXPECT(follows || strcmp(runs, "{\"sorted_runs\":[]}") == 0, runs);
  rocksdb_free(runs);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

static void test_policy(const char* directory) {
  char* error = NULL;
  rocksdb_options_t* options = new_options();
  exactbloom_options_set_filter_policy(options, "{id=classic_bloom;bits_per_key=12;hash_seed=1}",
                                       &error);
  EXPECT(error == NULL, error);
  /* At 12 bits per key 0.4% pass. */
  expect_database(options, directory, "policy", 9900);

  options = new_options();
  exactbloom_options_set_filter_policy(options, "{id=exact_ribbon;bits_per_key=12;hash_seed=1}",
                                       &error);
  EXPECT(error == NULL, error);
  /* At 12 bits per key 0.03% pass. */
  expect_database(options, directory, "ribbon", 9985);
}

/* Names are known once they are registered. */
static void test_names(const char* directory) {
  char* error = NULL;
  exactbloom_register(&error);
  exactbloom_register(NULL);
  EXPECT(error == NULL, error);
  rocksdb_options_t* base = new_options();
  rocksdb_options_t* options = new_options();
  rocksdb_get_options_from_string(
      base, "block_based_table_factory={filter_policy=standard_bloom:12}", options, &error);
  EXPECT(error == NULL, error);
  rocksdb_options_destroy(base);
  expect_database(options, directory, "names", 9900);
}

static void test_without_statistics(const char* directory) {
  char* error = NULL;
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_t* db = rocksdb_open(options, path_of(directory, "uncounted"), &error);
  EXPECT(db != NULL, error);
  EXPECT(exactbloom_measured_reads(db, &error) == NULL, "reads");
  EXPECT(has(error, "no statistics"), error);
  rocksdb_free(error);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

static void test_listener(const char* directory) {
  char* error = NULL;
  rocksdb_options_t* options = new_options();
  set_policy(options, exactbloom_filterpolicy_create("exactbloom:10", &error));
  EXPECT(error == NULL, error);
  EXPECT(rocksdb_open(options, path_of(directory, "listener"), &error) == NULL,
         "opened without a listener");
  EXPECT(has(error, "needs a tree listener"), error);
  rocksdb_free(error);
  error = NULL;
  exactbloom_options_add_tree_listener(options, &error);
  EXPECT(error == NULL, error);
  expect_database(options, directory, "listener", 9800);
}

static void test_budget(const char* directory) {
  char* error = NULL;
  unsigned long sum = 0;
  rocksdb_options_t* options = new_options();
  exactbloom_options_set_filter_policy(options, "{id=exactbloom;memory_budget=1M;budget=of_c}",
                                       &error);
  EXPECT(error == NULL, error);
  rocksdb_t* db = rocksdb_open(options, path_of(directory, "budget"), &error);
  EXPECT(db != NULL, error);
  char* reads = exactbloom_measured_reads(db, &error);
  EXPECT(has(reads, ",\"lookups\":0,\"found\":0,\"wasted_per_1000\":null}"), reads);
  rocksdb_free(reads);
  stopped_lookups(db, options, &sum);
  char* use = exactbloom_memory_budget_use("of_c", &error);
  EXPECT(error == NULL && has(use, "{\"bound_bytes\":1048576,\"used_bytes\":1"), use);
  EXPECT(has(use, ",\"covers\":\"filters\",\"index_bytes\":"), use);
  EXPECT(has(use, ",\"column_families\":[{\"database\":\""), use);
  EXPECT(has(use, ",\"tables_without_filter\":0}]}"), use);
  rocksdb_free(use);
  exactbloom_set_memory_budget("of_c", "6", NULL, &error);
  EXPECT(error == NULL, error);
  stopped_lookups(db, options, &sum);
  use = exactbloom_memory_budget_use("of_c", &error);
  EXPECT(has(use, "{\"bound_bytes\":6,\"used_bytes\":1"), use);
  EXPECT(has(use, ",\"tables_without_filter\":1}]}"), use);
  rocksdb_free(use);
  char* metrics = exactbloom_metrics(db, "of_c", &error);
  EXPECT(error == NULL, error);
  EXPECT(has(metrics, "\nexactbloom_memory_budget_bound_bytes{budget=\"of_c\"} 6\n"), metrics);
  EXPECT(has(metrics, ",column_family=\"default\"} 1\n"), metrics);
  rocksdb_free(metrics);
  metrics = exactbloom_metrics(db, NULL, &error);
  EXPECT(!has(metrics, "memory_budget"), metrics);
  rocksdb_free(metrics);
  rocksdb_column_family_handle_t* const families[] = {NULL};
  exactbloom_follow_database(db, families, 1, &error);
  EXPECT(has(error, "Invalid argument: exactbloom: a column family is NULL"), error);
  exactbloom_follow_database(db, NULL, 1, &error);
  EXPECT(has(error, "Invalid argument: exactbloom: the column families are NULL"), error);
  free(error);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

/* A name or a path cannot pass for another member: blanks, line ends, quotes, and bytes that are
   not UTF-8. */
static void test_forged_names(const char* directory) {
  char* error = NULL;
  rocksdb_options_t* options = new_options();
  exactbloom_options_set_filter_policy(options, "{id=exactbloom;budget=forged}", &error);
  EXPECT(error == NULL, error);
  rocksdb_t* db = rocksdb_open(options, path_of(directory, "a 7 b"), &error);
  EXPECT(db != NULL, error);
  rocksdb_column_family_handle_t* family =
      rocksdb_create_column_family(db, options, "x 1\nused 9\",\"\\\xF0\x9F\x8C\xC3\xA9", &error);
  EXPECT(error == NULL, error);
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_put_cf(db, write, family, "key", 3, "value", 5, &error);
  rocksdb_writeoptions_destroy(write);
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  rocksdb_flush_cf(db, flush, family, &error);
  rocksdb_flushoptions_destroy(flush);
  exactbloom_follow_database(db, &family, 1, &error);
  EXPECT(error == NULL, error);
  static const char kMembers[] =
      "\"column_family\":\"x 1\\u000aused 9\\\",\\\"\\\\\xEF\xBF\xBD\xC3\xA9\","
      "\"column_family_hex\":\"7820310a757365642039222c225cf09f8cc3a9\",";
  char* use = exactbloom_memory_budget_use("forged", &error);
  EXPECT(has(use, "{\"bound_bytes\":null,\"used_bytes\":"), use);
  EXPECT(
      has(use, "/a 7 b\",\"database_hex\":\"") && has(use, "2f6120372062\",") && has(use, kMembers),
      use);
  EXPECT(strchr(use, '\n') == NULL, use);
  rocksdb_free(use);
  char* runs = exactbloom_sorted_runs(db, &error);
  EXPECT(has(runs, kMembers), runs);
  rocksdb_free(runs);
  rocksdb_column_family_handle_destroy(family);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  test_version();
  test_errors();
  test_policy(argv[1]);
  test_names(argv[1]);
  test_listener(argv[1]);
  test_without_statistics(argv[1]);
  test_budget(argv[1]);
  test_forged_names(argv[1]);
  if (failures == 0) puts("c_interface_test: passed");
  return failures == 0 ? 0 : 1;
}
