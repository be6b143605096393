// A Bloom filter in a block of bytes, without a database: build a block from keys, store its bytes
// anywhere, and query them through a view. The RocksDB policy puts the same block into an SSTable;
// docs/format.md describes every byte.
//
//   BloomFilterBuilder builder = *BloomFilterBuilder::Create({});
//   builder.AddKey("apple");
//   FilterBlock block = builder.Finish();
//   BloomFilterView view(block.bytes());
//   view.MayContain("apple");   // true, always
//   view.MayContain("pear");    // false but for view.Description()'s exact false-positive rate
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "exactbloom/layout.h"
#include "exactbloom/sizing.h"

namespace exactbloom {

namespace filter {
class BuilderState;
struct PreparedFilter;
}  // namespace filter

// A block stays below this many bytes. Stock RocksDB readers hold the length in 32 bits; they would
// misread the tail of a longer block as a filter of their own and could lose keys.
inline constexpr std::uint64_t kBlockBytesLimit = (std::uint64_t{1} << 32) - 64;

// The range of target rates. Every kind reaches kMinTargetRate with fewer than kMaxBitsPerKey
// bits per key; kMaxTargetRate takes about 1.44 bits per key.
inline constexpr double kMinTargetRate = 1e-9;
inline constexpr double kMaxTargetRate = 0.5;

// The parameters of a filter, which the trailer of its block stores.
struct FilterDescription {
  BloomKind kind = BloomKind::kClassic;
  int probes = 0;
  std::uint64_t bits = 0;
  std::uint64_t keys = 0;  // as counted by the builder: see AddKey
  std::uint64_t hash_seed = 0;
};

// Returns the m and k, with their exact rate, that the builder gives a filter of `keys` keys at
// `bits_per_key`: the whole bytes that hold keys * bits_per_key bits, fewer if the block would
// exceed kBlockBytesLimit, and the exact k* for them.
//   keys           0 .. 2^53; an empty filter gets one byte
//   bits_per_key   kMinBitsPerKey .. kMaxBitsPerKey
FilterSize SizeAtBitsPerKey(BloomKind kind, std::uint64_t keys, double bits_per_key);

// The filter that a builder makes for a number of keys: computed once, and then handed to Finish.
class BlockPlan {
 public:
  // The description that the block will have: m, k and the rest.
  const FilterDescription& Description() const { return description_; }

  // The size of the block, with a trailer for the plan's number of keys.
  std::size_t BlockBytes() const { return block_bytes_; }

  // Whether the keys need a larger block than Options::block_bytes_limit allows, so that they get
  // fewer bits. Only for plans of Plan, not of PlanWithin.
  bool IsCut() const { return is_cut_; }

  // Returns the exact rate. Computes it at every call; exactbloom::FalsePositiveRate states the
  // time and the precision.
  double FalsePositiveRate() const;

 private:
  friend class BloomFilterBuilder;
  BlockPlan() = default;

  FilterDescription description_;
  std::size_t block_bytes_ = 0;
  bool is_cut_ = false;
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
// threads at once.
class BloomFilterBuilder {
 public:
  struct Options {
    BloomKind kind = BloomKind::kClassic;
    double bits_per_key = 10.0;   // kMinBitsPerKey .. kMaxBitsPerKey
    std::uint64_t hash_seed = 0;  // salt of the key hash, stored in the block
    // Unless zero, each filter gets instead the fewest bits whose exact rate is at most this:
    // kMinTargetRate .. kMaxTargetRate.
    double false_positive_rate = 0.0;
    // Blocks stay below it; at most kBlockBytesLimit, and enough for 64 bytes and any trailer.
    std::uint64_t block_bytes_limit = kBlockBytesLimit;
    // Required by CheckHashes and CheckBlock: Finish then keeps the hashes, which takes longer.
    bool detect_faults = false;
  };

  // Returns nothing if an option is outside its range; then `error`, unless null, gets the name of
  // the option, its value and the range. Throws std::bad_alloc when memory is short.
  static std::optional<BloomFilterBuilder> Create(const Options& options,
                                                  std::string* error = nullptr);

  BloomFilterBuilder(BloomFilterBuilder&&) noexcept;
  BloomFilterBuilder& operator=(BloomFilterBuilder&&) noexcept;
  ~BloomFilterBuilder();

  // Memory per key, in bytes: kept for the keys added, and taken in addition by Finish at most.
  static constexpr std::uint64_t kBytesPerKey = 8;
  static constexpr std::uint64_t kFinishBytesPerKey = 4;

  // Adds a key of any bytes, which may be empty and are not needed after the call. A key equal to
  // the one before is not counted again. Keeps kBytesPerKey, and at most some 64 KiB in all
  // besides. Throws std::bad_alloc when memory is short; the builder can then only be cleared or
  // destroyed.
  void AddKey(std::string_view key);

  // Adds an entry that a key shares with its neighbours, such as its prefix, and then the key.
  // Neither is counted again if it equals the key or the alternate before. Errors as above.
  void AddKeyAndAlternate(std::string_view key, std::string_view alternate);

  std::uint64_t KeyCount() const;

  const Options& options() const { return options_; }

  // Changes the bits per key of the next filters, which false_positive_rate still overrides.
  //   bits_per_key   kMinBitsPerKey .. kMaxBitsPerKey
  void SetBitsPerKey(double bits_per_key) { options_.bits_per_key = bits_per_key; }

  // Returns the plan of a filter of the keys that were added, or of `keys` keys, 0 .. 2^53: m by
  // the options, and the exact k* for it.
  BlockPlan Plan() const { return Plan(KeyCount()); }
  BlockPlan Plan(std::uint64_t keys) const;

  // Returns Plan(keys).BlockBytes() without looking for k*: in some nanoseconds, unless filters are
  // sized by their rate, which takes evaluations of the exact rate, up to some milliseconds.
  std::uint64_t BlockBytes(std::uint64_t keys) const;

  // The plan for a block of another size: m is the largest that `block_bytes` hold, and k* follows.
  // Returns nothing if no block is that small.
  std::optional<BlockPlan> PlanWithin(std::uint64_t keys, std::uint64_t block_bytes) const;

  // Returns how many keys fit into a block of at most `block_bytes` at the configured bits per key
  // or rate; 0 if not even one does.
  std::uint64_t KeysThatFit(std::uint64_t block_bytes) const;

  // Returns the block of a filter that holds all keys added since the last call, and forgets them.
  // Without keys it is a filter that contains nothing. Besides the block it takes at most
  // kFinishBytesPerKey more memory per key, and frees memory as it proceeds. Throws std::bad_alloc
  // when memory is short; no key is forgotten then.
  //   plan   of this builder. A plan for another number of keys gives a filter that has all keys
  //          and the planned m, but not the exact k*, and whose trailer may be some bytes longer.
  FilterBlock Finish() { return Finish(Plan()); }
  FilterBlock Finish(const BlockPlan& plan);

  // With detect_faults: checks the keys that are about to be finished, in the time of reading them.
  // Returns kNone or kHashes.
  ConstructionFault CheckHashes() const;

  // With detect_faults: checks `block`, which the last Finish returned. Asks it for every key, and
  // frees the hashes kept for that. Finds every change of a bit since the keys were added. To be
  // called once per block; a second call returns kNone.
  ConstructionFault CheckBlock(std::string_view block);

  // Forgets all keys.
  void Clear();

  // What is kept of the keys, for ExactBloom's own code (src/filter/builder_state.h). The reference
  // stays valid when the builder is moved.
  filter::BuilderState& state() { return *state_; }

 private:
  friend class RibbonFilterBuilder;
  BloomFilterBuilder(const Options& options, std::shared_ptr<filter::BuilderState> state);

  BlockPlan PlanOf(std::uint64_t keys, std::uint64_t bits) const;

  Options options_;
  std::shared_ptr<filter::BuilderState> state_;
};

// Why a view cannot use its block.
enum class BlockStatus {
  kUsable,
  kForeign,         // not a block of this format: its last bytes lack the mark
  kUnknownVersion,  // of another version of the format, or of a kind that this one does not know
  kOtherKind,  // a Ribbon filter's for a BloomFilterView, a Bloom filter's for a RibbonFilterView
  kDamaged,    // the checksum does not fit trailer and length, or a field has a reserved value
};

// A reader of a block, which must outlive the view. It accepts any bytes: if the block is not
// usable, MayContain returns true for every key, the only safe answer. It never reads outside the
// block. A view may be used by several threads at once. It allocates no memory, and no function of
// it throws.
class BloomFilterView {
 public:
  explicit BloomFilterView(std::string_view block);

  BlockStatus Status() const { return status_; }

  // The parameters of the filter; meaningless unless the status is kUsable.
  const FilterDescription& Description() const;

  // Returns false only if the key was not added. A key that was not added gets true with the exact
  // false-positive rate of the description, or always if the block is not usable.
  bool MayContain(std::string_view key) const { return may_contain_(&prepared_, key); }

  // The same for `count` keys at once, in results[0 .. count - 1]. Keys are hashed in groups of
  // 8 to 32, and in large filters their memory is fetched, before the first of a group is tested:
  // two to three times faster where the filter is not in the processor's caches.
  void MayContain(const std::string_view* keys, std::size_t count, bool* results) const;

  // Returns how many bits of the filter are set, 0 if the block is not usable. Reads all of it.
  std::uint64_t CountOnes() const;

 private:
  const filter::PreparedFilter& Prepared() const;

  // Holds a filter::PreparedFilter (src/filter/kernels/kernel.h).
  struct alignas(std::uint64_t) {
    unsigned char bytes[80];
  } prepared_;
  // By the instruction set in use, or for blocks that are not usable.
  bool (*may_contain_)(const void* prepared, std::string_view key);
  BlockStatus status_;
};

// Returns the name of the instruction set that builders and views use: the best one of the
// processor among "avx2" and "scalar", or the one that the environment variable
// EXACTBLOOM_KERNEL named when it was first needed. An unknown name, and that of a set that the
// machine lacks, is ignored. All sets build the same bytes and give the same answers.
std::string_view KernelName();

}  // namespace exactbloom
