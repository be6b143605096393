// Reads any bytes as the block of a Ribbon filter: nothing outside them is touched, an unusable
// block lets every key pass, and a usable one gets the answers of the definition from every kernel.
//
// An input is a header (Header), and the bytes of the block. The header may ask for a shape, which
// gets columns and records of the bytes, repeated, and a trailer that fits.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exactbloom/filter.h"
#include "input.h"
#include "placed_bytes.h"
#include "sample_filters.h"
#include "src/filter/kernels/kernel.h"
#include "src/filter/kernels/key_hash.h"
#include "src/filter/ribbon/ribbon_format.h"

namespace exactbloom::fuzz {
namespace {

using filter::RibbonShape;

struct Header {
  explicit Header(Input& input)
      : makes_shape(input.Take<std::uint8_t>() % 4 != 0),
        place(static_cast<Place>(input.Take<std::uint8_t>() % kPlaces)),
        shift(input.Take<std::uint8_t>() % (kMaxShift + 1)),
        keys(1U + input.Take<std::uint8_t>() % kMaxKeys),
        first_key(input.Take<std::uint16_t>()),
        hash_seed(input.Take<std::uint8_t>()) {
    shape.slots = filter::kRowBits + filter::kSlotUnit * (input.Take<std::uint8_t>() % 64U);
    shape.shards = 1U + input.Take<std::uint8_t>() % 5U;
    shape.buckets = 1U + input.Take<std::uint8_t>() % 7U;
    shape.columns = input.Take<std::uint8_t>() % filter::kMostColumns;
    shape.wide_blocks = input.Take<std::uint8_t>() % shape.Blocks();
  }

  static constexpr std::size_t kMaxKeys = filter::kBatchKeys + 8;

  bool makes_shape;
  Place place;
  std::size_t shift;  // of the block, from an aligned address
  std::size_t keys;   // to ask for
  std::uint64_t first_key;
  std::uint64_t hash_seed;
  RibbonShape shape;
};

std::string MakeBlock(const Header& header, std::string_view bytes) {
  if (!header.makes_shape) {
    std::string block(bytes);
    MendChecksum(block);
    return block;
  }
  constexpr std::uint64_t kKeys = 100;
  std::string block(
      static_cast<std::size_t>(filter::RibbonBlockBytes(header.shape, kKeys, header.hash_seed)),
      '\0');
  for (std::size_t i = 0; i < block.size() && !bytes.empty(); ++i)
    block[i] = bytes[i % bytes.size()];
  filter::EncodeRibbonTrailer(header.shape, kKeys, header.hash_seed,
                              reinterpret_cast<unsigned char*>(block.data()));
  return block;
}

// docs/format.md, section 8, bit by bit.
class Definition {
 public:
  explicit Definition(std::string_view block)
      : block_(block), decoded_(filter::DecodeRibbon(block)), shape_(decoded_.shape) {}

  bool MayContain(std::string_view key) const {
    if (shape_.shards == 0) return shape_.columns == 0;
    std::uint64_t hash = filter::HashKey(key, decoded_.hash_seed);
    const filter::ShardOfHash place = filter::FindShard(hash, shape_.shards);
    const auto* record = reinterpret_cast<const unsigned char*>(block_.data()) +
                         shape_.ColumnBytes() + place.shard * filter::RecordBytes(shape_.buckets);
    const unsigned seed = record[filter::kShardSeedOffset];
    if (seed == filter::kPassingShard) return true;
    if (seed != 0) hash = filter::Reseeded(hash, seed);
    const std::uint64_t rest = hash * shape_.shards;
    const auto [bucket, fraction] = filter::FindBucket(rest, shape_.buckets);
    const std::uint32_t start = filter::LoadWord<std::uint32_t>(record) +
                                filter::StartBetween(StartOfBucket(record, bucket),
                                                     StartOfBucket(record, bucket + 1), fraction);
    return Holds(std::min(start, shape_.slots - filter::kRowBits), hash);
  }

 private:
  std::int32_t StartOfBucket(const unsigned char* record, std::uint32_t bucket) const {
    const auto count = filter::LoadWord<std::uint16_t>(record + filter::kStartCountOffset);
    return filter::EvenStart(bucket,
                             filter::EvenScale(count, filter::InverseOfBuckets(shape_.buckets))) +
           filter::kStartStep *
               static_cast<signed char>(record[filter::kDeviationsOffset + bucket]);
  }

  bool Bit(std::uint32_t column, std::uint32_t slot) const {
    const filter::ColumnPlaces places = shape_.Places();
    const std::uint32_t group = slot / filter::kRowBits;
    const std::size_t bit = slot % filter::kRowBits;
    const std::size_t byte = static_cast<std::size_t>(places.OffsetOf(group)) +
                             column * places.WordBytesOf(group) + bit / 8;
    return (static_cast<unsigned char>(block_.at(byte)) >> bit % 8 & 1) != 0;
  }

  bool Holds(std::uint32_t start, std::uint64_t hash) const {
    const std::uint64_t coefficients = filter::Coefficients(hash);
    for (std::uint32_t c = 0; c < shape_.Places().ColumnsOf(start / filter::kRowBits); ++c) {
      bool sum = false;
      for (std::uint32_t i = 0; i < filter::kRowBits; ++i) {
        sum ^= (coefficients >> i & 1) != 0 && Bit(c, start + i);
      }
      if (sum != ((filter::Results(hash) >> c & 1) != 0)) return false;
    }
    return true;
  }

  std::string_view block_;
  filter::DecodedRibbon decoded_;
  const RibbonShape& shape_;
};

void CheckBlock(std::string_view block, const std::vector<std::string_view>& keys) {
  const FilterView view(block);
  const bool usable = view.Status() == BlockStatus::kUsable;
  if (usable && view.Kind() != FilterKind::kRibbon) return;  // block_fuzzer.cc asks it
  std::array<bool, Header::kMaxKeys + 1> answers{};
  view.MayContain(keys.data(), keys.size(), answers.data());
  Require(!answers[keys.size()], "a result behind the last key was written");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool expected = !usable || Definition(block).MayContain(keys[i]);
    Require(view.MayContain(keys[i]) == expected, "a key is answered otherwise than defined");
    Require(answers[i] == expected, "a key of a batch is answered otherwise than defined");
  }
  const double rate = view.FalsePositiveRate();
  Require(rate >= 0.0 && rate <= 1.0, "a rate is none");
}

}  // namespace
}  // namespace exactbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace exactbloom;
  fuzz::Input input(data, size);
  const fuzz::Header header(input);
  const std::string bytes = fuzz::MakeBlock(header, input.TakeRest());
  const fuzz::PlacedBytes block(bytes, header.place, header.shift);
  std::vector<NumberKey> numbers;
  std::vector<std::string_view> keys;
  for (std::size_t i = 0; i < header.keys; ++i) numbers.emplace_back(header.first_key + i);
  for (const NumberKey& number : numbers) keys.push_back(number.text());
  static const std::vector<filter::InstructionSet> sets = filter::AvailableInstructionSets();
  for (const filter::InstructionSet& set : sets) {
    filter::UseInstructionSet(set);
    fuzz::CheckBlock(block.bytes(), keys);
  }
  return 0;
}
