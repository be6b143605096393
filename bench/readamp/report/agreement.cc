#include "agreement.h"

#include <fmt/format.h>

#include <cstdint>

#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom::readamp {
namespace {

// Two-sided, once in 1.7 million: a sweep measures hundreds of points.
constexpr double kDeviations = 5.0;

// A direct read fetches whole pages: at most one more at either end of a block.
constexpr std::uint64_t kPageBytes = 4096;

class Comparison {
 public:
  Comparison(const WorkloadResult& result, const Settings& settings, const std::string& run)
      : result_(result),
        measured_(result.measurement),
        prediction_(result.prediction),
        settings_(settings),
        run_(run) {}

  void CompareAll() const {
    CompareReads();
    if (!prediction_.absent_checks) return;
    if (measured_.AbsentChecks() != *prediction_.absent_checks) {
      Refuse(fmt::format("RocksDB counts {} checks of absent keys where the tree has {}",
                         measured_.AbsentChecks(), *prediction_.absent_checks));
    }
    CompareWastedReads();
    CompareRate();
  }

 private:
  [[noreturn]] void Refuse(const std::string& what) const { throw WrongAnswer(run_ + ": " + what); }

  void CompareReads() const {
    const std::uint64_t single_reads = measured_.file_reads - measured_.file_batched_reads;
    if (measured_.file_batched_reads != measured_.batched_reads) {
      Refuse(fmt::format("RocksDB counts {} reads in batches and the file system {}",
                         measured_.batched_reads, measured_.file_batched_reads));
    }
    // In a batch RocksDB merges neighbouring blocks into one read.
    const bool merged = measured_.batched_reads > 0;
    if (merged ? measured_.file_reads > measured_.data_blocks_read
               : single_reads != measured_.data_blocks_read) {
      Refuse(fmt::format("RocksDB counts {} blocks read and the file system {} reads",
                         measured_.data_blocks_read, measured_.file_reads));
    }
    const std::uint64_t more =
        measured_.direct_reads ? 2 * kPageBytes * measured_.data_blocks_read : 0;
    const bool shared_pages = merged && measured_.direct_reads;
    if (measured_.file_bytes_read > measured_.bytes_read + more ||
        (measured_.file_bytes_read < measured_.bytes_read && !shared_pages)) {
      Refuse(fmt::format("RocksDB counts {} bytes read and the file system {}",
                         measured_.bytes_read, measured_.file_bytes_read));
    }
  }

  // Every search of a table that lacks the key reads at least one block, from the file or from the
  // cache, unless the table has no key from a scan's prefix on. A scan that reaches the end of a
  // table also reads the next table's first block.
  void CompareWastedReads() const {
    if (!measured_.wasted_reads) return;
    const std::uint64_t searches = measured_.false_positives + prediction_.unfiltered_searches;
    const bool scans = result_.kind == LookupKind::kPrefixScan;
    const std::uint64_t unread = measured_.block_cache_hits + prediction_.checks_beyond;
    if (*measured_.wasted_reads + unread < searches ||
        (*measured_.wasted_reads > searches && !scans)) {
      Refuse(
          fmt::format("the file system counts {} wasted reads, with {} blocks in the cache, for "
                      "{} searches of tables that lack the key",
                      *measured_.wasted_reads, measured_.block_cache_hits, searches));
    }
  }

  void CompareRate() const {
    if (settings_.tree != Tree::kSettled || !prediction_.decides || !prediction_.rate) return;
    const Interval interval = WilsonInterval(measured_.false_positives, measured_.AbsentChecks(),
                                             kDeviations, prediction_.dispersion);
    if (!interval.Contains(*prediction_.rate)) {
      Refuse(fmt::format("{} false positives in {} checks, where the exact rate is {}",
                         measured_.false_positives, measured_.AbsentChecks(), *prediction_.rate));
    }
  }

  const WorkloadResult& result_;
  const Measurement& measured_;
  const Prediction& prediction_;
  const Settings& settings_;
  const std::string& run_;
};

}  // namespace

void CheckAgreement(const WorkloadResult& result, const Settings& settings,
                    const std::string& run) {
  Comparison(result, settings, run).CompareAll();
}

}  // namespace exactbloom::readamp
