// A Ribbon filter without a database: sized by a rate, built, written to a file, read and asked.
//
//   example_ribbon_filter FILE      the file is written
#include <exactbloom/filter.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

constexpr int kWords = 100000;
constexpr double kRate = 0.01;

std::string Word(int number) { return "word " + std::to_string(number); }

bool WriteFilter(const std::string& path) {
  exactbloom::FilterOptions options;
  options.false_positive_rate = kRate;  // or options.bits_per_key
  std::string error;
  auto builder = exactbloom::FilterBuilder::Create(options, &error);
  if (!builder) {  // an option out of its range
    std::cerr << error << '\n';
    return false;
  }
  for (int i = 0; i < kWords; ++i) builder->AddKey(Word(i));
  const exactbloom::FilterBlock block = builder->Finish();
  std::ofstream file(path, std::ios::binary);
  return static_cast<bool>(file << block.bytes() << std::flush);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: example_ribbon_filter FILE\n";
    return 2;
  }
  if (!WriteFilter(argv[1])) {
    std::cerr << "ribbon_filter: cannot write " << argv[1] << '\n';
    return 2;
  }

  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const exactbloom::FilterView view(bytes);  // refers to bytes, which must outlive it
  if (view.Status() != exactbloom::BlockStatus::kUsable) {
    // No key would be lost: such a view answers that it may contain every key.
    std::cerr << "ribbon_filter: " << argv[1] << " is not a Ribbon filter\n";
    return 1;
  }
  std::cout << "a filter of " << view.Description().keys << " words in " << bytes.size()
            << " bytes: " << 8.0 * static_cast<double>(bytes.size()) / kWords
            << " bits per word, where the least for this rate are 6.64\n";

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
            << ", a rate of " << measured << "; this block's exact rate is " << rate << '\n';
  return missed == 0 && rate <= kRate && measured > 0.8 * rate && measured < 1.2 * rate ? 0 : 1;
}
