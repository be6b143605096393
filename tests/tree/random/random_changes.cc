// What random changes do.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/version.h>

#include <filesystem>
#include <iterator>
#include <thread>
#include <utility>

#include "exactbloom/tree_listener.h"
#include "random_database.h"

namespace exactbloom {
namespace {

using rocksdb::ColumnFamilyHandle;

constexpr std::uint64_t kMostKeys = 40'000;  // of a family, about
constexpr std::size_t kMostFamilies = 6;
constexpr std::uint64_t kSampledTables = 64;  // FollowDatabase reads the properties of all

// Another compaction may have the tables, or have had them.
bool IsRefused(const rocksdb::Status& status) {
  return status.IsAborted() || status.IsInvalidArgument();
}

}  // namespace

void RandomDatabase::Change() {
  constexpr int kReaders = 2;
  struct Kind {
    const char* name;
    int weight;
    Status (RandomDatabase::*make)();
    bool grows = false;
  };
  static constexpr Kind kKinds[] = {
      {"writes", 8, &RandomDatabase::Write, true},
      {"writes of all at once", 4, &RandomDatabase::WriteAllAtOnce, true},
      {"a flush", 3, &RandomDatabase::Flush, true},
      {"a flush of all", 3, &RandomDatabase::FlushAll, true},
      {"CompactRange", 4, &RandomDatabase::CompactRange, true},
      {"CompactFiles", 3, &RandomDatabase::CompactFiles},
      {"rewriting", 1, &RandomDatabase::RewriteTables},
      {"an ingestion", 1, &RandomDatabase::Ingest},
      {"DeleteRange", 1, &RandomDatabase::DeleteRange},
      {"DeleteFilesInRange", 1, &RandomDatabase::DeleteFiles},
      {"a new family", 2, &RandomDatabase::CreateFamily},
      {"a dropped family", 2, &RandomDatabase::DropFamily},
      {"failed jobs", 2, &RandomDatabase::FailJobs},
      {"reopening", 2, &RandomDatabase::Reopen},
      {"FollowDatabase", 1, &RandomDatabase::FollowAgain},
      {"a reader", 1, &RandomDatabase::OpenReader},
      {"a checkpoint", 1, &RandomDatabase::OpenCheckpoint},
      {"another trigger", 1, &RandomDatabase::ChangeTrigger, true},
      {"the end of iterators", 1, &RandomDatabase::ReleaseIterators},
  };
  const auto weight_of = [this](const Kind& kind) {
    return kind.grows || !surroundings_.only_grows ? kind.weight : 0;
  };
  int left = 0;
  for (const Kind& kind : kKinds) left += weight_of(kind);
  left = static_cast<int>(Choose(static_cast<std::uint64_t>(left)));
  const Kind* kind = kKinds;
  while (left >= weight_of(*kind)) left -= weight_of(*kind++);
  steps_ += std::string(steps_.empty() ? "" : ", ") + kind->name;

  OfferToReaders();
  is_changed_ = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([this, seed = random_()] { ReadWhileItChanges(seed); });
  }
  const Status status = (this->*kind->make)();
  is_changed_ = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_TRUE(status.ok()) << path_ << ": " << kind->name << ": " << status.ToString();
}

rocksdb::Status RandomDatabase::Write() {
  Family& family = ChooseFamily();
  if (family.contents.size() > kMostKeys) return Status::OK();
  return WriteTo(family, 1 + Choose(Choose(3) == 0 ? 8'000 : 1'500));
}

rocksdb::Status RandomDatabase::Flush() { return db_->Flush({}, ChooseFamily().handle); }

rocksdb::Status RandomDatabase::FlushAll() {
  for (auto& [name, family] : families_) {
    const Status status = WriteTo(family, 1 + Choose(300));
    if (!status.ok()) return status;
  }
  const Status status = db_->Flush({}, Handles());
  if (!status.ok()) return status;
  for (auto& [name, family] : families_) family.counts = !family.policy->budget.empty();
  return status;
}

// Each by a thread of its own, while a family comes and goes.
rocksdb::Status RandomDatabase::WriteAllAtOnce() {
  std::vector<std::thread> writers;
  for (auto& [name, named] : families_) {
    writers.emplace_back([this, &family = named, seed = random_()] {
      std::mt19937_64 random(seed);
      for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(WriteTo(family, 1 + random() % 800, random).ok());
        EXPECT_TRUE(db_->Flush({}, family.handle).ok());
      }
    });
  }
  Status status;
  for (int i = 0; status.ok() && !surroundings_.only_grows && i < 2; ++i) {
    Family brief;
    status = MakeFamily("brief", brief);
    if (status.ok()) status = db_->DropColumnFamily(brief.handle);
    if (brief.handle != nullptr) Destroy(brief.handle);
    has_dropped_family_ = true;
  }
  for (std::thread& writer : writers) writer.join();
  return status;
}

rocksdb::Status RandomDatabase::CompactRange() {
  rocksdb::CompactRangeOptions options;
  if (Choose(2) == 0) {
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  }
  options.exclusive_manual_compaction = Choose(2) == 0;
  Family& family = ChooseFamily();
  const bool all = Choose(2) == 0;
  if (style_ == rocksdb::kCompactionStyleLevel && all && Choose(2) == 0) {
    options.change_level = true;  // which tables may follow without an event
    options.target_level = 4;
  }
  const std::string first = KeyOf(Choose(3) * kScatteredSpace + Choose(kKeySpace));
  const rocksdb::Slice begin = first;
  const Status status = db_->CompactRange(options, family.handle, all ? nullptr : &begin, nullptr);
  if (!options.change_level) return status;
  // Tables above the target level may have come meanwhile. Where tables are is known when a job has
  // read them.
  return ForceCompaction(*db_, family.handle);
}

rocksdb::Status RandomDatabase::CompactFiles() {
  Family& family = ChooseFamily();
  if (Choose(2) == 0) iterators_.emplace_back(db_->NewIterator({}, family.handle));
  const Status status = CompactAllFiles(*db_, family.handle);
  return IsRefused(status) ? Status::OK() : status;
}

rocksdb::Status RandomDatabase::RewriteTables() {
  const Status status = exactbloom::RewriteTables(*db_, ChooseFamily().handle);
  return IsRefused(status) ? Status::OK() : status;
}

rocksdb::Status RandomDatabase::Ingest() {
  surroundings_.watch->ExpectMore();
  Family& family = ChooseFamily();
  const std::string path = path_ + ".ingested.sst";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), OptionsOf(family), family.handle);
  Status status = writer.Open(path);
  const std::uint64_t count = 1 + Choose(1'000);
  for (std::uint64_t i = 0; status.ok() && i < count; ++i) {
    const std::uint64_t key = 2 * kScatteredSpace + family.in_order++;
    status = writer.Put(KeyOf(key), "ingested");
    family.contents[key] = "ingested";
  }
  if (status.ok()) status = writer.Finish();
  return status.ok() ? db_->IngestExternalFile(family.handle, {path}, {}) : status;
}

rocksdb::Status RandomDatabase::DeleteRange() {
  Family& family = ChooseFamily();
  if (family.keeps_all) return Status::OK();
  const std::uint64_t begin = Choose(kKeySpace);
  const std::uint64_t end = begin + 1 + Choose(kKeySpace / 4);
  const Status status = db_->DeleteRange({}, family.handle, KeyOf(begin), KeyOf(end));
  if (!status.ok()) return status;
  family.contents.erase(family.contents.lower_bound(begin), family.contents.lower_bound(end));
  for (std::uint64_t key = begin; key < end; key += 7) family.deleted.insert(key);
  return status;
}

// Older values may appear where a newer table is gone, so what is there is read.
rocksdb::Status RandomDatabase::DeleteFiles() {
  Family& family = ChooseFamily();
  if (family.keeps_all) return Status::OK();
  iterators_.clear();  // they would keep the files
  const std::string end = KeyOf(Choose(2) == 0 ? kKeySpace / 2 : 3 * kScatteredSpace);
  const rocksdb::Slice limit = end;
  const Status status = rocksdb::DeleteFilesInRange(db_.get(), family.handle, nullptr, &limit);
  if (!status.ok()) return status;
  family.contents.clear();
  family.deleted.clear();
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}, family.handle));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    const std::uint64_t key = std::stoull(iterator->key().ToString().substr(4));
    family.contents[key] = iterator->value().ToString();
  }
  return iterator->status();
}

rocksdb::Status RandomDatabase::CreateFamily() {
  if (families_.size() >= kMostFamilies) return Status::OK();
  std::string name = "family" + std::to_string(Choose(kMostFamilies));
  while (families_.count(name) != 0) name += "+";
  return MakeFamily(name, families_[name]);
}

rocksdb::Status RandomDatabase::DropFamily() {
  const auto dropped =
      std::next(families_.begin(), static_cast<std::ptrdiff_t>(Choose(families_.size())));
  const std::string name = dropped->first;
  if (name == rocksdb::kDefaultColumnFamilyName) return Status::OK();
  ColumnFamilyHandle* const handle = dropped->second.handle;
  if (Choose(2) == 0) iterators_.emplace_back(db_->NewIterator({}, handle));
  Status status = db_->DropColumnFamily(handle);
  has_dropped_family_ = true;
  families_.erase(dropped);
  const bool is_kept = Choose(2) == 0;
  if (!is_kept) Destroy(handle);
  if (status.ok() && Choose(2) == 0) status = MakeFamily(name, families_[name]);
  if (is_kept) Destroy(handle);
  return status;
}

rocksdb::Status RandomDatabase::FailJobs() {
  faults_.Switch(true);
  for (int i = 0; i < 3; ++i) {
    Family& family = ChooseFamily();
    if (!WriteTo(family, 1 + Choose(1'500)).ok()) break;
    switch (Choose(4)) {
      case 0:
        CompactAllFiles(*db_, family.handle).PermitUncheckedError();
        break;
      case 1:
        db_->CompactRange({}, family.handle, nullptr, nullptr).PermitUncheckedError();
        break;
      default:
        db_->Flush({}, family.handle).PermitUncheckedError();
    }
  }
  faults_.Switch(false);
  AwaitEndOfJobs();  // what they failed by would otherwise come after Resume()
  if (db_->Resume().ok()) return Status::OK();
  Close();
  OpenAgain(Choose(2) == 0);
  return Status::OK();
}

rocksdb::Status RandomDatabase::Reopen() {
  rocksdb::FlushOptions flush;
  flush.wait = surroundings_.only_grows;  // or else it is closed with whatever still runs
  Status status = WriteTo(ChooseFamily(), 1 + Choose(1'500));
  if (status.ok()) status = db_->Flush(flush, Handles());
  if (!status.ok()) return status;
  if (surroundings_.only_grows) AwaitQuietFamilies();
  Close();
  if (Choose(3) == 0) listener_ = NewTreeListener();
  if (Choose(3) == 0) {
    for (auto& [name, family] : families_) SetPolicy(family);
  }
  open_files_ = Choose(3) == 0 ? 64 : -1;
  // RocksDB before 8.0 asserts a flush reason that another flush may have changed meanwhile.
  is_atomic_ = Choose(3) == 0 && ROCKSDB_MAJOR >= 8;
  const bool follows = surroundings_.only_grows || Choose(3) != 0;
  steps_ += follows ? " with FollowDatabase" : " without FollowDatabase";
  if (open_files_ != -1) steps_ += " with few open files";
  OpenAgain(follows);
  return Status::OK();
}

rocksdb::Status RandomDatabase::FollowAgain() {
  surroundings_.watch->ExpectMore();
  const Status status = FollowDatabase(db_.get(), Handles());
  const Trees trees = TreesOf(*db_);
  for (auto& [name, family] : families_) {
    family.counts = !family.policy->budget.empty();
    const auto tree = trees.find(name);
    if (tree == trees.end() || SumOf(tree->second).tables <= kSampledTables) {
      family.known = AllKnown();
    }
  }
  return status;
}

rocksdb::Status RandomDatabase::OpenReader() {
  AwaitQuietFamilies();  // a compaction would delete files that the reader is about to open
  Database reader;
  std::vector<ColumnFamilyHandle*> handles;
  // RocksDB 7.8 crashes when it opens a secondary by a MANIFEST in which a family was dropped.
  const bool is_secondary = Choose(2) == 0 && !has_dropped_family_;
  Status status = Open(path_, &reader, &handles, is_secondary ? Mode::kSecondary : Mode::kReadOnly);
  if (!status.ok()) return status;
  status = FollowDatabase(reader.get(), handles);
  EXPECT_TRUE(GetSortedRuns(*reader).empty());
  ExpectContents(*reader, handles, /*all_keys=*/false);
  for (auto* handle : handles) EXPECT_TRUE(reader->DestroyColumnFamilyHandle(handle).ok());
  return status;
}

rocksdb::Status RandomDatabase::OpenCheckpoint() {
  surroundings_.watch->ExpectMore();
  const std::string path = path_ + ".checkpoint";
  rocksdb::Checkpoint* made = nullptr;
  Status status = rocksdb::Checkpoint::Create(db_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(path);
  Database copy;
  std::vector<ColumnFamilyHandle*> handles;
  if (status.ok()) status = Open(path, &copy, &handles, Mode::kWriter);
  if (status.ok()) status = FollowDatabase(copy.get(), handles);
  if (!status.ok()) return status;
  ExpectContents(*copy, handles, /*all_keys=*/false);
  for (std::uint64_t key = 0; status.ok() && key < 500; ++key) {
    status = copy->Put({}, KeyOf(4 * kScatteredSpace + key), "value");
  }
  if (status.ok()) status = copy->Flush({}, handles);
  for (auto* handle : handles) EXPECT_TRUE(copy->DestroyColumnFamilyHandle(handle).ok());
  copy.reset();
  std::filesystem::remove_all(path);
  return status;
}

rocksdb::Status RandomDatabase::ChangeTrigger() {
  const std::string trigger = std::to_string(2 + Choose(8));
  return db_->SetOptions(ChooseFamily().handle, {{"level0_file_num_compaction_trigger", trigger}});
}

rocksdb::Status RandomDatabase::ReleaseIterators() {
  iterators_.clear();
  return Status::OK();
}

}  // namespace exactbloom
