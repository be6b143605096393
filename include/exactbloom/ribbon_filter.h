// A Ribbon filter in a block of bytes, without a database: at 10 bits per key 7 times fewer false
// positives than the best Bloom filter of the same bytes (5 times at 1,000 keys), for about twice
// the time to build. At 10 bits per key a Bloom filter is better for fewer than some 140 keys, and
// a Ribbon filter of fewer than 30 keys lets every key pass. Used as bloom_filter.h is;
// docs/format.md describes every byte.
//
//   RibbonFilterBuilder builder = *RibbonFilterBuilder::Create({});
//   for (const std::string& word : words) builder.AddKey(word);
//   FilterBlock block = builder.Finish();
//   RibbonFilterView view(block.bytes());
//   view.MayContain(words[0]);     // true, always
//   view.MayContain("no word");    // false but for view.FalsePositiveRate()
//
// The idea. A filter is a table of slots, each with r bits. A key's hash gives it a start slot, 64
// coefficients for the slots from there on, and r result bits; it may be in the filter if the
// exclusive or of the slots that its coefficients choose is its result:
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
// takes beyond is 1.5 to 8% from 1,000 keys on, where a Bloom filter takes 44%.
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
// Bits per key need not be whole: the last slots have one column more. Keys that start there have
// the rate 2^-(r+1), others 2^-r, and since a block stores the starts, it tells how many do: its
// rate is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "exactbloom/bloom_filter.h"

namespace exactbloom {

namespace filter {
struct RibbonShape;
}  // namespace filter

// The parameters of a Ribbon filter, which the trailer of its block stores.
struct RibbonDescription {
  int columns = 0;  // of the first slots; 0 lets every key pass, if there is no wide slot either
  std::uint64_t slots = 0;
  std::uint64_t wide_slots = 0;  // at the end, with one column more
  std::uint64_t shards = 0;
  std::uint64_t keys = 0;  // as counted by the builder: see AddKey
  std::uint64_t hash_seed = 0;
};

// The filter that a builder makes for a number of keys.
class RibbonPlan {
 public:
  // The description that the block will have, unless it needs more columns to keep a rate.
  const RibbonDescription& Description() const { return description_; }

  // The size of the block. One of Plan that is to keep a rate may need some bytes more.
  std::size_t BlockBytes() const { return block_bytes_; }

  // Whether the keys need a larger block than Options::block_bytes_limit allows, so that they get
  // fewer bits, or are more than any filter holds. Only for plans of Plan, not of PlanWithin.
  bool IsCut() const { return is_cut_; }

  // Returns the expected rate: within 0.3% the mean of the exact rates of all blocks of this plan.
  // A single block's differs, with a standard deviation of 1% at 1,000 keys and .2% at 20,000; its
  // view tells it.
  double FalsePositiveRate() const { return rate_; }

 private:
  friend class RibbonFilterBuilder;
  RibbonPlan() = default;

  RibbonDescription description_;
  std::size_t block_bytes_ = 0;
  double rate_ = 1.0;
  bool is_cut_ = false;
  bool keeps_rate_ = false;
};

// Collects keys and makes filters from them, one after the other. Must not be used by several
// threads at once. The bytes of a block depend on the set of keys and on how many were counted, not
// on their order or on the processor.
class RibbonFilterBuilder {
 public:
  struct Options {
    // kMinRibbonBitsPerKey .. kMaxRibbonBitsPerKey. A block takes at most so many bits per key in
    // all, unless its trailer alone takes more, of some 20 bytes.
    double bits_per_key = 10.0;
    std::uint64_t hash_seed = 0;  // salt of the key hash, stored in the block
    // Unless zero, each filter gets instead the fewest bits whose expected rate is at most this:
    // kMinTargetRate .. kMaxTargetRate. A block whose own rate is above is made again, once, with
    // the fewest bits by which it is not. Only blocks that are cut, or have crafted keys of which a
    // shard lets all pass, stay above.
    double false_positive_rate = 0.0;
    // Blocks stay below it. 100 .. kBlockBytesLimit: room for any trailer and 64 bytes at least.
    std::uint64_t block_bytes_limit = kBlockBytesLimit;
    // Required by CheckHashes and CheckBlock: Finish then keeps the hashes, which takes longer.
    bool detect_faults = false;
  };

  // Returns nothing if an option is outside its range; then `error`, unless null, gets the name of
  // the option, its value and the range. Throws std::bad_alloc when memory is short.
  static std::optional<RibbonFilterBuilder> Create(const Options& options,
                                                   std::string* error = nullptr);

  // The same, of the keys of another builder: keys that are added to one are added to both, and
  // the one that finishes them takes them from both. So the kind of a filter can be chosen when its
  // keys are known. hash_seed and detect_faults are those of `other`, whatever the options say.
  static std::optional<RibbonFilterBuilder> CreateBeside(const BloomFilterBuilder& other,
                                                         const Options& options,
                                                         std::string* error = nullptr);

  RibbonFilterBuilder(RibbonFilterBuilder&&) noexcept;
  RibbonFilterBuilder& operator=(RibbonFilterBuilder&&) noexcept;
  ~RibbonFilterBuilder();

  // Memory per key, in bytes, kept for the keys added.
  static constexpr std::uint64_t kBytesPerKey = 8;

  // The most memory that Finish takes besides the block for `keys` keys, in bytes: at most 768 KiB,
  // or 2 bytes per key, and some kBytesPerKey more with detect_faults. It is freed before Finish
  // returns. Crafted masses of equal hashes take up to 272 KiB more where there is memory. While a
  // block that is to keep a rate is made, it has room for a column more.
  std::uint64_t FinishBytes(std::uint64_t keys) const;

  // Adds a key of any bytes, which may be empty and are not needed after the call. A key equal to
  // the one before is not counted again. Keeps kBytesPerKey, and besides at most 16 KiB for up to
  // 2,000 keys, and some 64 KiB for more. Throws std::bad_alloc when memory is short; the builder
  // can then only be cleared or destroyed.
  void AddKey(std::string_view key);

  // Adds an entry that a key shares with its neighbours, such as its prefix, and then the key.
  // Neither is counted again if it equals the key or the alternate before. Errors as above.
  void AddKeyAndAlternate(std::string_view key, std::string_view alternate);

  std::uint64_t KeyCount() const;

  const Options& options() const { return options_; }

  // Changes the bits per key of the next filters, which false_positive_rate still overrides.
  //   bits_per_key   kMinRibbonBitsPerKey .. kMaxRibbonBitsPerKey
  void SetBitsPerKey(double bits_per_key) { options_.bits_per_key = bits_per_key; }

  // Returns the plan of a filter of the keys that were added, or of `keys` keys, 0 .. 2^53, in
  // about 1 us, or 15 us where filters are sized by their rate. Filters of more than some 4 * 10^9
  // keys let every key pass.
  RibbonPlan Plan() const { return Plan(KeyCount()); }
  RibbonPlan Plan(std::uint64_t keys) const;

  // Returns Plan(keys).BlockBytes().
  std::uint64_t BlockBytes(std::uint64_t keys) const { return Plan(keys).BlockBytes(); }

  // The plan for a block of at most `block_bytes`, whatever rate the options ask for, and below the
  // limit of the options. Returns nothing if no block is that small.
  //   keys   0 .. 2^53
  std::optional<RibbonPlan> PlanWithin(std::uint64_t keys, std::uint64_t block_bytes) const;

  // Returns how many keys fit into a block of at most `block_bytes` at the configured bits per key
  // or rate: the most whose plan is no larger; 0 if not even one's is.
  std::uint64_t KeysThatFit(std::uint64_t block_bytes) const;

  // Returns the block of a filter that holds all keys added since the last call, and forgets them.
  // Without keys it is a filter that contains nothing. Throws std::bad_alloc when memory is short;
  // no key is forgotten then.
  //   plan   of this builder. A plan for another number of keys gives a filter that has all keys
  //          and at most the planned bytes.
  FilterBlock Finish() { return Finish(Plan()); }
  FilterBlock Finish(const RibbonPlan& plan);

  // With detect_faults, as for BloomFilterBuilder.
  ConstructionFault CheckHashes() const;
  ConstructionFault CheckBlock(std::string_view block);

  // Forgets all keys.
  void Clear();

  // What is kept of the keys, for ExactBloom's own code (src/filter/builder_state.h). The reference
  // stays valid when the builder is moved.
  filter::BuilderState& state() { return *state_; }

 private:
  RibbonFilterBuilder(const Options& options, std::shared_ptr<filter::BuilderState> state);

  RibbonPlan MakePlan(std::uint64_t keys, const filter::RibbonShape& shape) const;

  Options options_;
  std::shared_ptr<filter::BuilderState> state_;
};

// A reader of a block, which must outlive the view. It accepts any bytes: if the block is not
// usable, MayContain returns true for every key, the only safe answer. It never reads outside the
// block. A view may be used by several threads at once. It allocates no memory, and no function of
// it throws.
class RibbonFilterView {
 public:
  explicit RibbonFilterView(std::string_view block);

  BlockStatus Status() const { return status_; }

  // The parameters of the filter; meaningless unless the status is kUsable.
  const RibbonDescription& Description() const { return description_; }

  // Returns false only if the key was not added. A key that was not added gets true at the exact
  // rate, or always if the block is not usable.
  bool MayContain(std::string_view key) const { return may_contain_(&prepared_, key); }

  // The same for `count` keys at once, in results[0 .. count - 1]. The memory of up to 32 keys is
  // fetched before the first of them is tested.
  void MayContain(const std::string_view* keys, std::size_t count, bool* results) const;

  // Returns the exact rate of this block: the share of all hashes but the keys' that pass. 1 if the
  // block is not usable. Reads the shards' records, in some 150 ns per shard.
  double FalsePositiveRate() const;

 private:
  // Holds a filter::PreparedRibbon (src/filter/kernels/ribbon_kernel.h).
  struct alignas(std::uint64_t) {
    unsigned char bytes[88];
  } prepared_;
  // By the instruction set in use, or for blocks without shards.
  bool (*may_contain_)(const void* prepared, std::string_view key);
  RibbonDescription description_;
  std::string_view block_;
  BlockStatus status_;
};

}  // namespace exactbloom
