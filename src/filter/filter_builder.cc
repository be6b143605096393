// The public builder: options, and the steps from keys to a block.
#include <cstdio>
#include <string>

#include "array_builder.h"
#include "block_format.h"
#include "builder_state.h"
#include "exactbloom/filter.h"
#include "filter_planner.h"
#include "ribbon/ribbon_construction.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kLeastBlockBytesLimit = 100;
static_assert(kLeastBlockBytesLimit > kLineBytes + filter::kMostTrailerBytes + filter::kShapeBytes);

static_assert(FilterBuilder::kFinishBytesPerKey == 2 * filter::kScratchBytesPerKey);

// Returns the reason to refuse a value; empty if it is in its range. NaN is in none.
std::string CheckRange(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return "";
  char text[128];
  std::snprintf(text, sizeof text, "%s is %.10g, but must be from %.10g to %.10g", name, value,
                least, most);
  return text;
}

std::string CheckOptions(const FilterOptions& options) {
  std::string reason = CheckRange("bits_per_key", options.bits_per_key, 0.0, kMaxBitsPerKey);
  if (!reason.empty()) return reason;
  const double rate = options.false_positive_rate;
  if (rate != 0.0) {
    reason = CheckRange("false_positive_rate", rate, kMinTargetRate, kMaxTargetRate);
  }
  if (!reason.empty()) return reason;
  return CheckRange("block_bytes_limit", static_cast<double>(options.block_bytes_limit),
                    static_cast<double>(kLeastBlockBytesLimit),
                    static_cast<double>(kBlockBytesLimit));
}

FilterBlock BuildBloomBlock(const filter::BloomDescription& description,
                            filter::HashStore& hashes) {
  FilterBlock block;
  block.size = static_cast<std::size_t>(filter::BlockBytes(description));
  block.data.reset(new char[block.size]);
  auto* array = reinterpret_cast<unsigned char*>(block.data.get());
  filter::BuildArray(array, description, hashes);
  filter::EncodeTrailer(description, array);
  return block;
}

}  // namespace

Result<FilterBuilder> FilterBuilder::Create(const FilterOptions& options) {
  std::string reason = CheckOptions(options);
  if (!reason.empty()) return Result<FilterBuilder>::Refuse(std::move(reason));
  return FilterBuilder(options);
}

FilterBuilder::FilterBuilder(const FilterOptions& options)
    : options_(options),
      state_(std::make_unique<filter::BuilderState>(options.hash_seed, options.detect_faults)) {}

FilterBuilder::FilterBuilder(FilterBuilder&&) noexcept = default;
FilterBuilder& FilterBuilder::operator=(FilterBuilder&&) noexcept = default;
FilterBuilder::~FilterBuilder() = default;

void FilterBuilder::AddKey(std::string_view key) { state_->AddKey(key); }

void FilterBuilder::AddKeyAndAlternate(std::string_view key, std::string_view alternate) {
  state_->AddKeyAndAlternate(key, alternate);
}

std::uint64_t FilterBuilder::KeyCount() const { return state_->Hashes().size(); }

void FilterBuilder::Clear() { state_->Clear(); }

FilterPlan FilterBuilder::Plan(std::uint64_t keys) const {
  return filter::Planner{options_}.Plan(keys);
}

std::optional<FilterPlan> FilterBuilder::PlanWithin(std::uint64_t keys,
                                                    std::uint64_t block_bytes) const {
  return filter::Planner{options_}.PlanWithin(keys, block_bytes);
}

std::uint64_t FilterBuilder::BlockBytes(std::uint64_t keys) const {
  return filter::Planner{options_}.BlockBytes(keys);
}

std::uint64_t FilterBuilder::KeysThatFit(std::uint64_t block_bytes) const {
  return filter::Planner{options_}.KeysThatFit(block_bytes);
}

std::uint64_t FilterBuilder::FinishBytes(const FilterPlan& plan) const {
  const std::uint64_t keys = plan.Description().keys;
  if (plan.Kind() != FilterKind::kRibbon) return keys * kFinishBytesPerKey;
  const auto consumed = options_.detect_faults ? filter::Consumed::kKept : filter::Consumed::kFreed;
  return filter::RibbonScratchBytes(keys, consumed);
}

FilterBlock FilterBuilder::Finish(const FilterPlan& plan) {
  const FilterDescription& planned = plan.Description();
  filter::HashStore& hashes = state_->Hashes();
  FilterBlock block;
  if (plan.Kind() == FilterKind::kRibbon) {
    const bool is_of_these = planned.keys == KeyCount();
    filter::RibbonPurpose purpose;
    purpose.shape = is_of_these
                        ? filter::ToShape(planned)
                        : filter::ShapeWithin(KeyCount(), options_.hash_seed, plan.BlockBytes())
                              .value_or(filter::RibbonShape{});
    purpose.hash_seed = options_.hash_seed;
    if (plan.keeps_rate_ && is_of_these) purpose.target_rate = options_.false_positive_rate;
    purpose.most_block_bytes = options_.block_bytes_limit - 1;
    block = filter::BuildRibbonBlock(purpose, hashes);
  } else {
    block = BuildBloomBlock(
        {ToBloomKind(plan.Kind()), planned.probes, planned.bits, KeyCount(), options_.hash_seed},
        hashes);
  }
  state_->ForgetAlternate();
  if (auto* check = state_->Check()) check->Keep(hashes, block.bytes());
  return block;
}

ConstructionFault FilterBuilder::CheckHashes() const {
  const filter::ConstructionCheck* check = state_->Check();
  const bool is_intact = check == nullptr || check->Fits(state_->Hashes());
  return is_intact ? ConstructionFault::kNone : ConstructionFault::kHashes;
}

ConstructionFault FilterBuilder::CheckBlock(std::string_view block) {
  filter::ConstructionCheck* check = state_->Check();
  return check == nullptr ? ConstructionFault::kNone : check->CheckBlock(block);
}

}  // namespace exactbloom
