#include "hostile_database.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <utility>

#include "input.h"
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

std::string HostileDatabase::KeyOf(int number) { return "key " + std::to_string(100 + number); }

std::string HostileDatabase::ValueOf(int number) { return "value " + std::to_string(number); }

HostileDatabase::HostileDatabase(rocksdb::BlockBasedTableOptions table_options)
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

void HostileDatabase::Write() {
  static int databases = 0;
  const std::string directory = "/db" + std::to_string(databases++);
  Require(rocksdb::DB::Open(options_, directory, Receive(&db_)).ok(), "the database is not opened");
  for (int number = 0; number < kKeys; number += 2) {
    Require(db_->Put({}, KeyOf(number), ValueOf(number)).ok(), "a key is not written");
  }
  Require(db_->Flush({}).ok(), "the table is not written");
  std::vector<rocksdb::LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  ReadMap(directory + tables.at(0).name);
}

void HostileDatabase::ReadMap(const std::string& path) {
  Require(rocksdb::ReadFileToString(env_.get(), path, &bytes_).ok(), "the table is not read");
  map_.footer_offset = bytes_.size() - files::kMaxFooterBytes;
  std::unique_ptr<files::TableFile> file;
  Require(files::TableFile::Open(*files_, path, &file).ok() &&
              files::ListFilterBlocks(*file, files::FindFilter(*file), &map_.filter_blocks).ok(),
          "the filter blocks are not found");
  map_.properties = file->MetaBlocks().at("rocksdb.properties");
  Require(!map_.filter_blocks.empty(), "the table has no filter");
}

void HostileDatabase::Replace(std::string bytes) {
  files_->table = std::move(bytes);
  table_options_.block_cache->EraseUnRefEntries();
}

std::unique_ptr<rocksdb::DB> HostileDatabase::OpenAgain() const {
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::DB::OpenForReadOnly(options_, db_->GetName(), Receive(&db)).PermitUncheckedError();
  return db;
}

}  // namespace exactbloom::fuzz
