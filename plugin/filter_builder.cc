#include "filter_builder.h"

#include <algorithm>

#include "exactbloom/false_positive_rate.h"

namespace exactbloom {

std::size_t FilterPlan::BlockBytes() const {
  return std::visit([](const auto& plan) { return plan.BlockBytes(); }, plan_);
}

std::uint64_t FilterPlan::Keys() const {
  return std::visit([](const auto& plan) { return plan.Description().keys; }, plan_);
}

bool FilterPlan::IsCut() const {
  return std::visit([](const auto& plan) { return plan.IsCut(); }, plan_);
}

double FilterPlan::FalsePositiveRate() const {
  return std::visit([](const auto& plan) { return plan.FalsePositiveRate(); }, plan_);
}

double FilterPlan::RoughRate() const {
  const auto* bloom = std::get_if<BlockPlan>(&plan_);
  if (bloom == nullptr) return FalsePositiveRate();
  const FilterDescription& filter = bloom->Description();
  return AsymptoticFalsePositiveRate(filter.bits, filter.keys, filter.probes);
}

std::optional<FilterBuilder> FilterBuilder::Create(const Options& options) {
  BloomFilterBuilder::Options of_bloom;
  of_bloom.kind = options.kind;
  of_bloom.bits_per_key = options.bits_per_key;
  of_bloom.false_positive_rate = options.false_positive_rate;
  of_bloom.hash_seed = options.hash_seed;
  of_bloom.block_bytes_limit = options.block_bytes_limit;
  of_bloom.detect_faults = options.detect_faults;
  std::optional<BloomFilterBuilder> bloom = BloomFilterBuilder::Create(of_bloom);
  if (!bloom) return std::nullopt;
  std::optional<RibbonFilterBuilder> ribbon;
  if (options.ribbon) {
    RibbonFilterBuilder::Options of_ribbon;
    of_ribbon.false_positive_rate = options.false_positive_rate;
    of_ribbon.block_bytes_limit = options.block_bytes_limit;
    ribbon = RibbonFilterBuilder::CreateBeside(*bloom, of_ribbon);
    if (!ribbon) return std::nullopt;
  }
  FilterBuilder builder(std::move(*bloom), std::move(ribbon));
  builder.SetBitsPerKey(options.bits_per_key);
  return builder;
}

void FilterBuilder::SetBitsPerKey(double bits_per_key) {
  bloom_.SetBitsPerKey(std::clamp(bits_per_key, kMinBitsPerKey, kMaxBitsPerKey));
  may_be_ribbon_ = ribbon_ && (IsSizedByRate() || bits_per_key >= kMinRibbonBitsPerKey);
  if (may_be_ribbon_) ribbon_->SetBitsPerKey(std::min(bits_per_key, kMaxRibbonBitsPerKey));
}

bool FilterBuilder::IsBest(const RibbonPlan& plan) const {
  // From here on it has not, if they are no more than a Ribbon filter holds.
  constexpr std::uint64_t kManyKeys = 2000;
  const std::uint64_t keys = plan.Description().keys;
  if (keys >= kManyKeys && plan.FalsePositiveRate() < 1.0) return true;
  const auto bloom = bloom_.PlanWithin(keys, plan.BlockBytes());
  return !bloom || plan.FalsePositiveRate() < bloom->FalsePositiveRate();
}

std::optional<RibbonPlan> FilterBuilder::PlanRibbon(std::uint64_t keys) const {
  if (!may_be_ribbon_ || keys == 0) return std::nullopt;
  RibbonPlan plan = ribbon_->Plan(keys);
  const bool is_best = IsSizedByRate() ? plan.BlockBytes() < bloom_.BlockBytes(keys) : IsBest(plan);
  if (!is_best) return std::nullopt;
  return plan;
}

FilterPlan FilterBuilder::Plan(std::uint64_t keys) const {
  const auto ribbon = PlanRibbon(keys);
  return ribbon ? FilterPlan(*ribbon) : FilterPlan(bloom_.Plan(keys));
}

std::optional<FilterPlan> FilterBuilder::PlanWithin(std::uint64_t keys,
                                                    std::uint64_t block_bytes) const {
  if (may_be_ribbon_ && keys != 0) {
    const auto ribbon = ribbon_->PlanWithin(keys, block_bytes);
    if (ribbon && IsBest(*ribbon)) return FilterPlan(*ribbon);
  }
  const auto bloom = bloom_.PlanWithin(keys, block_bytes);
  if (!bloom) return std::nullopt;
  return FilterPlan(*bloom);
}

std::uint64_t FilterBuilder::BlockBytes(std::uint64_t keys) const {
  const auto ribbon = PlanRibbon(keys);
  return ribbon ? ribbon->BlockBytes() : bloom_.BlockBytes(keys);
}

std::uint64_t FilterBuilder::KeysThatFit(std::uint64_t block_bytes) const {
  const std::uint64_t of_bloom = bloom_.KeysThatFit(block_bytes);
  if (!may_be_ribbon_) return of_bloom;
  // So many may get a Bloom filter, which takes a trailer beside its bits per key.
  const std::uint64_t of_ribbon = ribbon_->KeysThatFit(block_bytes);
  return of_ribbon > of_bloom && PlanRibbon(of_ribbon) ? of_ribbon : of_bloom;
}

std::uint64_t FilterBuilder::FinishBytes(const FilterPlan& plan) const {
  return plan.IsRibbon() ? ribbon_->FinishBytes(plan.Keys())
                         : plan.Keys() * BloomFilterBuilder::kFinishBytesPerKey;
}

FilterBlock FilterBuilder::Finish(const FilterPlan& plan) {
  const auto* ribbon = std::get_if<RibbonPlan>(&plan.plan_);
  return ribbon != nullptr ? ribbon_->Finish(*ribbon)
                           : bloom_.Finish(std::get<BlockPlan>(plan.plan_));
}

}  // namespace exactbloom
