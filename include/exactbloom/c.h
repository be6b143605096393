/* ExactBloom for programs on RocksDB's C interface, and for languages that reach C. C99 and C++.

     char* error = NULL;
     rocksdb_options_t* options = rocksdb_options_create();
     exactbloom_options_set_filter_policy(options, "exactbloom:10", &error);
     if (error != NULL) { ...; rocksdb_free(error); }

   Errors work as in RocksDB's C interface: *errptr must be NULL or a string from malloc(). An error
   frees that string and stores a new one, which the caller frees with rocksdb_free() or free();
   without an error *errptr does not change. `errptr` may be NULL: the error text is then lost. A
   NULL policy or NULL options are an error. No function throws.

   Functions that return char* return a text that the caller frees with rocksdb_free() or free(), or
   NULL and an error. What JSON they return is one object (RFC 8259) in UTF-8, on one line. A name
   of a column family and the path of a database may have any bytes: in "column_family" and
   "database" those that are not UTF-8 are U+FFFD, and "column_family_hex" and "database_hex" have
   all of them in hexadecimal. A number that there is not is null. Later releases may add members:
   skip those that you do not know. */
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
   name them. Call it before any of these is read; further calls do nothing. An error: when memory
   is short, and in the shared object for a RocksDB that it was not made for. Without the names an
   option string is refused, and an OPTIONS file is read as if it named no policy. */
void exactbloom_register(char** errptr);

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

/* Puts a tree listener, which the policy exactbloom needs, before the listeners of `options` unless
   there is one. Call it before opening a database with these options. An error: NULL options, and
   when memory is short. */
void exactbloom_options_add_tree_listener(rocksdb_options_t* options, char** errptr);

/* Follows a database that has just been opened and has a tree listener: from now on its filters
   count in memory budgets, and exactbloom_sorted_runs() lists them (FollowDatabase in
   exactbloom/tree_listener.h). Without this call that begins with its first flush or compaction.
   `families` are `count` handles of its column families; NULL and 0 for the default one alone. An
   error: a NULL database, NULL with another count, a NULL among the handles, a database without a
   tree listener, and when memory is short. */
void exactbloom_follow_database(rocksdb_t* db, rocksdb_column_family_handle_t* const* families,
                                size_t count, char** errptr);

/* Returns the sorted runs of a followed database as JSON (SortedRuns in
   exactbloom/tree_listener.h):

     {"sorted_runs":[{"column_family":"default","column_family_hex":"64656661756c74","level":0,
       "runs":1,"tables":1,"keys":10000,"filter_bytes":12519,"filter":"exact_ribbon",
       "wasted_per_1000":1.0957223001402525}]}

   "runs" is above 1 only in level 0, for runs with about as many keys. "filter" is what most keys
   are in, "exact_ribbon" or "exact_bloom"; null without filters. "wasted_per_1000" is the number of
   table reads that these runs are predicted to waste in 1,000 lookups of absent keys. A database
   that is not followed has no runs. An error: a NULL database, and when memory is short. */
char* exactbloom_sorted_runs(rocksdb_t* db, char** errptr);

/* Returns the metrics of a followed database in the text format of Prometheus
   (exactbloom/metrics.h), with those of its statistics, if it has any, and of the memory budget
   `budget`: "" for the one without a name, NULL for none. An error: a NULL database, and when
   memory is short. */
char* exactbloom_metrics(rocksdb_t* db, const char* budget, char** errptr);

/* Returns what RocksDB counted in the statistics of the database, from
   rocksdb_options_enable_statistics() on, as JSON (MeasuredReads in exactbloom/measured_reads.h):

     {"keys":{"denied":9990,"passed":10010,"found":10000,"false_positive_rate":0.001},
       "prefixes":{"denied":0,"passed":0,"found":0,"false_positive_rate":null},
       "seeks":{"denied":0,"passed":0,"found":0,"false_positive_rate":null},
       "lookups":20000,"found":10000,"wasted_per_1000":1}

   "denied" are the table reads that filters saved, "passed" the tables that they let pass, and
   "found" those of them that held what was sought; "false_positive_rate" is the share of wrong
   answers in those for what a table lacked, and null without any. "wasted_per_1000" are the table
   reads that were wasted in 1,000 lookups of absent keys, which exactbloom_sorted_runs() predicts;
   null without such lookups. An error: a NULL database, one without statistics, and when memory is
   short. */
char* exactbloom_measured_reads(rocksdb_t* db, char** errptr);

/* Lets RocksDB's perf context count, for lookups of the calling thread, what the filters of each
   level answer; 0 ends it. It counts only at the perf level rocksdb_enable_count or higher:
   rocksdb_set_perf_level(rocksdb_enable_count). An error: when memory is short. */
void exactbloom_measure_levels(unsigned char on, char** errptr);

/* Returns what was counted in the calling thread since rocksdb_perfcontext_reset(), as JSON, with
   the numbers of exactbloom_measured_reads():

     {"levels":[{"level":0,"denied":9990,"passed":10010,"found":10000,
       "false_positive_rate":0.001}]}

   An error: when memory is short. */
char* exactbloom_measured_levels(char** errptr);

/* Sets the bound of the memory budget `name`, which the policies of the process share that have
   memory_budget= or budget= in their text; "" is the name of those without budget=. `size` is as in
   the option: "2GiB", "10%", "0" for no bound (exactbloom/memory_budget.h); `covers` is "filters",
   "filters_and_indexes" or NULL for what it has covered before. An error: a bad name, size or
   `covers`, and when memory is short. */
void exactbloom_set_memory_budget(const char* name, const char* size, const char* covers,
                                  char** errptr);

/* Returns what a memory budget is used for, as JSON (MemoryBudgetUse in
   exactbloom/memory_budget.h):

     {"bound_bytes":2147483648,"used_bytes":12519,"covers":"filters","index_bytes":7210,
       "column_families":[{"database":"db","database_hex":"6462","column_family":"default",
       "column_family_hex":"64656661756c74","filter_bytes":12519,"index_bytes":7210,
       "tables_without_filter":0}]}

   "bound_bytes" is null for no bound; a name that is not in use has none, and uses 0 bytes.
   "tables_without_filter" are those with no filter, or with one that lets all keys pass. An error:
   a NULL name, and when memory is short. */
char* exactbloom_memory_budget_use(const char* name, char** errptr);

#ifdef __cplusplus
}
#endif

#endif /* EXACTBLOOM_C_H_ */
