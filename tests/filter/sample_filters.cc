#include "sample_filters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "src/filter/block_format.h"
#include "src/filter/kernels/key_hash.h"

namespace exactbloom {

std::vector<FilterKind> FilterKinds() {
  return {FilterKind::kClassicBloom, FilterKind::kStandardBloom, FilterKind::kRibbon};
}

std::vector<BloomKind> BloomKinds() { return {BloomKind::kClassic, BloomKind::kStandard}; }

std::string NameOf(FilterKind kind) {
  return kind == FilterKind::kRibbon ? "Ribbon" : NameOf(ToBloomKind(kind));
}

std::string NameOf(BloomKind kind) { return kind == BloomKind::kClassic ? "Classic" : "Standard"; }

FilterKind ToFilterKind(BloomKind kind) {
  return kind == BloomKind::kClassic ? FilterKind::kClassicBloom : FilterKind::kStandardBloom;
}

FilterSize SizeAtBitsPerKey(BloomKind kind, std::uint64_t keys, double bits_per_key) {
  const FilterPlan plan = FilterBuilder::Create({ToFilterKind(kind), bits_per_key})->Plan(keys);
  return {plan.Description().bits, plan.Description().probes, plan.FalsePositiveRate()};
}

void AddNumbers(FilterBuilder& builder, std::uint64_t count, std::uint64_t first) {
  for (std::uint64_t i = 0; i < count; ++i) builder.AddKey(NumberKey(first + i).text());
}

std::uint64_t CountPassing(const FilterView& view, std::uint64_t count, std::uint64_t first) {
  std::vector<NumberKey> numbers;
  std::vector<std::string_view> keys;
  for (std::uint64_t i = 0; i < count; ++i) numbers.emplace_back(first + i);
  for (const NumberKey& number : numbers) keys.push_back(number.text());
  const std::unique_ptr<bool[]> answers(new bool[count]);
  view.MayContain(keys.data(), count, answers.get());
  EXPECT_TRUE(std::equal(keys.begin(), keys.end(), answers.get(),
                         [&](auto key, bool answer) { return view.MayContain(key) == answer; }));
  return static_cast<std::uint64_t>(std::count(answers.get(), answers.get() + count, true));
}

void ExpectEqual(const FilterDescription& one, const FilterDescription& other) {
  EXPECT_EQ(one.kind, other.kind);
  EXPECT_EQ(one.keys, other.keys);
  EXPECT_EQ(one.hash_seed, other.hash_seed);
  EXPECT_EQ(one.bits, other.bits);
  EXPECT_EQ(one.probes, other.probes);
  EXPECT_EQ(one.columns, other.columns);
  EXPECT_EQ(one.slots, other.slots);
  EXPECT_EQ(one.wide_slots, other.wide_slots);
  EXPECT_EQ(one.shards, other.shards);
  EXPECT_EQ(one.buckets, other.buckets);
}

void AddWord(unsigned char* array, const filter::CodeWord& word) {
  for (int i = 0; i < word.size; ++i) {
    filter::SetBit(array, word.positions[static_cast<std::size_t>(i)]);
  }
}

void MendChecksum(std::string& block) {
  const std::size_t trailer_bytes = filter::TrailerBytesOf(block);
  if (trailer_bytes == 0) return;
  const std::uint32_t checksum = filter::ChecksumOf(block, trailer_bytes);
  for (std::size_t i = 0; i < sizeof checksum; ++i) {
    block[block.size() - filter::kChecksumFromEnd + i] = static_cast<char>(checksum >> (8 * i));
  }
}

FilterBlock MakeBlock(const Geometry& geometry, std::uint64_t hash_seed, std::uint64_t first_key) {
  const filter::BloomDescription description{geometry.kind, geometry.probes, geometry.bits,
                                             geometry.keys, hash_seed};
  FilterBlock block;
  block.size = static_cast<std::size_t>(filter::BlockBytes(description));
  block.data.reset(new char[block.size]());
  auto* array = reinterpret_cast<unsigned char*>(block.data.get());
  for (std::uint64_t i = 0; i < geometry.keys; ++i) {
    const std::uint64_t hash = filter::HashKey(NumberKey(first_key + i).text(), hash_seed);
    AddWord(array, filter::MakeCodeWord(geometry.kind, hash, geometry.bits, geometry.probes));
  }
  filter::EncodeTrailer(description, array);
  return block;
}

}  // namespace exactbloom
