#include "block_checksum.h"

#include <rocksdb/file_checksum.h>

#include <cassert>
#include <memory>

#include "src/filter/kernels/inlined_xxhash.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;

// CRC32C, rotated and offset by a constant as in LevelDB: a CRC of bytes that contain their own CRC
// is weak.
std::uint32_t MaskedCrc32c(const Slice& bytes) {
  // RocksDB's generator of file checksums is its only public CRC32C that uses hardware
  // instructions. It returns the most significant byte first.
  const std::unique_ptr<rocksdb::FileChecksumGenerator> generator =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
  generator->Update(bytes.data(), bytes.size());
  generator->Finalize();
  std::uint32_t crc = 0;
  for (const char byte : generator->GetChecksum()) {
    crc = crc << 8 | static_cast<unsigned char>(byte);
  }
  constexpr std::uint32_t kMask = 0xa282ead8U;
  return (crc >> 15 | crc << 17) + kMask;
}

// XXH3 of all but the last byte, which is mixed in afterwards.
std::uint32_t Xxh3WithLastByte(const Slice& bytes) {
  if (bytes.empty()) return 0;
  constexpr std::uint32_t kPrime = 0x6b9083d9U;
  const auto last = static_cast<unsigned char>(bytes[bytes.size() - 1]);
  return static_cast<std::uint32_t>(XXH3_64bits(bytes.data(), bytes.size() - 1)) ^ last * kPrime;
}

}  // namespace

bool IsKnownChecksum(rocksdb::ChecksumType type) {
  return type >= rocksdb::kNoChecksum && type <= rocksdb::kXXH3;
}

std::uint32_t BlockChecksum(rocksdb::ChecksumType type, const Slice& bytes) {
  assert(bytes.data() != nullptr);
  switch (type) {
    case rocksdb::kCRC32c:
      return MaskedCrc32c(bytes);
    case rocksdb::kxxHash:
      return XXH32(bytes.data(), bytes.size(), 0);
    case rocksdb::kxxHash64:
      return static_cast<std::uint32_t>(XXH64(bytes.data(), bytes.size(), 0));
    case rocksdb::kXXH3:
      return Xxh3WithLastByte(bytes);
    case rocksdb::kNoChecksum:
      break;
  }
  return 0;
}

std::uint32_t ChecksumOfPlace(std::uint32_t base, std::uint64_t offset) {
  if (base == 0) return 0;
  return base ^ (static_cast<std::uint32_t>(offset) + static_cast<std::uint32_t>(offset >> 32));
}

}  // namespace exactbloom::files
