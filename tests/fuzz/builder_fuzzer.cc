// Compares a builder with any options and any keys with a set of the keys: no key is missed with
// any kernel, every block has the announced size and a true description, and all instruction sets
// make the same bytes. With fault detection, an undamaged block has none, and every changed bit is
// found.
//
// An input is a header (ReadOptions), and steps (Step) with their arguments.
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "input.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "src/filter/kernels/kernel_table.h"
#include "tested_sets.h"

namespace exactbloom::fuzz {
namespace {

using Options = BloomFilterBuilder::Options;

enum Step : std::uint8_t {
  kShortKey,
  kLongKey,
  kSameKeyAgain,
  kNumbers,
  kKeyAndAlternate,
  kFinish,
  kFinishWithin,  // in at most this many bytes
  kClear,
  kSteps
};

// A number of [least, most], or any number if the header says so.
double TakeNumber(Input& input, bool any, double least, double most) {
  if (any) return input.Take<double>();
  return least + (most - least) * input.Take<std::uint8_t>() / 255.0;
}

Options ReadOptions(Input& input) {
  enum Flag : unsigned { kStandard = 1, kAnyNumber = 2, kByRate = 4, kDetect = 8, kLimited = 16 };
  const unsigned flags = input.Take<std::uint8_t>();
  Options options;
  options.layout.kind = (flags & kStandard) != 0 ? FilterKind::kStandard : FilterKind::kClassic;
  options.layout.placement = BitPlacement{input.Take<std::int8_t>() % (kMaxLines + 2)};
  const bool any = (flags & kAnyNumber) != 0;
  options.bits_per_key = TakeNumber(input, any, kMinBitsPerKey, kMaxBitsPerKey);
  if ((flags & kByRate) != 0) {
    const double log = TakeNumber(input, any, std::log(kMinTargetRate), std::log(kMaxTargetRate));
    options.false_positive_rate = any ? log : std::exp(log);
  }
  options.detect_faults = (flags & kDetect) != 0;
  if ((flags & kLimited) != 0) options.block_bytes_limit = input.Take<std::uint32_t>() % (1U << 18);
  options.hash_seed = input.Take<std::uint64_t>();
  return options;
}

// The builder under test with two instruction sets, and the keys that it was given.
class Session {
 public:
  Session(const Options& options, const filter::InstructionSet& set)
      : options_(options),
        set_(set),
        builder_(*BloomFilterBuilder::Create(options)),
        by_scalar_(*BloomFilterBuilder::Create(options)) {}

  void Run(Input& input) {
    while (!input.empty()) {
      const auto step = static_cast<Step>(input.Take<std::uint8_t>() % kSteps);
      if (step == kFinish) {
        CheckFilter(builder_.Plan().BlockBytes(), input.Take<std::uint16_t>());
      } else if (step == kFinishWithin) {
        const std::size_t bytes = LeastBytes() + std::size_t{7} * input.Take<std::uint16_t>();
        CheckFilter(bytes, input.Take<std::uint16_t>(), true);
      } else if (step == kClear) {
        Clear();
      } else {
        AddKeys(step, input);
      }
    }
    CheckFilter(builder_.Plan().BlockBytes(), 0);
  }

 private:
  // Beyond this number steps add no keys: sizing filters by their rate takes far longer.
  static constexpr std::uint64_t kMaxKeys = 1600;
  static constexpr std::uint64_t kMaxKeysByRate = 100;

  std::size_t LeastBytes() const {
    return options_.layout.ByteGranularity() + filter::kMostTrailerBytes;
  }

  void AddKeys(Step step, Input& input) {
    const std::uint64_t most = options_.false_positive_rate > 0.0 ? kMaxKeysByRate : kMaxKeys;
    if (added_ >= most) return;
    if (step == kShortKey) {
      Add(std::string(input.TakeBytes(input.Take<std::uint8_t>())));
    } else if (step == kLongKey) {
      const std::size_t size = input.Take<std::uint16_t>();
      Add(std::string(size, input.Take<char>()));
    } else if (step == kSameKeyAgain) {
      Add(last_);
    } else if (step == kNumbers) {
      const std::uint64_t count = input.Take<std::uint16_t>() % (most - added_);
      const std::uint64_t first = input.Take<std::uint32_t>();
      for (std::uint64_t i = 0; i < count; ++i) Add(std::string(NumberKey(first + i).text()));
    } else {
      const std::string prefix(input.TakeBytes(input.Take<std::uint8_t>() % 16));
      const std::string key =
          prefix + std::string(input.TakeBytes(input.Take<std::uint8_t>() % 16));
      builder_.AddKeyAndAlternate(key, prefix);
      by_scalar_.AddKeyAndAlternate(key, prefix);
      Note(prefix);
      Note(key);
    }
  }

  void Add(const std::string& key) {
    builder_.AddKey(key);
    by_scalar_.AddKey(key);
    Note(key);
  }

  void Note(const std::string& key) {
    keys_.insert(key);
    last_ = key;
    ++added_;
  }

  void Forget() {
    keys_.clear();
    added_ = 0;
  }

  void Clear() {
    builder_.Clear();
    by_scalar_.Clear();
    Forget();
  }

  // Finishes a filter. `within`: in at most `bytes`, otherwise in exactly that many.
  void CheckFilter(std::size_t bytes, std::uint16_t changed_bit, bool within = false) {
    const std::uint64_t count = builder_.KeyCount();
    Require(count >= keys_.size() && count <= added_, "the number of keys is wrong");
    Require(builder_.CheckHashes() == ConstructionFault::kNone, "a fault in whole hashes");
    if (!within) CheckAnnouncement(count, bytes);
    const BlockPlan plan = within ? *builder_.PlanWithin(count, bytes) : builder_.Plan();
    filter::UseInstructionSet(set_);
    const FilterBlock block = builder_.Finish(plan);
    filter::UseInstructionSet(filter::ChooseInstructionSet("scalar"));
    const FilterBlock other = by_scalar_.Finish(plan);
    Require(block.bytes() == other.bytes(), "instruction sets make different blocks");
    Require(block.size < options_.block_bytes_limit, "a block exceeds the limit");
    Require(within ? block.size <= bytes : block.size == bytes, "a block has another size");
    Require(builder_.KeyCount() == 0, "keys are kept when a filter is finished");
    CheckDescription(block, count, plan.Description());
    CheckKeys(block);
    CheckDetection(block, changed_bit);
    Forget();
  }

  void CheckAnnouncement(std::uint64_t count, std::size_t bytes) const {
    Require(builder_.Plan(count).BlockBytes() == bytes, "two sizes are announced");
    // When filters are sized by a rate, finding the most keys takes a long search.
    if (count == 0 || options_.false_positive_rate > 0.0 || builder_.Plan().IsCut()) return;
    Require(builder_.KeysThatFit(bytes) >= count, "fewer keys fit than a block of the size holds");
  }

  void CheckDescription(const FilterBlock& block, std::uint64_t count,
                        const FilterDescription& announced) const {
    const BloomFilterView view(block.bytes());
    const FilterDescription& found = view.Description();
    Require(view.Status() == BlockStatus::kUsable, "a block is not usable");
    Require(found.keys == count && found.hash_seed == options_.hash_seed &&
                found.layout == options_.layout,
            "a block does not say what was put into it");
    Require(found.bits == announced.bits && found.probes == announced.probes,
            "a block is not the announced one");
    const auto positions = count * static_cast<std::uint64_t>(found.probes);
    Require(view.CountOnes() <= positions, "a block has more ones than its keys set");
  }

  void CheckKeys(const FilterBlock& block) const {
    static const std::vector<filter::InstructionSet> sets = filter::AvailableInstructionSets();
    const std::vector<std::string_view> keys(keys_.begin(), keys_.end());
    for (const filter::InstructionSet& set : sets) {
      filter::UseInstructionSet(set);
      const BloomFilterView view(block.bytes());
      Require(!keys_.empty() || !view.MayContain(last_), "a filter of no keys has one");
      std::array<bool, 3 * filter::kBatchKeys> batch;
      for (std::size_t i = 0; i < keys.size(); i += batch.size()) {
        const std::size_t size = std::min(batch.size(), keys.size() - i);
        view.MayContain(&keys[i], size, batch.data());
        for (std::size_t j = 0; j < size; ++j) {
          Require(batch[j], "a key of a batch is missed");
          Require(view.MayContain(keys[i + j]), "a key is missed");
        }
      }
    }
  }

  // Checks that the block has no fault, or, unless `bit` is zero, that a change of one bit is
  // found.
  void CheckDetection(const FilterBlock& block, std::uint16_t changed_bit) {
    std::string bytes(block.bytes());
    const std::size_t bit = changed_bit % (8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const bool changed = changed_bit != 0;
    const ConstructionFault fault = builder_.CheckBlock(changed ? bytes : block.bytes());
    const bool expected = changed && options_.detect_faults;
    Require(fault == (expected ? ConstructionFault::kBlock : ConstructionFault::kNone),
            "a wrong verdict on a block");
  }

  Options options_;
  filter::InstructionSet set_;
  BloomFilterBuilder builder_;
  BloomFilterBuilder by_scalar_;
  std::set<std::string> keys_;
  std::string last_;
  std::uint64_t added_ = 0;
};

}  // namespace
}  // namespace exactbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace exactbloom;
  static const std::vector<filter::InstructionSet> sets = filter::TestedSets();
  fuzz::Input input(data, size);
  const std::size_t set = input.Take<std::uint8_t>() % sets.size();
  const BloomFilterBuilder::Options options = fuzz::ReadOptions(input);
  if (!BloomFilterBuilder::Create(options)) return 0;  // a number is out of its range
  const bool has_kernel = sets[set].is_available != nullptr || !options.layout.InLines();
  fuzz::Session(options, sets[has_kernel ? set : 0]).Run(input);
  return 0;
}
