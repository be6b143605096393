/* ExactBloom for programs on RocksDB's C interface, and for languages that reach C. C99 and C++.

     char* error = NULL;
     rocksdb_options_t* options = rocksdb_options_create();
     exactbloom_options_set_filter_policy(options, "exactbloom:10", &error);
     if (error != NULL) { ...; rocksdb_free(error); }

   Errors work as in RocksDB's C interface: *errptr must be NULL or a string from malloc(). An error
   frees that string and stores a new one, which the caller frees with rocksdb_free() or free();
   without an error *errptr does not change. `errptr` may be NULL: the error text is then lost. A
   NULL policy or NULL options are an error. No function throws. */
#ifndef EXACTBLOOM_C_H_
#define EXACTBLOOM_C_H_

#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of ExactBloom, such as "0.1.0". */
const char* exactbloom_version(void);

/* Registers the policies exactbloom, exact_ribbon, classic_bloom, standard_bloom and rocksdb_bloom
   and the listener exactbloom_tree in this process, so that option strings and OPTIONS files can
   name them. Call it before any of these is read; further calls do nothing. */
void exactbloom_register(void);

/* Makes the tables of `options` get filters of a policy: puts it into the block-based table factory
   that is there, or into a new one, and adds the tree listener that it may need. All else stays.
   Call it before opening a database, after rocksdb_options_set_block_based_table_factory().
   `policy` is the text that filter_policy= takes in an option string: "exactbloom:10" or
   "{id=exactbloom;...}" (docs/configuration.md). No registration is needed. An error, which changes
   no options: another kind of table factory, an unknown policy or option, a value out of range,
   options that exclude each other, and when memory is short. */
void exactbloom_options_set_filter_policy(rocksdb_options_t* options, const char* policy,
                                          char** errptr);

/* Returns a new filter policy, of the same text. A policy that divides memory by the live tree
   needs a tree listener beside it. rocksdb_block_based_options_set_filter_policy() takes ownership;
   otherwise free the policy with rocksdb_filterpolicy_destroy(). Returns NULL and an error for an
   unknown policy or option, a value out of range, options that exclude each other, and when memory
   is short. */
rocksdb_filterpolicy_t* exactbloom_filterpolicy_create(const char* policy, char** errptr);

/* Appends a tree listener to the listeners of `options`, which the policy exactbloom
   needs. Call it before opening a database with these options. Fails only for NULL options and when
   memory is short. */
void exactbloom_options_add_tree_listener(rocksdb_options_t* options, char** errptr);

/* Makes the filters of a database that has just been opened, and has a tree listener, count in
   memory budgets (FollowDatabase in exactbloom/tree_listener.h). `families` are `count` handles of
   its column families; NULL and 0 for the default one alone. An error: a NULL database, a database
   without a tree listener, and when memory is short. */
void exactbloom_follow_database(rocksdb_t* db, rocksdb_column_family_handle_t* const* families,
                                size_t count, char** errptr);

/* Returns the sorted runs of a followed database, each on a line:
   "FAMILY LEVEL RUNS TABLES KEYS FILTER_BYTES bloom|ribbon WASTED_READS", the last in 1,000 lookups
   of absent keys. A family's name may have blanks. The caller frees it with rocksdb_free() or
   free(). Returns NULL and an error for a NULL database and when memory is short. */
char* exactbloom_sorted_runs(rocksdb_t* db, char** errptr);

/* Returns the metrics of a followed database in the text format of Prometheus
   (exactbloom/metrics.h), with those of its statistics, if it has any, and of the memory budget
   `budget`: "" for the one without a name, NULL for none. The caller frees it with rocksdb_free()
   or free(). Returns NULL and an error for a NULL database and when memory is short. */
char* exactbloom_metrics(rocksdb_t* db, const char* budget, char** errptr);

/* Returns what RocksDB counted in the statistics of the database (exactbloom/measured_reads.h),
   from rocksdb_options_enable_statistics() on: the lines "keys", "prefixes" and "seeks", each
   followed by " DENIED PASSED FOUND RATE", and "lookups LOOKUPS ABSENT WASTED_READS", the last as
   that of exactbloom_sorted_runs(), which predicts it. The caller frees it with rocksdb_free() or
   free(). Returns NULL and an error for a NULL database, one without statistics, and when memory is
   short. */
char* exactbloom_measured_reads(rocksdb_t* db, char** errptr);

/* Lets RocksDB's perf context count, for lookups of the calling thread, what the filters of each
   level answer; 0 ends it. It counts only at the perf level rocksdb_enable_count or higher:
   rocksdb_set_perf_level(rocksdb_enable_count). */
void exactbloom_measure_levels(unsigned char on, char** errptr);

/* Returns what was counted in the calling thread since rocksdb_perfcontext_reset(), each level on a
   line: "LEVEL DENIED PASSED FOUND RATE". The caller frees it with rocksdb_free() or free().
   Returns NULL and an error when memory is short. */
char* exactbloom_measured_levels(char** errptr);

/* Sets the bound of the memory budget `name`, which the policies of the process share that have
   memory_budget= or budget= in their text; "" is the name of those without budget=. `size` is as in
   the option: "2GiB", "10%", "0" for no bound (exactbloom/memory_budget.h). An error: a bad name or
   size, and when memory is short. */
void exactbloom_set_memory_budget(const char* name, const char* size, char** errptr);

/* Returns what a memory budget is used for, in bytes: the lines "bound BYTES" and "used BYTES", and
   for each column family "BYTES TABLES FAMILY PATH", with the number of its tables that have no
   filter or one that lets all keys pass. The caller frees it with rocksdb_free() or free(). Returns
   NULL and an error for a NULL name and when memory is short. */
char* exactbloom_memory_budget_use(const char* name, char** errptr);

#ifdef __cplusplus
}
#endif

#endif /* EXACTBLOOM_C_H_ */
