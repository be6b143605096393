#include "open_database.h"

#include <algorithm>
#include <unordered_set>

namespace exactbloom::tree {
namespace {

// Jobs that end without an event are flushes: one that failed, or was overtaken by closing. Most
// end when their thread begins another.
constexpr std::uint64_t kLaterJobs = 64;

std::unordered_set<std::uint64_t> NumbersOf(const std::vector<LiveFile>& files) {
  std::unordered_set<std::uint64_t> numbers;
  for (const LiveFile& file : files) numbers.insert(file.number);
  return numbers;
}

}  // namespace

void OpenDatabase::Close() {
  is_closed_ = true;
  for (auto& [family_name, family] : families_) family.Use(nullptr);
  jobs_.clear();
  tables_.clear();
  families_.clear();
}

Family* OpenDatabase::Find(const std::string& family) {
  const auto found = families_.find(family);
  return found == families_.end() ? nullptr : &found->second;
}

Family& OpenDatabase::FindOrAdd(const std::string& family) {
  const auto [place, is_new] = families_.try_emplace(family);
  if (is_new) {
    place->second.database = path;
    place->second.name = family;
    place->second.changed = ++changes_;
  }
  return place->second;
}

// Null if the id is that of a family that was dropped.
Family* OpenDatabase::FamilyOf(const std::string& name, std::uint32_t id) {
  Family& family = FindOrAdd(name);
  if (family.id == id) return &family;
  if (family.id && *family.id > id) return nullptr;
  if (family.id) ForgetTables(family);
  // Tables that came with a snapshot may be those of a dropped family, too.
  is_stale = is_stale || family.id || family.held != 0;
  family.id = id;
  return &family;
}

OpenDatabase::Job* OpenDatabase::FindJob(const std::string& family, int job) {
  const auto found = jobs_.find({job, family});
  return found == jobs_.end() ? nullptr : &found->second;
}

const OpenDatabase::Job* OpenDatabase::FindJob(const std::string& family, int job) const {
  return const_cast<OpenDatabase*>(this)->FindJob(family, job);
}

// Null if the job is known already, or its family was dropped.
OpenDatabase::Job* OpenDatabase::BeginJob(const std::string& name, std::uint32_t id, int job,
                                          std::uint64_t thread) {
  Family* const family = FamilyOf(name, id);
  if (family == nullptr || FindJob(name, job) != nullptr) return nullptr;
  for (auto other = jobs_.begin(); other != jobs_.end();) {
    const bool is_lost = other->second.is_flush && begun_jobs_ > other->second.began + kLaterJobs;
    const bool is_over = other->second.thread == thread && other->first.first != job;
    other = is_lost || is_over ? Forget(other) : std::next(other);
  }
  Job& begun = jobs_[{job, name}];
  begun.family = family;
  begun.thread = thread;
  begun.change = ++changes_;
  begun.began = begun_jobs_++;
  return &begun;
}

// Tables that it wrote and that did not become live are none of the tree's.
OpenDatabase::Jobs::iterator OpenDatabase::Forget(Jobs::iterator job) {
  for (const std::uint64_t number : job->second.input_numbers) {
    const auto table = tables_.find(number);
    if (table != tables_.end() && table->second.reader == &job->second) {
      table->second.reader = nullptr;
    }
  }
  for (const std::uint64_t number : job->second.written_numbers) {
    const auto table = tables_.find(number);
    if (table == tables_.end() || table->second.writer != &job->second) continue;
    const State state = table->second.state;
    if (state != State::kLive && state != State::kSuperseded) {
      Forget(table);
    } else {
      table->second.writer = nullptr;
    }
  }
  return jobs_.erase(job);
}

OpenDatabase::Tables::iterator OpenDatabase::Forget(Tables::iterator table) {
  Count(table->second, false);
  return tables_.erase(table);
}

void OpenDatabase::ForgetTables(const Family& family) {
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    job = job->second.family == &family ? Forget(job) : std::next(job);
  }
  for (auto table = tables_.begin(); table != tables_.end();) {
    table = table->second.family == &family ? Forget(table) : std::next(table);
  }
}

void OpenDatabase::Count(const Table& table, bool is_added) {
  const auto add = [is_added](TableSum& sum, const TableSum& part) {
    is_added ? sum.Add(part) : sum.Subtract(part);
  };
  const TableSum one{1, table.keys, table.filter_bytes};
  const bool counts = table.state != State::kSuperseded && table.state != State::kDeleted;
  if (counts) {
    Family& family = *table.family;
    const auto change = [&](std::uint64_t& held) {
      is_added ? held += table.filter_bytes : held -= std::min(held, table.filter_bytes);
    };
    change(family.held);
    if (family.budget != nullptr) change(family.budget->held);
  }
  if (table.state == State::kWritten) {
    add(table.writer != nullptr ? table.writer->written : table.family->unreported, one);
  }
  if (table.state != State::kLive || table.filter_bytes == 0) return;
  const auto run = ClassOf(table.level, table.keys);
  for (RunSums* sums :
       {&table.family->runs, table.reader == nullptr ? nullptr : &table.reader->inputs}) {
    if (sums == nullptr) continue;
    TableSum& sum = (*sums)[run];
    add(sum, one);
    if (sum.tables == 0) sums->erase(run);
  }
}

void OpenDatabase::Learn(Table& table, const std::optional<TableFacts>& facts) {
  if (!facts || table.has_facts) return;
  Alter(table, [&](Table& known) {
    known.keys = facts->keys;
    known.filter_bytes = facts->filter_bytes;
    known.has_facts = true;
  });
}

// The file is part of the tree, unless something newer is known of it.
void OpenDatabase::Install(Family& family, const LiveFile& file) {
  const auto [place, is_new] = tables_.try_emplace(file.number);
  Table& table = place->second;
  if (is_new) table.family = &family;
  if (is_new) Count(table, true);
  Learn(table, file.facts);
  if (table.state != State::kBuilding && table.state != State::kWritten) return;
  Alter(table, [&](Table& installed) {
    installed.state = State::kLive;
    installed.level = file.level;
  });
}

void OpenDatabase::BeginFlush(const std::string& family, std::uint32_t id, int job,
                              std::uint64_t thread) {
  Job* const begun = BeginJob(family, id, job, thread);
  if (begun != nullptr) begun->is_flush = true;
}

void OpenDatabase::BeginCompaction(const std::string& family, std::uint32_t id, int job,
                                   std::uint64_t thread, int first_level, int output_level,
                                   const std::vector<LiveFile>& inputs) {
  Job* const begun = BeginJob(family, id, job, thread);
  if (begun == nullptr) return;
  begun->output_level = output_level;
  for (const LiveFile& input : inputs) {
    Install(*begun->family, input);
    Table& table = tables_.at(input.number);
    if (table.state != State::kLive) continue;
    // CompactRange with change_level moves tables without an event if it has none to rewrite.
    is_stale = is_stale || table.level < first_level || table.level > output_level;
    Alter(table, [&](Table& taken) { taken.reader = begun; });
    begun->keys += table.keys;
    begun->input_numbers.push_back(input.number);
  }
}

void OpenDatabase::EndJob(const std::string& name, std::uint32_t id, int job,
                          const std::vector<LiveFile>& inputs,
                          const std::vector<LiveFile>& outputs) {
  Family* const family = FamilyOf(name, id);
  if (family == nullptr) return;
  const auto known = jobs_.find({job, name});
  if (known == jobs_.end()) is_stale = true;
  const std::unordered_set<std::uint64_t> in = NumbersOf(inputs);
  const std::unordered_set<std::uint64_t> out = NumbersOf(outputs);
  std::uint64_t keys_of_level0 = 0;
  std::uint64_t moved_keys = 0;
  for (const LiveFile& input : inputs) {
    // The snapshot that is being read may list it.
    if (is_being_read) Install(*family, input);
    const auto table = tables_.find(input.number);
    if (table == tables_.end()) continue;
    const bool is_moved = out.count(input.number) != 0;
    if (table->second.level == 0) {
      keys_of_level0 += table->second.keys;
      if (is_moved) moved_keys += table->second.keys;
    }
    Alter(table->second, [&](Table& ended) {
      if (!is_moved) ended.state = State::kSuperseded;
    });
  }
  for (const LiveFile& output : outputs) {
    Install(*family, output);
    Table& table = tables_.at(output.number);
    const bool is_flush = known != jobs_.end() && known->second.is_flush;
    if (is_flush && table.keys != 0) {
      const std::uint64_t before = family->flushed_keys;
      family->flushed_keys = before == 0 ? table.keys : (before + table.keys) / 2;
    }
    // Tables move down only, except by CompactRange with change_level, after which there is a
    // snapshot.
    if (table.state == State::kLive && table.level < output.level && in.count(output.number) != 0) {
      Alter(table, [&](Table& lower) { lower.level = output.level; });
    }
  }
  if (keys_of_level0 != 0) {
    family->moved_part = (family->moved_part + Real(moved_keys) / Real(keys_of_level0)) / 2.0;
  }
  if (known != jobs_.end()) Forget(known);
}

void OpenDatabase::CancelJob(const std::string& family, int job) {
  const auto known = jobs_.find({job, family});
  if (known != jobs_.end()) Forget(known);
}

void OpenDatabase::BeginTable(const std::string& family, int job, std::uint64_t number, int level) {
  const auto [place, is_new] = tables_.try_emplace(number);
  if (!is_new) return;
  Table& table = place->second;
  table.family = &FindOrAdd(family);
  table.level = level;
  table.writer = FindJob(family, job);
  if (table.writer != nullptr) table.writer->written_numbers.push_back(number);
  table.changed = ++changes_;
}

void OpenDatabase::SetFilter(std::uint64_t number, std::uint64_t bytes, bool ribbon) {
  const auto table = tables_.find(number);
  if (table == tables_.end() || table->second.state != State::kBuilding) return;
  Alter(table->second, [&](Table& building) {
    building.filter_bytes = bytes;
    building.ribbon = ribbon;
  });
}

void OpenDatabase::FinishTable(const std::string& family, int job, std::uint64_t number,
                               const rocksdb::TableProperties& properties) {
  BeginTable(family, job, number, 0);
  Table& table = tables_.at(number);
  if (table.state == State::kDeleted) return;
  const auto id = static_cast<std::uint32_t>(properties.column_family_id);
  const bool is_of_dropped = table.family->id && *table.family->id > id;
  if (is_of_dropped) return AbandonTable(number);
  const TableFacts facts = TableFacts::Of(properties);
  Alter(table, [&](Table& finished) {
    finished.keys = facts.keys;
    finished.filter_bytes = facts.filter_bytes;
    finished.has_facts = true;
    if (finished.state == State::kBuilding) finished.state = State::kWritten;
  });
  is_stale = is_stale || table.writer == nullptr;
}

void OpenDatabase::AbandonTable(std::uint64_t number) {
  const auto table = tables_.find(number);
  if (table != tables_.end() && table->second.state <= State::kWritten) Forget(table);
}

// The job that wrote it has still to report it, perhaps, and a snapshot that is being read may list
// it.
void OpenDatabase::DeleteTable(std::uint64_t number) {
  auto table = tables_.find(number);
  if (table == tables_.end()) {
    if (!is_being_read) return;
    table = tables_.try_emplace(number).first;
    table->second.state = State::kDeleted;
  }
  if (table->second.writer == nullptr && !is_being_read) {
    Forget(table);
  } else {
    Alter(table->second, [](Table& deleted) { deleted.state = State::kDeleted; });
  }
}

bool OpenDatabase::Knows(std::uint64_t number) const {
  const auto table = tables_.find(number);
  return table != tables_.end() && table->second.has_facts;
}

}  // namespace exactbloom::tree
