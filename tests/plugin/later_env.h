// An environment whose time can be set forward.
#pragma once

#include <rocksdb/env.h>

#include <atomic>
#include <cstdint>

namespace exactbloom {

class LaterEnv : public rocksdb::EnvWrapper {
 public:
  LaterEnv() : EnvWrapper(rocksdb::Env::Default()) {}
  const char* Name() const override { return "LaterEnv"; }

  rocksdb::Status GetCurrentTime(std::int64_t* seconds) override {
    const rocksdb::Status status = target()->GetCurrentTime(seconds);
    *seconds += later_;
    return status;
  }

  void SetForward(std::int64_t seconds) { later_ += seconds; }

 private:
  std::atomic<std::int64_t> later_{0};
};

}  // namespace exactbloom
