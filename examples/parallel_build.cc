// One filter that several threads build: each a part of the keys, with the plan of all of them.
//
//   example_parallel_build THREADS      1 to 64
#include <exactbloom/filter.h>
#include <exactbloom/filter_sets.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using exactbloom::FilterBlock;
using exactbloom::FilterBuilder;

constexpr std::uint64_t kWords = 200000;

std::string Word(std::uint64_t number) { return "word " + std::to_string(number); }

// The filter of the words first .. end - 1, with the bits and probes of a filter of all words.
FilterBlock BuildPart(std::uint64_t first, std::uint64_t end) {
  exactbloom::FilterOptions options;                     // equal ones in each thread
  options.kind = exactbloom::FilterKind::kClassicBloom;  // Ribbon filters cannot be united
  FilterBuilder builder = *FilterBuilder::Create(options);
  for (std::uint64_t i = first; i < end; ++i) builder.AddKey(Word(i));
  return builder.Finish(builder.Plan(kWords));
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long threads = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
  if (threads < 1 || threads > 64) {
    std::cerr << "usage: example_parallel_build THREADS\n";
    return 2;
  }
  std::vector<FilterBlock> parts(threads);
  std::vector<std::thread> builders;
  for (std::uint64_t t = 0; t < threads; ++t) {
    builders.emplace_back([&parts, t, threads] {
      parts[t] = BuildPart(kWords * t / threads, kWords * (t + 1) / threads);
    });
  }
  for (std::thread& builder : builders) builder.join();

  FilterBlock whole = std::move(parts[0]);
  for (std::uint64_t t = 1; t < threads; ++t) {
    auto both = exactbloom::UnionOf(whole.bytes(), parts[t].bytes(), kWords * (t + 1) / threads);
    if (!both) {  // of another kind, size, number of probes or seed
      std::cerr << "parallel_build: the parts do not fit together\n";
      return 1;
    }
    whole = std::move(*both);
  }
  const bool equal = whole.bytes() == BuildPart(0, kWords).bytes();
  std::cout << threads << " parts of " << kWords << " words, united to " << whole.size
            << " bytes, which " << (equal ? "equal" : "differ from") << " those of one builder\n";
  return equal ? 0 : 1;
}
