#include "expected_contents.h"

#include <algorithm>
#include <memory>

#include "sample_database.h"

namespace exactbloom::faults {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

std::string Wrong(std::uint64_t number, const std::string& what) {
  return KeyOf(number) + ": " + what;
}

}  // namespace

ExpectedContents::ExpectedContents(std::uint64_t keys) : keys_(keys) {
  for (std::uint64_t number = 0; number < 2 * keys; ++number) texts_.push_back(KeyOf(number));
}

void ExpectedContents::Acknowledge(const Writes& writes) {
  for (const auto& [key, value] : writes) keys_[key] = {value, {}};
}

void ExpectedContents::Attempt(const Writes& writes) {
  for (const auto& [key, value] : writes) keys_[key].attempted.push_back(value);
}

bool ExpectedContents::Allows(std::uint64_t key, const Value& value) const {
  const auto& attempted = keys_[key].attempted;
  return value == keys_[key].acknowledged ||
         std::find(attempted.begin(), attempted.end(), value) != attempted.end();
}

bool ExpectedContents::Allows(std::uint64_t key, const Status& status,
                              const std::string& value) const {
  if (status.ok()) return Allows(key, Value(value));
  return !status.IsNotFound() || Allows(key, std::nullopt);
}

std::string ExpectedContents::Scan(rocksdb::DB& db, std::vector<Value>* found) const {
  found->assign(Keys(), std::nullopt);
  const std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator({}));
  std::uint64_t key = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++key) {
    while (key < Keys() && texts_[2 * key] != iterator->key()) ++key;
    if (key == Keys()) return iterator->key().ToString() + " was never written";
    (*found)[key] = iterator->value().ToString();
  }
  if (!iterator->status().ok()) return "iterator: " + iterator->status().ToString();
  for (key = 0; key < Keys(); ++key) {
    if (!Allows(key, (*found)[key])) return Wrong(2 * key, (*found)[key].value_or("lost"));
  }
  return "";
}

std::string ExpectedContents::Look(rocksdb::DB& db, const std::vector<Value>& found) const {
  constexpr std::size_t kBatch = 32;
  for (std::uint64_t first = 0; first < 2 * Keys(); first += kBatch) {
    const auto begin = texts_.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<Slice> keys(begin, begin + kBatch);
    std::vector<std::string> values;
    const std::vector<Status> statuses = db.MultiGet({}, keys, &values);
    for (std::size_t i = 0; i < kBatch; ++i) {
      const std::uint64_t number = first + i;
      std::string value;
      const Status status = db.Get({}, keys[i], &value);
      if (status.code() != statuses[i].code() || (status.ok() && value != values[i])) {
        return Wrong(number,
                     "MultiGet says " + statuses[i].ToString() + ", Get " + status.ToString());
      }
      const bool is_written = number % 2 == 0;
      const Value expected = is_written ? found[number / 2] : std::nullopt;
      if (!(expected ? status.ok() && value == *expected : status.IsNotFound())) {
        return Wrong(number, "the iterator finds " + expected.value_or("nothing") + ", Get " +
                                 status.ToString() + " " + value);
      }
    }
  }
  return "";
}

std::string ExpectedContents::Read(rocksdb::DB& db, std::vector<Value>* found) const {
  const std::string difference = Scan(db, found);
  return difference.empty() ? Look(db, *found) : difference;
}

std::string ExpectedContents::FindDifference(rocksdb::DB& db) const {
  std::vector<Value> found;
  return Read(db, &found);
}

std::string ExpectedContents::Settle(rocksdb::DB& db) {
  std::vector<Value> found;
  std::string difference = Read(db, &found);
  for (std::uint64_t key = 0; key < Keys(); ++key) keys_[key] = {found[key], {}};
  return difference;
}

}  // namespace exactbloom::faults
