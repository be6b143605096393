#include "preloaded_policies.h"

#include <rocksdb/utilities/object_registry.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "../bloom_filter_policy.h"
#include "../c_binding/forwarding_policy.h"
#include "../object_factory.h"

namespace exactbloom::preload {
namespace {

using rocksdb::FilterPolicy;
using rocksdb::Status;

constexpr char kReplaceOnly[] = "replace-only";

std::atomic<ReportFunction*> report_message{nullptr};

// No lock is held and no static object is made over a call of RocksDB, which may need the loader's
// lock: see loaded_rocksdb.cc. What several threads make at once is kept once, and for ever, as
// databases may be closed after static objects were destroyed.
struct KeptPolicy {
  double bits_per_key;
  std::shared_ptr<const FilterPolicy> policy;
  const KeptPolicy* next;
};
std::atomic<const KeptPolicy*> kept_policies{nullptr};
struct ReadConfig {
  PreloadConfig config;
  std::string error;  // empty if the variable is valid
};
std::atomic<const ReadConfig*> kept_config{nullptr};

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

ReadConfig ParseVariable() {
  const char* value = secure_getenv(kVariable);
  ReadConfig read;
  PreloadConfig& config = read.config;
  config.text = Trimmed(value == nullptr ? "" : value);
  std::string policy = config.text;
  const std::size_t last_word = policy.find_last_of(kBlanks) + 1;
  if (last_word > 0 && policy.substr(last_word) == kReplaceOnly) {
    config.adds = false;
    policy = Trimmed(policy.substr(0, last_word));
  }
  const Status status = ParsePolicy(policy, &config.policy, &config.sets_bits);
  if (!status.ok()) {
    read.error = std::string(kVariable) + " is '" + config.text + "': " + status.ToString();
  }
  return read;
}

const ReadConfig& ReadOnce() {
  const ReadConfig* kept = kept_config;
  if (kept != nullptr) return *kept;
  auto made = std::make_unique<const ReadConfig>(ParseVariable());
  return kept_config.compare_exchange_strong(kept, made.get()) ? *made.release() : *kept;
}

// The bits per key that RocksDB makes of a number in its own policies.
double AsRocksDBTakes(double bits_per_key) {
  constexpr double kFewest = 0.5;
  if (bits_per_key < kFewest) return 0.0;
  if (bits_per_key < 1.0) return 1.0;
  return bits_per_key < kMaxBitsPerKey ? bits_per_key
                                       : kMaxBitsPerKey;  // NaN becomes the maximum, too
}

class PreloadedPolicy : public SharedPolicy<FilterPolicy> {
 public:
  using SharedPolicy::SharedPolicy;

  Status ValidateOptions(const rocksdb::DBOptions& db_options,
                         const rocksdb::ColumnFamilyOptions& cf_options) const override {
    Target().ValidateOptions(db_options, cf_options).PermitUncheckedError();
    return Status::OK();  // a policy that needs a tree listener is valid without one here
  }
};

// The options of two policies differ in the bits only.
std::shared_ptr<const FilterPolicy> PolicyOf(const PolicyOptions& options) {
  std::unique_ptr<KeptPolicy> made;
  const KeptPolicy* first = kept_policies;
  while (true) {
    for (const KeptPolicy* kept = first; kept != nullptr; kept = kept->next) {
      if (kept->bits_per_key == options.bits_per_key) return kept->policy;
    }
    if (made == nullptr) {
      made = std::make_unique<KeptPolicy>();
      made->bits_per_key = options.bits_per_key;
      made->policy =
          std::make_shared<PreloadedPolicy>(std::make_shared<BloomFilterPolicy>(options));
    }
    made->next = first;
    if (kept_policies.compare_exchange_weak(first, made.get())) return made.release()->policy;
  }
}

using rocksdb::ObjectLibrary;

// The pattern `name:N`, to which callers may add what follows.
ObjectLibrary::PatternEntry WithBits(const char* name, const char* other_name) {
  ObjectLibrary::PatternEntry entry(name, /*optional=*/false);
  entry.AnotherName(other_name);
  entry.AddNumber(":", /*is_int=*/false);
  return entry;
}

void Replace(ObjectLibrary& library, const ObjectLibrary::PatternEntry& names) {
  AddFactory<const FilterPolicy>(library, names, [](const std::string& id) {
    // Not strtod, which reads the decimal point of the program's locale.
    double bits_per_key = 0.0;
    std::from_chars(id.data() + id.find(':') + 1, id.data() + id.size(), bits_per_key);
    Count(Asked::kOptionString);
    return std::unique_ptr<const FilterPolicy>(
        new SharedPolicy<FilterPolicy>(PolicyForBits(bits_per_key)));
  });
}

struct Counter {
  const char* name;
  std::atomic<int> calls;
};

// In the order of Asked.
std::array<Counter, 4> counters = {{{"NewBloomFilterPolicy", {0}},
                                    {"NewRibbonFilterPolicy", {0}},
                                    {"C interface", {0}},
                                    {"option strings", {0}}}};

}  // namespace

void ReadVariable() { ReadOnce(); }

const PreloadConfig& Config() {
  const ReadConfig& read = ReadOnce();
  if (read.error.empty()) return read.config;
  report_message.load()(read.error.c_str());
  _exit(EXIT_FAILURE);  // without destructors: other threads of the program may be running
}

void ReportTo(ReportFunction* report) { report_message = report; }

std::shared_ptr<const FilterPolicy> PolicyForBits(double bits_per_key) {
  PolicyOptions options = Config().policy;
  if (!Config().sets_bits) options.bits_per_key = AsRocksDBTakes(bits_per_key);
  return PolicyOf(options);
}

std::shared_ptr<const FilterPolicy> PolicyForNone() { return PolicyOf(Config().policy); }

void ReplaceNames() {
  // RocksDB searches the library that was added last first, before its own.
  ObjectLibrary& library = *rocksdb::ObjectRegistry::Default()->AddLibrary("exactbloom");
  auto bloom = [] { return WithBits("bloomfilter", "rocksdb.BloomFilter"); };
  Replace(library, bloom());
  Replace(library, bloom().AddSuffix(":false"));
  Replace(library, bloom().AddSuffix(":true"));
  auto ribbon = [] { return WithBits("ribbonfilter", "rocksdb.RibbonFilter"); };
  Replace(library, ribbon());
  Replace(library, ribbon().AddNumber(":", /*is_int=*/true));
}

void Count(Asked asked) { ++counters[static_cast<std::size_t>(asked)].calls; }

std::string DescribeCounts() {
  std::string text;
  for (const Counter& counter : counters) {
    if (counter.calls == 0) continue;
    if (!text.empty()) text += ", ";
    text.append(counter.name).append(" ").append(std::to_string(counter.calls));
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace exactbloom::preload
