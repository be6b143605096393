// The public builder: options, the sizes of blocks, and the steps from keys to a block.
#include <algorithm>
#include <cmath>
#include <utility>

#include "../builder_state.h"
#include "../option_range.h"
#include "exactbloom/ribbon_filter.h"
#include "ribbon_construction.h"
#include "ribbon_shape.h"

namespace exactbloom {
namespace {

using Options = RibbonFilterBuilder::Options;

constexpr std::uint64_t kLeastBlockBytesLimit =
    64 + filter::kShapeBytes + filter::kMostTrailerBytes + 1;

bool IsValid(const Options& options, std::string* error) {
  const double rate = options.false_positive_rate;
  return filter::IsWithin("bits_per_key", options.bits_per_key, kMinRibbonBitsPerKey,
                          kMaxRibbonBitsPerKey, error) &&
         (rate == 0.0 ||
          filter::IsWithin("false_positive_rate", rate, kMinTargetRate, kMaxTargetRate, error)) &&
         filter::IsWithin("block_bytes_limit", static_cast<double>(options.block_bytes_limit),
                          static_cast<double>(kLeastBlockBytesLimit),
                          static_cast<double>(kBlockBytesLimit), error);
}

// The shape of the builder's own plan, and whether it has fewer bytes than the options ask for.
struct PlannedShape {
  filter::RibbonShape shape;
  bool is_cut;
};

// The shape within the bytes that the bits per key ask for, or else of a trailer alone.
filter::RibbonShape ShapeOfBytes(const Options& options, std::uint64_t keys, double bytes) {
  const auto whole = static_cast<std::uint64_t>(bytes);
  return filter::ShapeWithin(keys, options.hash_seed, whole).value_or(filter::RibbonShape{});
}

PlannedShape PlanShape(const Options& options, std::uint64_t keys) {
  const std::uint64_t most = options.block_bytes_limit - 1;
  const auto within_limit = [&] { return ShapeOfBytes(options, keys, static_cast<double>(most)); };
  if (keys == 0) return {within_limit(), false};
  if (options.false_positive_rate > 0.0) {
    const filter::RibbonShape shape = filter::ShapeOfRate(keys, options.false_positive_rate);
    const bool is_cut =
        shape.shards == 0 || filter::RibbonBlockBytes(shape, keys, options.hash_seed) > most;
    return {is_cut ? within_limit() : shape, is_cut};
  }
  const double wanted = std::floor(static_cast<double>(keys) * options.bits_per_key / 8.0);
  const bool is_cut = wanted > static_cast<double>(most) || filter::ShapeOfKeys(keys).slots == 0;
  return {ShapeOfBytes(options, keys, std::min(wanted, static_cast<double>(most))), is_cut};
}

}  // namespace

std::optional<RibbonFilterBuilder> RibbonFilterBuilder::Create(const Options& options,
                                                               std::string* error) {
  if (!IsValid(options, error)) return std::nullopt;
  return RibbonFilterBuilder(
      options, std::make_shared<filter::BuilderState>(options.hash_seed, options.detect_faults));
}

std::optional<RibbonFilterBuilder> RibbonFilterBuilder::CreateBeside(
    const BloomFilterBuilder& other, const Options& options, std::string* error) {
  if (!IsValid(options, error)) return std::nullopt;
  Options shared = options;
  shared.hash_seed = other.options().hash_seed;
  shared.detect_faults = other.options().detect_faults;
  return RibbonFilterBuilder(shared, other.state_);
}

RibbonFilterBuilder::RibbonFilterBuilder(const Options& options,
                                         std::shared_ptr<filter::BuilderState> state)
    : options_(options), state_(std::move(state)) {}

RibbonFilterBuilder::RibbonFilterBuilder(RibbonFilterBuilder&&) noexcept = default;
RibbonFilterBuilder& RibbonFilterBuilder::operator=(RibbonFilterBuilder&&) noexcept = default;
RibbonFilterBuilder::~RibbonFilterBuilder() = default;

std::uint64_t RibbonFilterBuilder::FinishBytes(std::uint64_t keys) const {
  const auto consumed = options_.detect_faults ? filter::Consumed::kKept : filter::Consumed::kFreed;
  return filter::RibbonScratchBytes(keys, consumed);
}

void RibbonFilterBuilder::AddKey(std::string_view key) { state_->AddKey(key); }

void RibbonFilterBuilder::AddKeyAndAlternate(std::string_view key, std::string_view alternate) {
  state_->AddKeyAndAlternate(key, alternate);
}

std::uint64_t RibbonFilterBuilder::KeyCount() const { return state_->Hashes().size(); }

void RibbonFilterBuilder::Clear() { state_->Clear(); }

RibbonPlan RibbonFilterBuilder::MakePlan(std::uint64_t keys,
                                         const filter::RibbonShape& shape) const {
  RibbonPlan plan;
  plan.description_ = filter::Describe(shape, keys, options_.hash_seed);
  plan.block_bytes_ =
      static_cast<std::size_t>(filter::RibbonBlockBytes(shape, keys, options_.hash_seed));
  plan.rate_ = filter::ExpectedRate(shape, keys);
  return plan;
}

RibbonPlan RibbonFilterBuilder::Plan(std::uint64_t keys) const {
  const PlannedShape planned = PlanShape(options_, keys);
  RibbonPlan plan = MakePlan(keys, planned.shape);
  plan.is_cut_ = planned.is_cut;
  plan.keeps_rate_ = options_.false_positive_rate > 0.0 && !planned.is_cut;
  return plan;
}

std::optional<RibbonPlan> RibbonFilterBuilder::PlanWithin(std::uint64_t keys,
                                                          std::uint64_t block_bytes) const {
  const auto shape = filter::ShapeWithin(keys, options_.hash_seed,
                                         std::min(block_bytes, options_.block_bytes_limit - 1));
  if (!shape) return std::nullopt;
  return MakePlan(keys, *shape);
}

std::uint64_t RibbonFilterBuilder::KeysThatFit(std::uint64_t block_bytes) const {
  const auto fits = [&](std::uint64_t keys) {
    const PlannedShape planned = PlanShape(options_, keys);
    return !planned.is_cut &&
           filter::RibbonBlockBytes(planned.shape, keys, options_.hash_seed) <= block_bytes;
  };
  // Bytes grow with keys but for steps of less than nine, by which a column grows.
  constexpr std::uint64_t kStepBytes = 9;
  std::uint64_t low = 0;
  std::uint64_t high = filter::kMostSlots;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const auto within_steps = static_cast<std::uint64_t>(8 * kStepBytes / kMinRibbonBitsPerKey);
  for (std::uint64_t keys = low + within_steps; keys > low; --keys) {
    if (fits(keys)) return keys;
  }
  return low;
}

FilterBlock RibbonFilterBuilder::Finish(const RibbonPlan& plan) {
  const std::uint64_t seed = options_.hash_seed;
  filter::RibbonPurpose purpose;
  purpose.shape =
      filter::ShapeWithin(KeyCount(), seed, plan.BlockBytes()).value_or(filter::RibbonShape{});
  purpose.hash_seed = seed;
  if (plan.keeps_rate_ && plan.Description().keys == KeyCount()) {
    purpose.target_rate = options_.false_positive_rate;
  }
  purpose.most_block_bytes = options_.block_bytes_limit - 1;
  FilterBlock block = filter::BuildRibbonBlock(purpose, state_->Hashes());
  state_->ForgetAlternate();
  if (auto* check = state_->Check()) check->Keep(state_->Hashes(), block.bytes());
  return block;
}

ConstructionFault RibbonFilterBuilder::CheckHashes() const {
  const filter::ConstructionCheck* check = state_->Check();
  const bool is_intact = check == nullptr || check->Fits(state_->Hashes());
  return is_intact ? ConstructionFault::kNone : ConstructionFault::kHashes;
}

ConstructionFault RibbonFilterBuilder::CheckBlock(std::string_view block) {
  filter::ConstructionCheck* check = state_->Check();
  return check == nullptr ? ConstructionFault::kNone : check->CheckBlock(block);
}

}  // namespace exactbloom
