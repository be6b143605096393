// A builder that passes everything on to another, for tests that change what a policy builds.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "plugin/filter_bits_interface.h"

namespace exactbloom {

class ForwardingBuilder : public NewestFilterBitsBuilder {
 public:
  explicit ForwardingBuilder(rocksdb::FilterBitsBuilder* builder) : builder_(builder) {}

  void AddKey(const rocksdb::Slice& key) override { builder_->AddKey(key); }
  size_t EstimateEntriesAdded() override { return builder_->EstimateEntriesAdded(); }
  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buffer) override {
    return Finish(buffer, nullptr);
  }
  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buffer, rocksdb::Status* status) override {
    return builder_->Finish(buffer, status);
  }
  rocksdb::Status MaybePostVerify(const rocksdb::Slice& contents) override {
    return builder_->MaybePostVerify(contents);
  }
  size_t ApproximateNumEntries(size_t bytes) override {
    return builder_->ApproximateNumEntries(bytes);
  }

  // A RocksDB without these functions never asks for them.
#if EXACTBLOOM_ROCKSDB_SINCE(9, 6)
  void AddKeyAndAlt(const rocksdb::Slice& key, const rocksdb::Slice& alt) override {
    builder_->AddKeyAndAlt(key, alt);
  }
#else
  void AddKeyAndAlt(const rocksdb::Slice& /*key*/, const rocksdb::Slice& /*alt*/) override {}
#endif
#if EXACTBLOOM_ROCKSDB_SINCE(10, 9)
  size_t CalculateSpace(size_t num_entries) override {
    return builder_->CalculateSpace(num_entries);
  }
  double EstimatedFpRate(size_t num_entries, size_t bytes) override {
    return builder_->EstimatedFpRate(num_entries, bytes);
  }
#else
  size_t CalculateSpace(size_t /*num_entries*/) override { return 0; }
  double EstimatedFpRate(size_t /*num_entries*/, size_t /*bytes*/) override { return 1.0; }
#endif

 private:
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder_;
};

}  // namespace exactbloom
