#include "preloaded_policies.h"

#include <rocksdb/utilities/object_registry.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "../bloom_filter_policy.h"
#include "../c_binding/forwarding_policy.h"

namespace exactbloom::preload {
namespace {

using rocksdb::FilterPolicy;
using rocksdb::Status;

constexpr char kReplaceOnly[] = "replace-only";
constexpr char kBlanks[] = " \t\n";

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

Wish ReadVariable() {
  const char* value = secure_getenv(kVariable);
  Wish wish;
  const Status status = ReadWish(value == nullptr ? "" : value, &wish);
  if (status.ok()) return wish;
  const std::string line =
      std::string(kVariable) + " is '" + wish.text + "': " + status.ToString() + "\n";
  const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  static_cast<void>(written);  // there is nowhere to say so
  _exit(EXIT_FAILURE);  // the program may be in any thread, and its destructors are not for that
}

// RocksDB's own reading of the number.
double AsRocksDBTakes(double bits_per_key) {
  constexpr double kFewest = 0.5;
  if (bits_per_key < kFewest) return 0.0;
  if (bits_per_key < 1.0) return 1.0;
  return bits_per_key < kMaxBitsPerKey ? bits_per_key : kMaxBitsPerKey;  // also for no number
}

class PreloadedPolicy : public SharedPolicy<FilterPolicy> {
 public:
  using SharedPolicy::SharedPolicy;

  Status ValidateOptions(const rocksdb::DBOptions& /*db_options*/,
                         const rocksdb::ColumnFamilyOptions& /*cf_options*/) const override {
    return Status::OK();  // the options are valid, and the listener is added where that is possible
  }
};

std::shared_ptr<const FilterPolicy> PolicyOf(const PolicyOptions& options) {
  static std::mutex mutex;
  // Never destroyed: databases may be closed after static objects are gone.
  static auto& policies = *new std::map<double, std::shared_ptr<const FilterPolicy>>();
  const std::lock_guard<std::mutex> lock(mutex);
  // Only the bits differ from one to the other.
  std::shared_ptr<const FilterPolicy>& policy = policies[options.bits_per_key];
  if (policy == nullptr) {
    policy = std::make_shared<PreloadedPolicy>(
        std::make_shared<BloomFilterPolicy>(TheWish().policy.kind, options));
  }
  return policy;
}

using rocksdb::ObjectLibrary;

// `name:N` and what may follow.
ObjectLibrary::PatternEntry WithBits(const char* name, const char* other_name) {
  ObjectLibrary::PatternEntry entry(name, /*optional=*/false);
  entry.AnotherName(other_name);
  entry.AddNumber(":", /*is_int=*/false);
  return entry;
}

void Replace(ObjectLibrary& library, const ObjectLibrary::PatternEntry& names) {
  library.AddFactory<const FilterPolicy>(
      names,
      [](const std::string& id, std::unique_ptr<const FilterPolicy>* guard,
         std::string* error) -> const FilterPolicy* {
        try {
          const double bits_per_key = std::strtod(id.c_str() + id.find(':') + 1, nullptr);
          guard->reset(new SharedPolicy<FilterPolicy>(PolicyForBits(bits_per_key)));
          Count(Asked::kOptionString);
          return guard->get();
        } catch (const std::bad_alloc&) {
          *error = "out of memory";
          return nullptr;
        }
      });
}

struct Counter {
  const char* name;
  std::atomic<int> calls;
};

// In the order of Asked.
std::array<Counter, 4>& Counters() {
  static std::array<Counter, 4> counters = {{{"NewBloomFilterPolicy", {0}},
                                             {"NewRibbonFilterPolicy", {0}},
                                             {"C interface", {0}},
                                             {"option strings", {0}}}};
  return counters;
}

}  // namespace

Status ReadWish(const std::string& text, Wish* wish) {
  *wish = Wish();
  wish->text = Trimmed(text);
  std::string policy = wish->text;
  const std::size_t behind_blank = policy.find_last_of(kBlanks) + 1;
  if (behind_blank > 0 && policy.substr(behind_blank) == kReplaceOnly) {
    wish->adds = false;
    policy = Trimmed(policy.substr(0, behind_blank));
  }
  return ParsePolicy(policy, &wish->policy);
}

const Wish& TheWish() {
  static const Wish& wish = *new Wish(ReadVariable());
  return wish;
}

std::shared_ptr<const FilterPolicy> PolicyForBits(double bits_per_key) {
  PolicyOptions options = TheWish().policy.options;
  if (!TheWish().policy.sets_bits) options.bits_per_key = AsRocksDBTakes(bits_per_key);
  return PolicyOf(options);
}

std::shared_ptr<const FilterPolicy> PolicyForNone() { return PolicyOf(TheWish().policy.options); }

void ReplaceNames() {
  // The library that was added last is asked first, before RocksDB's own.
  ObjectLibrary& library = *rocksdb::ObjectRegistry::Default()->AddLibrary("exactbloom");
  auto bloom = [] { return WithBits("bloomfilter", "rocksdb.BloomFilter"); };
  Replace(library, bloom());
  Replace(library, bloom().AddSuffix(":false"));
  Replace(library, bloom().AddSuffix(":true"));
  auto ribbon = [] { return WithBits("ribbonfilter", "rocksdb.RibbonFilter"); };
  Replace(library, ribbon());
  Replace(library, ribbon().AddNumber(":", /*is_int=*/true));
}

void Count(Asked asked) { ++Counters()[static_cast<std::size_t>(asked)].calls; }

std::string DescribeCounts() {
  std::string text;
  for (const Counter& counter : Counters()) {
    if (counter.calls == 0) continue;
    if (!text.empty()) text += ", ";
    text.append(counter.name).append(" ").append(std::to_string(counter.calls));
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace exactbloom::preload
