#include "table_events.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace exactbloom::tool {
namespace {

using nlohmann::json;

// 0 if the object has no such number.
std::uint64_t NumberIn(const json& object, const std::string& name) {
  const auto value = object.find(name);
  return value != object.end() && value->is_number_unsigned() ? value->get<std::uint64_t>() : 0;
}

std::string TextIn(const json& object, const std::string& name) {
  const auto value = object.find(name);
  return value != object.end() && value->is_string() ? value->get<std::string>() : "";
}

// The text of the line behind `title`, up to `end`; empty if it has none.
std::string Between(const std::string& line, std::string_view title, std::string_view end) {
  const std::size_t begin = line.find(title);
  if (begin == std::string::npos) return "";
  const std::string text = line.substr(begin + title.size());
  return text.substr(0, text.rfind(end));
}

// "8 to level-1 1232274" of "[default] Moving #8 to level-1 1232274 bytes", which from RocksDB 10.8
// on is "Moved #8 ..."; "Moved #1 files to level-1 ..." is not of one table.
std::string MoveIn(const std::string& line) {
  std::string move = Between(line, "] Moving #", " bytes");
  if (move.empty()) move = Between(line, "] Moved #", " bytes");
  return move.find(" files ") == std::string::npos ? move : "";
}

// Whether a status at the end of a line is OK. RocksDB cuts long lines, and what is not known of a
// status is taken as OK.
bool IsOk(std::string_view status) {
  constexpr std::string_view kOk = "OK";
  return status.substr(0, kOk.size()) == kOk.substr(0, status.size());
}

// "Shutdown in progress: Database shutdown" of "[default] compacted to: files[4 0], ...,
// read-write-amplify(1.1) write-amplify(0.1) Shutdown in progress: Database shutdown, records in:
// 240000, ..."; empty if the line is cut before it.
std::string StatusOfCompaction(const std::string& line) {
  const std::string text = Between(line, " write-amplify(", ", records in: ");
  const std::size_t place = text.find(") ");
  return place == std::string::npos ? "" : text.substr(place + 2);
}

// The second word of a line. Lines of a thread are in order, those of several are mixed.
std::string ThreadOf(const std::string& line) {
  const std::size_t begin = line.find(' ') + 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

// The place behind "[db/flush_job.cc:901] " of a line; 0 if it names no source.
std::size_t EndOfSource(const std::string& line) {
  constexpr std::string_view kFile = ".cc:";
  const std::size_t file = line.find(kFile);
  if (file == std::string::npos) return 0;
  const std::size_t end = line.find_first_not_of("0123456789", file + kFile.size());
  return end != std::string::npos && line.compare(end, 2, "] ") == 0 ? end + 2 : 0;
}

std::uint64_t NumberOf(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, /*base=*/10);
}

// "1.25 MB", as RocksDB writes the bytes of a level.
double BytesOf(double number, const std::string& unit) {
  constexpr std::string_view kUnits = "KMGTP";
  constexpr double kStep = 1024.0;
  const std::size_t place = unit.empty() ? std::string::npos : kUnits.find(unit.front());
  return place == std::string::npos ? number
                                    : number * std::pow(kStep, static_cast<double>(place + 1));
}

TableFilter FilterOf(const json& event) {
  const json& properties = event.at("table_properties");
  TableFilter filter;
  filter.column_family = TextIn(event, "cf_name");
  filter.file_bytes = NumberIn(event, "file_size");
  filter.entries = NumberIn(properties, "num_entries");
  filter.range_deletes = NumberIn(properties, "num_range_deletions");
  filter.filter_keys = NumberIn(properties, "num_filter_entries");
  if (filter.filter_keys == 0) filter.filter_keys = filter.PointEntries();
  filter.bytes = NumberIn(properties, "filter_size");
  filter.index_bytes = NumberIn(properties, "index_size");
  filter.data_blocks = NumberIn(properties, "num_data_blocks");
  filter.policy = TextIn(properties, "filter_policy");
  filter.prefix_extractor = TextIn(properties, "prefix_extractor_name");
  if (filter.prefix_extractor == "nullptr") filter.prefix_extractor.clear();
  return filter;
}

}  // namespace

void TableEvents::Read(const std::string& line) {
  constexpr std::string_view kEvent = "EVENT_LOG_v1 ";
  if (const std::size_t place = line.find(kEvent); place != std::string::npos) {
    const json event =
        json::parse(line.begin() + static_cast<std::ptrdiff_t>(place + kEvent.size()), line.end(),
                    nullptr, /*allow_exceptions=*/false);
    if (event.is_object()) ReadEvent(event, ThreadOf(line));
  } else if (line.find("Recovering from manifest file: ") != std::string::npos) {
    ForgetJobs();
  } else if (const std::string tables = Between(line, " dir, Total Num: ", ", files:");
             !tables.empty()) {
    at_opening_ = NumberOf(tables);
  } else if (const std::string move = MoveIn(line); !move.empty()) {
    MoveTable(move, ThreadOf(line));
  } else if (const std::string moves = Between(line, "] Moved #", ": files["); !moves.empty()) {
    FinishMoves(moves, ThreadOf(line));
  } else if (line.find("] [JOB ") != std::string::npos) {
    NameJob(line);
    ReadFlush(Between(line, "] Level-0 flush table #", ""));
  } else if (const std::string commit = Between(line, "Level-0 commit table #", "");
             !commit.empty()) {
    if (commit.find(" failed", commit.find(": memtable #")) != std::string::npos) {
      tables_.erase(NumberOf(commit));
    }
  } else if (line.find("] compacted to: ") != std::string::npos) {
    threads_[ThreadOf(line)].compaction_failed = !IsOk(StatusOfCompaction(line));
  } else if (const std::string old_id = Between(line, "Dropped column family with id ", "");
             !old_id.empty()) {
    Drop(family_of_id_[NumberOf(old_id)]);
  } else if (const std::string new_id = Between(line, "] (ID ", ")"); !new_id.empty()) {
    family_of_id_[NumberOf(new_id)] = Between(line, "olumn family [", "] (ID ");
  } else {
    ReadStatistics(line);
  }
}

void TableEvents::ReadEvent(const json& event, const std::string& thread) {
  const std::string name = TextIn(event, "event");
  const int job = static_cast<int>(NumberIn(event, "job"));
  if (name == "table_file_creation" && event.contains("table_properties")) {
    AddTable(event);
  } else if (name == "table_file_deletion") {
    tables_.erase(NumberIn(event, "file_number"));
  } else if (name == "compaction_started") {
    Job& compaction = jobs_[job];
    compaction.compacts = true;
    compaction.inputs.clear();
    for (const auto& [key, value] : event.items()) {
      if (key.rfind("files_L", 0) != 0 || !value.is_array()) continue;
      for (const json& number : value) {
        if (number.is_number_unsigned()) compaction.inputs.push_back(number.get<std::uint64_t>());
      }
    }
  } else if (name == "compaction_finished") {
    FinishCompaction(event, std::exchange(threads_[thread].compaction_failed, false));
  }
  const auto state = event.find("lsm_state");
  if (state == event.end() || !state->is_array() || jobs_[job].is_of_several) return;
  std::map<int, LevelSize> levels;
  for (std::size_t level = 0; level < state->size(); ++level) {
    const json& tables = (*state)[level];
    if (tables.is_number_unsigned()) {
      levels[static_cast<int>(level)].tables = tables.get<std::uint64_t>();
    }
  }
  CountUnknown(jobs_[job].column_family, levels, /*has_bytes=*/false);
}

// Of a table that could not be written, or has nothing, there is an event, too; RocksDB 7.8 and 8
// give it no status.
void TableEvents::AddTable(const json& event) {
  if (NumberIn(event, "file_size") == 0 || !IsOk(TextIn(event, "status"))) return;
  LoggedTable table;
  table.column_family = TextIn(event, "cf_name");
  table.job = static_cast<int>(NumberIn(event, "job"));
  family_of_id_[NumberIn(event.at("table_properties"), "column_family_id")] = table.column_family;
  table.filter = FilterOf(event);
  table.is_installed = !jobs_[table.job].compacts;
  tables_[NumberIn(event, "file_number")] = std::move(table);
}

// RocksDB logs the same event of a compaction that failed: its inputs stay, its outputs go.
void TableEvents::FinishCompaction(const json& event, bool failed) {
  const int number = static_cast<int>(NumberIn(event, "job"));
  Job& job = jobs_[number];
  if (!failed) {
    for (const std::uint64_t input : job.inputs) tables_.erase(input);
  }
  job.inputs.clear();
  job.compacts = false;
  for (auto place = tables_.begin(); place != tables_.end();) {
    LoggedTable& table = place->second;
    const bool is_output = !table.is_installed && table.job == number;
    if (is_output && failed) {
      place = tables_.erase(place);
      continue;
    }
    if (is_output) {
      table.is_installed = true;
      table.level = static_cast<int>(NumberIn(event, "output_level"));
    }
    ++place;
  }
}

// "TIME THREAD [db/flush_job.cc:901] [default] [JOB 5] Flushing memtable with next log file: 7";
// other lines of a job, such as "[db/db_impl.cc:109] [JOB 5] Syncing log #6", have no family.
void TableEvents::NameJob(const std::string& line) {
  constexpr std::string_view kJob = "] [JOB ";
  const std::size_t source = EndOfSource(line);
  const std::size_t end = line.find(kJob, source);
  if (end == std::string::npos) return;
  const std::size_t begin = source != 0 ? source : line.rfind('[', end);
  if (begin == std::string::npos || line[begin] != '[') return;
  const std::string family = line.substr(begin + 1, end - begin - 1);
  Job& job = jobs_[std::atoi(line.c_str() + end + kJob.size())];
  job.is_of_several =
      job.is_of_several || (!job.column_family.empty() && job.column_family != family);
  job.column_family = family;
}

// "9: 2428485 bytes OK"
void TableEvents::ReadFlush(const std::string& flush) {
  constexpr std::string_view kBytes = " bytes ";
  const std::size_t place = flush.find(kBytes);
  if (place == std::string::npos) return;
  if (!IsOk(std::string_view(flush).substr(place + kBytes.size()))) tables_.erase(NumberOf(flush));
}

void TableEvents::MoveTable(const std::string& move, const std::string& thread) {
  const std::string level = Between(move, " to level-", "");
  const auto table = tables_.find(NumberOf(move));
  if (table == tables_.end() || level.empty()) return;
  threads_[thread].moved_from.try_emplace(table->first, table->second.level);
  table->second.level = std::atoi(level.c_str());
}

// "2 files to level-1 1232274 bytes OK", behind the lines of its tables
void TableEvents::FinishMoves(const std::string& moves, const std::string& thread) {
  constexpr std::string_view kBytes = " bytes ";
  const std::size_t place = moves.find(kBytes);
  if (moves.find(" files to level-") == std::string::npos || place == std::string::npos) return;
  const std::map<std::uint64_t, int> moved_from = std::exchange(threads_[thread].moved_from, {});
  if (IsOk(std::string_view(moves).substr(place + kBytes.size()))) return;
  for (const auto& [number, level] : moved_from) {
    const auto table = tables_.find(number);
    if (table != tables_.end()) table->second.level = level;
  }
}

// "** Compaction Stats [default] **", then lines such as "  L0  2/0  1.20 MB ...", then " Sum ...".
void TableEvents::ReadStatistics(const std::string& line) {
  constexpr std::string_view kTitle = "** Compaction Stats [";
  if (line.rfind(kTitle, 0) == 0) {
    listed_family_ = Between(line, kTitle, "] **");
    is_listing_ = true;
    listed_.clear();
  }
  if (!is_listing_) return;
  std::istringstream words(line);
  std::string name;
  LevelSize size;
  std::string being_compacted;
  double number = 0.0;
  std::string unit;
  if (!(words >> name)) return;
  if (name == "Sum") {
    is_listing_ = false;
    unlisted_ = 0;
    CountUnknown(listed_family_, listed_, /*has_bytes=*/true);
  } else if (name.front() == 'L' && words >> size.tables >> being_compacted >> number >> unit) {
    size.bytes = BytesOf(number, unit);
    listed_[std::atoi(name.c_str() + 1)] = size;
  } else if (name == "Priority") {
    is_listing_ = false;
  }
}

// Numbers of jobs begin anew when a database is opened, and what a job left is not installed.
void TableEvents::ForgetJobs() {
  unlisted_ = at_opening_ - std::min<std::uint64_t>(at_opening_, tables_.size());
  jobs_.clear();
  threads_.clear();
  for (auto table = tables_.begin(); table != tables_.end();) {
    table = table->second.is_installed ? std::next(table) : tables_.erase(table);
  }
}

void TableEvents::Drop(const std::string& family) {
  unknown_.erase(family);
  for (auto table = tables_.begin(); table != tables_.end();) {
    table = table->second.column_family == family ? tables_.erase(table) : std::next(table);
  }
}

// CompactRange with change_level moves the tables of a level, and no line tells so: what a level
// has not any more is what another one has besides, the oldest first, since newer ones came later.
void TableEvents::FollowUntoldMoves(const std::string& family,
                                    const std::map<int, LevelSize>& levels) {
  std::set<std::uint64_t> inputs;
  for (const auto& [number, job] : jobs_) inputs.insert(job.inputs.begin(), job.inputs.end());
  std::map<int, std::int64_t> missing;  // tables that the listing has more than are known
  for (const auto& [level, size] : levels) {
    missing[level] += static_cast<std::int64_t>(size.tables);
  }
  for (const auto& [number, table] : tables_) {
    if (table.is_installed && table.column_family == family) missing[table.level] -= 1;
  }
  auto to = missing.begin();
  for (auto& [number, table] : tables_) {
    while (to != missing.end() && to->second <= 0) ++to;
    if (to == missing.end()) return;
    const bool may_move = table.is_installed && table.column_family == family &&
                          missing[table.level] < 0 && inputs.count(number) == 0;
    if (!may_move) continue;
    missing[table.level] += 1;
    to->second -= 1;
    table.level = to->first;
  }
}

void TableEvents::CountUnknown(const std::string& family, const std::map<int, LevelSize>& levels,
                               bool has_bytes) {
  FollowUntoldMoves(family, levels);
  std::map<int, LevelSize> known;
  for (const auto& [number, table] : tables_) {
    if (!table.is_installed || table.column_family != family) continue;
    known[table.level].tables += 1;
    known[table.level].bytes += static_cast<double>(table.filter.file_bytes);
  }
  std::map<int, UnknownTables> before;
  before.swap(unknown_[family]);
  for (const auto& [level, size] : levels) {
    const LevelSize& part = known[level];
    if (size.tables <= part.tables) continue;
    UnknownTables& unknown = unknown_[family][level] = before[level];
    unknown.tables = size.tables - part.tables;
    if (has_bytes) {
      unknown.bytes_of_one =
          std::max(0.0, size.bytes - part.bytes) / static_cast<double>(unknown.tables);
    }
  }
}

std::uint64_t TableEvents::Unlisted() const {
  std::uint64_t listed = 0;
  for (const auto& [family, levels] : unknown_) {
    for (const auto& [level, unknown] : levels) listed += unknown.tables;
  }
  return unlisted_ - std::min(unlisted_, listed);
}

std::map<std::uint64_t, LoggedTable> TableEvents::Tables() const {
  std::map<std::uint64_t, LoggedTable> installed;
  for (const auto& [number, table] : tables_) {
    if (table.is_installed) installed.emplace(number, table);
  }
  return installed;
}

}  // namespace exactbloom::tool
