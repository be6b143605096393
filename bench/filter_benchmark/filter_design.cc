#include "filter_design.h"

#include "equal_memory.h"
#include "fast_local_bloom.h"
#include "plugin/bloom_filter_policy.h"

namespace exactbloom::filter_benchmark {
namespace {

FilterDesign OfKind(const std::string& name, FilterKind kind) {
  return {name, kind, [kind](std::uint64_t, double bits_per_key) {
            PolicyOptions options = PlainPolicy(kind);
            options.bits_per_key = bits_per_key;
            return std::make_shared<BloomFilterPolicy>(options);
          }};
}

Policy NewRibbonOfEqualMemory(std::uint64_t keys, double bits_per_key) {
  const auto make_policy = [](double setting) {
    return Policy(rocksdb::NewRibbonFilterPolicy(setting, /*bloom_before_level=*/-1));
  };
  return make_policy(SettingOfEqualMemory(make_policy, keys, bits_per_key));
}

}  // namespace

std::vector<FilterDesign> OurDesigns() {
  return {OfKind("classic", FilterKind::kClassic), OfKind("standard", FilterKind::kStandard)};
}

std::vector<FilterDesign> PeerDesigns(std::string* missing) {
  std::vector<FilterDesign> peers;
  if (NewFastLocalBloomAvx2(10.0, missing)) {
    peers.push_back({"FastLocalBloom AVX2", std::nullopt, [](std::uint64_t, double bits_per_key) {
                       std::string reason;
                       return NewFastLocalBloomAvx2(bits_per_key, &reason);
                     }});
  }
  peers.push_back({"bloomfilter", std::nullopt, [](std::uint64_t, double bits_per_key) {
                     return Policy(rocksdb::NewBloomFilterPolicy(bits_per_key));
                   }});
  peers.push_back({"ribbonfilter", std::nullopt, NewRibbonOfEqualMemory});
  return peers;
}

}  // namespace exactbloom::filter_benchmark
