// Preloading takes two shared objects. libexactbloom_rocksdb.so (the hooks) is preloaded into any
// program: it defines functions that RocksDB also defines, so calls reach it first. It refers to no
// symbol of RocksDB, so it is harmless in a program without RocksDB or with another version. When
// the program's RocksDB is the version it was built for, it loads libexactbloom_rocksdb_core.so
// (the core), which contains the policies and is linked with RocksDB. The core passes the hooks a
// table of functions, which this header defines.
#pragma once

#include <rocksdb/c.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/transaction_db.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../rocksdb_compat.h"

namespace exactbloom::preload {

using Families = std::vector<rocksdb::ColumnFamilyDescriptor>;
using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

// The functions of RocksDB that the hooks replace, as plain functions: the first parameter of a
// member function is its object.
using OpenFunction = rocksdb::Status(const rocksdb::Options&, const std::string&, OpenedDatabase);
using OpenFamiliesFunction = rocksdb::Status(const rocksdb::DBOptions&, const std::string&,
                                             const Families&, Handles*, OpenedDatabase);
using OpenTransactionsFunction = rocksdb::Status(const rocksdb::DBOptions&,
                                                 const rocksdb::TransactionDBOptions&,
                                                 const std::string&, const Families&, Handles*,
                                                 rocksdb::TransactionDB**);
using CreateFamilyFunction = rocksdb::Status(rocksdb::DB*, const rocksdb::ColumnFamilyOptions&,
                                             const std::string&, rocksdb::ColumnFamilyHandle**);
using CreateNamedFamiliesFunction = rocksdb::Status(rocksdb::DB*,
                                                    const rocksdb::ColumnFamilyOptions&,
                                                    const std::vector<std::string>&, Handles*);
using CreateFamiliesFunction = rocksdb::Status(rocksdb::DB*, const Families&, Handles*);

// The constructor of SstFileWriter. Only RocksDB before 11 has the last parameter.
using MakeFileWriterFunction = void(rocksdb::SstFileWriter*, const rocksdb::EnvOptions&,
                                    const rocksdb::Options&, const rocksdb::Comparator*,
                                    rocksdb::ColumnFamilyHandle*, bool invalidates_page_cache,
                                    rocksdb::Env::IOPriority, bool skips_filters);

// Which kind of call requested a filter policy; the info log shows the counts.
enum class Asked { kBloom, kRibbon, kC, kOptionString };

// Prints a message to standard error.
using ReportFunction = void(const char* message);

struct Core {
  // An upgrade of the package under a running process can pair hooks and core of different builds.
  // The hooks refuse a core that differs in these two, which precede all else in every version.
  char version[16];    // EXACTBLOOM_VERSION
  std::uint64_t size;  // sizeof(Core)

  // Registers the names of the policies, and with `replaces` takes over the names of RocksDB's
  // built-in policies. Messages are passed to `report`. Returns false if out of memory.
  bool (*prepare)(bool replaces, ReportFunction* report);

  // exactbloom/c.h
  void (*register_policies)(char** errptr);
  rocksdb_filterpolicy_t* (*create_policy)(const char* policy, char** errptr);
  void (*set_policy)(rocksdb_options_t* options, const char* policy, char** errptr);
  void (*add_tree_listener)(rocksdb_options_t* options, char** errptr);
  void (*follow_database)(rocksdb_t* db, rocksdb_column_family_handle_t* const* families,
                          std::size_t count, char** errptr);
  char* (*sorted_runs)(rocksdb_t* db, char** errptr);
  char* (*metrics)(rocksdb_t* db, const char* budget, char** errptr);
  char* (*measured_reads)(rocksdb_t* db, char** errptr);
  void (*measure_levels)(unsigned char on, char** errptr);
  char* (*measured_levels)(char** errptr);
  void (*set_memory_budget)(const char* name, const char* size, const char* covers, char** errptr);
  char* (*memory_budget_use)(const char* name, char** errptr);

  // Return the policy of EXACTBLOOM_POLICY, with these bits per key unless the variable sets them.
  // An invalid value terminates the process.
  rocksdb::FilterPolicy* (*new_policy)(double bits_per_key, Asked asked);
  rocksdb_filterpolicy_t* (*new_c_policy)(double bits_per_key);

  // Call `next`, RocksDB's function, with options to which the policy was added.
  rocksdb::Status (*open)(OpenFunction* next, const rocksdb::Options& options,
                          const std::string& path, OpenedDatabase db);
  rocksdb::Status (*open_families)(OpenFamiliesFunction* next, const rocksdb::DBOptions& options,
                                   const std::string& path, const Families& families,
                                   Handles* handles, OpenedDatabase db);
  rocksdb::Status (*open_transactions)(OpenTransactionsFunction* next,
                                       const rocksdb::DBOptions& options,
                                       const rocksdb::TransactionDBOptions& transaction_options,
                                       const std::string& path, const Families& families,
                                       Handles* handles, rocksdb::TransactionDB** db);
  rocksdb::Status (*create_family)(CreateFamilyFunction* next, rocksdb::DB* db,
                                   const rocksdb::ColumnFamilyOptions& options,
                                   const std::string& name, rocksdb::ColumnFamilyHandle** handle);
  rocksdb::Status (*create_named_families)(CreateNamedFamiliesFunction* next, rocksdb::DB* db,
                                           const rocksdb::ColumnFamilyOptions& options,
                                           const std::vector<std::string>& names, Handles* handles);
  rocksdb::Status (*create_families)(CreateFamiliesFunction* next, rocksdb::DB* db,
                                     const Families& families, Handles* handles);
  void (*make_file_writer)(MakeFileWriterFunction* next, rocksdb::SstFileWriter* writer,
                           const rocksdb::EnvOptions& env_options, const rocksdb::Options& options,
                           const rocksdb::Comparator* comparator,
                           rocksdb::ColumnFamilyHandle* family, bool invalidates_page_cache,
                           rocksdb::Env::IOPriority priority, bool skips_filters);
};

inline constexpr char kVariable[] = "EXACTBLOOM_POLICY";
inline constexpr char kBlanks[] = " \t\n";  // before and after its value
inline constexpr char kCoreFunction[] = "exactbloom_preload_core";

using CoreFunction = const Core*();

}  // namespace exactbloom::preload
