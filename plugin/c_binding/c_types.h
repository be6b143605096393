// Types of RocksDB's C interface, which <rocksdb/c.h> only declares: the definitions are in its
// db/c.cc. They stand here token for token as there, in all supported versions, so that both are
// one definition in the sense of C++, and objects can be handed over. tests/c_interface compares
// them with RocksDB's source where that is at hand.
#pragma once

#include <rocksdb/c.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>

using rocksdb::FilterPolicy;  // NOLINT(google-global-names-in-headers): as in c.cc
using rocksdb::Options;       // NOLINT(google-global-names-in-headers)

extern "C" {

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
