#include "preload_core.h"

#include <optional>

#include "../c_binding/c_policy.h"
#include "../exception_barrier.h"
#include "exactbloom/c.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "exactbloom/version.h"
#include "filled_options.h"
#include "preloaded_policies.h"

extern "C" const exactbloom::preload::Core* exactbloom_preload_core();

namespace exactbloom::preload {
namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::DBOptions;
using rocksdb::FilterPolicy;
using rocksdb::Status;

// RocksDB's open functions call each other, and each call passes through here. Only the outermost
// writes to the info log.
thread_local int open_calls = 0;

class OpenCall {
 public:
  OpenCall() { ++open_calls; }
  ~OpenCall() { --open_calls; }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  bool IsOutermost() const { return open_calls == 1; }
};

// Returns what `fill` returns, or nothing if it throws.
template <typename Fill>
auto TryFill(Fill fill) {
  return ResultOr(std::optional<decltype(fill())>(), fill);
}

// Without memory only lines of the info log are lost.
void TryAnnounce(const DB& db, const Notes& notes) {
  TryFill([&] {
    Announce(db, notes);
    return true;
  });
}

// Calls `open` with filled options. Exceptions that RocksDB or the program throws pass through;
// ours become a Status.
template <typename Options, typename Fill, typename Open, typename Database>
Status OpenFilled(const Options& options, Fill fill, Open open, Database db,
                  const Handles* handles = nullptr) {
  const OpenCall call;
  Notes notes;
  const auto filled = TryFill([&] {
    Options copy = options;
    AddListener(&copy);
    fill(&copy, &notes);
    return copy;
  });
  if (!filled) return Status::MemoryLimit();
  Status status = open(*filled);
  if (!status.ok() || !call.IsOutermost()) return status;
  TryAnnounce(**db, notes);
  if (FollowsTree(Config().policy)) {
    // Without memory it counts from its first flush or compaction on.
    FollowDatabase(&**db, handles == nullptr ? Handles() : *handles).PermitUncheckedError();
  }
  return status;
}

FilterPolicy* NewPolicy(double bits_per_key, Asked asked) {
  auto* policy = new SharedPolicy<FilterPolicy>(PolicyForBits(bits_per_key));
  Count(asked);
  return policy;
}

rocksdb_filterpolicy_t* NewPolicyForC(double bits_per_key) {
  auto* policy = new CPolicy(PolicyForBits(bits_per_key));
  Count(Asked::kC);
  return policy;
}

Status Open(OpenFunction* next, const rocksdb::Options& options, const std::string& path,
            OpenedDatabase db) {
  return OpenFilled(
      options,
      [](rocksdb::Options* filled, Notes* notes) {
        FillFamily(rocksdb::kDefaultColumnFamilyName, filled, notes);
      },
      [&](const rocksdb::Options& filled) { return next(filled, path, db); }, db);
}

// For the functions that take column families: `open` gets them filled.
template <typename Open, typename Database>
Status OpenFilledFamilies(const DBOptions& options, const Families& families, Open open,
                          Database db, const Handles* handles) {
  Families filled_families;
  return OpenFilled(
      options, [&](DBOptions*, Notes* notes) { filled_families = FilledFamilies(families, notes); },
      [&](const DBOptions& filled) { return open(filled, filled_families); }, db, handles);
}

Status OpenFamilies(OpenFamiliesFunction* next, const DBOptions& options, const std::string& path,
                    const Families& families, Handles* handles, OpenedDatabase db) {
  return OpenFilledFamilies(
      options, families,
      [&](const DBOptions& filled, const Families& filled_families) {
        return next(filled, path, filled_families, handles, db);
      },
      db, handles);
}

Status OpenTransactions(OpenTransactionsFunction* next, const DBOptions& options,
                        const rocksdb::TransactionDBOptions& transaction_options,
                        const std::string& path, const Families& families, Handles* handles,
                        rocksdb::TransactionDB** db) {
  return OpenFilledFamilies(
      options, families,
      [&](const DBOptions& filled, const Families& filled_families) {
        return next(filled, transaction_options, path, filled_families, handles, db);
      },
      db, handles);
}

// Calls `create` with what `fill` returns. Does not write to the info log during an open call,
// whose notes cover these column families.
template <typename Fill, typename Create>
Status CreateFilled(const DB& db, Fill fill, Create create) {
  Notes notes;
  const auto filled = TryFill([&] { return fill(&notes); });
  if (!filled) return Status::MemoryLimit();
  Status status = create(*filled);
  if (status.ok() && open_calls == 0) TryAnnounce(db, notes);
  return status;
}

ColumnFamilyOptions FilledOptions(const std::string& name, const ColumnFamilyOptions& options,
                                  Notes* notes) {
  ColumnFamilyOptions filled = options;
  FillFamily(name, &filled, notes);
  return filled;
}

Status CreateFamily(CreateFamilyFunction* next, DB* db, const ColumnFamilyOptions& options,
                    const std::string& name, rocksdb::ColumnFamilyHandle** handle) {
  return CreateFilled(
      *db, [&](Notes* notes) { return FilledOptions(name, options, notes); },
      [&](const ColumnFamilyOptions& filled) { return next(db, filled, name, handle); });
}

Status CreateNamedFamilies(CreateNamedFamiliesFunction* next, DB* db,
                           const ColumnFamilyOptions& options,
                           const std::vector<std::string>& names, Handles* handles) {
  return CreateFilled(
      *db,
      [&](Notes* notes) {
        std::string all;
        for (const std::string& name : names) all.append(all.empty() ? "" : ", ").append(name);
        return FilledOptions(all, options, notes);
      },
      [&](const ColumnFamilyOptions& filled) { return next(db, filled, names, handles); });
}

Status CreateFamilies(CreateFamiliesFunction* next, DB* db, const Families& families,
                      Handles* handles) {
  return CreateFilled(
      *db, [&](Notes* notes) { return FilledFamilies(families, notes); },
      [&](const Families& filled) { return next(db, filled, handles); });
}

// Writes no notes: a file writer has no database and no info log.
void MakeFileWriter(MakeFileWriterFunction* next, rocksdb::SstFileWriter* writer,
                    const rocksdb::EnvOptions& env_options, const rocksdb::Options& options,
                    const rocksdb::Comparator* comparator, rocksdb::ColumnFamilyHandle* family,
                    bool invalidates_page_cache, rocksdb::Env::IOPriority priority,
                    bool skips_filters) {
  const auto filled = TryFill([&] {
    Notes notes;
    rocksdb::Options copy = options;
    copy.comparator = comparator;  // the one that orders the keys, whatever the options have
    FillFamily("", &copy, &notes);
    copy.comparator = options.comparator;
    return copy;
  });
  next(writer, env_options, filled ? *filled : options, comparator, family, invalidates_page_cache,
       priority, skips_filters);
}

// What makes RocksDB's static objects is done here, since forks wait for it.
bool Prepare(bool replaces, ReportFunction* report) {
  ReportTo(report);
  return ResultOr(false, [&] {
    RegisterFilterPolicies();
    if (!replaces) return true;
    ReadVariable();
    ReplaceNames();
    return true;
  });
}

constexpr Core kCore = {EXACTBLOOM_VERSION,
                        sizeof(Core),
                        Prepare,
                        exactbloom_register,
                        exactbloom_filterpolicy_create,
                        exactbloom_options_set_filter_policy,
                        exactbloom_options_add_tree_listener,
                        exactbloom_follow_database,
                        exactbloom_sorted_runs,
                        exactbloom_metrics,
                        exactbloom_measured_reads,
                        exactbloom_measure_levels,
                        exactbloom_measured_levels,
                        exactbloom_set_memory_budget,
                        exactbloom_memory_budget_use,
                        NewPolicy,
                        NewPolicyForC,
                        Open,
                        OpenFamilies,
                        OpenTransactions,
                        CreateFamily,
                        CreateNamedFamilies,
                        CreateFamilies,
                        MakeFileWriter};

}  // namespace
}  // namespace exactbloom::preload

const exactbloom::preload::Core* exactbloom_preload_core() { return &exactbloom::preload::kCore; }
