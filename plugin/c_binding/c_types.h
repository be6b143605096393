// Types of RocksDB's C interface. <rocksdb/c.h> only declares them; db/c.cc defines them. The
// definitions here equal those of all supported versions token for token, as the one definition
// rule of C++ requires. tests/versions compares them with RocksDB's source where that is available.
#pragma once

#include <rocksdb/c.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>

using ROCKSDB_NAMESPACE::DB;            // NOLINT(google-global-names-in-headers): as in c.cc
using ROCKSDB_NAMESPACE::FilterPolicy;  // NOLINT(google-global-names-in-headers): as in c.cc
using ROCKSDB_NAMESPACE::Options;       // NOLINT(google-global-names-in-headers)

extern "C" {

struct rocksdb_t {
  DB* rep;
};

struct rocksdb_options_t {
  Options rep;
};

struct rocksdb_filterpolicy_t : public FilterPolicy {
  void* state_;
  void (*destructor_)(void*);
  const char* (*name_)(void*);

  ~rocksdb_filterpolicy_t() override { (*destructor_)(state_); }

  const char* Name() const override { return (*name_)(state_); }
};
}
