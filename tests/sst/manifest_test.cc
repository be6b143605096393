// Files of records, and the MANIFEST of a database, written by hand.
#include "sst/manifest.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sst/block_checksum.h"
#include "sst/record_log.h"
#include "varint.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

constexpr std::size_t kBlockBytes = 32768;
constexpr std::size_t kHeaderBytes = 7;
enum FragmentType : char { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

std::string Fragment(char type, const std::string& bytes) {
  const std::string checked = type + bytes;
  return Fixed(BlockChecksum(rocksdb::kCRC32c, checked)) +
         Fixed(static_cast<std::uint16_t>(bytes.size())) + checked;
}

// Appends a record to a file of records.
void Append(const std::string& record, std::string* log) {
  std::size_t done = 0;
  bool is_start = true;
  bool is_end = false;
  while (!is_end) {
    std::size_t room = kBlockBytes - log->size() % kBlockBytes;
    if (room < kHeaderBytes) {
      log->append(room, '\0');
      room = kBlockBytes;
    }
    const std::size_t part = std::min(room - kHeaderBytes, record.size() - done);
    is_end = done + part == record.size();
    const char type = is_start ? (is_end ? kWhole : kFirst) : (is_end ? kLast : kMiddle);
    *log += Fragment(type, record.substr(done, part));
    done += part;
    is_start = false;
  }
}

class FileInMemory : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(rocksdb::WriteStringToFile(env_.get(), bytes, path).ok());
  }

  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
};

class RecordLog : public FileInMemory {
 protected:
  Status Read(const std::string& log, std::size_t most_bytes = kMostRecordBytes) {
    Write("/log", log);
    records_.clear();
    const auto visit = [this](const Slice& record) {
      records_.push_back(record.ToString());
      return Status::OK();
    };
    return VisitRecords(*env_->GetFileSystem(), "/log", visit, most_bytes);
  }

  std::vector<std::string> records_;
};

// Records of up to three blocks, and some that end where a fragment's header just fits, or not.
TEST_F(RecordLog, HasTheRecordsThatAreWholeWhereverItEnds) {
  std::mt19937 random(3);
  std::string log;
  std::vector<std::string> records;
  std::vector<std::size_t> ends;
  for (int i = 0; i < 60; ++i) {
    const std::size_t room = kBlockBytes - log.size() % kBlockBytes;
    std::size_t size = random() % (i % 3 == 0 ? 3 * kBlockBytes : 50);
    if (i % 3 == 1) size = std::max(room, 2 * kHeaderBytes) - kHeaderBytes - random() % 8;
    std::string record(size, ' ');
    for (char& c : record) c = static_cast<char>(random());
    Append(record, &log);
    records.push_back(record);
    ends.push_back(log.size());
  }
  std::vector<std::size_t> cuts = {0, 1, kBlockBytes, 2 * kBlockBytes, log.size()};
  for (int i = 0; i < 50; ++i) cuts.push_back(random() % log.size());
  for (std::size_t i = 0; i < ends.size(); i += 4) {
    cuts.push_back(ends[i]);
    cuts.push_back(ends[i] - 1);
  }
  for (const std::size_t cut : cuts) {
    const auto whole = std::upper_bound(ends.begin(), ends.end(), cut) - ends.begin();
    EXPECT_TRUE(Read(log.substr(0, cut)).ok()) << cut;
    EXPECT_TRUE(records_ == std::vector<std::string>(records.begin(), records.begin() + whole))
        << cut;
  }
}

TEST_F(RecordLog, EndsWhereSpaceIsReserved) {
  const std::string whole = Fragment(kWhole, "record");
  EXPECT_TRUE(Read(whole + std::string(100, '\0') + whole).ok());
  EXPECT_EQ(records_, (std::vector<std::string>{"record"}));
  EXPECT_TRUE(Read(whole + std::string(kBlockBytes - whole.size(), '\0') + whole).ok());
  EXPECT_EQ(records_, (std::vector<std::string>{"record"}));
  EXPECT_TRUE(Read(whole + Fragment(kWhole, "") + whole).ok());
  EXPECT_EQ(records_, (std::vector<std::string>{"record", "", "record"}));
}

TEST_F(RecordLog, HasFragmentsInOrder) {
  const std::string whole = Fragment(kWhole, "whole");
  const std::string first = Fragment(kFirst, "first");
  const std::string middle = Fragment(kMiddle, "-middle");
  const std::string last = Fragment(kLast, "-last");
  EXPECT_TRUE(Read(whole + first + last + first + middle + middle + last + whole).ok());
  EXPECT_EQ(records_,
            (std::vector<std::string>{"whole", "first-last", "first-middle-middle-last", "whole"}));
  for (const std::string& wrong :
       {middle, last, whole + last, first + whole, first + first, first + middle + whole,
        first + last + middle, Fragment(5, "later"), first + Fragment(5, "later"),
        Fragment(0, "zero"), first + Fragment(0, "zero"), first + Fragment(0, "zero") + last}) {
    EXPECT_EQ(Read(wrong).ToString(), "Corruption: /log: fragments in wrong order");
  }
  std::string damaged = whole;
  damaged.back() ^= 1;
  EXPECT_EQ(Read(first + last + damaged).ToString(),
            "Corruption: /log: a record has a wrong checksum");
  EXPECT_EQ(records_.size(), 1U);
}

TEST_F(RecordLog, HasRecordsOfTheMostBytes) {
  const std::string parts =
      Fragment(kFirst, "123") + Fragment(kMiddle, "45") + Fragment(kLast, "6");
  for (const std::string& log : {Fragment(kWhole, "123456"), parts, parts + parts}) {
    EXPECT_TRUE(Read(log, 6).ok());
    EXPECT_EQ(Read(log, 5).ToString(), "Corruption: /log: a record is too large");
  }
}

TEST_F(RecordLog, EndsWithTheFirstErrorOfTheVisitor) {
  Write("/log", Fragment(kWhole, "1") + Fragment(kWhole, "2") + Fragment(kWhole, "3"));
  for (const auto& [error, expected] :
       {std::pair{Status::Corruption("why"), "Corruption: /log: why"},
        {Status::NotSupported("why"), "Not implemented: /log: why"},
        {Status::IOError("why"), "IO error: why"}}) {
    std::string visited;
    const auto visit = [&visited, error = error](const Slice& record) {
      visited += record.ToString();
      return record == "2" ? error : Status::OK();
    };
    EXPECT_EQ(VisitRecords(*env_->GetFileSystem(), "/log", visit).ToString(), expected);
    EXPECT_EQ(visited, "12");
  }
}

class UnreadableFile : public rocksdb::FSSequentialFile {
 public:
  rocksdb::IOStatus Read(std::size_t, const rocksdb::IOOptions&, Slice*, char*,
                         rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::IOError("no disk");
  }
  rocksdb::IOStatus Skip(std::uint64_t) override { return rocksdb::IOStatus::OK(); }
};

class UnreadableFiles : public rocksdb::FileSystemWrapper {
 public:
  UnreadableFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "UnreadableFiles"; }
  rocksdb::IOStatus NewSequentialFile(const std::string&, const rocksdb::FileOptions&,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* file,
                                      rocksdb::IODebugContext*) override {
    *file = std::make_unique<UnreadableFile>();
    return rocksdb::IOStatus::OK();
  }
};

TEST(UnreadableRecords, HaveTheErrorOfTheFileSystem) {
  UnreadableFiles files;
  const auto visit = [](const Slice&) { return Status::OK(); };
  EXPECT_EQ(VisitRecords(files, "/log", visit).ToString(), "IO error: no disk");
  Manifest manifest;
  EXPECT_EQ(ReadManifest(files, "/db", &manifest).ToString(), "IO error: no disk");
}

std::string Bytes(const std::string& bytes) { return Varint(bytes.size()) + bytes; }

std::string Family(std::uint64_t id) { return Varint(200) + Varint(id); }
std::string AddsFamily(const std::string& name) { return Varint(201) + Bytes(name); }
std::string DropsFamily() { return Varint(202); }
std::string Comparator(const std::string& name) { return Varint(1) + Bytes(name); }
std::string InGroup(std::uint64_t left) { return Varint(300) + Varint(left); }

std::string Adds(std::uint64_t level, std::uint64_t number, const std::string& smallest = "a",
                 const std::string& largest = "z") {
  return Varint(100) + Varint(level) + Varint(number) + Varint(4096) +
         Bytes(smallest + "sequence") + Bytes(largest + "sequence") + Varint(10) + Varint(20);
}

std::string Deletes(std::uint64_t level, std::uint64_t number) {
  return Varint(6) + Varint(level) + Varint(number);
}

class ManifestOf : public FileInMemory {
 protected:
  Status Read(const std::vector<std::string>& edits, std::size_t most_bytes = kMostRecordBytes) {
    std::string log;
    for (const std::string& edit : edits) Append(edit, &log);
    Write("/db/CURRENT", "MANIFEST-000001\n");
    Write("/db/MANIFEST-000001", log);
    return ReadManifest(*env_->GetFileSystem(), "/db", &manifest_, most_bytes);
  }

  // The tables after these edits, and their levels.
  std::map<std::uint64_t, int> Levels(const std::vector<std::string>& edits) {
    EXPECT_TRUE(Read(edits).ok());
    std::map<std::uint64_t, int> levels;
    for (const auto& [number, table] : manifest_.tables) levels[number] = table.level;
    return levels;
  }

  Manifest manifest_;
};

using Tables = std::map<std::uint64_t, int>;

TEST_F(ManifestOf, TablesThatAreAddedDeletedAndMoved) {
  EXPECT_EQ(Levels({Adds(0, 5), Adds(1, 6) + Adds(1, 7)}), (Tables{{5, 0}, {6, 1}, {7, 1}}));
  EXPECT_EQ(Levels({Adds(0, 5) + Adds(1, 6), Deletes(0, 5)}), (Tables{{6, 1}}));
  EXPECT_EQ(Levels({Adds(0, 5), Deletes(0, 5) + Adds(1, 5)}), (Tables{{5, 1}}));
  EXPECT_EQ(Levels({Adds(0, 5), Adds(1, 5) + Deletes(0, 5)}), (Tables{{5, 1}}));
  EXPECT_EQ(Levels({Adds(1, 5), Deletes(0, 5) + Deletes(1, 4)}), (Tables{{5, 1}}));
  ASSERT_TRUE(Read({Adds(0, 5, "b", "y")}).ok());
  EXPECT_EQ(manifest_.tables[5].smallest, "b");
  EXPECT_EQ(manifest_.tables[5].largest, "y");
  EXPECT_EQ(manifest_.tables[5].largest_sequence, 20U);
  EXPECT_EQ(manifest_.tables[5].column_family, 0U);
}

TEST_F(ManifestOf, ColumnFamiliesAndTheTablesOfEach) {
  const std::vector<std::string> edits = {Comparator("bytes") + Adds(0, 5),
                                          Family(2) + AddsFamily("two") + Comparator("reverse"),
                                          Family(3) + AddsFamily("three") + Comparator("other"),
                                          Family(2) + Adds(0, 6),
                                          Family(3) + Adds(0, 7),
                                          Family(3) + Adds(1, 8)};
  ASSERT_TRUE(Read(edits).ok());
  ASSERT_EQ(manifest_.column_families.size(), 3U);
  EXPECT_EQ(manifest_.column_families[0].name, "default");
  EXPECT_EQ(manifest_.column_families[0].comparator, "bytes");
  EXPECT_EQ(manifest_.column_families[2].name, "two");
  EXPECT_EQ(manifest_.column_families[2].comparator, "reverse");
  EXPECT_EQ(manifest_.column_families[3].comparator, "other");
  EXPECT_EQ(manifest_.tables[5].column_family, 0U);
  EXPECT_EQ(manifest_.tables[6].column_family, 2U);
  EXPECT_EQ(manifest_.tables[7].column_family, 3U);

  std::vector<std::string> dropped = edits;
  dropped.push_back(Family(3) + DropsFamily());
  EXPECT_EQ(Levels(dropped), (Tables{{5, 0}, {6, 0}}));
  EXPECT_EQ(manifest_.column_families.size(), 2U);
  dropped.push_back(Family(3) + Adds(0, 9));  // by a job that ended after that
  EXPECT_EQ(Levels(dropped), (Tables{{5, 0}, {6, 0}}));
  EXPECT_EQ(manifest_.column_families.size(), 2U);
}

TEST_F(ManifestOf, GroupsOfEditsThatAreWhole) {
  const std::string first = Adds(0, 5) + InGroup(2);
  const std::string second = Deletes(0, 4) + InGroup(1);
  const std::string third = Adds(0, 6) + InGroup(0);
  EXPECT_EQ(Levels({Adds(0, 4), first}), (Tables{{4, 0}}));
  EXPECT_EQ(Levels({Adds(0, 4), first, second}), (Tables{{4, 0}}));
  EXPECT_EQ(Levels({Adds(0, 4), first, second, third}), (Tables{{5, 0}, {6, 0}}));
  EXPECT_EQ(Levels({Adds(0, 4), first, second, third, Deletes(0, 5), Deletes(0, 6)}), (Tables{}));
}

TEST_F(ManifestOf, AnyNumberOfEditsBelowTheMostBytes) {
  const std::vector<std::string> edits(10, Adds(0, 5));
  const std::size_t bytes = sizeof(VersionEdit) + edits[0].size();
  EXPECT_TRUE(Read(edits, bytes).ok());
  EXPECT_EQ(Read(edits, bytes - 1).ToString(),
            "Corruption: /db/MANIFEST-000001: a group of edits is too large");
  const std::vector<std::string> group(10, Adds(0, 5) + InGroup(1));
  const std::size_t group_bytes = 10 * (sizeof(VersionEdit) + group[0].size());
  EXPECT_TRUE(Read(group, group_bytes).ok());
  EXPECT_TRUE(Read(group, group_bytes - 1).IsCorruption());
}

TEST_F(ManifestOf, NoEditsOrADamagedOneIsCorruption) {
  EXPECT_EQ(Read({}).ToString(), "Corruption: /db/MANIFEST-000001: it has no edits");
  EXPECT_EQ(Read({Adds(0, 5), "\x02", Adds(0, 6)}).ToString(),
            "Corruption: /db/MANIFEST-000001: an edit is truncated");
}

TEST_F(ManifestOf, ADatabaseIsNamedByItsFileCurrent) {
  Manifest manifest;
  const Status status = ReadManifest(*env_->GetFileSystem(), "/nowhere", &manifest);
  EXPECT_TRUE(status.IsNotFound());
  EXPECT_EQ(status.ToString(), "NotFound: /nowhere/CURRENT");
  ASSERT_TRUE(Read({Adds(0, 5)}).ok());
  for (const char* current : {"", "MANIFEST-000001", "/db/MANIFEST-000001\n", "OPTIONS-000001\n"}) {
    Write("/db/CURRENT", current);
    EXPECT_EQ(ReadManifest(*env_->GetFileSystem(), "/db", &manifest).ToString(),
              "Corruption: /db/CURRENT: it does not name a MANIFEST");
  }
}

// The first MANIFEST is replaced whenever CURRENT was read.
class ReplacingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  ReplacingFileSystem(const std::shared_ptr<rocksdb::FileSystem>& target, int times)
      : FileSystemWrapper(target), times_(times) {}

  const char* Name() const override { return "ReplacingFileSystem"; }

  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* file,
                                      rocksdb::IODebugContext* debug) override {
    const bool is_gone = path == "/db/MANIFEST-000001" && times_-- > 0;
    return is_gone ? rocksdb::IOStatus::PathNotFound(path)
                   : FileSystemWrapper::NewSequentialFile(path, options, file, debug);
  }

 private:
  int times_;
};

TEST_F(ManifestOf, ARunningDatabaseIsTheOneThatIsThere) {
  ASSERT_TRUE(Read({Adds(0, 5)}).ok());
  Manifest manifest;
  ReplacingFileSystem once(env_->GetFileSystem(), 1);
  EXPECT_TRUE(ReadManifest(once, "/db", &manifest).ok());
  EXPECT_EQ(manifest.tables.size(), 1U);
  ReplacingFileSystem always(env_->GetFileSystem(), 1000);
  EXPECT_TRUE(ReadManifest(always, "/db", &manifest).IsPathNotFound());
}

}  // namespace
}  // namespace exactbloom::files
