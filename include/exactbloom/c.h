/* ExactBloom for programs on RocksDB's C interface, and for languages that reach C. C99 and C++.

     char* error = NULL;
     rocksdb_filterpolicy_t* policy =
         exactbloom_filterpolicy_create("{id=classic_bloom;bits_per_key=10;lines=1}", &error);
     if (policy == NULL) { ...; rocksdb_free(error); }
     rocksdb_block_based_options_set_filter_policy(table_options, policy);

   or without a pointer, once the names are registered,

     exactbloom_register();
     rocksdb_get_options_from_string(
         base, "block_based_table_factory={filter_policy=classic_bloom:10}", options, &error);

   Errors are handed out as RocksDB's C interface does it: *errptr must be NULL or a string from
   malloc(). An error frees that string and puts a new one there, which the caller frees with
   rocksdb_free() or free(); without an error *errptr stays as it is. No function throws. */
#ifndef EXACTBLOOM_C_H_
#define EXACTBLOOM_C_H_

#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of ExactBloom, such as "0.1.0". */
const char* exactbloom_version(void);

/* Makes the policies classic_bloom and standard_bloom and the listener exactbloom_tree known by
   these names to this process, for option strings and OPTIONS files. To be called before any of
   these is read; calling it again does nothing. */
void exactbloom_register(void);

/* Returns a new filter policy made of what filter_policy= takes in an option string:
   "classic_bloom:10" or "{id=classic_bloom;...}" (docs/configuration.md). It needs no registration.
   rocksdb_block_based_options_set_filter_policy() takes it over; one that was not handed over is
   freed with rocksdb_filterpolicy_destroy(). Returns NULL and an error for an unknown policy or
   option, a value out of its range, options that exclude each other, and when memory is short. */
rocksdb_filterpolicy_t* exactbloom_filterpolicy_create(const char* policy, char** errptr);

/* Adds a tree listener to the options, behind the listeners that they have: the policies'
   size_ratio=auto and memory_budget need one. To be called before a database is opened with the
   options. The only error is short memory. */
void exactbloom_options_add_tree_listener(rocksdb_options_t* options, char** errptr);

#ifdef __cplusplus
}
#endif

#endif /* EXACTBLOOM_C_H_ */
