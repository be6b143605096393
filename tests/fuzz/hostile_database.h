// A database of one table in memory, whose bytes can be replaced.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "input.h"
#include "plugin/files/table_filter_blocks.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom::fuzz {

// All bytes of the table come from `table` unless that is empty.
class HostileFiles : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;

  const char* Name() const override { return "HostileFiles"; }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    rocksdb::IOStatus status = target()->NewRandomAccessFile(path, options, &file, debug);
    const bool is_table = rocksdb::Slice(path).ends_with(".sst");
    if (status.ok() && is_table) file = std::make_unique<Table>(std::move(file), table);
    *result = std::move(file);
    return status;
  }

  std::string table;

 private:
  class Table : public rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    Table(std::unique_ptr<rocksdb::FSRandomAccessFile> file, const std::string& bytes)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), bytes_(bytes) {}

    rocksdb::IOStatus Read(std::uint64_t offset, std::size_t count,
                           const rocksdb::IOOptions& options, rocksdb::Slice* result, char* scratch,
                           rocksdb::IODebugContext* debug) const override {
      if (bytes_.empty()) return target()->Read(offset, count, options, result, scratch, debug);
      const std::size_t begin = std::min<std::uint64_t>(offset, bytes_.size());
      *result = {scratch, bytes_.copy(scratch, count, begin)};
      return rocksdb::IOStatus::OK();
    }

    rocksdb::IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count,
                                const rocksdb::IOOptions& options,
                                rocksdb::IODebugContext* debug) override {
      return FSRandomAccessFile::MultiRead(requests, count, options, debug);  // by Read
    }

   private:
    const std::string& bytes_;
  };
};

// Where the bytes of a table lie.
struct TableMap {
  std::vector<files::IndexEntry> filter_blocks;  // in the order of the keys
  files::BlockHandle properties;
  std::uint64_t footer_offset = 0;
};

// A program keeps a few of these until it ends.
class HostileDatabase {
 public:
  static constexpr int kKeys = 48;

  // The keys of even numbers are in the table.
  static std::string KeyOf(int number) { return "key " + std::to_string(100 + number); }
  static std::string ValueOf(int number) { return "value " + std::to_string(number); }

  // Writes the table, with these options and its own cache.
  explicit HostileDatabase(rocksdb::BlockBasedTableOptions table_options)
      : table_options_(std::move(table_options)) {
    // Filters, their index and data are read from the file whenever the cache is empty.
    table_options_.block_cache = rocksdb::NewLRUCache(std::size_t{1} << 20, 0);
    table_options_.cache_index_and_filter_blocks = true;
    table_options_.pin_top_level_index_and_filter = false;
    static rocksdb::Env* const memory = rocksdb::NewMemEnv(rocksdb::Env::Default());
    files_ = std::make_shared<HostileFiles>(memory->GetFileSystem());
    env_ = rocksdb::NewCompositeEnv(files_);
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.stats_dump_period_sec = 0;
    options_.compression = rocksdb::kNoCompression;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options_));
    Write();
  }

  // The bytes as they were written.
  const std::string& Bytes() const { return bytes_; }
  const TableMap& Map() const { return map_; }
  rocksdb::ChecksumType Checksum() const { return table_options_.checksum; }

  // Replaces the bytes of the table's file by as many others, and empties the cache. Data that were
  // read when the table was opened remain in memory.
  void Replace(std::string bytes) {
    files_->table = std::move(bytes);
    table_options_.block_cache->EraseUnRefEntries();
  }

  rocksdb::DB& Open() { return *db_; }

  // Opens the database again, which reads everything again. Null if RocksDB refuses.
  std::unique_ptr<rocksdb::DB> OpenAgain() const {
    std::unique_ptr<rocksdb::DB> db;
    rocksdb::DB::OpenForReadOnly(options_, db_->GetName(), Receive(&db)).PermitUncheckedError();
    return db;
  }

 private:
  void Write() {
    static int databases = 0;
    const std::string directory = "/db" + std::to_string(databases++);
    Require(rocksdb::DB::Open(options_, directory, Receive(&db_)).ok(),
            "the database is not opened");
    for (int number = 0; number < kKeys; number += 2) {
      Require(db_->Put({}, KeyOf(number), ValueOf(number)).ok(), "a key is not written");
    }
    Require(db_->Flush({}).ok(), "the table is not written");
    std::vector<rocksdb::LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    ReadMap(directory + tables.at(0).name);
  }

  void ReadMap(const std::string& path) {
    Require(rocksdb::ReadFileToString(env_.get(), path, &bytes_).ok(), "the table is not read");
    map_.footer_offset = bytes_.size() - files::kMaxFooterBytes;
    std::unique_ptr<files::TableFile> file;
    Require(files::TableFile::Open(*files_, path, &file).ok() &&
                files::ListFilterBlocks(*file, files::FindFilter(*file), &map_.filter_blocks).ok(),
            "the filter blocks are not found");
    map_.properties = file->MetaBlocks().at("rocksdb.properties");
    Require(!map_.filter_blocks.empty(), "the table has no filter");
  }

  rocksdb::BlockBasedTableOptions table_options_;
  std::shared_ptr<HostileFiles> files_;
  std::unique_ptr<rocksdb::Env> env_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::string bytes_;
  TableMap map_;
};

}  // namespace exactbloom::fuzz
