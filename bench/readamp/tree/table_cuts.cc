#include "table_cuts.h"

#include <rocksdb/slice.h>

#include <algorithm>
#include <string>
#include <vector>

namespace exactbloom::readamp {
namespace {

using rocksdb::Slice;

class TableCuts : public rocksdb::SstPartitioner {
 public:
  explicit TableCuts(const std::vector<std::string>& cuts) : cuts_(cuts) {}

  const char* Name() const override { return "readamp.TableCuts"; }

  rocksdb::PartitionerResult ShouldPartition(const rocksdb::PartitionerRequest& request) override {
    return CanDoTrivialMove(*request.prev_user_key, *request.current_user_key)
               ? rocksdb::kNotRequired
               : rocksdb::kRequired;
  }

  // Whether no cut is between the two.
  bool CanDoTrivialMove(const Slice& smallest, const Slice& largest) override {
    const auto behind = std::partition_point(
        cuts_.begin(), cuts_.end(),
        [&smallest](const std::string& cut) { return smallest.compare(cut) >= 0; });
    return behind == cuts_.end() || largest.compare(*behind) < 0;
  }

 private:
  const std::vector<std::string>& cuts_;
};

class TableCutsFactory : public rocksdb::SstPartitionerFactory {
 public:
  explicit TableCutsFactory(const std::vector<KeySet::Run>& runs) : runs_(runs) {}

  const char* Name() const override { return "readamp.TableCutsFactory"; }

  std::unique_ptr<rocksdb::SstPartitioner> CreatePartitioner(
      const rocksdb::SstPartitioner::Context& context) const override {
    for (const KeySet::Run& run : runs_) {
      if (run.level == context.output_level) return std::make_unique<TableCuts>(run.cuts);
    }
    return nullptr;
  }

 private:
  const std::vector<KeySet::Run>& runs_;
};

}  // namespace

std::shared_ptr<rocksdb::SstPartitionerFactory> CutTables(const std::vector<KeySet::Run>& runs) {
  return std::make_shared<TableCutsFactory>(runs);
}

}  // namespace exactbloom::readamp
