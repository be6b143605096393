// Preloading takes two shared objects. libexactbloom_rocksdb.so is preloaded into any program: it
// defines functions of RocksDB's, so that calls come here first, but refers to nothing of RocksDB
// and so does no harm to a program without it or with another version. Once it has seen that the
// program's RocksDB is the one it was made for, it loads libexactbloom_rocksdb_core.so, which has
// the policies and is linked with RocksDB. This is what the first gets from the second.
#pragma once

#include <rocksdb/c.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/transaction_db.h>

#include <string>
#include <vector>

#include "../rocksdb_compat.h"

namespace exactbloom::preload {

using Families = std::vector<rocksdb::ColumnFamilyDescriptor>;
using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

// The functions of RocksDB's that are replaced, as plain functions: of a member function the first
// parameter is the object.
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

// The constructor of SstFileWriter. RocksDB before 11 takes the last parameter.
using MakeFileWriterFunction = void(rocksdb::SstFileWriter*, const rocksdb::EnvOptions&,
                                    const rocksdb::Options&, const rocksdb::Comparator*,
                                    rocksdb::ColumnFamilyHandle*, bool invalidates_page_cache,
                                    rocksdb::Env::IOPriority, bool skips_filters);

// Which call asked for a filter policy, for the info log.
enum class Asked { kBloom, kRibbon, kC, kOptionString };

struct Core {
  // exactbloom/c.h
  void (*register_names)();
  rocksdb_filterpolicy_t* (*create_policy)(const char* policy, char** errptr);
  void (*add_tree_listener)(rocksdb_options_t* options, char** errptr);

  // What EXACTBLOOM_POLICY says, with these bits per key unless it sets them. If it says nonsense,
  // the process ends.
  rocksdb::FilterPolicy* (*new_policy)(double bits_per_key, Asked asked);
  rocksdb_filterpolicy_t* (*new_c_policy)(double bits_per_key);

  // Call `next`, RocksDB's function, with options that are filled in.
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
inline constexpr char kCoreFunction[] = "exactbloom_preload_core";

// Registers the names of the policies, and with `replaces` what replaces the built-in ones.
using CoreFunction = const Core*(bool replaces);

}  // namespace exactbloom::preload
