// The public builder: options, the sizes of filters, and the steps from keys to a block.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "array_builder.h"
#include "block_format.h"
#include "builder_state.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "option_range.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kLeastBlockBytesLimit = 64 + filter::kMostTrailerBytes + 1;

bool IsValid(const BloomFilterBuilder::Options& options, std::string* error) {
  const double rate = options.false_positive_rate;
  return filter::IsWithin("bits_per_key", options.bits_per_key, kMinBitsPerKey, kMaxBitsPerKey,
                          error) &&
         (rate == 0.0 ||
          filter::IsWithin("false_positive_rate", rate, kMinTargetRate, kMaxTargetRate, error)) &&
         filter::IsWithin("block_bytes_limit", static_cast<double>(options.block_bytes_limit),
                          static_cast<double>(kLeastBlockBytesLimit),
                          static_cast<double>(kBlockBytesLimit), error);
}

// The m that the options ask for, in whole bytes; a real number, since it may exceed all limits.
double WantedBits(const BloomFilterBuilder::Options& options, std::uint64_t keys) {
  const double target = options.false_positive_rate;
  if (target > 0.0 && keys > 0) {
    const auto size = SmallestFilter(options.kind, keys, target);
    if (!size) return std::numeric_limits<double>::infinity();
    return static_cast<double>(filter::ArrayBytes(size->bits) * 8);
  }
  return std::max(8.0, std::ceil(static_cast<double>(keys) * options.bits_per_key / 8.0) * 8.0);
}

// The bits of the largest array in a block of at most `block_bytes` that holds `keys` keys; 0 if
// there is none. The limit of blocks holds with any trailer: a plan may be finished with another
// number of keys than it was made for.
std::uint64_t BitsThatFit(const BloomFilterBuilder::Options& options, std::uint64_t keys,
                          std::uint64_t block_bytes) {
  const std::size_t trailer_bytes = filter::TrailerBytes(keys, options.hash_seed);
  if (block_bytes <= trailer_bytes) return 0;
  return std::min(block_bytes - trailer_bytes,
                  options.block_bytes_limit - 1 - filter::kMostTrailerBytes) *
         8;
}

// The m of the builder's own plan, and whether it is less than the options ask for.
struct PlannedSize {
  std::uint64_t bits;
  bool is_cut;
};

PlannedSize SizeOfPlan(const BloomFilterBuilder::Options& options, std::uint64_t keys) {
  const double wanted = WantedBits(options, keys);
  const auto most = static_cast<double>(BitsThatFit(options, keys, kBlockBytesLimit));
  return {static_cast<std::uint64_t>(std::min(wanted, most)), wanted > most};
}

// The most keys that `bits` hold at the options' bits per key or rate.
std::uint64_t KeysOfBits(const BloomFilterBuilder::Options& options, std::uint64_t bits) {
  if (bits == 0) return 0;
  if (options.false_positive_rate > 0.0) {
    return MostKeys(options.kind, bits, options.false_positive_rate).value_or(0);
  }
  return static_cast<std::uint64_t>(static_cast<double>(bits) / options.bits_per_key);
}

}  // namespace

std::optional<BloomFilterBuilder> BloomFilterBuilder::Create(const Options& options,
                                                             std::string* error) {
  if (!IsValid(options, error)) return std::nullopt;
  return BloomFilterBuilder(
      options, std::make_shared<filter::BuilderState>(options.hash_seed, options.detect_faults));
}

BloomFilterBuilder::BloomFilterBuilder(const Options& options,
                                       std::shared_ptr<filter::BuilderState> state)
    : options_(options), state_(std::move(state)) {}

BloomFilterBuilder::BloomFilterBuilder(BloomFilterBuilder&&) noexcept = default;
BloomFilterBuilder& BloomFilterBuilder::operator=(BloomFilterBuilder&&) noexcept = default;
BloomFilterBuilder::~BloomFilterBuilder() = default;

void BloomFilterBuilder::AddKey(std::string_view key) { state_->AddKey(key); }

void BloomFilterBuilder::AddKeyAndAlternate(std::string_view key, std::string_view alternate) {
  state_->AddKeyAndAlternate(key, alternate);
}

std::uint64_t BloomFilterBuilder::KeyCount() const { return state_->Hashes().size(); }

void BloomFilterBuilder::Clear() { state_->Clear(); }

double BlockPlan::FalsePositiveRate() const {
  return exactbloom::FalsePositiveRate(description_.kind, description_.bits, description_.keys,
                                       description_.probes);
}

BlockPlan BloomFilterBuilder::PlanOf(std::uint64_t keys, std::uint64_t bits) const {
  BlockPlan plan;
  const int probes = OptimalProbes(options_.kind, bits, keys);
  plan.description_ = {options_.kind, probes, bits, keys, options_.hash_seed};
  plan.block_bytes_ = static_cast<std::size_t>(filter::BlockBytes(plan.description_));
  return plan;
}

BlockPlan BloomFilterBuilder::Plan(std::uint64_t keys) const {
  const PlannedSize size = SizeOfPlan(options_, keys);
  BlockPlan plan = PlanOf(keys, size.bits);
  plan.is_cut_ = size.is_cut;
  return plan;
}

std::optional<BlockPlan> BloomFilterBuilder::PlanWithin(std::uint64_t keys,
                                                        std::uint64_t block_bytes) const {
  const std::uint64_t bits = BitsThatFit(options_, keys, block_bytes);
  if (bits == 0) return std::nullopt;
  return PlanOf(keys, bits);
}

std::uint64_t BloomFilterBuilder::KeysThatFit(std::uint64_t block_bytes) const {
  // The trailer stores the number of keys, and each byte that it takes leaves room for fewer. The
  // search begins with the keys that fit beside a trailer without that number.
  std::uint64_t most = KeysOfBits(options_, BitsThatFit(options_, 0, block_bytes));
  while (most != 0) {
    const std::uint64_t fitting =
        std::min(most, KeysOfBits(options_, BitsThatFit(options_, most, block_bytes)));
    const std::uint64_t shorter = (std::uint64_t{1} << 8U * (filter::KeyBytes(most) - 1)) - 1;
    if (fitting > shorter) return fitting;
    most = shorter;
  }
  return 0;
}

std::uint64_t BloomFilterBuilder::BlockBytes(std::uint64_t keys) const {
  return filter::ArrayBytes(SizeOfPlan(options_, keys).bits) +
         filter::TrailerBytes(keys, options_.hash_seed);
}

FilterBlock BloomFilterBuilder::Finish(const BlockPlan& plan) {
  FilterDescription description = plan.Description();
  description.keys = KeyCount();
  description.hash_seed = options_.hash_seed;
  state_->ForgetAlternate();
  FilterBlock block;
  block.size = static_cast<std::size_t>(filter::BlockBytes(description));
  block.data.reset(new char[block.size]);
  auto* array = reinterpret_cast<unsigned char*>(block.data.get());
  filter::BuildArray(array, description, state_->Hashes());
  filter::EncodeTrailer(description, array);
  if (auto* check = state_->Check()) check->Keep(state_->Hashes(), block.bytes());
  return block;
}

ConstructionFault BloomFilterBuilder::CheckHashes() const {
  const filter::ConstructionCheck* check = state_->Check();
  const bool is_intact = check == nullptr || check->Fits(state_->Hashes());
  return is_intact ? ConstructionFault::kNone : ConstructionFault::kHashes;
}

ConstructionFault BloomFilterBuilder::CheckBlock(std::string_view block) {
  filter::ConstructionCheck* check = state_->Check();
  return check == nullptr ? ConstructionFault::kNone : check->CheckBlock(block);
}

FilterSize SizeAtBitsPerKey(BloomKind kind, std::uint64_t keys, double bits_per_key) {
  BloomFilterBuilder::Options options;
  options.kind = kind;
  options.bits_per_key = bits_per_key;
  const std::uint64_t bits = SizeOfPlan(options, keys).bits;
  const int probes = OptimalProbes(kind, bits, keys);
  return {bits, probes, FalsePositiveRate(kind, bits, keys, probes)};
}

}  // namespace exactbloom
