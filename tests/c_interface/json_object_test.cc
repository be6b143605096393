#include "plugin/c_binding/json_object.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace exactbloom {
namespace {

template <typename Number>
std::string WithNumber(Number number) {
  JsonObject object;
  object.AddNumber("n", number);
  return object.Text();
}

std::string WithText(std::string_view bytes) {
  JsonObject object;
  object.AddText("t", bytes);
  return object.Text();
}

TEST(JsonObject, HoldsMembersInTheirOrder) {
  JsonObject inner;
  EXPECT_EQ(inner.Text(), "{}");
  inner.AddNull("x");
  JsonObject object;
  object.AddObject("a", inner);
  object.AddArray("b", {});
  object.AddArray("c", {inner, JsonObject()});
  object.AddBytes("d", "\x01\xFF");
  EXPECT_EQ(object.Text(),
            "{\"a\":{\"x\":null},\"b\":[],\"c\":[{\"x\":null},{}],"
            "\"d\":\"\\u0001\xEF\xBF\xBD\",\"d_hex\":\"01ff\"}");
}

TEST(JsonObject, NumbersReadBackAsTheyAre) {
  EXPECT_EQ(WithNumber(-1), "{\"n\":-1}");
  EXPECT_EQ(WithNumber(std::numeric_limits<std::uint64_t>::max()), "{\"n\":18446744073709551615}");
  EXPECT_EQ(WithNumber(0.0), "{\"n\":0}");
  EXPECT_EQ(WithNumber(0.1), "{\"n\":0.1}");
  EXPECT_EQ(WithNumber(1.0 / 3), "{\"n\":0.3333333333333333}");
  EXPECT_EQ(WithNumber(0.1 + 0.2), "{\"n\":0.30000000000000004}");
  EXPECT_EQ(WithNumber(5e-324), "{\"n\":4.94066e-324}");
  EXPECT_EQ(WithNumber(std::nan("")), "{\"n\":null}");
  EXPECT_EQ(WithNumber(-std::numeric_limits<double>::infinity()), "{\"n\":null}");
}

TEST(JsonObject, TextIsEscaped) {
  EXPECT_EQ(WithText(""), "{\"t\":\"\"}");
  EXPECT_EQ(WithText(R"(a "b" \c /)"), R"({"t":"a \"b\" \\c /"})");
  EXPECT_EQ(WithText(std::string_view("\0\n\x1F \x7F", 5)),
            "{\"t\":\"\\u0000\\u000a\\u001f \x7F\"}");
}

// U+0080, U+07FF, U+0800, U+D7FF, U+E000, U+FFFF, U+10000 and U+10FFFF.
TEST(JsonObject, TextKeepsUtf8) {
  const std::string text =
      "\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF"
      "\xBF";
  EXPECT_EQ(WithText(text), "{\"t\":\"" + text + "\"}");
}

// Each byte that is no part of a character is U+FFFD, and so is each part of one. The last is the
// example of the standard (Unicode 15.0, table 3-8).
TEST(JsonObject, OtherBytesAreReplaced) {
  const std::string replacement = "\xEF\xBF\xBD";
  const auto expect = [&](std::string_view bytes, std::string_view expected) {
    std::string text;
    for (const char c : expected) text += c == '?' ? replacement : std::string(1, c);
    EXPECT_EQ(WithText(bytes), "{\"t\":\"" + text + "\"}");
  };
  expect("\x80\xBF\xC0\xC1\xF5\xFF", "??????");
  expect("\xC0\xAF", "??");            // a slash of two bytes
  expect("\xE0\x9F\x80", "???");       // longer than needed
  expect("\xED\xA0\x80", "???");       // a surrogate
  expect("\xF4\x90\x80\x80", "????");  // above U+10FFFF
  expect("\xF0\x8F\xBF\xBF", "????");  // longer than needed
  expect("\xC3", "?");
  expect("\xE2\x82", "?");
  expect("\xF0\x9F\x8C\"", "?\\\"");
  expect(
      "a\xF1\x80\x80\xE1\x80\xC2"
      "b\x80"
      "c\x80\xBF"
      "d",
      "a???b?c??d");
}

}  // namespace
}  // namespace exactbloom
