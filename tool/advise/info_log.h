// What the info log of a database (LOG, LOG.old) says beyond its OPTIONS file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace exactbloom::tool {

struct BlockCache {
  std::string address;  // column families with the same one share the cache
  std::uint64_t capacity = 0;
  int shard_bits = 0;
};

struct InfoLog {
  std::string problem;                       // why there is one that cannot be read
  std::map<std::string, BlockCache> caches;  // by column family
  // The last dump of statistics, of the whole database since it was opened; 0 seconds: none.
  double seconds = 0.0;
  std::uint64_t lookups = 0;
  std::uint64_t in_tables = 0;        // of these: their key was not in memory,
  std::uint64_t found_in_tables = 0;  // and was in a table
  std::uint64_t seeks = 0;
  std::uint64_t passed_in_vain = 0;   // tables whose filter let a whole key pass that they lack
  std::uint64_t data_block_hits = 0;  // in the block cache
  std::uint64_t data_block_misses = 0;

  // The share of the lookups in tables that find their key; nothing if none are counted.
  std::optional<double> Present() const;
};

// The options of a column family by their names, as the log has them since the last opening.
using LoggedOptions = std::map<std::string, std::string>;

class InfoLogReader {
 public:
  // Lines of all logs, in the order of their times.
  void Read(const std::string& line);

  InfoLog Log() const;

  // By column family.
  const std::map<std::string, LoggedOptions>& Options() const { return options_; }

  // By column family: those that ExactBloom's policies logged, with their options.
  const std::map<std::string, std::string>& Policies() const { return policies_; }

 private:
  std::uint64_t Counter(std::string_view name) const;
  bool ReadOption(const std::string& line);
  void ReadCounter(const std::string& line);
  void ReadPolicy(const std::string& line);

  std::map<std::string, LoggedOptions> options_;
  std::map<std::string, std::string> policies_;
  LoggedOptions* family_ = nullptr;  // whose options follow
  double uptime_ = 0.0;
  double seconds_ = 0.0;
  std::map<std::string, std::uint64_t, std::less<>> counters_;
};

// Reads the LOG of a database's directory. Knows nothing where there is none, or in another one.
InfoLog ReadInfoLog(const std::string& database);

}  // namespace exactbloom::tool
