#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "advise.h"
#include "sst/regular_files.h"
#include "tool/database/database_files.h"

namespace exactbloom::tool {

InfoLog ReadInfoLog(const std::string& database) {
  InfoLog log;
  std::string text;
  const rocksdb::Status status =
      files::ReadBothEnds((std::filesystem::path(database) / "LOG").string(), &text);
  if (!status.ok() && !status.IsPathNotFound()) log.problem = Describe(status);
  std::istringstream file(text);
  std::string line;
  // Whether the line has the name; then reads what is behind it.
  const auto take = [&line](std::string_view name, auto* value) {
    const std::size_t place = line.find(name);
    if (place == std::string::npos) return false;
    std::istringstream(line.substr(place + name.size())) >> *value;
    return true;
  };
  constexpr std::string_view kFamily = "Options for column family [";
  BlockCache* cache = nullptr;
  double uptime = 0.0;
  std::uint64_t batched = 0;
  std::uint64_t passed = 0;
  std::uint64_t of_level[3] = {};  // lookups that found their key there
  std::uint64_t found = 0;
  while (std::getline(file, line)) {
    if (const std::size_t place = line.find(kFamily); place != std::string::npos) {
      const std::string name = line.substr(place + kFamily.size());
      cache = &log.caches[name.substr(0, name.rfind(']'))];
    } else if (cache != nullptr) {
      take(" block_cache: ", &cache->address);
      take(" capacity : ", &cache->capacity);
      if (take(" num_shard_bits : ", &cache->shard_bits)) cache = nullptr;  // other caches follow
    }
    take("Uptime(secs): ", &uptime);  // comes before the counters
    if (take("rocksdb.bloom.filter.full.positive COUNT : ", &passed)) log.seconds = uptime;
    take("rocksdb.bloom.filter.full.true.positive COUNT : ", &found);
    take("rocksdb.block.cache.data.hit COUNT : ", &log.data_block_hits);
    take("rocksdb.block.cache.data.miss COUNT : ", &log.data_block_misses);
    take("rocksdb.number.keys.read COUNT : ", &log.lookups);
    take("rocksdb.number.multiget.keys.read COUNT : ", &batched);
    take("rocksdb.memtable.miss COUNT : ", &log.in_tables);
    take("rocksdb.l0.hit COUNT : ", &of_level[0]);
    take("rocksdb.l1.hit COUNT : ", &of_level[1]);
    take("rocksdb.l2andup.hit COUNT : ", &of_level[2]);
    take("rocksdb.number.db.seek COUNT : ", &log.seeks);
  }
  log.found_in_tables = of_level[0] + of_level[1] + of_level[2];
  log.lookups += batched;
  log.passed_in_vain = passed - std::min(passed, found);
  return log;
}

std::optional<double> InfoLog::Present() const {
  if (seconds == 0.0 || in_tables == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(found_in_tables) / static_cast<double>(in_tables));
}

}  // namespace exactbloom::tool
