#include "contender.h"

#include <fmt/format.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "exactbloom/bloom_filter.h"
#include "fast_local_bloom.h"
#include "filter/kernels/kernel_table.h"
#include "key_block.h"
#include "plugin/bloom_filter_policy.h"

namespace exactbloom::filter_benchmark {
namespace {

constexpr std::size_t kLineBytes = kLineBits / 8;
constexpr std::size_t kBlockTrailerBytes = 5;  // RocksDB's, behind every block of a file
constexpr std::size_t kKeysAtOnce = 16'384;

Policy Own(const rocksdb::FilterPolicy* policy) { return Policy(policy); }

Contender OfLayout(const std::string& name, Layout layout) {
  return {name, layout, [layout](std::uint64_t, double bits_per_key) {
            PolicyOptions options;
            options.bits_per_key = bits_per_key;
            options.lines = layout.Lines();
            return std::make_shared<BloomFilterPolicy>(layout.kind, options);
          }};
}

// RocksDB's Ribbon is configured by the bits per key of a Bloom filter of the same rate. Here it
// gets the setting at which it takes as much memory as the others.
Policy NewRibbonOfSize(std::uint64_t keys, double bits_per_key) {
  const auto bytes = static_cast<std::size_t>(static_cast<double>(keys) * bits_per_key / 8.0);
  double low = bits_per_key;
  double high = std::min(2.0 * bits_per_key, kMaxBitsPerKey);
  Policy best = Own(rocksdb::NewRibbonFilterPolicy(low, /*bloom_before_level=*/-1));
  constexpr double kResolution = 0.001;  // RocksDB rounds to it
  while (high - low > kResolution) {
    const double middle = (low + high) / 2.0;
    Policy policy = Own(rocksdb::NewRibbonFilterPolicy(middle, /*bloom_before_level=*/-1));
    if (NewBuilder(*policy)->ApproximateNumEntries(bytes) >= keys) {
      low = middle;
      best = std::move(policy);
    } else {
      high = middle;
    }
  }
  return best;
}

}  // namespace

std::vector<Contender> Layouts() {
  return {OfLayout("lines=0", {FilterKind::kClassic, 0}),
          OfLayout("lines=1", {FilterKind::kClassic, 1}),
          OfLayout("lines=2", {FilterKind::kClassic, 2}),
          OfLayout("standard", {FilterKind::kStandard, 0})};
}

std::vector<Contender> Peers(std::string* missing) {
  std::vector<Contender> peers;
  if (NewFastLocalBloomAvx2(10.0, missing)) {
    peers.push_back({"FastLocalBloom AVX2", std::nullopt, [](std::uint64_t, double bits) {
                       std::string reason;
                       return NewFastLocalBloomAvx2(bits, &reason);
                     }});
  }
  peers.push_back({"bloomfilter", std::nullopt, [](std::uint64_t, double bits) {
                     return Own(rocksdb::NewBloomFilterPolicy(bits));
                   }});
  peers.push_back({"ribbonfilter", std::nullopt, NewRibbonOfSize});
  return peers;
}

std::vector<std::string> Kernels() {
  std::vector<std::string> names;
  for (const auto& set : filter::AvailableInstructionSets()) names.emplace_back(set.name);
  return names;
}

ForcedKernel::ForcedKernel(const std::string& kernel) : before_(KernelName()) {
  if (!kernel.empty()) filter::UseInstructionSet(filter::ChooseInstructionSet(kernel));
}

ForcedKernel::~ForcedKernel() { filter::UseInstructionSet(filter::ChooseInstructionSet(before_)); }

std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(const rocksdb::FilterPolicy& policy) {
  const rocksdb::BlockBasedTableOptions options;
  const rocksdb::FilterBuildingContext context(options);
  return std::unique_ptr<rocksdb::FilterBitsBuilder>(policy.GetBuilderWithContext(context));
}

FilterMemory::FilterMemory(const rocksdb::Slice& block, std::size_t offset)
    : data_(new char[block.size() + kBlockTrailerBytes + 2 * kLineBytes]) {
  const auto address = reinterpret_cast<std::uintptr_t>(data_.get());
  char* start = data_.get() + (kLineBytes - address % kLineBytes) + offset % kLineBytes;
  std::memcpy(start, block.data(), block.size());
  block_ = {start, block.size()};
}

double BuildFilter(const rocksdb::FilterPolicy& policy, std::uint64_t keys,
                   const std::function<void(const rocksdb::Slice&)>& consume) {
  using Clock = std::chrono::steady_clock;
  Clock::duration elapsed{0};
  KeyBlock block(kKeysAtOnce);
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder = NewBuilder(policy);
  for (std::uint64_t first = 0; first < keys; first += block.size()) {
    block.FillPresent(first,
                      static_cast<std::size_t>(std::min<std::uint64_t>(kKeysAtOnce, keys - first)));
    const auto start = Clock::now();
    for (std::size_t i = 0; i < block.size(); ++i) builder->AddKey(block.slices()[i]);
    elapsed += Clock::now() - start;
    support::CheckForInterrupts();
  }
  std::unique_ptr<const char[]> buffer;
  const auto start = Clock::now();
  const rocksdb::Slice filter = builder->Finish(&buffer);
  elapsed += Clock::now() - start;
  consume(filter);
  return std::chrono::duration<double, std::nano>(elapsed).count();
}

}  // namespace exactbloom::filter_benchmark
