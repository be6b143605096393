// The arguments that name the keys, as readamp and readamp_sweep take them.
#pragma once

#include <CLI/CLI.hpp>

#include "readamp_settings.h"
#include "support/argument_types.h"

namespace exactbloom::readamp {

inline void DescribeKeys(CLI::App& app, ReadampSettings& settings) {
  const CLI::Validator count = support::Count(100, 100'000'000);
  auto* keys =
      app.add_option("--keys", settings.key_file, "Read the keys from this file, one per line");
  auto* synthetic =
      app.add_option("--synthetic", settings.synthetic_keys, "Make this many keys instead")
          ->excludes(keys)
          ->transform(count)
          ->always_capture_default(false);
  app.add_option("--from-db", settings.user_database,
                 "Take the keys of the RocksDB database in this directory instead; it is only read")
      ->excludes(keys)
      ->excludes(synthetic)
      ->always_capture_default(false);
  app.add_option("--sample", settings.sampled_keys, "The most keys to draw from that database")
      ->transform(count);
  app.add_option("--stored", settings.stored_share, "Share of the keys that are in the store")
      ->transform(support::Share(0.0001, 0.9999));
}

}  // namespace exactbloom::readamp
