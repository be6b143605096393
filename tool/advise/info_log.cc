#include "info_log.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "sst/regular_files.h"
#include "tool/database/database_files.h"
#include "tool/database/database_options.h"

namespace exactbloom::tool {

void InfoLogReader::Read(const std::string& line) {
  constexpr std::string_view kFamily = "Options for column family [";
  if (const std::size_t place = line.find(kFamily); place != std::string::npos) {
    const std::string name = line.substr(place + kFamily.size());
    family_ = &options_[name.substr(0, name.rfind(']'))];
    family_->clear();
    policies_.erase(name.substr(0, name.rfind(']')));
  } else if (family_ != nullptr && !ReadOption(line)) {
    family_ = nullptr;
  }
  ReadCounter(line);
  ReadPolicy(line);
}

// "TIME THREAD Options.name: value", and in a table's options "  name: value" or "  name : value".
// Of two equal names the second belongs to another block cache. Returns false behind the options.
bool InfoLogReader::ReadOption(const std::string& line) {
  constexpr std::string_view kPrefix = "Options.";
  constexpr std::string_view kTable = "table_factory options:";
  std::size_t begin = line.find(kPrefix);
  if (begin != std::string::npos) {
    begin += kPrefix.size();
  } else if (const std::size_t table = line.find(kTable); table != std::string::npos) {
    begin = table + kTable.size();
  } else if (line.rfind("  ", 0) == 0) {
    begin = 0;
  } else {
    return line.empty();
  }
  const std::size_t colon = line.find(':', begin);
  if (colon == std::string::npos) return true;
  family_->try_emplace(Trimmed(line.substr(begin, colon - begin)), Trimmed(line.substr(colon + 1)));
  return true;
}

// "rocksdb.memtable.miss COUNT : 12", the first one behind a blank. "Uptime(secs): 600.0 total"
// comes before the counters.
void InfoLogReader::ReadCounter(const std::string& line) {
  constexpr std::string_view kUptime = "Uptime(secs): ";
  constexpr std::string_view kCount = " COUNT : ";
  if (line.rfind(kUptime, 0) == 0) uptime_ = std::atof(line.c_str() + kUptime.size());
  const std::size_t name = line.find_first_not_of(' ');
  const std::size_t count = line.find(kCount);
  if (count == std::string::npos || line.compare(name, 8, "rocksdb.") != 0) return;
  counters_[line.substr(name, count - name)] =
      std::strtoull(line.c_str() + count + kCount.size(), nullptr, /*base=*/10);
  seconds_ = uptime_;
}

void InfoLogReader::ReadPolicy(const std::string& line) {
  if (const auto logged = PolicyInLog(line)) policies_[logged->first] = logged->second;
}

std::uint64_t InfoLogReader::Counter(std::string_view name) const {
  const auto counter = counters_.find(name);
  return counter == counters_.end() ? 0 : counter->second;
}

InfoLog InfoLogReader::Log() const {
  InfoLog log;
  for (const auto& [family, options] : options_) {
    const auto value = [&known = options](const char* name) {
      const auto option = known.find(name);
      return option == known.end() ? std::string() : option->second;
    };
    if (value("block_cache").empty()) continue;
    log.caches[family] = {value("block_cache"),
                          std::strtoull(value("capacity").c_str(), nullptr, /*base=*/10),
                          std::atoi(value("num_shard_bits").c_str())};
  }
  log.seconds = seconds_;
  log.lookups = Counter("rocksdb.number.keys.read") + Counter("rocksdb.number.multiget.keys.read");
  log.in_tables = Counter("rocksdb.memtable.miss");
  log.found_in_tables =
      Counter("rocksdb.l0.hit") + Counter("rocksdb.l1.hit") + Counter("rocksdb.l2andup.hit");
  log.seeks = Counter("rocksdb.number.db.seek");
  const std::uint64_t passed = Counter("rocksdb.bloom.filter.full.positive");
  log.passed_in_vain =
      passed - std::min(passed, Counter("rocksdb.bloom.filter.full.true.positive"));
  log.data_block_hits = Counter("rocksdb.block.cache.data.hit");
  log.data_block_misses = Counter("rocksdb.block.cache.data.miss");
  return log;
}

std::optional<double> InfoLog::Present() const {
  if (seconds == 0.0 || in_tables == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(found_in_tables) / static_cast<double>(in_tables));
}

InfoLog ReadInfoLog(const std::string& database) {
  std::string text;
  const rocksdb::Status status =
      files::ReadBothEnds((std::filesystem::path(database) / "LOG").string(), &text);
  InfoLogReader reader;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) reader.Read(line);
  InfoLog log = reader.Log();
  if (!status.ok() && !status.IsPathNotFound()) log.problem = Describe(status);
  return log;
}

}  // namespace exactbloom::tool
