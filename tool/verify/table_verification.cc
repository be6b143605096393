#include "table_verification.h"

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <random>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "sst/block_description.h"
#include "sst/regular_files.h"
#include "tool/database/filter_blocks.h"
#include "tool/database/filter_fill.h"
#include "tool/database/table_keys.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Slice;
using rocksdb::SliceTransform;
using rocksdb::Status;

// Draws keys that a table most likely lacks, spread over its keys. Equal seeds draw equal keys. Of
// long keys it draws fewer: of all, 256 MB or a hundred bytes for each, but one at each present
// key.
class AbsentKeys {
 public:
  AbsentKeys(std::uint64_t count, std::uint64_t present, std::uint64_t seed)
      : count_(count),
        present_(static_cast<double>(present)),
        most_bytes_(std::max(256e6, 100.0 * static_cast<double>(count))),
        distance_(present_ / static_cast<double>(count)),
        random_(seed) {}

  // To be called for each present key. Calls `use` for absent keys: alternately the present key
  // with one byte changed, and random bytes of its length. Some of them may be present.
  template <typename Use>
  void DrawAt(const Slice& present, const Use& use) {
    ++seen_;
    if (!IsDue()) return;
    const std::string base = present.ToString();
    const double due_bytes = most_bytes_ * static_cast<double>(seen_) / present_;
    for (bool is_first = true; IsDue() && (is_first || bytes_ < due_bytes); ++drawn_) {
      bytes_ += static_cast<double>(base.size());
      is_first = false;
      if (!base.empty()) use(Changed(base));
    }
  }

 private:
  bool IsDue() const {
    return drawn_<count_&& static_cast<double>(seen_)> static_cast<double>(drawn_) * distance_;
  }

  std::string Changed(std::string key) {
    constexpr std::uint64_t kByteValues = 256;
    if (drawn_ % 2 == 0) {
      const std::uint64_t change = 1 + random_() % (kByteValues - 1);
      char& byte = key[random_() % key.size()];
      byte = static_cast<char>(static_cast<unsigned char>(byte) ^ change);
    } else {
      for (char& byte : key) byte = static_cast<char>(random_() % kByteValues);
    }
    return key;
  }

  std::uint64_t count_;
  double present_;
  double most_bytes_;
  double bytes_ = 0.0;  // of the drawn keys
  double distance_;     // from one to the next, in present keys
  std::uint64_t seen_ = 0;
  std::uint64_t drawn_ = 0;
  std::mt19937_64 random_;
};

// Goes through keys that are given, beside the keys of a table.
class GivenKeys {
 public:
  // `sorted`, in bytewise order, may be null, and must outlive the object, as `order` must.
  GivenKeys(const std::vector<Slice>* sorted, const rocksdb::Comparator& order)
      : order_(order), keys_(sorted == nullptr ? &resorted_ : sorted) {
    if (sorted == nullptr || &order == rocksdb::BytewiseComparator()) return;
    resorted_ = *sorted;
    std::sort(resorted_.begin(), resorted_.end(),
              [this](const Slice& one, const Slice& other) { return IsBefore(one, other); });
    keys_ = &resorted_;
  }
  GivenKeys(const GivenKeys&) = delete;
  GivenKeys& operator=(const GivenKeys&) = delete;

  // To be called for each key of the table. Leaves out what is before the first of them; then
  // calls `use` for each given key between the present one and the one before.
  template <typename Use>
  void GoTo(const Slice& present, const Use& use) {
    if (std::exchange(is_first_, false)) {
      const auto first = std::lower_bound(
          keys_->begin(), keys_->end(), present,
          [this](const Slice& one, const Slice& other) { return IsBefore(one, other); });
      next_ = static_cast<std::size_t>(first - keys_->begin());
    }
    for (; next_ < keys_->size() && IsBefore((*keys_)[next_], present); ++next_) {
      use((*keys_)[next_]);
    }
  }

 private:
  bool IsBefore(const Slice& one, const Slice& other) const {
    return order_.CompareWithoutTimestamp(one, /*a_has_ts=*/false, other, /*b_has_ts=*/false) < 0;
  }

  const rocksdb::Comparator& order_;
  std::vector<Slice> resorted_;  // if the order is not the bytewise one
  const std::vector<Slice>* keys_;
  std::size_t next_ = 0;
  bool is_first_ = true;
};

class Verification {
 public:
  Verification(const TableLocation& table, const AbsentKeyOptions& absent)
      : path_(table.path), wanted_absent_(absent), seed_(absent.seed ^ table.number) {}

  TableVerification Run() {
    result_.status = ReadTableFilter(*files::RegularFiles(), path_, &result_.filter);
    const FilterFamily family = result_.filter.family;
    const bool can_be_asked = family != FilterFamily::kNone && family != FilterFamily::kBlockBased;
    if (!result_.status.ok() || !can_be_asked) return std::move(result_);
    result_.status = Open();
    if (result_.status.IsNotSupported()) {
      result_.unchecked = result_.status.getState();
      result_.status = Status::OK();
    } else if (result_.status.ok()) {
      result_.status = Verify();
    }
    return std::move(result_);
  }

 private:
  Status Open();
  Status Verify();
  Status MoveTo(const Slice& key);
  void AskPresent(const Slice& key);
  void Expect(const Slice& key, bool is_prefix);
  void AskAbsent(const Slice& key);
  bool IsPresent(const Slice& key);
  void FinishBlock();

  const std::string path_;
  const AbsentKeyOptions wanted_absent_;
  const std::uint64_t seed_;
  TableVerification result_;

  std::unique_ptr<TableKeys> keys_;
  FilterBlocks filter_;
  std::shared_ptr<const SliceTransform> prefix_;  // if prefixes are in the filter
  bool searchable_ = true;                        // whether a search can show that a key is absent
  support::ExactRates rates_;

  // Absent keys.
  std::unordered_set<std::size_t> used_;  // by hash: a key counts once
  std::uint64_t asked_ = 0;               // of the current block
  std::uint64_t positives_ = 0;
};

Status Verification::Open() {
  Status status = TableKeys::Open(path_, &keys_);
  if (status.ok()) status = filter_.Open(path_, keys_->Order(), keys_->HaveTimestamps());
  if (!status.ok() || !result_.filter.prefix_filtering) return status;
  const std::string& name = result_.filter.prefix_extractor;
  const Status known = SliceTransform::CreateFromString(rocksdb::ConfigOptions(), name, &prefix_);
  if (!known.ok()) prefix_.reset();
  if (prefix_ == nullptr) result_.unchecked = "prefixes by " + name + ", which is not known here";
  // A search in bytewise order shows whether a prefix is absent.
  searchable_ = prefix_ != nullptr && &keys_->Order() == rocksdb::BytewiseComparator();
  return Status::OK();
}

Status Verification::Verify() {
  const bool draws = searchable_ && wanted_absent_.given == nullptr;
  AbsentKeys absent(draws ? wanted_absent_.drawn : 0,
                    result_.filter.entries - result_.filter.range_deletes, seed_);
  GivenKeys given(searchable_ ? wanted_absent_.given : nullptr, keys_->Order());
  Status status;
  for (; keys_->Valid(); keys_->Next()) {
    const Slice key = keys_->Key();
    given.GoTo(key, [&](const Slice& other) {
      if (status.ok()) status = MoveTo(other);
      if (status.ok()) AskAbsent(other);
    });
    if (status.ok()) status = MoveTo(key);
    if (!status.ok()) return status;
    AskPresent(key);
    absent.DrawAt(key, [this](const Slice& other) { AskAbsent(other); });
  }
  FinishBlock();
  return keys_->status();
}

Status Verification::MoveTo(const Slice& key) {
  if (filter_.IsFor(key)) return Status::OK();
  FinishBlock();
  return filter_.MoveTo(key);
}

void Verification::AskPresent(const Slice& key) {
  const bool has_prefix = prefix_ != nullptr && prefix_->InDomain(key);
  const bool whole_key = result_.filter.whole_key_filtering;
  if (whole_key || has_prefix) result_.keys_checked += 1;
  if (whole_key) Expect(key, false);
  if (has_prefix) Expect(prefix_->Transform(key), true);
}

void Verification::Expect(const Slice& key, bool is_prefix) {
  if (filter_.MayMatch(key)) return;
  result_.false_negatives += 1;
  if (result_.named.size() == TableVerification::kMostNamed) return;
  result_.named.push_back({key.ToString(), is_prefix});
}

void Verification::AskAbsent(const Slice& key) {
  Slice asked = key;
  if (!result_.filter.whole_key_filtering) {
    if (!prefix_->InDomain(key)) return;
    asked = prefix_->Transform(key);
  }
  if (!used_.insert(std::hash<std::string_view>{}(asked.ToStringView())).second) return;
  const bool passes = filter_.MayMatch(asked);
  // Present keys are checked separately, so only keys that pass are searched for.
  if (passes && IsPresent(asked)) return;
  asked_ += 1;
  if (passes) positives_ += 1;
}

bool Verification::IsPresent(const Slice& key) {
  Slice found;
  if (!keys_->Find(key, &found)) return false;
  if (result_.filter.whole_key_filtering && found == key) return true;
  return prefix_ != nullptr && prefix_->InDomain(found) && prefix_->Transform(found) == key;
}

void Verification::FinishBlock() {
  if (!filter_.HasBlock()) return;
  const FilterBlockDescription block = DescribeFilterBlock(filter_.Contents());
  // None for more keys than any filter has.
  const support::ExactRate exact =
      block.family == FilterFamily::kExactBloom
          ? rates_.Of(block.ours)
          : support::ExactRate{
                block.family == FilterFamily::kExactRibbon ? block.ribbon_rate : std::nan(""), 0.0};
  if (block.family == FilterFamily::kUnknown) {
    result_.unchecked = block.reason;  // it lets all keys pass
  } else if (block.family == FilterFamily::kEmpty) {
    result_.absent.Add(asked_, positives_, {});
  } else if (!std::isnan(exact.mean)) {
    result_.absent.Add(asked_, positives_, exact);
  } else {
    const double by_fill = MeasureBlock(filter_.Contents()).rate;
    result_.absent.Add(asked_, positives_, {by_fill, 0.0}, /*is_exact=*/false);
  }
  asked_ = 0;
  positives_ = 0;
}

}  // namespace

void RateTally::Add(std::uint64_t keys, std::uint64_t passed, const support::ExactRate& rate,
                    bool is_exact) {
  const double mean = static_cast<double>(keys) * rate.mean;
  asked += keys;
  positives += passed;
  expected += mean;
  exact = exact && (keys == 0 || is_exact);
  const double of_fill = mean * rate.relative_deviation;
  variance += mean * (1.0 - rate.mean) + of_fill * of_fill;
}

void RateTally::Add(const RateTally& other) {
  asked += other.asked;
  positives += other.positives;
  expected += other.expected;
  exact = exact && other.exact;
  variance += other.variance;
}

std::optional<Interval> RateTally::MeasuredInterval() const {
  if (!exact || asked == 0) return std::nullopt;
  const double rate = expected / static_cast<double>(asked);
  const double binomial = expected * (1.0 - rate);
  const double dispersion = binomial > 0.0 ? std::max(1.0, variance / binomial) : 1.0;
  return WilsonInterval(positives, asked, kZ999, dispersion);
}

std::optional<bool> RateTally::WithinInterval() const {
  const std::optional<Interval> interval = MeasuredInterval();
  if (!interval) return std::nullopt;
  return interval->Contains(expected / static_cast<double>(asked));
}

TableVerification VerifyTable(const TableLocation& table, const AbsentKeyOptions& absent) {
  try {
    return Verification(table, absent).Run();
  } catch (const std::exception& error) {  // also where memory runs short
    TableVerification unreadable;
    unreadable.status = Status::MemoryLimit(error.what());
    return unreadable;
  }
}

}  // namespace exactbloom::tool
