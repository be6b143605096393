// Filters without a database: built, written to a file, read back and asked. One is sized by its
// rate and has the kind that takes the fewest bytes, a Ribbon filter; the other is a Bloom filter
// of 10 bits per word.
//
//   example_standalone_filter FILE      the file is written
#include <exactbloom/filter.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

constexpr int kWords = 100000;

std::string Word(int number) { return "word " + std::to_string(number); }

bool WriteFilter(const std::string& path, const exactbloom::FilterOptions& options) {
  auto builder = exactbloom::FilterBuilder::Create(options);
  if (!builder) {  // an option out of its range
    std::cerr << "standalone_filter: " << builder.Error() << '\n';
    return false;
  }
  for (int i = 0; i < kWords; ++i) builder->AddKey(Word(i));
  const exactbloom::FilterBlock block = builder->Finish();
  std::ofstream file(path, std::ios::binary);
  if (file << block.bytes() << std::flush) return true;
  std::cerr << "standalone_filter: cannot write " << path << '\n';
  return false;
}

// Returns whether the filter in the file has all words, and its rate.
bool ReadFilter(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const exactbloom::FilterView view(bytes);  // refers to bytes, which must outlive it
  if (view.Status() != exactbloom::BlockStatus::kUsable) {
    // No key would be lost: such a view answers that it may contain every key.
    std::cerr << "standalone_filter: " << path << " is not a filter\n";
    return false;
  }
  const exactbloom::FilterDescription& filter = view.Description();
  std::cout << "a filter of " << filter.keys << " words in " << bytes.size() << " bytes: ";
  if (view.Kind() == exactbloom::FilterKind::kRibbon) {
    std::cout << "a Ribbon filter of " << filter.columns << " columns and more\n";
  } else {
    std::cout << "m=" << filter.bits << " bits, k=" << filter.probes << " of them per word\n";
  }

  int missed = 0;
  int false_positives = 0;
  for (int i = 0; i < kWords; ++i) {
    missed += view.MayContain(Word(i)) ? 0 : 1;
    false_positives += view.MayContain(Word(kWords + i)) ? 1 : 0;
  }
  const double rate = view.FalsePositiveRate();
  const double measured = static_cast<double>(false_positives) / kWords;
  std::cout << "words in it that were missed: " << missed << " of " << kWords << "\n"
            << "other words taken for one of its: " << false_positives << " of " << kWords
            << ", a rate of " << measured << "; the exact rate is " << rate << '\n';
  return missed == 0 && measured > 0.8 * rate && measured < 1.2 * rate;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: example_standalone_filter FILE\n";
    return 2;
  }
  exactbloom::FilterOptions smallest;
  smallest.false_positive_rate = 0.01;
  exactbloom::FilterOptions bloom;
  bloom.kind = exactbloom::FilterKind::kClassicBloom;
  bloom.bits_per_key = 10;
  for (const exactbloom::FilterOptions& options : {smallest, bloom}) {
    if (!WriteFilter(argv[1], options)) return 2;
    if (!ReadFilter(argv[1])) return 1;
  }
  return 0;
}
