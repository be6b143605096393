#include "level_tree.h"

#include <gtest/gtest.h>
#include <rocksdb/metadata.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table_properties.h>

namespace exactbloom {
namespace {

// Neighbouring keys lie in different runs.
std::size_t RunOf(std::uint64_t i) {
  const std::uint64_t remainder = i % 1111;
  return remainder == 0 ? 0 : remainder <= 10 ? 1 : remainder <= 110 ? 2 : 3;
}

}  // namespace

LevelTree::LevelTree(const rocksdb::Options& options, int first_level)
    : first_level_(first_level), db_(Open(options, path())) {
  for (std::size_t run = kRuns; run-- > 0;) LoadRun(run);
}

void LevelTree::LoadRun(std::size_t run) {
  std::uint64_t keys = 0;
  for (std::uint64_t i = 0; i < kAllKeys; ++i) {
    if (RunOf(i) != run) continue;
    ASSERT_TRUE(db_->Put({}, KeyOf(2 * i), "value").ok());
    ++keys;
  }
  ASSERT_EQ(keys, kKeys[run]);
  ASSERT_TRUE(db_->Flush({}).ok());
  MoveDown(*db_, LevelOf(run));
}

std::uint64_t LevelTree::FilterBytes(std::size_t run) {
  rocksdb::ColumnFamilyMetaData tree;
  db_->GetColumnFamilyMetaData(&tree);
  const auto& files = tree.levels[static_cast<std::size_t>(LevelOf(run))].files;
  EXPECT_EQ(files.size(), 1U);
  rocksdb::TablePropertiesCollection tables;
  EXPECT_TRUE(db_->GetPropertiesOfAllTables(&tables).ok());
  for (const auto& [name, table] : tables) {
    const std::string& file = files.front().name;
    if (name.size() < file.size() || name.substr(name.size() - file.size()) != file) continue;
    EXPECT_EQ(table->num_entries, kKeys[run]);
    return table->filter_size;
  }
  ADD_FAILURE() << "no table of run " << run;
  return 0;
}

std::uint64_t LevelTree::FilterBytes() {
  std::uint64_t bytes = 0;
  for (std::size_t run = 0; run < kRuns; ++run) bytes += FilterBytes(run);
  return bytes;
}

std::array<FilterCounts, LevelTree::kRuns> LevelTree::AskAbsent() {
  rocksdb::PerfContext& context = *rocksdb::get_perf_context();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  context.ClearPerLevelPerfContext();
  context.EnablePerLevelPerfContext();
  exactbloom::AskAbsent(*db_, kAllKeys);
  std::array<FilterCounts, kRuns> runs;
  for (std::size_t run = 0; run < kRuns; ++run) {
    const auto& level = (*context.level_to_perf_context)[static_cast<std::uint32_t>(LevelOf(run))];
    runs[run].useful = level.bloom_filter_useful;
    runs[run].positive = level.bloom_filter_full_positive;
    runs[run].true_positive = level.bloom_filter_full_true_positive;
  }
  context.ClearPerLevelPerfContext();
  context.DisablePerLevelPerfContext();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  return runs;
}

}  // namespace exactbloom
