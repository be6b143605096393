#include <exactbloom/bloom_filter.h>
#include <exactbloom/false_positive_rate.h>
#include <exactbloom/sizing.h>
#include <exactbloom/version.h>

#include <iostream>

int main() {
  auto builder = exactbloom::BloomFilterBuilder::Create({});
  if (!builder) return 1;
  builder->AddKey("apple");
  const exactbloom::FilterBlock block = builder->Finish();
  const exactbloom::BloomFilterView view(block.bytes());
  const auto size = exactbloom::SmallestFilter(exactbloom::FilterKind::kClassic, 1000, 0.01);
  std::cout << "ExactBloom " << EXACTBLOOM_VERSION << ": 1000 keys at 1% take " << size->bits
            << " bits\n";
  const bool right =
      view.MayContain("apple") && !view.MayContain("pear") && size->false_positive_rate <= 0.01;
  return right ? 0 : 1;
}
