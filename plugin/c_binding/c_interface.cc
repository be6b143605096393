#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
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
#include "json_object.h"

namespace {

using exactbloom::JsonObject;
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
char* ReturnText(char** errptr, const Write& write) {
  char* returned = nullptr;
  Report(errptr, [&] {
    std::string text;
    Status status = write(&text);
    if (!status.ok()) return status;
    returned = strdup(text.c_str());
    return returned != nullptr ? status : Status::MemoryLimit();
  });
  return returned;
}

JsonObject Json(const exactbloom::SortedRuns& runs) {
  JsonObject object;
  object.AddBytes("column_family", runs.column_family);
  object.AddNumber("level", runs.level);
  object.AddNumber("runs", runs.runs);
  object.AddNumber("tables", runs.tables);
  object.AddNumber("keys", runs.keys);
  object.AddNumber("filter_bytes", runs.filter_bytes);
  if (runs.filter_bytes == 0) {
    object.AddNull("filter");
  } else {
    object.AddText("filter", runs.ribbon ? "exact_ribbon" : "exact_bloom");
  }
  object.AddNumber("wasted_per_1000", runs.wasted_per_1000);
  return object;
}

void AddAnswers(const exactbloom::FilterAnswers& answers, JsonObject* object) {
  object->AddNumber("denied", answers.denied);
  object->AddNumber("passed", answers.passed);
  object->AddNumber("found", answers.found);
  object->AddNumber("false_positive_rate", answers.FalsePositiveRate());
}

JsonObject Json(const exactbloom::FilterAnswers& answers) {
  JsonObject object;
  AddAnswers(answers, &object);
  return object;
}

JsonObject Json(const exactbloom::MeasuredReads& reads) {
  JsonObject object;
  object.AddObject("keys", Json(reads.keys));
  object.AddObject("prefixes", Json(reads.prefixes));
  object.AddObject("seeks", Json(reads.seeks));
  object.AddNumber("lookups", reads.lookups);
  object.AddNumber("found", reads.found);
  object.AddNumber("wasted_per_1000", reads.WastedPer1000());
  return object;
}

JsonObject Json(const exactbloom::MeasuredLevel& level) {
  JsonObject object;
  object.AddNumber("level", level.level);
  AddAnswers(level.answers, &object);
  return object;
}

JsonObject Json(const exactbloom::MemoryBudgetUse::Family& family) {
  JsonObject object;
  object.AddBytes("database", family.database);
  object.AddBytes("column_family", family.column_family);
  object.AddNumber("filter_bytes", family.filter_bytes);
  object.AddNumber("index_bytes", family.index_bytes);
  object.AddNumber("tables_without_filter", family.tables_without_filter);
  return object;
}

template <typename Items>
std::vector<JsonObject> JsonOfEach(const Items& items) {
  std::vector<JsonObject> objects;
  objects.reserve(items.size());
  for (const auto& item : items) objects.push_back(Json(item));
  return objects;
}

}  // namespace

const char* exactbloom_version() { return EXACTBLOOM_VERSION; }

void exactbloom_register(char** errptr) {
  Report(errptr, [] {
    exactbloom::RegisterFilterPolicies();
    return Status::OK();
  });
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
    if (!exactbloom::HasTreeListener(options->rep)) exactbloom::PutTreeListener(&options->rep);
    return Status::OK();
  });
}

void exactbloom_follow_database(rocksdb_t* db, rocksdb_column_family_handle_t* const* families,
                                size_t count, char** errptr) {
  Report(errptr, [&] {
    if (db == nullptr) return Status::InvalidArgument("exactbloom: the database is NULL");
    if (families == nullptr && count != 0) {
      return Status::InvalidArgument("exactbloom: the column families are NULL");
    }
    std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*> handles;
    for (size_t i = 0; i < count; ++i) {
      if (families[i] == nullptr) {
        return Status::InvalidArgument("exactbloom: a column family is NULL");
      }
      // The first member in every version of RocksDB; others were added.
      handles.push_back(
          *reinterpret_cast<ROCKSDB_NAMESPACE::ColumnFamilyHandle* const*>(families[i]));
    }
    return exactbloom::FollowDatabase(db->rep, handles);
  });
}

char* exactbloom_metrics(rocksdb_t* db, const char* budget, char** errptr) {
  return ReturnText(errptr, [&](std::string* text) {
    if (db == nullptr) return Status::InvalidArgument("exactbloom: the database is NULL");
    std::vector<std::string> budgets;
    if (budget != nullptr) budgets.emplace_back(budget);
    *text = exactbloom::GetMetrics(*db->rep, budgets);
    return Status::OK();
  });
}

char* exactbloom_sorted_runs(rocksdb_t* db, char** errptr) {
  return ReturnText(errptr, [&](std::string* text) {
    if (db == nullptr) return Status::InvalidArgument("exactbloom: the database is NULL");
    JsonObject object;
    object.AddArray("sorted_runs", JsonOfEach(exactbloom::GetSortedRuns(*db->rep)));
    *text = object.Text();
    return Status::OK();
  });
}

char* exactbloom_measured_reads(rocksdb_t* db, char** errptr) {
  return ReturnText(errptr, [&](std::string* text) {
    if (db == nullptr) return Status::InvalidArgument("exactbloom: the database is NULL");
    const auto statistics = db->rep->GetDBOptions().statistics;
    if (statistics == nullptr) {
      return Status::InvalidArgument(
          "exactbloom: the database has no statistics (rocksdb_options_enable_statistics)");
    }
    *text = Json(exactbloom::MeasureReads(*statistics)).Text();
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
  return ReturnText(errptr, [](std::string* text) {
    JsonObject object;
    object.AddArray("levels", JsonOfEach(exactbloom::MeasureLevels()));
    *text = object.Text();
    return Status::OK();
  });
}

void exactbloom_set_memory_budget(const char* name, const char* size, const char* covers,
                                  char** errptr) {
  Report(errptr, [&] {
    if (name == nullptr) return Status::InvalidArgument("exactbloom: the budget's name is NULL");
    if (size == nullptr) return Status::InvalidArgument("exactbloom: the budget's size is NULL");
    if (covers == nullptr) return exactbloom::SetMemoryBudget(name, size);
    const auto covered = exactbloom::ReadCovers(covers);
    if (covered) return exactbloom::SetMemoryBudget(name, size, covered);
    return Status::InvalidArgument(std::string("exactbloom: covers is '") + covers +
                                   "', but must be filters or filters_and_indexes");
  });
}

char* exactbloom_memory_budget_use(const char* name, char** errptr) {
  return ReturnText(errptr, [&](std::string* text) {
    if (name == nullptr) return Status::InvalidArgument("exactbloom: the budget's name is NULL");
    const exactbloom::MemoryBudgetUse use = exactbloom::GetMemoryBudgetUse(name);
    JsonObject object;
    if (use.bound_bytes == 0) {
      object.AddNull("bound_bytes");
    } else {
      object.AddNumber("bound_bytes", use.bound_bytes);
    }
    object.AddNumber("used_bytes", use.used_bytes);
    object.AddText("covers", exactbloom::FormatCovers(use.covers));
    object.AddNumber("index_bytes", use.index_bytes);
    object.AddArray("column_families", JsonOfEach(use.families));
    *text = object.Text();
    return Status::OK();
  });
}
