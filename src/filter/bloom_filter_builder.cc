#include <cstdio>
#include <utility>

#include "array_builder.h"
#include "block_format.h"
#include "builder_state.h"
#include "exactbloom/bloom_filter.h"
#include "filter_internals.h"
#include "kernels/key_hash.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kLeastBlockBytesLimit =
    kLineBits / 8 * kMaxLines + filter::kMostTrailerBytes + 1;

// If an option is out of range, describes that in `error`, unless that is null, and returns false.
// NaN lies in no range.
bool IsWithin(const char* name, double value, double least, double most, std::string* error) {
  if (value >= least && value <= most) return true;
  if (error != nullptr) {
    char text[128];
    std::snprintf(text, sizeof text, "%s is %.10g, but must be from %.10g to %.10g", name, value,
                  least, most);
    *error = text;
  }
  return false;
}

bool IsValid(const BloomFilterBuilder::Options& options, std::string* error) {
  const double rate = options.false_positive_rate;
  return IsWithin("lines", options.layout.Lines(), 0, kMaxLines, error) &&
         IsWithin("bits_per_key", options.bits_per_key, kMinBitsPerKey, kMaxBitsPerKey, error) &&
         (rate == 0.0 ||
          IsWithin("false_positive_rate", rate, kMinTargetRate, kMaxTargetRate, error)) &&
         IsWithin("block_bytes_limit", static_cast<double>(options.block_bytes_limit),
                  static_cast<double>(kLeastBlockBytesLimit), static_cast<double>(kBlockBytesLimit),
                  error);
}

}  // namespace

std::optional<BloomFilterBuilder> BloomFilterBuilder::Create(const Options& options,
                                                             std::string* error) {
  if (!IsValid(options, error)) return std::nullopt;
  auto state = std::make_unique<State>();
  if (options.detect_faults) {
    state->hashes = filter::HashStore(filter::Consumed::kKept);
    state->check = std::make_unique<filter::ConstructionCheck>();
  }
  return BloomFilterBuilder(options, std::move(state));
}

BloomFilterBuilder::BloomFilterBuilder(const Options& options, std::unique_ptr<State> state)
    : options_(options), state_(std::move(state)) {}

BloomFilterBuilder::BloomFilterBuilder(BloomFilterBuilder&&) noexcept = default;
BloomFilterBuilder& BloomFilterBuilder::operator=(BloomFilterBuilder&&) noexcept = default;
BloomFilterBuilder::~BloomFilterBuilder() = default;

__attribute__((flatten)) void BloomFilterBuilder::AddKey(std::string_view key) {
  state_->Add(filter::HashMostlyShortKey(key, options_.hash_seed));
}

void BloomFilterBuilder::AddKeyAndAlternate(std::string_view key, std::string_view alternate) {
  const std::optional<std::uint64_t> previous = state_->last_alternate_hash;
  state_->last_alternate_hash = filter::HashMostlyShortKey(alternate, options_.hash_seed);
  if (state_->last_alternate_hash != previous) state_->Add(*state_->last_alternate_hash);
  const std::uint64_t hash = filter::HashMostlyShortKey(key, options_.hash_seed);
  if (hash != previous) state_->Add(hash);
}

std::uint64_t BloomFilterBuilder::KeyCount() const { return state_->hashes.size(); }

void BloomFilterBuilder::Clear() {
  state_->last_alternate_hash.reset();
  state_->hashes.Clear();
  if (state_->check) state_->check->Clear();
}

FilterBlock BloomFilterBuilder::Finish(const BlockPlan& plan) {
  FilterDescription description = plan.Description();
  description.keys = KeyCount();
  description.hash_seed = options_.hash_seed;
  state_->last_alternate_hash.reset();
  FilterBlock block;
  block.size = static_cast<std::size_t>(filter::BlockBytes(description));
  block.data.reset(new char[block.size]);
  auto* array = reinterpret_cast<unsigned char*>(block.data.get());
  filter::BuildArray(array, description, state_->hashes);
  filter::EncodeTrailer(description, array);
  if (state_->check) state_->check->Keep(state_->hashes, block.bytes());
  return block;
}

ConstructionFault BloomFilterBuilder::CheckHashes() const {
  const bool is_intact = !state_->check || state_->check->Fits(state_->hashes);
  return is_intact ? ConstructionFault::kNone : ConstructionFault::kHashes;
}

ConstructionFault BloomFilterBuilder::CheckBlock(std::string_view block) {
  return !state_->check ? ConstructionFault::kNone : state_->check->CheckBlock(block);
}

filter::HashStore& filter::FilterInternals::HashesOf(BloomFilterBuilder& builder) {
  return builder.state_->hashes;
}

void filter::FilterInternals::SetBitsPerKey(BloomFilterBuilder& builder, double bits_per_key) {
  builder.options_.bits_per_key = bits_per_key;
}

}  // namespace exactbloom
