// The golden files: the writer still makes their bytes, the reader still answers on them.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "exactbloom/bloom_filter.h"
#include "golden_blocks.h"

namespace exactbloom {
namespace {

std::string ReadGolden(const std::string& file) {
  std::ifstream in(std::string(EXACTBLOOM_GOLDEN_DIR "/") + file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

class Golden : public testing::TestWithParam<GoldenBlock> {
 protected:
  const std::string bytes_ = ReadGolden(GetParam().file);
};

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(GoldenBlocks()), [](const auto& test) {
  return test.param.file.substr(0, test.param.file.find('.'));
});

TEST_P(Golden, WriterMakesTheSameBytes) { EXPECT_EQ(GetParam().Build().bytes(), bytes_); }

TEST_P(Golden, ReaderDescribesTheFileAndFindsEveryKey) {
  const BloomFilterView view(bytes_);
  ASSERT_EQ(view.Status(), BlockStatus::kUsable);
  EXPECT_EQ(view.Description().layout, GetParam().options.layout);
  EXPECT_EQ(view.Description().keys, GetParam().keys.size());
  EXPECT_EQ(view.Description().hash_seed, GetParam().options.hash_seed);
  for (const std::string& key : GetParam().keys) EXPECT_TRUE(view.MayContain(key)) << key;
}

}  // namespace
}  // namespace exactbloom
