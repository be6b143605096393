#include "written_sequence.h"

#include <random>

namespace exactbloom::faults {

Writes BatchOf(std::uint64_t number) {
  constexpr int kWrites = 40;
  constexpr std::size_t kPadding = 100;
  constexpr std::uint64_t kDeletedOneIn = 8;
  std::mt19937_64 random(number);
  Writes writes = {{kLastBatchKey, std::to_string(number)}};
  for (int i = 0; i < kWrites; ++i) {
    const std::uint64_t key = 1 + random() % (kSequenceKeys - 1);
    Value value;
    if (random() % kDeletedOneIn != 0)
      value = std::to_string(random()) + std::string(kPadding, 'v');
    writes.emplace_back(key, value);
  }
  return writes;
}

Configuration ConfigurationOf(std::uint64_t cycle) {
  const std::vector<Configuration> all = AllConfigurations();
  return all[cycle % all.size()];
}

rocksdb::Options OptionsOf(std::uint64_t cycle) {
  rocksdb::Options options = ConfigurationOf(cycle).Options();
  options.write_buffer_size = 256 << 10;
  options.max_bytes_for_level_base = 512 << 10;
  options.max_open_files = -1;
  return options;
}

}  // namespace exactbloom::faults
