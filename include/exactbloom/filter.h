// A filter in a block of bytes, without a database: build a block from keys, store its bytes
// anywhere, and query them through a view. The RocksDB policies put the same block into an SSTable;
// docs/format.md describes every byte.
//
//   FilterBuilder builder = *FilterBuilder::Create({});
//   builder.AddKey("apple");
//   FilterBlock block = builder.Finish();
//   FilterView view(block.bytes());
//   view.MayContain("apple");   // true, always
//   view.MayContain("pear");    // false but for view.FalsePositiveRate()
//
// There are three kinds of filters. layout.h defines both kinds of Bloom filters, classic and
// standard ones. A Ribbon filter of 10 bits per key has 7 times fewer false positives than the best
// Bloom filter of the same bytes (6 times at 1,000 keys), for about twice the time to build; with
// few keys a Bloom filter is better. A builder that was not told a kind builds the one with the
// lowest exact rate.
//
// Ribbon filters. A filter is a table of slots, each with r bits. A key's hash gives it a start
// slot, 64 coefficients for the slots from there on, and r result bits; it may be in the filter if
// the exclusive or of the slots that its coefficients choose is its result:
//
//                       start
//   slots      . . . . | . . . . . . . . . . . . . . . | . . .
//   row                  1 0 1 1 0 1 0 ... 1 0 1 0 1 1 0           64 coefficients
//   column 0   1 0 0 1 1 0 1 1 0 1 0 0 1 0 1 ...                   0 ^ 1 ^ 0 ^ 0 ... = result 0
//   column 1   0 1 0 0 1 0 1 0 0 1 1 0 1 1 0 ...                   0 ^ 0 ^ 0 ^ 1 ... = result 1
//
// Building solves a system of linear equations over two values, one equation per key. This is the
// standard Ribbon filter (P. Dillinger and S. Walzer, "Ribbon filter: practically smaller than
// Bloom and Xor", 2021, arXiv 2103.02515). An absent key passes each of its columns with
// probability 1/2, so the rate is 2^-r, and r bits per key are the least that can be; what a filter
// takes beyond is 1.4 to 7% from 1,000 keys on, where a Bloom filter takes 44%.
//
// A row of 64 does not reach far, and keys fall on slots at random, so that plain rows of 64 need 5
// to 7% more slots than keys. BuRR, the bumped Ribbon (P. Dillinger, L. Hübschle-Schneider, P.
// Sanders and S. Walzer, "Fast Succinct Retrieval and Approximate Membership Using Ribbon", 2022,
// arXiv 2109.01892), moves keys that find no place to a further filter, and takes fewer slots
// still. Here the start slots are fitted instead. The keys fall into shards of some 15,000, which
// are solved one after the other within a processor's cache, and in a shard into buckets of some
// 160, whose start slots take the place that their keys need:
//
//   hashes   |    bucket 0    |    bucket 1    |    bucket 2    |    bucket 3    |    equal parts
//   keys     |      171       |      148       |      163       |      157       |    at random
//   slots    |       171        |     149     |      164       |      157      | spare    fitted
//
// The record of a shard has a byte for each bucket that says where it starts. What is left is the
// randomness within a bucket, for which rows of 64 suffice with 0.6% more slots than keys. No key
// is moved, so there is no sort, and no second filter to ask. A shard that cannot be solved is made
// again with another seed.
//
// Columns need not be whole: the last slots have one column more. Keys that start there have the
// rate 2^-(r+1), others 2^-r, and since a block stores the starts, it tells how many do: its rate
// is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "exactbloom/layout.h"
#include "exactbloom/result.h"

namespace exactbloom {

namespace filter {
class BuilderState;
struct BuilderAccess;
struct Planner;
}  // namespace filter

// The values are the kinds of docs/format.md.
enum class FilterKind : std::uint8_t { kStandardBloom = 0, kClassicBloom = 1, kRibbon = 6 };

// A block stays below this many bytes. Stock RocksDB readers hold the length in 32 bits; they would
// misread the tail of a longer block as a filter of their own and could lose keys.
inline constexpr std::uint64_t kBlockBytesLimit = (std::uint64_t{1} << 32) - 64;

// The range of target rates. Every kind reaches kMinTargetRate with fewer than kMaxBitsPerKey
// bits per key; kMaxTargetRate takes about 1.44 bits per key.
inline constexpr double kMinTargetRate = 1e-9;
inline constexpr double kMaxTargetRate = 0.5;

struct FilterOptions {
  // Nothing: each filter has the kind with the lowest exact rate in a block of equal bytes, classic
  // Bloom or Ribbon, or with false_positive_rate the kind with the smaller block. More keys than a
  // Ribbon filter holds, some 4 * 10^9, get a classic Bloom filter even where kRibbon is set.
  std::optional<FilterKind> kind;

  // The bits of the array, 0 .. kMaxBitsPerKey; the block's trailer, of 11 to 35 bytes, comes on
  // top. A Bloom filter gets whole lines of kLineBytes, one at least. A Ribbon filter gets at most
  // so many bits, and at most kMaxRibbonBitsPerKey. Where the kind is chosen and the Bloom filter
  // has few lines (docs/format.md), both kinds compete in its block.
  double bits_per_key = 10.0;

  // Unless zero, each filter gets instead the fewest bits whose exact rate (of a Ribbon filter,
  // expected rate) is at most this: kMinTargetRate .. kMaxTargetRate. A Ribbon filter whose own
  // rate is above is made again, once, with the fewest bits by which it is not. Only blocks that
  // are cut, or have crafted keys of which a shard lets all pass, stay above.
  double false_positive_rate = 0.0;

  std::uint64_t hash_seed = 0;  // salt of the key hash, stored in the block

  // Blocks stay below it. 100 .. kBlockBytesLimit: room for any trailer and 64 bytes at least.
  std::uint64_t block_bytes_limit = kBlockBytesLimit;

  // Required by CheckHashes and CheckBlock: Finish then keeps the hashes, which takes longer.
  bool detect_faults = false;
};

// The parameters of a filter, which the trailer of its block stores.
struct FilterDescription {
  FilterKind kind = FilterKind::kClassicBloom;
  std::uint64_t keys = 0;  // as counted by the builder: see AddKey
  std::uint64_t hash_seed = 0;

  // Of a Bloom filter.
  std::uint64_t bits = 0;
  int probes = 0;

  // Of a Ribbon filter.
  int columns = 0;  // of the first slots; 0 lets every key pass, if there is no wide slot either
  std::uint64_t slots = 0;
  std::uint64_t wide_slots = 0;  // at the end, with one column more
  std::uint32_t shards = 0;
  std::uint32_t buckets = 0;  // of each shard
};

// The kind of a Bloom filter, as the rate functions take it. Not for kRibbon.
constexpr BloomKind ToBloomKind(FilterKind kind) {
  return kind == FilterKind::kStandardBloom ? BloomKind::kStandard : BloomKind::kClassic;
}

// The filter that a builder makes for a number of keys: computed once, and then handed to Finish.
class FilterPlan {
 public:
  FilterKind Kind() const { return description_.kind; }

  // The description that the block will have, unless it needs more columns to keep a rate.
  const FilterDescription& Description() const { return description_; }

  // The size of the block, in bytes. A Ribbon filter that is to keep a rate may need some more.
  std::size_t BlockBytes() const { return block_bytes_; }

  // Whether the keys need a larger block than FilterOptions::block_bytes_limit allows, so that they
  // get fewer bits. Only for plans of Plan, not of PlanWithin.
  bool IsCut() const { return is_cut_; }

  // Returns the rate. Of a Bloom filter it is exact; exactbloom::FalsePositiveRate states time and
  // precision. Of a Ribbon filter it is the expected one, within 0.3% the mean of the exact rates
  // of all blocks of this plan, in about 1 us; a single block's differs, with a standard deviation
  // of 1% at 1,000 keys and 0.2% at 20,000, and its view tells it.
  double FalsePositiveRate() const;

 private:
  friend class FilterBuilder;
  friend struct filter::Planner;
  FilterPlan() = default;

  FilterDescription description_;
  std::size_t block_bytes_ = 0;
  bool is_cut_ = false;
  bool keeps_rate_ = false;
};

// The bytes of a finished filter.
struct FilterBlock {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;

  std::string_view bytes() const { return {data.get(), size}; }
};

// The fault of memory or of the processor that damaged a filter during construction.
enum class ConstructionFault {
  kNone,
  kHashes,      // the hash of a key changed while it was kept
  kBlock,       // the block changed after it was finished
  kMissingKey,  // the block was built without a key's bits
};

// Collects keys and makes filters from them, one after the other. Must not be used by several
// threads at once. The bytes of a block depend on the set of keys and on how many were counted, not
// on their order or on the processor. Create, AddKey, AddKeyAndAlternate and Finish throw
// std::bad_alloc when memory is short; no other function throws.
class FilterBuilder {
 public:
  // Refuses an option outside its range, by its name, its value and the range.
  static Result<FilterBuilder> Create(const FilterOptions& options);

  FilterBuilder(FilterBuilder&&) noexcept;
  FilterBuilder& operator=(FilterBuilder&&) noexcept;
  ~FilterBuilder();

  // Memory per key, in bytes: kept for the keys added, and taken in addition by Finish for a Bloom
  // filter at most.
  static constexpr std::uint64_t kBytesPerKey = 8;
  static constexpr std::uint64_t kFinishBytesPerKey = 4;

  // Adds a key of any bytes, which may be empty and are not needed after the call. A key equal to
  // the one before is not counted again. Keeps kBytesPerKey, and besides at most 16 KiB for up to
  // 2,000 keys, and some 64 KiB for more. After std::bad_alloc the builder can only be cleared or
  // destroyed.
  void AddKey(std::string_view key);

  // Adds an entry that a key shares with its neighbours, such as its prefix, and then the key.
  // Neither is counted again if it equals the key or the alternate before. Errors as above.
  void AddKeyAndAlternate(std::string_view key, std::string_view alternate);

  std::uint64_t KeyCount() const;

  const FilterOptions& options() const { return options_; }

  // Changes the bits per key of the next filters, which false_positive_rate still overrides.
  //   bits_per_key   0 .. kMaxBitsPerKey
  void SetBitsPerKey(double bits_per_key) { options_.bits_per_key = bits_per_key; }

  // Returns the plan of a filter of the keys that were added, or of `keys` keys, 0 .. 2^53, in
  // some microseconds; where filters are sized by their rate, in up to some milliseconds.
  FilterPlan Plan() const { return Plan(KeyCount()); }
  FilterPlan Plan(std::uint64_t keys) const;

  // Returns the plan for a block of at most `block_bytes`, and below the limit of the options,
  // whatever bits or rate the options ask for: the largest filter that the bytes hold. Returns
  // nothing if no block is that small.
  //   keys   0 .. 2^53
  std::optional<FilterPlan> PlanWithin(std::uint64_t keys, std::uint64_t block_bytes) const;

  // Returns Plan(keys).BlockBytes(), of Bloom filters in some nanoseconds.
  std::uint64_t BlockBytes(std::uint64_t keys) const;

  // Returns the most keys whose plan takes at most `block_bytes` and is not cut; 0 if not even
  // one's does.
  std::uint64_t KeysThatFit(std::uint64_t block_bytes) const;

  // Returns the most memory, in bytes, that Finish takes besides the block; it is freed before
  // Finish returns. For a Bloom filter kFinishBytesPerKey; for a Ribbon filter at most 768 KiB, or
  // 2 bytes per key, and some kBytesPerKey more with detect_faults. Crafted masses of equal hashes
  // take up to 272 KiB more where there is memory. While a Ribbon block that is to keep a rate is
  // made, it has room for a column more.
  std::uint64_t FinishBytes(const FilterPlan& plan) const;

  // Returns the block of a filter that holds all keys added since the last call, and forgets them.
  // Without keys it is a filter that contains nothing. Frees memory as it proceeds. After
  // std::bad_alloc no key is forgotten.
  //   plan   of this builder. A plan for another number of keys gives a filter that has all keys:
  //          a Bloom filter of the planned m and k, whose trailer may be some bytes longer, or a
  //          Ribbon filter of at most the planned bytes, or else of a trailer alone.
  FilterBlock Finish() { return Finish(Plan()); }
  FilterBlock Finish(const FilterPlan& plan);

  // With detect_faults: checks the keys that are about to be finished, in the time of reading them.
  // Returns kNone or kHashes.
  ConstructionFault CheckHashes() const;

  // With detect_faults: checks `block`, which the last Finish returned. Asks it for every key, and
  // frees the hashes kept for that. Finds every change of a bit since the keys were added. To be
  // called once per block; a second call returns kNone.
  ConstructionFault CheckBlock(std::string_view block);

  // Forgets all keys.
  void Clear();

 private:
  friend struct filter::BuilderAccess;  // of the plugin, which inlines AddKey
  explicit FilterBuilder(const FilterOptions& options);

  FilterOptions options_;
  std::unique_ptr<filter::BuilderState> state_;
};

// Why a view cannot use its block.
enum class BlockStatus {
  kUsable,
  kForeign,         // not a block of this format: its last bytes lack the mark
  kUnknownVersion,  // of another version of the format, or of a kind that this one does not know
  kDamaged,         // the checksum does not fit trailer and length, or a field has a reserved value
};

// A reader of a block, which must outlive the view. It accepts any bytes: if the block is not
// usable, MayContain returns true for every key, the only safe answer. It never reads outside the
// block. A view may be used by several threads at once. It allocates no memory, and no function of
// it throws.
class FilterView {
 public:
  explicit FilterView(std::string_view block);

  BlockStatus Status() const { return status_; }

  // The kind and the other parameters of the filter; meaningless unless the status is kUsable.
  FilterKind Kind() const { return description_.kind; }
  const FilterDescription& Description() const { return description_; }

  // Returns false only if the key was not added. A key that was not added gets true at the rate of
  // FalsePositiveRate, or always if the block is not usable.
  bool MayContain(std::string_view key) const { return may_contain_(&prepared_, key); }

  // The same for `count` keys at once, in results[0 .. count - 1]. Keys are hashed in groups, and
  // in large filters the memory of up to 32 keys is fetched before the first of them is tested: two
  // to three times faster where the filter is not in the processor's caches.
  void MayContain(const std::string_view* keys, std::size_t count, bool* results) const;

  // Returns the exact rate; 1 if the block is not usable. Of a Bloom filter it is averaged over the
  // hash functions, and FalsePositiveRateGivenFill of CountOnes is that of this block. Of a Ribbon
  // filter it is this block's, the share of all hashes but the keys' that pass; that takes some 150
  // ns per shard.
  double FalsePositiveRate() const;

  // Returns how many bits of a Bloom filter are set, and 0 for other blocks. Reads all of it.
  std::uint64_t CountOnes() const;

 private:
  // What queries need, computed once: see src/filter/filter_view.cc.
  struct alignas(std::uint64_t) {
    unsigned char bytes[88];
  } prepared_;
  // By the kind and the instruction set in use, or for blocks that are not usable.
  bool (*may_contain_)(const void* prepared, std::string_view key);
  void (*test_hashes_)(const void* prepared, const std::uint64_t* hashes, std::size_t count,
                       bool* results);
  std::size_t fewest_in_batch_;
  std::string_view block_;
  FilterDescription description_;
  BlockStatus status_;
};

// Returns the name of the instruction set that builders and views use: the best one of the
// processor among "avx2", "neon" and "scalar", or the one that the environment variable
// EXACTBLOOM_KERNEL named when it was first needed. An unknown name, and that of a set that the
// machine lacks, is ignored. All sets build the same bytes and give the same answers.
std::string_view KernelName();

}  // namespace exactbloom
