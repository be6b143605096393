// Peers at equal memory: the setting at which a policy takes a given number of bytes.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace exactbloom::sweep {

using MakePolicyOfSetting =
    std::function<std::shared_ptr<const rocksdb::FilterPolicy>(double setting)>;

// Returns the largest setting at which the policy's filter of `keys` keys takes at most
// `bits_per_key` bits a key, to a thousandth, as RocksDB rounds it. Filters are built to see;
// settings from `bits_per_key` to twice of it are tried.
double SettingOfSize(const MakePolicyOfSetting& make_policy, std::uint64_t keys,
                     double bits_per_key);

}  // namespace exactbloom::sweep
