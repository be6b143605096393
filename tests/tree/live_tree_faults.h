// The fixture of what went wrong in live trees before.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/options.h>

#include <string>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"

namespace exactbloom {

class LiveTreeFaults : public testing::Test {
 protected:
  rocksdb::Options Options(const ExactBloomOptions& policy) const {
    return FollowingOptions(PolicyOf(policy), listener_);
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
  ListenerPointer listener_ = NewTreeListener();
};

}  // namespace exactbloom
