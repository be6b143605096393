#include "sample_filters.h"

#include "src/filter/block_format.h"
#include "src/filter/kernels/key_hash.h"

namespace exactbloom {

std::vector<BloomKind> AllKinds() { return {BloomKind::kClassic, BloomKind::kStandard}; }

std::string NameOf(BloomKind kind) { return kind == BloomKind::kClassic ? "Classic" : "Standard"; }

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
  const FilterDescription description{geometry.kind, geometry.probes, geometry.bits, geometry.keys,
                                      hash_seed};
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
