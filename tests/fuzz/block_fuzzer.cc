// Reads any bytes as a filter block: nothing outside them is touched, an unusable block lets every
// key pass, and a Bloom filter gets the same answers from every kernel. ribbon_fuzzer.cc asks
// Ribbon filters.
//
// An input is a header (Header), and the bytes of the block. The header may ask to repair parts of
// the trailer, so that inputs get past its checks, and to repeat the array, so that short inputs
// make blocks of several pages.
#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exactbloom/filter.h"
#include "input.h"
#include "placed_bytes.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "src/filter/kernels/code_word.h"
#include "src/filter/kernels/kernel.h"
#include "src/filter/kernels/key_hash.h"

namespace exactbloom::fuzz {
namespace {

using filter::InstructionSet;
using filter::Kernel;

enum Mending : unsigned { kMendMark = 1, kMendFields = 2, kMendChecksum = 8 };

struct Header {
  explicit Header(Input& input)
      : mending(input.Take<std::uint8_t>()),
        place(static_cast<Place>(input.Take<std::uint8_t>() % kPlaces)),
        shift(input.Take<std::uint8_t>() % (kMaxShift + 1)),
        array_copies(1U + input.Take<std::uint8_t>() % kMaxArrayCopies),
        keys(1U + input.Take<std::uint8_t>() % kMaxKeys),
        set(input.Take<std::uint8_t>()),
        first_key(input.Take<std::uint64_t>()) {}

  static constexpr std::size_t kMaxArrayCopies = 16;
  static constexpr std::size_t kMaxKeys = filter::kBatchKeys + 8;

  unsigned mending;
  Place place;
  std::size_t shift;  // of the block, from an aligned address
  std::size_t array_copies;
  std::size_t keys;  // to ask for
  std::size_t set;   // of instructions, by its number
  std::uint64_t first_key;
};

char& ByteOf(std::string& block, std::size_t from_end) { return block[block.size() - from_end]; }

void MendFields(std::string& block) {
  constexpr unsigned kOtherKinds = 6U << filter::kKindShift;
  unsigned layout = static_cast<unsigned char>(ByteOf(block, filter::kLayoutFromEnd));
  const std::size_t key_bytes = (layout & filter::kKeyBytesMask) % (filter::kMostKeyBytes + 1);
  layout &= ~(kOtherKinds | filter::kKeyBytesMask);
  layout |= static_cast<unsigned>(key_bytes);
  ByteOf(block, filter::kLayoutFromEnd) = static_cast<char>(layout);
  char& probes = ByteOf(block, filter::kProbesFromEnd);
  probes = static_cast<char>(1 + static_cast<unsigned char>(probes) % kMaxProbes);
}

void MendMark(std::string& block) {
  ByteOf(block, filter::kZeroProbesFromEnd) = 0;
  std::copy(filter::kMark.begin(), filter::kMark.end(), &ByteOf(block, filter::kMarkFromEnd));
  ByteOf(block, filter::kVersionFromEnd) = filter::kVersion;
}

std::string MakeBlock(const Header& header, std::string_view bytes) {
  std::string block(bytes);
  if (block.size() < filter::kLeastTrailerBytes) return block;
  if ((header.mending & kMendFields) != 0) MendFields(block);
  if ((header.mending & kMendMark) != 0) MendMark(block);
  const std::size_t trailer_bytes = filter::TrailerBytesOf(block);
  if (trailer_bytes != 0) {
    const std::string array = block.substr(0, block.size() - trailer_bytes);
    for (std::size_t i = 1; i < header.array_copies; ++i) block.insert(0, array);
  }
  if ((header.mending & kMendChecksum) != 0) MendChecksum(block);
  return block;
}

constexpr std::size_t kPoolKeys = 1000;

// Keys of all lengths, each in an allocation of its exact size; made once, because making keys
// takes longer than asking for them.
const std::string_view* KeyPool() {
  constexpr std::size_t kMaxKeyBytes = 40;
  static std::vector<std::unique_ptr<char[]>> memory;
  static const std::vector<std::string_view> pool = [] {
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < kPoolKeys + Header::kMaxKeys; ++i) {
      const std::uint64_t number = i * filter::kDrawMultiplier;
      const std::size_t size = number % (kMaxKeyBytes + 1);
      char* text = memory.emplace_back(new char[size]).get();
      for (std::size_t j = 0; j < size; ++j) text[j] = static_cast<char>(number >> (8 * (j % 8)));
      texts.emplace_back(text, size);
    }
    return texts;
  }();
  return pool.data();
}

using Keys = std::vector<std::string_view>;

Keys KeysOf(const Header& header) {
  const std::string_view* first = KeyPool() + header.first_key % kPoolKeys;
  return {first, first + header.keys};
}

// The hashes of the keys, and those with the most unusual code words.
std::vector<std::uint64_t> MakeHashes(const filter::BloomDescription& filter, const Keys& keys) {
  std::vector<std::uint64_t> hashes = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  for (const std::string_view key : keys) hashes.push_back(filter::HashKey(key, filter.hash_seed));
  return hashes;
}

void CheckAnswers(const Kernel& kernel, const filter::DecodedBloom& decoded,
                  const std::vector<std::uint64_t>& hashes, const std::vector<bool>& expected) {
  std::array<bool, filter::kBatchKeys> answers;
  for (std::size_t i = 0; i < hashes.size(); i += answers.size()) {
    const std::size_t count = std::min(answers.size(), hashes.size() - i);
    kernel.may_contain_batch(decoded.array, decoded.description, &hashes[i], count, answers.data());
    const auto of_batch = expected.begin() + static_cast<std::ptrdiff_t>(i);
    Require(std::equal(answers.begin(), answers.begin() + count, of_batch),
            "a batch is answered otherwise than defined");
  }
}

void CheckView(const FilterView& view, const Keys& keys, const std::vector<bool>& expected) {
  std::array<bool, Header::kMaxKeys + 1> answers{};
  view.MayContain(keys.data(), keys.size(), answers.data());
  Require(!answers[keys.size()], "a result behind the last key was written");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Require(view.MayContain(keys[i]) == expected[i], "a key is answered otherwise than defined");
    Require(answers[i] == expected[i], "a key of a batch is answered otherwise than defined");
  }
}

void CheckOnes(const FilterView& view, const filter::DecodedBloom& decoded) {
  constexpr std::uint64_t kMaxBits = 1U << 13;  // more bits take time and find nothing new
  const std::uint64_t bits = decoded.description.bits;
  if (bits > kMaxBits) return;
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < bits / 8; ++i) ones += std::bitset<8>(decoded.array[i]).count();
  Require(view.CountOnes() == ones, "ones are counted wrongly");
}

InstructionSet SetOf(std::size_t number) {
  static const std::vector<InstructionSet> sets = filter::AvailableInstructionSets();
  return sets[number % sets.size()];
}

void CheckUsable(const PlacedBytes& block, const Header& header, const Keys& keys) {
  const filter::DecodedBloom decoded = filter::DecodeBloom(block.bytes());
  const std::vector<std::uint64_t> hashes = MakeHashes(decoded.description, keys);
  std::vector<bool> expected;
  for (const std::uint64_t hash : hashes) {
    expected.push_back(filter::CodeWordSet(decoded.array, decoded.description, hash));
  }
  const InstructionSet set = SetOf(header.set);
  filter::UseInstructionSet(set);
  const FilterView view(block.bytes());
  CheckOnes(view, decoded);
  CheckView(view, keys,
            {expected.end() - static_cast<std::ptrdiff_t>(keys.size()), expected.end()});
  CheckAnswers(set.kernel_for(decoded.description), decoded, hashes, expected);
}

}  // namespace
}  // namespace exactbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace exactbloom;
  fuzz::Input input(data, size);
  const fuzz::Header header(input);
  const std::string bytes = fuzz::MakeBlock(header, input.TakeRest());
  const fuzz::PlacedBytes block(bytes, header.place, header.shift);
  const fuzz::Keys keys = fuzz::KeysOf(header);
  const FilterView view(block.bytes());
  if (view.Status() == BlockStatus::kUsable) {
    if (view.Kind() != FilterKind::kRibbon) fuzz::CheckUsable(block, header, keys);
  } else {
    fuzz::CheckView(view, keys, std::vector<bool>(keys.size(), true));
    fuzz::Require(view.CountOnes() == 0, "a block that is not usable has ones");
  }
  return 0;
}
