// The functions of RocksDB that the preloaded object replaces, and those of exactbloom/c.h.
#include "rocksdb_headers.h"

// Others of RocksDB.
#include <rocksdb/c.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/utilities/object_registry.h>
#include <rocksdb/utilities/transaction_db.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/c.h"
#include "exactbloom/version.h"
#include "loaded_rocksdb.h"
#include "preload_core.h"

namespace {

using exactbloom::MadeBloomPolicy;
using exactbloom::MadeRibbonPolicy;
using exactbloom::OpenedDatabase;
using exactbloom::preload::Asked;
using exactbloom::preload::Core;
using exactbloom::preload::CoreForCall;
using exactbloom::preload::CreateFamiliesFunction;
using exactbloom::preload::CreateFamilyFunction;
using exactbloom::preload::CreateNamedFamiliesFunction;
using exactbloom::preload::Families;
using exactbloom::preload::Handles;
using exactbloom::preload::LoadedCore;
using exactbloom::preload::MakeFileWriterFunction;
using exactbloom::preload::NextDefinition;
using exactbloom::preload::OpenFamiliesFunction;
using exactbloom::preload::OpenFunction;
using exactbloom::preload::OpenTransactionsFunction;

// A call of a replaced function: RocksDB's definition, and the core if it answers the call.
template <typename Function>
struct Call {
  Call(void* own, void* caller)
      : next(reinterpret_cast<Function*>(NextDefinition(own, caller))),
        core(CoreForCall(reinterpret_cast<void*>(next), caller)) {}

  Function* next;
  const Core* core;
};

template <typename Function>
void* AddressOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

// A pointer to a member function that is not virtual begins with the function's address (Itanium
// C++ ABI).
template <typename Class, typename Function>
void* AddressOf(Function Class::*function) {
  void* address = nullptr;
  static_assert(sizeof function >= sizeof address);
  std::memcpy(&address, &function, sizeof address);
  return address;
}

}  // namespace

// For use in a replaced function itself, whose return address tells who called it.
#define EXACTBLOOM_CALL(Function, own) \
  const Call<Function> call(AddressOf(own), __builtin_return_address(0))

namespace rocksdb {

MadeBloomPolicy NewBloomFilterPolicy(double bits_per_key, bool use_block_based_builder) {
  EXACTBLOOM_CALL(MadeBloomPolicy(double, bool), &NewBloomFilterPolicy);
  if (call.core == nullptr) return call.next(bits_per_key, use_block_based_builder);
  return call.core->new_policy(bits_per_key, Asked::kBloom);
}

MadeRibbonPolicy NewRibbonFilterPolicy(double bits_per_key, int bloom_before_level) {
  EXACTBLOOM_CALL(MadeRibbonPolicy(double, int), &NewRibbonFilterPolicy);
  if (call.core == nullptr) return call.next(bits_per_key, bloom_before_level);
  return call.core->new_policy(bits_per_key, Asked::kRibbon);
}

Status DB::Open(const Options& options, const std::string& path, OpenedDatabase db) {
  EXACTBLOOM_CALL(OpenFunction, static_cast<OpenFunction*>(&DB::Open));
  if (call.core == nullptr) return call.next(options, path, db);
  return call.core->open(call.next, options, path, db);
}

Status DB::Open(const DBOptions& options, const std::string& path, const Families& families,
                Handles* handles, OpenedDatabase db) {
  EXACTBLOOM_CALL(OpenFamiliesFunction, static_cast<OpenFamiliesFunction*>(&DB::Open));
  if (call.core == nullptr) return call.next(options, path, families, handles, db);
  return call.core->open_families(call.next, options, path, families, handles, db);
}

// The other overload of TransactionDB::Open calls this one. All other kinds of databases call
// DB::Open.
Status TransactionDB::Open(const DBOptions& options,
                           const TransactionDBOptions& transaction_options, const std::string& path,
                           const Families& families, Handles* handles, TransactionDB** db) {
  EXACTBLOOM_CALL(OpenTransactionsFunction,
                  static_cast<OpenTransactionsFunction*>(&TransactionDB::Open));
  if (call.core == nullptr) {
    return call.next(options, transaction_options, path, families, handles, db);
  }
  return call.core->open_transactions(call.next, options, transaction_options, path, families,
                                      handles, db);
}

// RocksDB's internal class, the base of every writable database. Its vtable refers to these
// functions by name, so the loader resolves the entries to the definitions here. Only the names
// matter.
class DBImpl {
 public:
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle);
  Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                              const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles);
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                              std::vector<ColumnFamilyHandle*>* handles);

 private:
  // DB is the only base of DBImpl, so both have the same address.
  DB* AsDB() { return reinterpret_cast<DB*>(this); }
};

Status DBImpl::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                  ColumnFamilyHandle** handle) {
  EXACTBLOOM_CALL(CreateFamilyFunction, &DBImpl::CreateColumnFamily);
  if (call.core == nullptr) return call.next(AsDB(), options, name, handle);
  return call.core->create_family(call.next, AsDB(), options, name, handle);
}

Status DBImpl::CreateColumnFamilies(const ColumnFamilyOptions& options,
                                    const std::vector<std::string>& names, Handles* handles) {
  using Own =
      Status (DBImpl::*)(const ColumnFamilyOptions&, const std::vector<std::string>&, Handles*);
  EXACTBLOOM_CALL(CreateNamedFamiliesFunction, static_cast<Own>(&DBImpl::CreateColumnFamilies));
  if (call.core == nullptr) return call.next(AsDB(), options, names, handles);
  return call.core->create_named_families(call.next, AsDB(), options, names, handles);
}

Status DBImpl::CreateColumnFamilies(const Families& families, Handles* handles) {
  using Own = Status (DBImpl::*)(const Families&, Handles*);
  EXACTBLOOM_CALL(CreateFamiliesFunction, static_cast<Own>(&DBImpl::CreateColumnFamilies));
  if (call.core == nullptr) return call.next(AsDB(), families, handles);
  return call.core->create_families(call.next, AsDB(), families, handles);
}

// RocksDB calls this before it reads an option string. If RocksDB was loaded late, this registers
// the names of the policies.
std::shared_ptr<ObjectRegistry> ObjectRegistry::NewInstance() {
  using Function = std::shared_ptr<ObjectRegistry>();
  void* own = AddressOf(static_cast<Function*>(&ObjectRegistry::NewInstance));
  auto* next = reinterpret_cast<Function*>(NextDefinition(own, __builtin_return_address(0)));
  LoadedCore();
  return next();
}

}  // namespace rocksdb

// The constructors of SstFileWriter, for complete objects (C1) and for base objects (C2). A
// constructor cannot be defined without the class's members, so these are functions with its
// mangled names. Those without the last parameter are of RocksDB 11 and later.
// NOLINTBEGIN(bugprone-macro-parentheses): names in declarations
#define EXACTBLOOM_FILE_WRITER(function, name)                                                   \
  extern "C" [[gnu::visibility("default")]] void function(                                       \
      rocksdb::SstFileWriter*, const rocksdb::EnvOptions&, const rocksdb::Options&,              \
      const rocksdb::Comparator*, rocksdb::ColumnFamilyHandle*, bool, rocksdb::Env::IOPriority,  \
      bool) __asm__(name);                                                                       \
  void function(rocksdb::SstFileWriter* writer, const rocksdb::EnvOptions& env_options,          \
                const rocksdb::Options& options, const rocksdb::Comparator* comparator,          \
                rocksdb::ColumnFamilyHandle* family, bool invalidates_page_cache,                \
                rocksdb::Env::IOPriority priority, bool skips_filters) {                         \
    EXACTBLOOM_CALL(MakeFileWriterFunction, &function);                                          \
    if (call.core == nullptr) {                                                                  \
      return call.next(writer, env_options, options, comparator, family, invalidates_page_cache, \
                       priority, skips_filters);                                                 \
    }                                                                                            \
    call.core->make_file_writer(call.next, writer, env_options, options, comparator, family,     \
                                invalidates_page_cache, priority, skips_filters);                \
  }
// NOLINTEND(bugprone-macro-parentheses)
#define EXACTBLOOM_FILE_WRITER_NAME(kind, last)                                      \
  "_ZN7rocksdb13SstFileWriter" kind                                                  \
  "ERKNS_10EnvOptionsERKNS_7OptionsEPKNS_10ComparatorEPNS_18ColumnFamilyHandleEbNS_" \
  "3Env10IOPriorityE" last
EXACTBLOOM_FILE_WRITER(exactbloom_file_writer, EXACTBLOOM_FILE_WRITER_NAME("C1", ""))
EXACTBLOOM_FILE_WRITER(exactbloom_base_file_writer, EXACTBLOOM_FILE_WRITER_NAME("C2", ""))
EXACTBLOOM_FILE_WRITER(exactbloom_file_writer_before_11, EXACTBLOOM_FILE_WRITER_NAME("C1", "b"))
EXACTBLOOM_FILE_WRITER(exactbloom_base_file_writer_before_11,
                       EXACTBLOOM_FILE_WRITER_NAME("C2", "b"))

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom(double bits_per_key) {
  EXACTBLOOM_CALL(rocksdb_filterpolicy_t * (double), &rocksdb_filterpolicy_create_bloom);
  return call.core == nullptr ? call.next(bits_per_key) : call.core->new_c_policy(bits_per_key);
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_full(double bits_per_key) {
  EXACTBLOOM_CALL(rocksdb_filterpolicy_t * (double), &rocksdb_filterpolicy_create_bloom_full);
  return call.core == nullptr ? call.next(bits_per_key) : call.core->new_c_policy(bits_per_key);
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon(double bits_per_key) {
  EXACTBLOOM_CALL(rocksdb_filterpolicy_t * (double), &rocksdb_filterpolicy_create_ribbon);
  return call.core == nullptr ? call.next(bits_per_key) : call.core->new_c_policy(bits_per_key);
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_hybrid(double bits_per_key,
                                                                  int bloom_before_level) {
  EXACTBLOOM_CALL(rocksdb_filterpolicy_t * (double, int),
                  &rocksdb_filterpolicy_create_ribbon_hybrid);
  return call.core == nullptr ? call.next(bits_per_key, bloom_before_level)
                              : call.core->new_c_policy(bits_per_key);
}

// exactbloom/c.h: programs in other languages load the object for these.

namespace {

// Calls a function of the core, or hands out why there is none.
template <typename Result, typename... Parameters, typename... Arguments>
Result CallCore(Result (*Core::*function)(Parameters...), char** errptr, Arguments... arguments) {
  const Core* core = LoadedCore(/*brings_rocksdb=*/true);
  if (core != nullptr) return (core->*function)(arguments..., errptr);
  if (errptr == nullptr) return Result();
  constexpr char kText[] = "Not implemented: exactbloom: %s";
  const std::size_t size = sizeof kText + std::strlen(exactbloom::preload::Refusal());
  std::free(*errptr);
  *errptr = static_cast<char*>(std::malloc(size));
  if (*errptr != nullptr) std::snprintf(*errptr, size, kText, exactbloom::preload::Refusal());
  return Result();
}

}  // namespace

const char* exactbloom_version() { return EXACTBLOOM_VERSION; }

void exactbloom_register(char** errptr) { CallCore(&Core::register_policies, errptr); }

rocksdb_filterpolicy_t* exactbloom_filterpolicy_create(const char* policy, char** errptr) {
  return CallCore(&Core::create_policy, errptr, policy);
}

void exactbloom_options_set_filter_policy(rocksdb_options_t* options, const char* policy,
                                          char** errptr) {
  CallCore(&Core::set_policy, errptr, options, policy);
}

void exactbloom_options_add_tree_listener(rocksdb_options_t* options, char** errptr) {
  CallCore(&Core::add_tree_listener, errptr, options);
}

void exactbloom_follow_database(rocksdb_t* db, rocksdb_column_family_handle_t* const* families,
                                size_t count, char** errptr) {
  CallCore(&Core::follow_database, errptr, db, families, count);
}

char* exactbloom_sorted_runs(rocksdb_t* db, char** errptr) {
  return CallCore(&Core::sorted_runs, errptr, db);
}

char* exactbloom_metrics(rocksdb_t* db, const char* budget, char** errptr) {
  return CallCore(&Core::metrics, errptr, db, budget);
}

char* exactbloom_measured_reads(rocksdb_t* db, char** errptr) {
  return CallCore(&Core::measured_reads, errptr, db);
}

void exactbloom_measure_levels(unsigned char on, char** errptr) {
  CallCore(&Core::measure_levels, errptr, on);
}

char* exactbloom_measured_levels(char** errptr) { return CallCore(&Core::measured_levels, errptr); }

void exactbloom_set_memory_budget(const char* name, const char* size, const char* covers,
                                  char** errptr) {
  CallCore(&Core::set_memory_budget, errptr, name, size, covers);
}

char* exactbloom_memory_budget_use(const char* name, char** errptr) {
  return CallCore(&Core::memory_budget_use, errptr, name);
}
