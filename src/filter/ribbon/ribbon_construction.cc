#include "ribbon_construction.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "../kernels/ribbon_kernel.h"
#include "shard_fit.h"
#include "shard_lists.h"

namespace exactbloom::filter {
namespace {

// Seeds of a shard. Of random shards about one in 200 fails with each of them.
constexpr unsigned kShardSeeds = 48;

// The slots that a shard gets at most: more where keys were chosen to share shards do not help.
std::uint64_t MostSlots(std::uint64_t keys) { return keys + keys / 32 + 2 * kRowBits; }

// The working memory of one shard.
class SystemMemory {
 public:
  static std::uint64_t Bytes(std::uint64_t keys) {
    return (RowWords(keys) + 2 * keys) * sizeof(std::uint64_t);
  }

  // Throws std::bad_alloc.
  explicit SystemMemory(std::uint64_t keys)
      : keys_(keys),
        row_words_(new std::uint64_t[static_cast<std::size_t>(RowWords(keys))]),
        waiting_(new std::uint64_t[static_cast<std::size_t>(2 * keys)]) {}

  std::uint64_t MostKeys() const { return keys_; }

  // A system without equations.
  ShardSystem Begin(std::uint32_t slots) {
    std::fill_n(row_words_.get(), RowIndex(slots), std::uint64_t{0});
    return {row_words_.get(), waiting_.get(), waiting_.get() + keys_};
  }

 private:
  static std::uint64_t RowWords(std::uint64_t keys) { return RowIndex(MostSlots(keys)); }

  std::uint64_t keys_;
  std::unique_ptr<std::uint64_t[]> row_words_;
  std::unique_ptr<std::uint64_t[]> waiting_;
};

// The different hashes of a shard that has more than are solved, in time linear in them all.
class DistinctHashes {
 public:
  // Takes hashes until there are more different ones than `most`.
  DistinctHashes(ShardLists& lists, std::uint32_t shard, std::size_t most)
      : most_(most), hashes_(new (std::nothrow) std::uint64_t[2 * most]) {
    if (hashes_ == nullptr) return;
    lists.ForEach(shard, [&](const std::uint64_t* hashes, std::size_t count) {
      while (count != 0 && unique_ <= most_) {
        const std::size_t taken = std::min(count, 2 * most_ - size_);
        std::copy_n(hashes, taken, hashes_.get() + size_);
        size_ += taken;
        hashes += taken;
        count -= taken;
        if (size_ == 2 * most_) Sort();
      }
    });
    Sort();
  }

  // Whether they are no more than `most`, and there was memory for them.
  bool AreFew() const { return hashes_ != nullptr && unique_ <= most_; }

  std::uint64_t* data() { return hashes_.get(); }
  std::size_t size() const { return size_; }

 private:
  void Sort() {
    std::sort(hashes_.get(), hashes_.get() + size_);
    unique_ =
        static_cast<std::size_t>(std::unique(hashes_.get(), hashes_.get() + size_) - hashes_.get());
    size_ = unique_;
  }

  std::size_t most_;
  std::size_t size_ = 0;
  std::size_t unique_ = 0;
  std::unique_ptr<std::uint64_t[]> hashes_;
};

void StoreRecord(std::uint32_t first_slot, std::uint32_t slots, unsigned seed,
                 const signed char* deviations, std::uint32_t buckets, unsigned char* record) {
  const std::uint32_t start_count = slots - (kRowBits - 1);
  StoreLittleEndian(first_slot, kStartCountOffset, record);
  StoreLittleEndian(start_count, kShardSeedOffset - kStartCountOffset, record + kStartCountOffset);
  record[kShardSeedOffset] = static_cast<unsigned char>(seed);
  std::memcpy(record + kDeviationsOffset, deviations, buckets + std::size_t{1});
}

// Makes the shards of one filter, in their order.
class ShardBuilder {
 public:
  ShardBuilder(const RibbonShape& shape, ShardLists& lists, SystemMemory& memory,
               unsigned char* block)
      : shape_(shape),
        lists_(lists),
        memory_(memory),
        kernel_(RibbonKernelInUse()),
        columns_(block),
        records_(block + shape.ColumnBytes()) {}

  void BuildAll() {
    std::memset(columns_, 0, static_cast<std::size_t>(shape_.ColumnBytes()));
    for (std::uint32_t shard = 0; shard < shape_.shards; ++shard) Build(shard);
  }

 private:
  void Build(std::uint32_t shard) {
    const std::uint64_t count = lists_.CountOf(shard);
    keys_before_ += count;
    if (count <= memory_.MostKeys()) {
      Solve(shard, count, [&](auto visit) { lists_.ForEach(shard, visit); });
      return;
    }
    DistinctHashes hashes(lists_, shard, static_cast<std::size_t>(memory_.MostKeys()));
    if (!hashes.AreFew()) return LetPass(shard);
    Solve(shard, hashes.size(), [&](auto visit) { visit(hashes.data(), hashes.size()); });
  }

  template <typename ForEachHash>
  void Solve(std::uint32_t shard, std::uint64_t keys, ForEachHash for_each) {
    const std::uint32_t slots = SlotsFor(shard, keys);
    ShardHashing hashing{shape_.shards, shape_.buckets, 0};
    for (; hashing.seed < kShardSeeds; ++hashing.seed) {
      std::array<std::uint32_t, kMostBuckets> counts = {};
      for_each([&](const std::uint64_t* hashes, std::size_t count) {
        kernel_.count_buckets(hashing, hashes, count, counts.data());
      });
      const ShardFit fit = FitStarts(counts.data(), shape_.buckets, slots);
      ShardSystem system = memory_.Begin(slots);
      for_each([&](const std::uint64_t* hashes, std::size_t count) {
        kernel_.add_equations(hashing, fit.starts.data(), hashes, count, system);
      });
      kernel_.eliminate(system);
      if (system.contradicts) continue;
      kernel_.substitute(system, first_slot_, slots, shape_.Places(), columns_);
      return Store(shard, slots, hashing.seed, fit.deviations.data());
    }
    LetPass(shard);
  }

  void LetPass(std::uint32_t shard) {
    constexpr std::array<signed char, kMostBuckets + 1> kNoDeviations = {};
    Store(shard, kRowBits, kPassingShard, kNoDeviations.data());
  }

  void Store(std::uint32_t shard, std::uint32_t slots, unsigned seed,
             const signed char* deviations) {
    StoreRecord(first_slot_, slots, seed, deviations, shape_.buckets,
                records_ + shard * RecordBytes(shape_.buckets));
    first_slot_ += slots;
  }

  // As many as its place among all keys says, and each later shard keeps the fewest that there are.
  std::uint32_t SlotsFor(std::uint32_t shard, std::uint64_t keys) const {
    const std::uint32_t later = shape_.shards - 1 - shard;
    const std::uint64_t wanted_end =
        later == 0 ? shape_.slots : FirstSlotAfter(keys_before_, shard + 1);
    const std::uint64_t end = std::min(std::max<std::uint64_t>(wanted_end, first_slot_ + kRowBits),
                                       shape_.slots - std::uint64_t{kRowBits} * later);
    return static_cast<std::uint32_t>(std::min(end - first_slot_, MostSlots(keys)));
  }

  const RibbonShape& shape_;
  ShardLists& lists_;
  SystemMemory& memory_;
  const RibbonKernel& kernel_;
  unsigned char* columns_;
  unsigned char* records_;
  std::uint64_t keys_before_ = 0;  // the end of the present shard
  std::uint32_t first_slot_ = 0;   // of the present shard
};

// With a target rate there may be a column more than expected, or as much of it as blocks hold.
RibbonShape LargestShape(const RibbonPurpose& purpose, std::uint64_t keys) {
  RibbonShape shape = purpose.shape;
  if (purpose.target_rate == 0.0 || shape.shards == 0) return shape;
  SetSizeStep(shape, std::min(SizeStep(shape) + shape.Blocks(), MostSizeStep(shape)));
  const std::uint64_t bytes = RibbonBlockBytes(shape, keys, purpose.hash_seed);
  if (bytes > purpose.most_block_bytes) {
    const std::uint64_t too_many = bytes - purpose.most_block_bytes;
    FillColumns(shape, std::max(shape.ColumnBytes() - too_many, purpose.shape.ColumnBytes()));
  }
  return shape;
}

// The shape with the fewest columns by which a filter of these records keeps the rate.
RibbonShape ShapeThatKeeps(double rate, const RibbonShape& shape, const unsigned char* records) {
  RibbonShape kept = shape;
  SetSizeStep(kept, LeastSizeStep(shape, [&](const RibbonShape& tried) {
                return ExactRate(tried, records) <= rate;
              }));
  return kept;
}

}  // namespace

std::uint64_t RibbonScratchBytes(std::uint64_t keys, Consumed consumed) {
  const RibbonShape shape = ShapeOfKeys(keys);
  if (shape.shards == 0) return 0;
  return SystemMemory::Bytes(MostShardKeys(keys)) + ShardLists::Bytes(keys, shape.shards, consumed);
}

FilterBlock BuildRibbonBlock(const RibbonPurpose& purpose, HashStore& hashes) {
  const std::uint64_t keys = hashes.size();
  const std::uint64_t seed = purpose.hash_seed;
  RibbonShape shape = purpose.shape;
  const RibbonShape largest = LargestShape(purpose, keys);
  FilterBlock block;
  block.data.reset(new char[static_cast<std::size_t>(RibbonBlockBytes(largest, keys, seed))]);
  auto* bytes = reinterpret_cast<unsigned char*>(block.data.get());
  if (shape.shards != 0) {
    SystemMemory memory(MostShardKeys(keys));
    ShardLists lists(hashes, shape.shards);
    lists.Distribute();
    ShardBuilder(shape, lists, memory, bytes).BuildAll();
    const unsigned char* records = bytes + shape.ColumnBytes();
    if (purpose.target_rate > 0.0 && ExactRate(shape, records) > purpose.target_rate) {
      const RibbonShape kept = ShapeThatKeeps(purpose.target_rate, shape, records);
      shape = SizeStep(kept) < SizeStep(largest) ? kept : largest;
      ShardBuilder(shape, lists, memory, bytes).BuildAll();
    }
  }
  if (!hashes.KeepsConsumed()) hashes.Clear();
  block.size = static_cast<std::size_t>(RibbonBlockBytes(shape, keys, seed));
  EncodeRibbonTrailer(shape, keys, seed, bytes);
  return block;
}

}  // namespace exactbloom::filter
