// Compiled with -mavx2 into a shared object of its own, so that no library function that is
// compiled here can replace the portable one elsewhere in the program.
//
// The hash is compiled here from the same source, so that the call does not go through a shared
// library.
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>

#include "fast_local_bloom.h"
#include "plugin/filter_bits_interface.h"
#include "util/bloom_impl.h"
#include "util/xxph3.h"

namespace exactbloom::filter_benchmark {
namespace {

using rocksdb::FastLocalBloomImpl;
using rocksdb::Lower32of64;
using rocksdb::Slice;
using rocksdb::Upper32of64;

// Behind the bits: a mark, the implementation's number, the number of probes, two reserved bytes.
constexpr std::size_t kMetadataBytes = 5;
constexpr std::size_t kProbesOffset = 2;
constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kMaxBatch = 32;

std::uint64_t HashKey(const Slice& key) { return XXPH3_64bits(key.data(), key.size()); }

class Builder : public rocksdb::FilterBitsBuilder {
 public:
  explicit Builder(int millibits_per_key) : millibits_per_key_(millibits_per_key) {}

  void AddKey(const Slice& key) override {
    const std::uint64_t hash = HashKey(key);
    if (hashes_.empty() || hash != hashes_.back()) hashes_.push_back(hash);
  }

  size_t EstimateEntriesAdded() override { return hashes_.size(); }

  using rocksdb::FilterBitsBuilder::Finish;
  Slice Finish(std::unique_ptr<const char[]>* buffer) override {
    const std::size_t wanted =
        (hashes_.size() * static_cast<std::size_t>(millibits_per_key_) + 7999) / 8000;
    const std::size_t length = (wanted + kLineBytes - 1) / kLineBytes * kLineBytes;
    const int probes = FastLocalBloomImpl::ChooseNumProbes(millibits_per_key_);
    std::unique_ptr<char[]> data(new char[length + kMetadataBytes]());
    AddAll(data.get(), static_cast<std::uint32_t>(length), probes);
    hashes_.clear();
    data[length] = static_cast<char>(-1);
    data[length + kProbesOffset] = static_cast<char>(probes);
    *buffer = std::move(data);
    return {buffer->get(), length + kMetadataBytes};
  }

  size_t ApproximateNumEntries(size_t bytes) override {
    return 8000 * (bytes - kMetadataBytes) / static_cast<std::size_t>(millibits_per_key_);
  }

 private:
  // A key's line is fetched this many keys before its bits are set, as RocksDB does.
  static constexpr std::size_t kLookAhead = 8;

  struct Prepared {
    std::uint32_t hash;
    std::uint32_t offset;
  };

  void AddAll(char* data, std::uint32_t length, int probes) const {
    std::array<Prepared, kLookAhead> waiting{};
    std::size_t i = 0;
    for (const std::uint64_t hash : hashes_) {
      Prepared& slot = waiting[i % kLookAhead];
      if (i >= kLookAhead) {
        FastLocalBloomImpl::AddHashPrepared(slot.hash, probes, data + slot.offset);
      }
      FastLocalBloomImpl::PrepareHash(Lower32of64(hash), length, data, &slot.offset);
      slot.hash = Upper32of64(hash);
      ++i;
    }
    for (std::size_t left = 0; left < kLookAhead && left < i; ++left) {
      FastLocalBloomImpl::AddHashPrepared(waiting[left].hash, probes, data + waiting[left].offset);
    }
  }

  int millibits_per_key_;
  std::deque<std::uint64_t> hashes_;  // RocksDB's choice
};

class Reader : public rocksdb::FilterBitsReader {
 public:
  explicit Reader(const Slice& block)
      : data_(block.data()),
        length_(static_cast<std::uint32_t>(block.size() - kMetadataBytes)),
        probes_(block[length_ + kProbesOffset]) {}

  bool MayMatch(const Slice& key) override {
    const std::uint64_t hash = HashKey(key);
    std::uint32_t offset = 0;
    FastLocalBloomImpl::PrepareHash(Lower32of64(hash), length_, data_, &offset);
    return FastLocalBloomImpl::HashMayMatchPrepared(Upper32of64(hash), probes_, data_ + offset);
  }

  void MayMatch(int count, Slice** keys, bool* may_match) override {
    std::array<std::uint32_t, kMaxBatch> hashes;
    std::array<std::uint32_t, kMaxBatch> offsets;
    const auto n = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t hash = HashKey(*keys[i]);
      FastLocalBloomImpl::PrepareHash(Lower32of64(hash), length_, data_, &offsets[i]);
      hashes[i] = Upper32of64(hash);
    }
    for (std::size_t i = 0; i < n; ++i) {
      may_match[i] =
          FastLocalBloomImpl::HashMayMatchPrepared(hashes[i], probes_, data_ + offsets[i]);
    }
  }

 private:
  const char* data_;
  std::uint32_t length_;
  int probes_;
};

class Policy : public rocksdb::FilterPolicy {
 public:
  explicit Policy(int millibits_per_key) : millibits_per_key_(millibits_per_key) {}

  const char* Name() const override { return "FastLocalBloom AVX2"; }
  const char* CompatibilityName() const override { return Name(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& /*context*/) const override {
    return new Builder(millibits_per_key_);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const Slice& contents) const override {
    return new Reader(contents);
  }

 private:
  int millibits_per_key_;
};

}  // namespace

std::shared_ptr<const rocksdb::FilterPolicy> NewFastLocalBloomAvx2(double bits_per_key,
                                                                   std::string* reason) {
  if (__builtin_cpu_supports("avx2") == 0) {
    *reason = "this processor has no AVX2";
    return nullptr;
  }
  return std::make_shared<Policy>(static_cast<int>(std::lround(bits_per_key * 1000.0)));
}

}  // namespace exactbloom::filter_benchmark
