// CheckAgreement: counts of the same thing, which must agree for a report to appear.
#include <fmt/format.h>

#include "exactbloom/theory/confidence_interval.h"
#include "rate_prediction.h"

namespace exactbloom::readamp {
namespace {

// Two-sided, once in 1.7 million: a sweep measures hundreds of points.
constexpr double kDeviations = 5.0;

// Throws the problem that the arguments fill in, unless the counts agree.
template <typename... Counts>
void Require(bool agree, const char* problem, const Counts&... counts) {
  if (!agree) throw WrongAnswer(fmt::format(fmt::runtime(problem), counts...));
}

void CompareReads(const Measurement& measured) {
  Require(measured.file_batched_reads == measured.batched_reads,
          "RocksDB counts {} reads in batches and the file system {}", measured.batched_reads,
          measured.file_batched_reads);
  // In a batch RocksDB merges neighbouring blocks into one read.
  const bool merged = measured.batched_reads > 0;
  const std::uint64_t blocks = measured.data_blocks_read;
  Require(merged ? measured.file_reads <= blocks : measured.file_reads == blocks,
          "RocksDB counts {} blocks read and the file system {} reads", blocks,
          measured.file_reads);
  const std::uint64_t more = measured.direct_reads ? 2 * kPageBytes * blocks : 0;
  const bool shared_pages = merged && measured.direct_reads;
  Require(measured.file_bytes_read <= measured.bytes_read + more &&
              (measured.file_bytes_read >= measured.bytes_read || shared_pages),
          "RocksDB counts {} bytes read and the file system {}", measured.bytes_read,
          measured.file_bytes_read);
}

// Every search of a table that lacks the key reads at least one block, from the file or from the
// cache, unless the table has no key from a scan's prefix on. A scan that reaches the end of a
// table also reads the next table's first block.
void CompareWastedReads(const Measurement& measured, const Prediction& prediction, bool scans) {
  if (!measured.wasted_reads) return;
  const std::uint64_t searches = measured.false_positives + prediction.unfiltered_searches;
  const std::uint64_t unread = measured.block_cache_hits + prediction.checks_beyond;
  Require(
      *measured.wasted_reads + unread >= searches && (*measured.wasted_reads <= searches || scans),
      "the file system counts {} wasted reads, with {} blocks in the cache, for {} searches of "
      "tables that lack the key",
      *measured.wasted_reads, measured.block_cache_hits, searches);
}

// RocksDB counts false positives for each level apart from its tickers, but none of scans.
void CompareLevels(const Measurement& measured, bool scans) {
  const std::uint64_t positives = measured.SumOfLevels(&LevelWaste::false_positives);
  Require(scans || positives == measured.false_positives,
          "RocksDB counts {} false positives in all levels and {} by level",
          measured.false_positives, positives);
  if (!measured.wasted_reads) return;
  const std::uint64_t reads = measured.SumOfLevels(&LevelWaste::wasted_reads);
  Require(reads == *measured.wasted_reads,
          "the file system counts {} wasted reads, {} of them of tables in the tree",
          *measured.wasted_reads, reads);
}

void CompareRate(const Measurement& measured, const Prediction& prediction) {
  if (!prediction.decides || !prediction.rate) return;
  const Interval interval = WilsonInterval(measured.false_positives, measured.AbsentChecks(),
                                           kDeviations, prediction.dispersion);
  Require(interval.Contains(*prediction.rate),
          "{} false positives in {} checks, where the exact rate is {}", measured.false_positives,
          measured.AbsentChecks(), *prediction.rate);
}

}  // namespace

void CheckAgreement(const Measurement& measured, const Prediction& prediction, LookupKind kind,
                    Tree tree, const std::string& run) try {
  CompareReads(measured);
  if (!prediction.absent_checks) return;
  Require(measured.AbsentChecks() == *prediction.absent_checks,
          "RocksDB counts {} checks of absent keys where the tree has {}", measured.AbsentChecks(),
          *prediction.absent_checks);
  CompareWastedReads(measured, prediction, kind == LookupKind::kPrefixScan);
  CompareLevels(measured, kind == LookupKind::kPrefixScan);
  if (tree == Tree::kSettled || tree == Tree::kDatabase) CompareRate(measured, prediction);
} catch (const WrongAnswer& problem) {
  throw WrongAnswer(run + ": " + problem.what());
}

}  // namespace exactbloom::readamp
