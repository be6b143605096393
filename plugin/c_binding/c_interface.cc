#include <cstdlib>
#include <cstring>
#include <exception>
#include <locale>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "../bloom_filter_policy.h"
#include "../policy_options.h"
#include "c_policy.h"
#include "exactbloom/c.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/measured_reads.h"
#include "exactbloom/memory_budget.h"
#include "exactbloom/metrics.h"
#include "exactbloom/tree_listener.h"
#include "exactbloom/version.h"

namespace {

using ROCKSDB_NAMESPACE::Status;

// Replaces *errptr, as RocksDB's C interface does. When memory is too short for the text, *errptr
// becomes null; callers also check the result.
void SetError(const char* error, char** errptr) {
  if (errptr == nullptr) return;
  std::free(*errptr);
  *errptr = strdup(error);
}

// Runs `make`, which returns a status, and reports its error or exception.
template <typename Make>
void Report(char** errptr, const Make& make) {
  try {
    const Status status = make();
    if (!status.ok()) SetError(status.ToString().c_str(), errptr);
  } catch (const std::bad_alloc&) {
    SetError("exactbloom: out of memory", errptr);
  } catch (const std::exception& error) {
    SetError(error.what(), errptr);
  } catch (...) {
    SetError("exactbloom: unknown exception", errptr);
  }
}

// Returns the text that `write` makes, in memory that the caller frees, or null and an error.
template <typename Write>
char* WriteLines(char** errptr, const Write& write) {
  char* text = nullptr;
  Report(errptr, [&] {
    std::ostringstream lines;
    lines.exceptions(std::ios_base::badbit);
    lines.imbue(std::locale::classic());
    Status status = write(lines);
    if (!status.ok()) return status;
    text = strdup(lines.str().c_str());
    return text != nullptr ? status : Status::MemoryLimit();
  });
  return text;
}

std::ostream& operator<<(std::ostream& line, const exactbloom::FilterAnswers& answers) {
  return line << answers.denied << ' ' << answers.passed << ' ' << answers.found << ' '
              << answers.FalsePositiveRate() << '\n';
}

}  // namespace

const char* exactbloom_version() { return EXACTBLOOM_VERSION; }

// Without memory the names stay unknown, and RocksDB refuses them when it reads them.
void exactbloom_register() {
  try {
    exactbloom::RegisterFilterPolicies();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

rocksdb_filterpolicy_t* exactbloom_filterpolicy_create(const char* policy, char** errptr) {
  rocksdb_filterpolicy_t* made = nullptr;
  Report(errptr, [&] {
    if (policy == nullptr) return Status::InvalidArgument("exactbloom: the filter policy is NULL");
    exactbloom::PolicyOptions options;
    Status status = exactbloom::ParsePolicy(policy, &options);
    if (status.ok()) {
      made = new exactbloom::CPolicy(std::make_shared<exactbloom::BloomFilterPolicy>(options));
    }
    return status;
  });
  return made;
}

void exactbloom_options_set_filter_policy(rocksdb_options_t* options, const char* policy,
                                          char** errptr) {
  Report(errptr, [&] {
    if (options == nullptr) return Status::InvalidArgument("exactbloom: the options are NULL");
    if (policy == nullptr) return Status::InvalidArgument("exactbloom: the filter policy is NULL");
    return exactbloom::SetFilterPolicy(&options->rep, policy);
  });
}

void exactbloom_options_add_tree_listener(rocksdb_options_t* options, char** errptr) {
  Report(errptr, [&] {
    if (options == nullptr) return Status::InvalidArgument("exactbloom: the options are NULL");
    options->rep.listeners.push_back(exactbloom::NewTreeListener());
    return Status::OK();
  });
}

void exactbloom_follow_database(rocksdb_t* db, rocksdb_column_family_handle_t* const* families,
                                size_t count, char** errptr) {
  Report(errptr, [&] {
    if (db == nullptr) return Status::InvalidArgument("exactbloom: the database is NULL");
    std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*> handles;
    for (size_t i = 0; i < count; ++i) {
      // The first member in every version of RocksDB; others were added.
      handles.push_back(
          *reinterpret_cast<ROCKSDB_NAMESPACE::ColumnFamilyHandle* const*>(families[i]));
    }
    return exactbloom::FollowDatabase(db->rep, handles);
  });
}

char* exactbloom_metrics(rocksdb_t* db, const char* budget, char** errptr) {
  return WriteLines(errptr, [&](std::ostream& lines) {
    if (db == nullptr) return Status::InvalidArgument("exactbloom: the database is NULL");
    std::vector<std::string> budgets;
    if (budget != nullptr) budgets.emplace_back(budget);
    lines << exactbloom::GetMetrics(*db->rep, budgets);
    return Status::OK();
  });
}

char* exactbloom_sorted_runs(rocksdb_t* db, char** errptr) {
  return WriteLines(errptr, [&](std::ostream& lines) {
    if (db == nullptr) return Status::InvalidArgument("exactbloom: the database is NULL");
    for (const exactbloom::SortedRuns& runs : exactbloom::GetSortedRuns(*db->rep)) {
      lines << runs.column_family << ' ' << runs.level << ' ' << runs.runs << ' ' << runs.tables
            << ' ' << runs.keys << ' ' << runs.filter_bytes
            << (runs.ribbon ? " ribbon " : " bloom ") << runs.wasted_reads << '\n';
    }
    return Status::OK();
  });
}

char* exactbloom_measured_reads(rocksdb_t* db, char** errptr) {
  return WriteLines(errptr, [&](std::ostream& lines) {
    if (db == nullptr) return Status::InvalidArgument("exactbloom: the database is NULL");
    const auto statistics = db->rep->GetDBOptions().statistics;
    if (statistics == nullptr) {
      return Status::InvalidArgument(
          "exactbloom: the database has no statistics (rocksdb_options_enable_statistics)");
    }
    const exactbloom::MeasuredReads reads = exactbloom::MeasureReads(*statistics);
    lines << "keys " << reads.keys << "prefixes " << reads.prefixes << "seeks " << reads.seeks
          << "lookups " << reads.lookups << ' ' << reads.absent << ' ' << reads.WastedReads()
          << '\n';
    return Status::OK();
  });
}

void exactbloom_measure_levels(unsigned char on, char** errptr) {
  Report(errptr, [&] {
    ROCKSDB_NAMESPACE::PerfContext& context = *ROCKSDB_NAMESPACE::get_perf_context();
    on != 0 ? context.EnablePerLevelPerfContext() : context.DisablePerLevelPerfContext();
    return Status::OK();
  });
}

char* exactbloom_measured_levels(char** errptr) {
  return WriteLines(errptr, [](std::ostream& lines) {
    for (const exactbloom::MeasuredLevel& level : exactbloom::MeasureLevels()) {
      lines << level.level << ' ' << level.answers;
    }
    return Status::OK();
  });
}

void exactbloom_set_memory_budget(const char* name, const char* size, char** errptr) {
  Report(errptr, [&] {
    if (name == nullptr) return Status::InvalidArgument("exactbloom: the budget's name is NULL");
    if (size == nullptr) return Status::InvalidArgument("exactbloom: the budget's size is NULL");
    return exactbloom::SetMemoryBudget(name, size);
  });
}

char* exactbloom_memory_budget_use(const char* name, char** errptr) {
  return WriteLines(errptr, [&](std::ostream& lines) {
    if (name == nullptr) return Status::InvalidArgument("exactbloom: the budget's name is NULL");
    const exactbloom::MemoryBudgetUse use = exactbloom::GetMemoryBudgetUse(name);
    lines << "bound " << use.bound << "\nused " << use.used << '\n';
    for (const auto& family : use.families) {
      lines << family.filter_bytes << ' ' << family.tables_without_filter << ' '
            << family.column_family << ' ' << family.database << '\n';
    }
    return Status::OK();
  });
}
