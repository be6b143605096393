// Databases that are changed at random, with exactbloom, with a budget and without: after each
// change every filter holds its keys, the shape equals the files, and no limit is exceeded that
// held before.
#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/rebuild_filters.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeySpace = 100'000;
constexpr double kTolerance = 1.07;  // trailers count in filters as small as these
constexpr double kLeastBits = 1.0;   // per key, of any table
// Trees with fewer keys have more than the limit by single tables.
constexpr std::uint64_t kLeastKeys = 3'000;

using rocksdb::Status;

// ExpectTrueShape puts KeyOf(0).
std::string NameOf(std::uint64_t key) { return KeyOf(2 * key + 2); }

struct Family {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  std::map<std::uint64_t, std::string> contents;
};

class RandomDatabase {
 public:
  explicit RandomDatabase(std::uint64_t seed) : random_(seed) {
    is_level_ = seed % 2 == 0;
    is_variant_ = seed % 4 < 2;
    families_[rocksdb::kDefaultColumnFamilyName];
    ChangePolicy();
  }
  ~RandomDatabase() { Close(); }
  RandomDatabase(const RandomDatabase&) = delete;
  RandomDatabase& operator=(const RandomDatabase&) = delete;

  // Changes something, and expects all to be right. Returns what it did.
  std::string Step() {
    struct Change {
      const char* name;
      int weight;
      Status (RandomDatabase::*make)();
    };
    static constexpr Change kChanges[] = {
        {"writes", 8, &RandomDatabase::Write},
        {"a flush", 2, &RandomDatabase::Flush},
        {"CompactRange", 2, &RandomDatabase::CompactRange},
        {"CompactFiles", 2, &RandomDatabase::CompactFiles},
        {"an ingestion", 1, &RandomDatabase::Ingest},
        {"a rebuild", 1, &RandomDatabase::RebuildAll},
        {"another trigger", 1, &RandomDatabase::ChangeTrigger},
        {"a new family", 1, &RandomDatabase::CreateFamily},
        {"a dropped family", 1, &RandomDatabase::DropFamily},
        {"reopening", 1, &RandomDatabase::Reopen},
        {"reopening with another listener", 1, &RandomDatabase::ChangeListener},
        {"reopening with another policy", 1, &RandomDatabase::ChangePolicy},
    };
    int left = 0;
    for (const Change& change : kChanges) left += change.weight;
    left = static_cast<int>(Choose(static_cast<std::uint64_t>(left)));
    const Change* change = kChanges;
    while (left >= change->weight) left -= (change++)->weight;
    const TableSum before = SumOf(TreesOf(*db_));
    watch_->Forget();
    written_keys_ = 0;
    follows_ = true;
    const Status status = (this->*change->make)();
    EXPECT_TRUE(status.ok()) << change->name << ": " << status.ToString();
    AwaitQuiet(*db_);
    ExpectContents();
    ExpectTrueShape(*db_, listener_);
    if (follows_) ExpectLimits(before);
    return change->name;
  }

 private:
  std::uint64_t Choose(std::uint64_t count) { return random_() % count; }

  std::pair<const std::string, Family>& ChooseFamily() {
    return *std::next(families_.begin(), static_cast<std::ptrdiff_t>(Choose(families_.size())));
  }

  rocksdb::Options Options() const {
    rocksdb::Options options = FollowingOptions(policy_, listener_);
    options.create_if_missing = true;
    options.listeners.push_back(watch_);
    options.compaction_style =
        is_level_ ? rocksdb::kCompactionStyleLevel : rocksdb::kCompactionStyleUniversal;
    options.level_compaction_dynamic_level_bytes = is_variant_;
    options.compaction_options_universal.incremental = is_variant_;
    return options;
  }

  void Close() {
    for (auto& [name, family] : families_) {
      if (family.handle == nullptr) continue;
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(family.handle).ok());
      family.handle = nullptr;
    }
    db_.reset();
  }

  Status Write() {
    Family& family = ChooseFamily().second;
    const std::uint64_t count = 1 + Choose(Choose(3) == 0 ? 10'000 : 2'000);
    written_keys_ += count;
    const std::uint64_t first = Choose(kKeySpace);
    const bool in_order = Choose(4) == 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t key = in_order ? first + i : Choose(kKeySpace);
      const bool is_deletion = Choose(10) == 0;
      const std::string value = is_deletion ? "" : std::to_string(++values_);
      const Status status = is_deletion ? db_->Delete({}, family.handle, NameOf(key))
                                        : db_->Put({}, family.handle, NameOf(key), value);
      if (!status.ok()) return status;
      if (is_deletion) {
        family.contents.erase(key);
      } else {
        family.contents[key] = value;
      }
    }
    return Status::OK();
  }

  Status Flush() { return db_->Flush({}, ChooseFamily().second.handle); }

  Status CompactRange() {
    const std::string first = NameOf(Choose(kKeySpace));
    const rocksdb::Slice begin = first;
    rocksdb::CompactRangeOptions options;
    if (Choose(2) == 0) {
      options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    }
    const bool all = Choose(2) == 0;
    if (is_level_ && all && Choose(2) == 0) {
      options.change_level = true;  // without an event
      options.target_level = 4;
    }
    return db_->CompactRange(options, ChooseFamily().second.handle, all ? nullptr : &begin,
                             nullptr);
  }

  Status CompactFiles() {
    const Status status = CompactAllFiles(*db_, ChooseFamily().second.handle);
    // Another compaction has these tables, or had them.
    return status.IsAborted() || status.IsInvalidArgument() ? Status::OK() : status;
  }

  Status Ingest() {
    Family& family = ChooseFamily().second;
    const std::string path = directory_.path("ingested.sst");
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), Options());
    Status status = writer.Open(path);
    const std::uint64_t first = Choose(kKeySpace);
    for (std::uint64_t key = first; status.ok() && key < first + 500; ++key) {
      status = writer.Put(NameOf(key), "ingested");
      family.contents[key] = "ingested";
    }
    if (status.ok()) status = writer.Finish();
    follows_ = false;
    return status.ok() ? db_->IngestExternalFile(family.handle, {path}, {}) : status;
  }

  Status RebuildAll() {
    RebuildOptions options;
    for (const auto& [name, family] : families_) options.column_families.push_back(family.handle);
    RebuildResult result;
    return RebuildFilters(*db_, options, &result);
  }

  Status ChangeTrigger() {
    const std::string trigger = std::to_string(2 + Choose(8));
    return db_->SetOptions(ChooseFamily().second.handle,
                           {{"level0_file_num_compaction_trigger", trigger}});
  }

  Status CreateFamily() {
    if (families_.size() > 2) return Status::OK();
    const std::string name = "family" + std::to_string(++values_);
    return db_->CreateColumnFamily(Options(), name, &families_[name].handle);
  }

  Status DropFamily() {
    const auto& [name, family] = ChooseFamily();
    if (name == rocksdb::kDefaultColumnFamilyName) return Status::OK();
    Status status = db_->DropColumnFamily(family.handle);
    if (status.ok()) status = db_->DestroyColumnFamilyHandle(family.handle);
    families_.erase(name);
    return status;
  }

  Status Reopen() {
    Close();
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const auto& [name, family] : families_) descriptors.emplace_back(name, Options());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    const Status status =
        rocksdb::DB::Open(Options(), directory_.path("db"), descriptors, &handles, Receive(&db_));
    if (!status.ok()) return status;
    auto handle = handles.begin();
    for (auto& [name, family] : families_) family.handle = *handle++;
    follows_ = false;
    return status;
  }

  Status ChangeListener() {
    listener_ = NewTreeListener();
    return Reopen();
  }

  Status ChangePolicy() {
    constexpr double kBits[] = {8.0, 10.0, 14.0};
    constexpr std::uint64_t kBudgets[] = {0, 10'000, 30'000};
    limits_ = BudgetOptions(kBudgets[Choose(3)], kBits[Choose(3)]);
    limits_.ribbon = Choose(2) == 0;
    policy_ = PolicyOf(limits_);
    return ChangeListener();
  }

  void ExpectContents() {
    std::string value;
    for (const auto& [name, family] : families_) {
      for (const auto& [key, expected] : family.contents) {
        const Status status = db_->Get({}, family.handle, NameOf(key), &value);
        ASSERT_TRUE(status.ok()) << name << ", key " << key << ": " << status.ToString();
        ASSERT_EQ(value, expected) << name << ", key " << key;
      }
    }
  }

  // At no moment of the change new tables exceeded a limit further than the tree did before, but by
  // the least that they get.
  void ExpectLimits(const TableSum& before) {
    if (limits_.memory_budget != 0) {
      const double least = kLeastBits / 8.0 * static_cast<double>(written_keys_);
      const auto most = static_cast<double>(std::max(limits_.memory_budget, before.filter_bytes));
      EXPECT_LE(static_cast<double>(watch_->MostBytes()), kTolerance * most + least);
    }
    const double bits = before.keys == 0 ? 0.0 : before.BitsPerKey();
    EXPECT_LE(watch_->MostBitsPerKey(), kTolerance * std::max(bits, limits_.bits_per_key));
  }

  std::mt19937_64 random_;
  TemporaryDirectory directory_;
  bool is_level_ = false;
  bool is_variant_ = false;  // dynamic level sizes, or incremental universal compaction
  ExactBloomOptions limits_;
  PolicyPointer policy_;
  ListenerPointer listener_;
  std::shared_ptr<FilterWatch> watch_ = std::make_shared<FilterWatch>(kLeastKeys);
  Database db_;
  std::map<std::string, Family> families_;
  std::uint64_t values_ = 0;
  std::uint64_t written_keys_ = 0;  // in this step
  bool follows_ = false;            // no table of this change was made without a view of the tree
};

TEST(TreeListenerRandom, HoldsWhateverChangesATree) {
  const bool is_large = std::getenv("EXACTBLOOM_TEST_LARGE") != nullptr;
  const std::uint64_t databases = is_large ? 100 : 4;
  for (std::uint64_t seed = 0; seed < databases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomDatabase database(seed);
    std::string steps;
    for (int i = 0; i < 20; ++i) {
      steps += (i == 0 ? "" : ", ") + database.Step();
      ASSERT_FALSE(testing::Test::HasFailure()) << steps;
    }
  }
}

}  // namespace
}  // namespace exactbloom
