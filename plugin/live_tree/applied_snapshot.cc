// What a snapshot changes in what is known of a database.
#include <algorithm>
#include <unordered_set>

#include "open_database.h"

namespace exactbloom::tree {
namespace {

// Before the keys of any table are known.
constexpr double kKeysPerByte = 0.01;

}  // namespace

// Keys and filter bytes that are not known follow from those of other tables: keys by the bytes of
// all, since RocksDB opens only some tables; filters by a sample of the same level, since each run
// has its own bits per key. The tables that jobs have read are no sample of their level.
void OpenDatabase::ApplyFamily(Family& family, const std::vector<Snapshot::File>& files,
                               const Snapshot& snapshot) {
  struct Known {
    double keys = 0.0;
    double of_keys = 0.0;  // bytes
    double filters = 0.0;
    double of_filters = 0.0;  // keys
  };
  bool is_sampled = false;
  Known all;
  std::map<int, Known> levels;
  for (const Snapshot::File& file : files) {
    const auto facts = snapshot.facts.find(file.number);
    LiveFile live{file.number, file.level, std::nullopt};
    if (facts != snapshot.facts.end()) {
      live.facts = facts->second;
      is_sampled = true;
    }
    const auto known = tables_.find(file.number);
    if (known != tables_.end() && known->second.changed > snapshot.began) {
      Learn(known->second, live.facts);
      continue;
    }
    Install(family, live);
    Table& table = tables_.at(file.number);
    table.missed = 0;
    if (table.state == State::kLive && table.level != file.level) {
      Alter(table, [&](Table& moved) { moved.level = file.level; });
    }
    table.changed = ++changes_;
    const double keys = table.has_facts ? Real(table.keys) : Real(file.entries);
    if (keys == 0.0) continue;
    all.keys += keys;
    all.of_keys += Real(file.bytes);
    if (!table.has_facts) continue;
    levels[file.level].filters += Real(table.filter_bytes);
    levels[file.level].of_filters += keys;
  }
  for (const Snapshot::File& file : files) {
    Table& table = tables_.at(file.number);
    if (table.has_facts) continue;
    const double keys_per_byte = all.of_keys > 0.0 ? all.keys / all.of_keys : kKeysPerByte;
    const double keys = file.entries != 0 ? Real(file.entries) : keys_per_byte * Real(file.bytes);
    const Known& level = levels[file.level];
    double bytes_per_key = family.bits_per_key / 8.0;
    if (is_sampled && level.of_filters > 0.0) {
      bytes_per_key = level.filters / level.of_filters;
    } else if (table.keys != 0) {
      bytes_per_key = Real(table.filter_bytes) / Real(table.keys);
    }
    Alter(table, [&](Table& estimated) {
      estimated.keys = static_cast<std::uint64_t>(keys);
      estimated.filter_bytes = static_cast<std::uint64_t>(bytes_per_key * keys);
    });
  }
}

void OpenDatabase::Apply(const Snapshot& snapshot) {
  std::unordered_set<std::uint64_t> being_compacted;
  std::unordered_set<std::uint64_t> listed;
  for (const auto& [name, files] : snapshot.families) {
    for (const Snapshot::File& file : files) {
      listed.insert(file.number);
      if (file.is_being_compacted) being_compacted.insert(file.number);
    }
    ApplyFamily(FindOrAdd(name), files, snapshot);
  }
  for (auto table = tables_.begin(); table != tables_.end();) {
    const State state = table->second.state;
    const bool is_deleted = state == State::kDeleted && table->second.writer == nullptr;
    const bool is_unlisted =
        table->second.changed <= snapshot.began && listed.count(table->first) == 0;
    // A table of a job without events may be installed after the snapshot.
    const bool is_lost = state == State::kWritten && table->second.writer == nullptr &&
                         is_unlisted && ++table->second.missed > 1;
    const bool is_gone = (state == State::kLive || state == State::kSuperseded) && is_unlisted;
    table = is_deleted || is_lost || is_gone ? Forget(table) : std::next(table);
  }
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const std::vector<std::uint64_t>& inputs = job->second.input_numbers;
    const bool is_over = !inputs.empty() && job->second.change <= snapshot.began &&
                         being_compacted.count(inputs.front()) == 0;
    job = is_over ? Forget(job) : std::next(job);
  }
  for (auto family = families_.begin(); family != families_.end();) {
    const bool is_dropped =
        snapshot.families.count(family->first) == 0 && family->second.changed <= snapshot.began;
    if (!is_dropped) {
      ++family;
      continue;
    }
    ForgetTables(family->second);
    family->second.Use(nullptr);
    family = families_.erase(family);
  }
  // The tables of the first job tell how many keys there are in a byte.
  is_stale = is_stale || !is_loaded;
  is_loaded = true;
}

}  // namespace exactbloom::tree
