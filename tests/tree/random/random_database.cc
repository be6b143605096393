#include "random_database.h"

#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "exactbloom/filter_policy.h"
#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

using rocksdb::ColumnFamilyHandle;
using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(10);
constexpr auto kLongestWait = std::chrono::seconds(60);

// No table can be written for long. Where writes of the MANIFEST fail, RocksDB 7.8 may leave a
// database that it cannot open.
faults::Probabilities ChosenProbabilities() {
  using faults::Fault;
  using faults::FileKind;
  using faults::Operation;
  return {{{FileKind::kTable, Operation::kWrite, Fault::kFail}, 0.1},
          {{FileKind::kTable, Operation::kWrite, Fault::kShorten}, 0.1},
          {{FileKind::kTable, Operation::kSync, Fault::kFail}, 0.1},
          {{FileKind::kTable, Operation::kCreate, Fault::kFail}, 0.1}};
}

PolicyPointer PolicyFrom(const std::string& text) {
  RegisterFilterPolicies();
  PolicyPointer policy;
  const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString({}, text, &policy);
  EXPECT_TRUE(status.ok()) << text << ": " << status.ToString();
  return policy;
}

std::string DescribeRuns(const std::map<int, TableSum>& runs) {
  std::string text;
  for (const auto& [level, sum] : runs) {
    text += "; level " + std::to_string(level) + ": " + std::to_string(sum.tables) + " tables, " +
            std::to_string(sum.keys) + " keys, " + std::to_string(sum.filter_bytes) + " bytes";
  }
  return text;
}

}  // namespace

RandomPolicy::RandomPolicy(std::string its_text, double most_bits, bool has_ribbon,
                           std::string its_budget)
    : text(std::move(its_text)),
      bits_per_key(most_bits),
      ribbon(has_ribbon),
      budget(std::move(its_budget)),
      shared(PolicyFrom(text)) {}

RandomDatabase::RandomDatabase(std::uint64_t seed, std::string path,
                               const RandomSurroundings& surroundings)
    : random_(seed),
      path_(std::move(path)),
      surroundings_(surroundings),
      faults_(random_(), ChosenProbabilities()),
      env_(faults::NewFaultyEnv(faults_)) {
  if (Choose(3) == 0) style_ = rocksdb::kCompactionStyleUniversal;
  is_variant_ = Choose(2) == 0;
  if (Choose(6) == 0) partition_bytes_ = 512 << Choose(2);
  fits_memory_ = Choose(4) == 0;
  charges_cache_ = Choose(2) == 0;
  detects_faults_ = Choose(2) == 0;
  subcompactions_ = Choose(4) == 0 ? 32 : 1 + static_cast<int>(Choose(3));
  listener_ = Choose(2) == 0 ? surroundings_.listener : NewTreeListener();
  Family& family = families_[rocksdb::kDefaultColumnFamilyName];
  family.keeps_all = Choose(2) == 0;
  SetPolicy(family);
  OpenAgain(/*follows=*/Choose(2) == 0);
  family.known = AllKnown();  // it has no tables
  family.had_estimates = false;
  for (std::uint64_t i = 1; i < surroundings_.families; ++i) {
    const std::string name = "first" + std::to_string(i);
    EXPECT_TRUE(MakeFamily(name, families_[name]).ok());
  }
}

RandomDatabase::~RandomDatabase() {
  faults_.Switch(false);
  Close();
}

RandomDatabase::Family& RandomDatabase::ChooseFamily() {
  return std::next(families_.begin(), static_cast<std::ptrdiff_t>(Choose(families_.size())))
      ->second;
}

void RandomDatabase::SetPolicy(Family& family) {
  family.policy = &surroundings_.policies[Choose(surroundings_.policies.size())];
  family.object = Choose(2) == 0 ? family.policy->shared : PolicyFrom(family.policy->text);
  family.most_bits = std::max(family.most_bits, family.policy->bits_per_key);
  family.had_ribbon |= family.policy->ribbon;
  family.had_budget |= !family.policy->budget.empty();
  family.counts = false;
}

// An order without repetitions.
std::uint64_t RandomDatabase::ScatteredKey(std::uint64_t number) {
  constexpr std::uint64_t kOdd = 611'953;
  return kScatteredSpace + number * kOdd % kScatteredSpace;
}

// Those that come last in this order, and between keys of all families.
std::uint64_t RandomDatabase::AbsentKey(std::uint64_t number) {
  return ScatteredKey(kScatteredSpace - 1 - number);
}

void RandomDatabase::OfferToReaders() {
  constexpr std::size_t kSample = 300;
  const std::lock_guard<std::shared_mutex> lock(lasting_mutex_);
  lasting_.clear();
  for (const auto& [name, family] : families_) {
    if (!family.keeps_all) continue;
    Lasting& lasting = lasting_.emplace_back(Lasting{family.handle, {}});
    std::sample(family.contents.begin(), family.contents.end(),
                std::back_inserter(lasting.contents), kSample, random_);
  }
}

void RandomDatabase::ReadSome(const Lasting& lasting, std::mt19937_64& random) {
  constexpr std::size_t kBatch = 32;
  std::vector<std::string> texts;
  std::vector<const std::string*> expected;
  for (std::size_t i = 0; i < kBatch; ++i) {
    const bool is_present = i % 2 == 0 && !lasting.contents.empty();
    const auto* const pair =
        is_present ? &lasting.contents[random() % lasting.contents.size()] : nullptr;
    texts.push_back(KeyOf(is_present ? pair->first : AbsentKey(random() % kScatteredSpace / 2)));
    expected.push_back(is_present ? &pair->second : nullptr);
  }
  const std::vector<rocksdb::Slice> keys(texts.begin(), texts.end());
  std::vector<rocksdb::PinnableSlice> values(kBatch);
  std::vector<Status> statuses(kBatch);
  db_->MultiGet({}, lasting.handle, kBatch, keys.data(), values.data(), statuses.data());
  for (std::size_t i = 0; i < kBatch; ++i) {
    std::string value;
    const Status status = db_->Get({}, lasting.handle, keys[i], &value);
    const auto is_right = [&](const Status& answer, const rocksdb::Slice& found) {
      return expected[i] == nullptr ? answer.IsNotFound() : answer.ok() && found == *expected[i];
    };
    EXPECT_TRUE(is_right(status, value))
        << path_ << ", Get of " << texts[i] << ": " << status.ToString() << ", " << value;
    EXPECT_TRUE(is_right(statuses[i], values[i]))
        << path_ << ", MultiGet of " << texts[i] << ": " << statuses[i].ToString();
  }
}

void RandomDatabase::ReadWhileItChanges(std::uint64_t seed) {
  constexpr auto kPauseOfReaders = std::chrono::milliseconds(2);
  std::mt19937_64 random(seed);
  while (!is_changed_) {
    {
      const std::shared_lock<std::shared_mutex> lock(lasting_mutex_);
      if (!lasting_.empty()) ReadSome(lasting_[random() % lasting_.size()], random);
    }
    std::this_thread::sleep_for(kPauseOfReaders);
  }
}

void RandomDatabase::Destroy(ColumnFamilyHandle* handle) {
  const std::lock_guard<std::shared_mutex> lock(lasting_mutex_);
  lasting_.erase(std::remove_if(lasting_.begin(), lasting_.end(),
                                [&](const Lasting& lasting) { return lasting.handle == handle; }),
                 lasting_.end());
  EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
}

std::vector<ColumnFamilyHandle*> RandomDatabase::Handles() const {
  std::vector<ColumnFamilyHandle*> handles;
  for (const auto& [name, family] : families_) handles.push_back(family.handle);
  return handles;
}

bool RandomDatabase::HasUnknownFilters() const {
  return std::any_of(families_.begin(), families_.end(), [](const auto& named) {
    return !named.second.policy->budget.empty() && named.second.known < Known::kPartitions;
  });
}

rocksdb::Options RandomDatabase::OptionsOf(const Family& family) const {
  rocksdb::BlockBasedTableOptions tables = PlannedSizes();
  tables.filter_policy = family.object;
  if (is_partitioned()) PartitionFilters(partition_bytes_, &tables);
  tables.optimize_filters_for_memory = fits_memory_;
  tables.detect_filter_construct_corruption = detects_faults_;
  tables.cache_index_and_filter_blocks = charges_cache_;
  if (charges_cache_) {
    tables.cache_usage_options.options_overrides[rocksdb::CacheEntryRole::kFilterConstruction]
        .charged = rocksdb::CacheEntryRoleOptions::Decision::kEnabled;
  }
  rocksdb::Options options = FollowingOptions(family.object, listener_);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(tables));
  options.listeners.insert(options.listeners.begin(), surroundings_.watch);
  options.env = env_.get();
  options.max_bgerror_resume_count = 0;  // FailJobs() does it
  options.max_open_files = open_files_;
  options.max_background_jobs = 16;
  options.max_subcompactions = static_cast<std::uint32_t>(subcompactions_);
  options.atomic_flush = is_atomic_;
  options.compaction_style = style_;
  options.level_compaction_dynamic_level_bytes = is_variant_;
  options.compaction_options_universal.incremental = is_variant_;
  return options;
}

rocksdb::Status RandomDatabase::Open(const std::string& path, Database* db,
                                     std::vector<ColumnFamilyHandle*>* handles, Mode mode) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const auto& [name, family] : families_) descriptors.emplace_back(name, OptionsOf(family));
  rocksdb::Options options = OptionsOf(families_.begin()->second);
  if (mode == Mode::kReadOnly) {
    return rocksdb::DB::OpenForReadOnly(options, path, descriptors, handles, Receive(db));
  }
  if (mode == Mode::kWriter)
    return rocksdb::DB::Open(options, path, descriptors, handles, Receive(db));
  options.max_open_files = -1;
  return rocksdb::DB::OpenAsSecondary(options, path, path + ".secondary", descriptors, handles,
                                      Receive(db));
}

void RandomDatabase::OpenAgain(bool follows) {
  surroundings_.watch->ExpectMore();
  std::vector<ColumnFamilyHandle*> handles;
  const Status status = Open(path_, &db_, &handles, Mode::kWriter);
  ASSERT_TRUE(status.ok()) << path_ << ": " << status.ToString();
  auto handle = handles.begin();
  for (auto& [name, family] : families_) {
    family.handle = *handle++;
    family.counts = false;
    // Tables with overwritten or deleted keys have more entries than keys in filters.
    family.known = open_files_ == -1 && family.keeps_all ? Known::kKeys : Known::kTables;
    family.had_estimates |= !follows;
    family.recovered_bytes += 512.0;
  }
  if (follows) {
    EXPECT_TRUE(FollowAgain().ok());
  }
  // All tables that were superseded stay.
  if (surroundings_.only_grows && Choose(2) == 0) {
    EXPECT_TRUE(db_->DisableFileDeletions().ok());
  }
  OfferToReaders();
}

void RandomDatabase::Close() {
  if (db_ == nullptr) return;
  iterators_.clear();
  for (auto& [name, family] : families_) {
    Destroy(family.handle);
    family.handle = nullptr;
  }
  db_.reset();
}

rocksdb::Status RandomDatabase::Put(Family& family, std::uint64_t key) {
  const std::string value = std::to_string(++values_);
  Status status = db_->Put({}, family.handle, KeyOf(key), value);
  if (status.ok()) {
    family.contents[key] = value;
    family.deleted.erase(key);
  }
  return status;
}

rocksdb::Status RandomDatabase::PutNew(Family& family, bool in_order) {
  return Put(family,
             in_order ? 2 * kScatteredSpace + family.in_order++ : ScatteredKey(family.scattered++));
}

rocksdb::Status RandomDatabase::WriteTo(Family& family, std::uint64_t count,
                                        std::mt19937_64& random) {
  const bool in_order = random() % 4 == 0;
  Status status;
  for (std::uint64_t i = 0; status.ok() && i < count; ++i) {
    if (family.keeps_all || in_order) {
      status = PutNew(family, in_order);
    } else if (const std::uint64_t key = random() % kKeySpace; random() % 8 != 0) {
      status = Put(family, key);
    } else {
      status = db_->Delete({}, family.handle, KeyOf(key));
      if (!status.ok()) break;
      family.contents.erase(key);
      family.deleted.insert(key);
    }
  }
  return status;
}

rocksdb::Status RandomDatabase::MakeFamily(const std::string& name, Family& family) {
  family.keeps_all = Choose(2) == 0;
  family.known = AllKnown();
  SetPolicy(family);
  Status status = db_->CreateColumnFamily(OptionsOf(family), name, &family.handle);
  // A dropped one of this name may be taken for it until its first job.
  if (status.ok()) status = WriteTo(family, 10 + Choose(2'000));
  return status.ok() ? db_->Flush({}, family.handle) : status;
}

std::uint64_t RandomDatabase::PropertyOf(ColumnFamilyHandle* handle, const std::string& name) {
  std::uint64_t value = 0;
  EXPECT_TRUE(db_->GetIntProperty(handle, "rocksdb." + name, &value)) << name;
  return value;
}

void RandomDatabase::AwaitEndOfJobs() {
  ColumnFamilyHandle* const any = db_->DefaultColumnFamily();
  while (PropertyOf(any, "num-running-flushes") != 0 ||
         PropertyOf(any, "num-running-compactions") != 0) {
    std::this_thread::sleep_for(kPause);
  }
}

void RandomDatabase::AwaitQuietFamilies() {
  // In other styles some may be pending that no job will do.
  const bool does_pending = style_ == rocksdb::kCompactionStyleLevel;
  const auto is_busy = [&](const auto& named) {
    ColumnFamilyHandle* const handle = named.second.handle;
    return PropertyOf(handle, "mem-table-flush-pending") != 0 ||
           PropertyOf(handle, "num-running-flushes") != 0 ||
           (does_pending && PropertyOf(handle, "compaction-pending") != 0) ||
           PropertyOf(handle, "num-running-compactions") != 0;
  };
  const auto is_any_busy = [&] { return std::any_of(families_.begin(), families_.end(), is_busy); };
  const Clock::time_point end = Clock::now() + kLongestWait;
  while (is_any_busy() || is_any_busy()) {  // twice, as AwaitQuiet() does
    ASSERT_LT(Clock::now(), end) << path_ << " never becomes quiet";
    std::this_thread::sleep_for(kPause);
  }
}

void RandomDatabase::ExpectContents(rocksdb::DB& db,
                                    const std::vector<ColumnFamilyHandle*>& handles,
                                    bool all_keys) {
  constexpr std::uint64_t kSample = 150;
  std::string value;
  auto handle = handles.begin();
  for (const auto& [name, family] : families_) {
    const auto expect = [&](std::uint64_t key, const std::string* expected) {
      const Status status = db.Get({}, *handle, KeyOf(key), &value);
      ASSERT_EQ(status.ok(), expected != nullptr)
          << path_ << ", " << name << ", key " << key << ": " << status.ToString();
      if (expected != nullptr) {
        ASSERT_EQ(value, *expected) << path_ << ", " << name << ", " << key;
      }
    };
    const auto step = [&](std::size_t size) {
      return all_keys ? 1 : 1 + static_cast<std::ptrdiff_t>(Choose(1 + 2 * size / kSample));
    };
    const auto walk = [&](const auto& keys, auto visit) {
      for (auto key = keys.begin(); key != keys.end();) {
        visit(*key);
        for (auto left = step(keys.size()); left > 0 && key != keys.end(); --left) ++key;
      }
    };
    walk(family.contents, [&](const auto& pair) { expect(pair.first, &pair.second); });
    walk(family.deleted, [&](std::uint64_t key) { expect(key, nullptr); });
    expect(AbsentKey(Choose(kScatteredSpace / 2)), nullptr);
    ++handle;
  }
}

std::string RandomDatabase::FindBudgetDifference() {
  const Trees trees = TreesOf(*db_);
  std::set<std::string> budgets;
  for (const RandomPolicy& policy : surroundings_.policies) budgets.insert(policy.budget);
  budgets.erase("");
  for (const std::string& budget : budgets) {
    std::map<std::string, std::uint64_t> counted;  // bytes, by family
    for (const auto& family : GetMemoryBudgetUse(budget).families) {
      if (family.database == path_) counted[family.column_family] = family.filter_bytes;
    }
    for (const auto& [name, bytes] : counted) {
      const bool is_dropped = families_.count(name) == 0;
      if (is_dropped && bytes != 0 && iterators_.empty()) return name + " was dropped";
    }
    for (const auto& [name, family] : families_) {
      const std::string which = "family " + name + ", budget " + budget;
      const auto bytes = counted.find(name);
      const bool is_here = bytes != counted.end();
      const bool is_expected = budget == family.policy->budget;
      if (family.counts && is_here != is_expected) return which + (is_here ? " is another" : "");
      if (!is_here || !is_expected || family.known < Known::kPartitions) continue;
      const TableSum truth = trees.count(name) == 0 ? TableSum() : SumOf(trees.at(name));
      if (AreBytesOf(truth, family.known, bytes->second)) continue;
      return which + ": " + std::to_string(bytes->second) + " bytes instead of " +
             std::to_string(truth.filter_bytes);
    }
  }
  return "";
}

// What is wrong is to be right after the next events.
void RandomDatabase::ExpectKnown() {
  const KnownOf known_of = [&](const std::string& name) {
    const auto family = families_.find(name);
    return family == families_.end() ? Known::kNothing : family->second.known;
  };
  const Clock::time_point end = Clock::now() + kLongestWait;
  for (;; std::this_thread::sleep_for(kPause)) {
    AwaitQuietFamilies();
    // A database that was not followed and has had no job since is not known.
    const bool may_be_unknown = known_of(rocksdb::kDefaultColumnFamilyName) < Known::kPartitions;
    if (may_be_unknown && GetSortedRuns(*db_).empty()) return;
    std::string difference = FindDifference(*db_, known_of);
    if (difference.empty()) difference = FindBudgetDifference();
    if (difference.empty()) return;
    ASSERT_LT(Clock::now(), end) << path_ << ": " << difference;
    ASSERT_TRUE(PutNew(families_.at(rocksdb::kDefaultColumnFamilyName), /*in_order=*/true).ok());
    ASSERT_TRUE(db_->Flush({}).ok());
  }
}

void RandomDatabase::ExpectAverages() {
  constexpr double kMostOver = 0.65;  // half a bit, and 0.5% for small runs
  // Filters are estimated with bits_per_key, and may have half a bit per key more.
  constexpr double kMissedByEstimates = 0.5;
  constexpr double kBytesOfTable = 78.0;  // the rest of a line, and a trailer
  // RocksDB's Ribbon filters have multiples of 128 slots.
  constexpr double kRibbonBytesOfBit = 16.0;
  if (is_partitioned() || fits_memory_) return;
  const Trees trees = TreesOf(*db_);
  for (const auto& [name, family] : families_) {
    const auto tree = trees.find(name);
    if (!family.keeps_all || tree == trees.end()) continue;
    const TableSum sum = SumOf(tree->second);
    const double most_bits =
        kMostOver + family.most_bits + (family.had_estimates ? kMissedByEstimates : 0.0);
    EXPECT_LE(
        static_cast<double>(sum.filter_bytes),
        most_bits / 8.0 * static_cast<double>(sum.keys) + family.recovered_bytes +
            (kBytesOfTable + (family.had_ribbon ? kRibbonBytesOfBit * family.most_bits : 0.0)) *
                static_cast<double>(sum.tables))
        << path_ << ", " << name << ": " << sum.tables << " tables with " << sum.BitsPerKey()
        << " instead of " << family.most_bits << " bits per key";
  }
}

// Of lookups of absent keys few find a table to read. Where no filter was asked, none has one.
void RandomDatabase::ExpectFewWastedReads() {
  constexpr std::uint64_t kAsked = 300;
  constexpr double kMostWasted = 0.1;  // of the answers; filters have five bits per key or more
  constexpr double kChance = 20.0;
  for (const auto& [name, family] : families_) {
    // To RocksDB's own readers ExactBloom's filters let every key pass.
    const bool is_built_in = family.policy->text.rfind("bloomfilter", 0) == 0;
    if (family.had_budget || is_built_in) continue;
    TakeCounts(*db_);
    const auto statistics = db_->GetDBOptions().statistics;
    statistics->getAndResetTickerCount(rocksdb::NO_FILE_OPENS);
    std::string value;
    for (std::uint64_t i = 0; i < kAsked; ++i) {
      EXPECT_TRUE(db_->Get({}, family.handle, KeyOf(AbsentKey(i)), &value).IsNotFound());
    }
    const FilterCounts counts = TakeCounts(*db_);
    // With few open files RocksDB opens tables anew, and counts their range tombstones as blocks.
    const auto opened =
        static_cast<double>(statistics->getAndResetTickerCount(rocksdb::NO_FILE_OPENS));
    const double most =
        kMostWasted * static_cast<double>(counts.useful + counts.positive) + kChance;
    EXPECT_LE(static_cast<double>(counts.positive), most) << path_ << ", " << name;
    EXPECT_LE(static_cast<double>(counts.data_blocks), most + opened)
        << path_ << ", " << name << " of " << family.policy->text << ": " << counts.useful
        << " keys were stopped, " << counts.positive << " passed"
        << DescribeRuns(TreesOf(*db_)[name]);
  }
}

void RandomDatabase::ExpectRight(bool all_keys) {
  AwaitQuietFamilies();
  ExpectKnown();
  ExpectAverages();
  ExpectContents(*db_, Handles(), all_keys);
  ExpectFewWastedReads();
}

}  // namespace exactbloom
