// Expects that the filters of databases stay within memory budgets, at every moment.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/memory_budget.h"

namespace exactbloom {

// After each event no budget may be exceeded, or further than it was. It comes before the tree
// listener, so the files that it knows have no more bytes than that counts.
class BudgetWatch : public rocksdb::EventListener {
 public:
  //   has_all_files   all tables are in the first budget, so that their files have to fit, too
  BudgetWatch(std::vector<std::string> budgets, bool has_all_files)
      : budgets_(std::move(budgets)), has_all_files_(has_all_files) {}

  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    if (info.status.ok()) Add(info.file_path, info.table_properties.filter_size);
    Look();
  }
  void OnFlushCompleted(rocksdb::DB* /*db*/, const rocksdb::FlushJobInfo& /*info*/) override {
    Look();
  }
  // Superseded tables that RocksDB must not delete yet are not in memory.
  void OnCompactionCompleted(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& info) override {
    for (const std::string& file : info.input_files) {
      const auto same = std::find(info.output_files.begin(), info.output_files.end(), file);
      if (info.status.ok() && same == info.output_files.end()) Remove(file);
    }
    Look();
  }
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    Remove(info.file_path);
  }

  // Until Settle(), filters come that no budget was asked for.
  void ExpectMore() { expects_more_ = true; }

  // What there is in a quiet moment may be there on.
  //   bytes_of_table   that a table may have beside its part of a budget
  void Settle(std::uint64_t tables, std::uint64_t bytes_of_table, bool expects_more) {
    Look();
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::string& name : budgets_) seen_[name].allowed = 0;
    tables_ = tables;
    bytes_of_table_ = bytes_of_table;
    expects_more_ = expects_more;
  }

  std::uint64_t MostBytesOfFiles() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return most_bytes_of_files_;
  }

 private:
  struct Seen {
    std::set<std::pair<std::string, std::string>> families;
    std::uint64_t allowed = 0;
  };

  void Add(const std::string& file, std::uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++tables_;
    files_[file] = bytes;
    bytes_of_files_ += bytes;
    most_bytes_of_files_ = std::max(most_bytes_of_files_, bytes_of_files_);
    if (!has_all_files_ || expects_more_) return;
    EXPECT_LE(bytes_of_files_,
              GetMemoryBudgetUse(budgets_[0]).bound_bytes + bytes_of_table_ * tables_);
  }

  void Remove(const std::string& file) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = files_.find(file);
    if (known == files_.end()) return;
    bytes_of_files_ -= known->second;
    files_.erase(known);
  }

  void Look() {
    constexpr std::uint64_t kFloors = 50;  // the part of a bound that small runs get in spite of it
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::string& name : budgets_) {
      const MemoryBudgetUse use = GetMemoryBudgetUse(name);
      Seen& seen = seen_[name];
      bool has_new = false;
      for (const auto& family : use.families) {
        has_new |= seen.families.emplace(family.database, family.column_family).second;
      }
      if (use.bound_bytes == 0 || has_new || expects_more_ || seen.allowed == 0) {
        seen.allowed = std::max(use.bound_bytes, use.used_bytes);
        continue;
      }
      // Blocks that let all keys pass are no part of it.
      EXPECT_LE(use.used_bytes,
                std::max(use.bound_bytes, seen.allowed + use.bound_bytes / kFloors) +
                    bytes_of_table_ * tables_)
          << name << ", bound " << use.bound_bytes;
      seen.allowed = std::max(use.bound_bytes, std::min(seen.allowed, use.used_bytes));
    }
  }

  const std::vector<std::string> budgets_;
  const bool has_all_files_;
  std::atomic<bool> expects_more_ = true;
  mutable std::mutex mutex_;
  std::uint64_t tables_ = 0;
  std::uint64_t bytes_of_table_ = 6;
  std::map<std::string, Seen> seen_;
  std::map<std::string, std::uint64_t> files_;
  std::uint64_t bytes_of_files_ = 0;
  std::uint64_t most_bytes_of_files_ = 0;
};

}  // namespace exactbloom
