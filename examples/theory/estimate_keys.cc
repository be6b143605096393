#include <exactbloom/theory/key_count_estimate.h>

#include <cmath>
#include <iostream>

int main() {
  // A classic filter of ten million bits, half of them ones, and seven probes; with 99.9%.
  const auto found = exactbloom::EstimateKeys(exactbloom::BloomKind::kClassic, 10'000'000,
                                              5'034'145, 7, exactbloom::kZ999);
  std::cout << std::llround(found->keys) << " keys, from " << std::llround(found->interval.low)
            << " to " << std::llround(found->interval.high) << '\n';
}
