#include "table_verification.h"

#include <rocksdb/convenience.h>
#include <rocksdb/file_system.h>
#include <rocksdb/slice_transform.h>

#include <memory>

#include "absent_keys.h"
#include "filter_walk.h"
#include "key_batch.h"
#include "table_keys.h"
#include "tool/database/filter_fill.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Slice;
using rocksdb::SliceTransform;
using rocksdb::Status;

class Verification {
 public:
  Verification(const TableLocation& table, std::uint64_t absent, std::uint64_t seed)
      : path_(table.path), wanted_absent_(absent), seed_(seed ^ table.number) {}

  TableVerification Run() {
    result_.status = ReadTableFilter(*rocksdb::FileSystem::Default(), path_, &result_.filter);
    if (result_.status.ok() && result_.filter.blocks != 0) result_.status = Verify();
    return std::move(result_);
  }

 private:
  Status Open();
  Status Verify();
  void AddPresent(const Slice& key);
  void AddAbsent(const Slice& key);
  // These ask for the keys of a batch and clear it.
  void AskPresent(KeyBatch& batch, bool prefixes);
  void AskAbsent();
  bool IsPresent(const Slice& key);
  void FinishBlock();

  const std::string path_;
  const std::uint64_t wanted_absent_;
  const std::uint64_t seed_;
  TableVerification result_;

  std::unique_ptr<TableKeys> keys_;
  std::unique_ptr<FilterWalk> filter_;
  std::shared_ptr<const SliceTransform> prefix_;  // if prefixes are in the filter
  std::unique_ptr<AbsentKeys> absent_keys_;
  ExactRates rates_;

  KeyBatch whole_keys_;
  KeyBatch prefixes_;
  KeyBatch absent_;
  std::uint64_t asked_ = 0;  // for absent keys, by the current block
  std::uint64_t positives_ = 0;
};

Status Verification::Open() {
  Status status = TableKeys::Open(path_, &keys_);
  if (status.ok()) status = FilterWalk::Open(path_, keys_->Order(), &filter_);
  if (!status.ok()) return status;
  const TableFilter& filter = result_.filter;
  if (filter.prefix_filtering) {
    const Status known = SliceTransform::CreateFromString(rocksdb::ConfigOptions(),
                                                          filter.prefix_extractor, &prefix_);
    if (!known.ok() || prefix_ == nullptr) {
      result_.unchecked = "prefixes by " + filter.prefix_extractor + ", which is not known here";
      prefix_.reset();
    }
  }
  // A search in bytewise order shows whether a prefix is absent.
  const bool searchable = !filter.prefix_filtering ||
                          (prefix_ != nullptr && &keys_->Order() == rocksdb::BytewiseComparator());
  absent_keys_ = std::make_unique<AbsentKeys>(searchable ? wanted_absent_ : 0,
                                              filter.entries - filter.range_deletes, seed_);
  return Status::OK();
}

Status Verification::Verify() {
  Status status = Open();
  if (status.IsNotSupported()) {
    result_.unchecked = status.getState();
    return Status::OK();
  }
  if (!status.ok()) return status;
  for (; keys_->Valid(); keys_->Next()) {
    const Slice key = keys_->Key();
    if (!filter_->IsFor(key)) {
      FinishBlock();
      status = filter_->MoveTo(key);
      if (!status.ok()) return status;
    }
    AddPresent(key);
    if (!absent_keys_->AreDue()) continue;
    absent_keys_->Draw(key, [this](const Slice& absent) { AddAbsent(absent); });
  }
  FinishBlock();
  return keys_->status();
}

void Verification::AddPresent(const Slice& key) {
  const bool has_prefix = prefix_ != nullptr && prefix_->InDomain(key);
  if (!result_.filter.whole_key_filtering && !has_prefix) return;
  result_.keys_checked += 1;
  if (result_.filter.whole_key_filtering) {
    whole_keys_.Add(key);
    if (whole_keys_.IsFull()) AskPresent(whole_keys_, false);
  }
  if (has_prefix) {
    prefixes_.Add(prefix_->Transform(key));
    if (prefixes_.IsFull()) AskPresent(prefixes_, true);
  }
}

void Verification::AddAbsent(const Slice& key) {
  Slice asked = key;
  if (!result_.filter.whole_key_filtering) {
    if (!prefix_->InDomain(key)) return;
    asked = prefix_->Transform(key);
  }
  if (!absent_keys_->IsNew(asked)) return;
  absent_.Add(asked);
  if (absent_.IsFull()) AskAbsent();
}

void Verification::AskPresent(KeyBatch& batch, bool prefixes) {
  if (batch.IsEmpty()) return;
  const bool* answers = batch.Ask(filter_->Reader());
  for (std::size_t i = 0; i < batch.Size(); ++i) {
    if (answers[i]) continue;
    result_.false_negatives += 1;
    if (result_.named.size() < TableVerification::kMostNamed) {
      result_.named.push_back({batch[i].ToString(), prefixes});
    }
  }
  batch.Clear();
}

void Verification::AskAbsent() {
  if (absent_.IsEmpty()) return;
  const bool* answers = absent_.Ask(filter_->Reader());
  for (std::size_t i = 0; i < absent_.Size(); ++i) {
    // A key that the filter denies need not be searched for: each present key is checked
    // separately.
    if (answers[i] && IsPresent(absent_[i])) continue;
    asked_ += 1;
    if (answers[i]) positives_ += 1;
  }
  absent_.Clear();
}

bool Verification::IsPresent(const Slice& key) {
  Slice found;
  if (!keys_->Find(key, &found)) return false;
  if (result_.filter.whole_key_filtering && found == key) return true;
  return prefix_ != nullptr && prefix_->InDomain(found) && prefix_->Transform(found) == key;
}

void Verification::FinishBlock() {
  if (!filter_->HasBlock()) return;
  AskPresent(whole_keys_, false);
  AskPresent(prefixes_, true);
  AskAbsent();
  const FilterBlockDescription& block = filter_->Description();
  if (block.family == FilterFamily::kUnknown) {
    result_.unchecked = block.reason;  // it lets all keys pass
  } else if (block.family == FilterFamily::kExactBloom) {
    result_.absent.Add(RateTally::OfExact(asked_, positives_, rates_.Of(block.ours)));
  } else if (block.family == FilterFamily::kEmpty) {
    result_.absent.Add(RateTally::OfExact(asked_, positives_, FilterRate()));
  } else {
    result_.absent.Add(
        RateTally::OfApproximate(asked_, positives_, MeasureBlock(filter_->Contents()).rate));
  }
  asked_ = 0;
  positives_ = 0;
}

}  // namespace

TableVerification VerifyTable(const TableLocation& table, std::uint64_t absent,
                              std::uint64_t seed) {
  return Verification(table, absent, seed).Run();
}

}  // namespace exactbloom::tool
