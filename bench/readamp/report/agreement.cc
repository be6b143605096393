// CheckAgreement: counts of the same thing, which must agree for a report to appear.
#include <fmt/format.h>

#include "exactbloom/theory/confidence_interval.h"
#include "rate_prediction.h"

namespace exactbloom::readamp {
namespace {

// Two-sided, once in 1.7 million: make report measures dozens of points.
constexpr double kDeviations = 5.0;

// Throws the problem that the arguments fill in, unless the counts agree.
template <typename... Counts>
void Require(bool agree, const char* problem, const Counts&... counts) {
  if (!agree) throw WrongAnswer(fmt::format(fmt::runtime(problem), counts...));
}

void CompareReads(const Measurement& measured) {
  Require(measured.file_reads == measured.data_blocks_read,
          "RocksDB counts {} blocks read and the file system {} reads", measured.data_blocks_read,
          measured.file_reads);
  Require(measured.file_bytes_read == measured.bytes_read,
          "RocksDB counts {} bytes read and the file system {}", measured.bytes_read,
          measured.file_bytes_read);
}

// Every search of a table that lacks the key reads at least one block, from the file or from the
// cache, unless all keys of the table lie before it.
void CompareWastedReads(const Measurement& measured, const Prediction& prediction) {
  const std::uint64_t searches = measured.false_positives + prediction.unfiltered_searches;
  const std::uint64_t unread = measured.block_cache_hits + prediction.checks_beyond;
  Require(measured.wasted_reads + unread >= searches && measured.wasted_reads <= searches,
          "the file system counts {} wasted reads, with {} blocks in the cache, for {} searches of "
          "tables that lack the key",
          measured.wasted_reads, measured.block_cache_hits, searches);
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

void CheckAgreement(const Measurement& measured, const Prediction& prediction, Tree tree,
                    const std::string& run) try {
  CompareReads(measured);
  Require(measured.AbsentChecks() == prediction.absent_checks,
          "RocksDB counts {} checks of absent keys where the tree has {}", measured.AbsentChecks(),
          prediction.absent_checks);
  CompareWastedReads(measured, prediction);
  if (tree == Tree::kSettled || tree == Tree::kDatabase) CompareRate(measured, prediction);
} catch (const WrongAnswer& problem) {
  throw WrongAnswer(run + ": " + problem.what());
}

}  // namespace exactbloom::readamp
