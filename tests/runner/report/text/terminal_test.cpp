// SPDX-License-Identifier: Apache-2.0
#include "runner/report/text/terminal.h"

#include <pty.h>
#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

namespace mlrun::report {
namespace {

class TerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR", "COLUMNS"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
  }
};

// A pseudo terminal of a given width.
class Pty {
 public:
  explicit Pty(unsigned short columns) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 24;
    int terminal = -1;
    if (::openpty(&master_, &terminal, nullptr, nullptr, &size) == 0) stream_ = ::fdopen(terminal, "w");
  }
  ~Pty() {
    if (stream_ != nullptr) std::fclose(stream_);
    ::close(master_);
  }
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;
  [[nodiscard]] std::FILE* stream() const { return stream_; }

 private:
  int master_ = -1;
  std::FILE* stream_ = nullptr;
};

TEST_F(TerminalTest, IsPlainAndAHundredWideForAFile) {
  std::FILE* file = std::tmpfile();
  const auto style = style_of(file);
  EXPECT_EQ(style.width, 100u);
  EXPECT_FALSE(style.colour);
  EXPECT_FALSE(is_terminal(file));
  std::fclose(file);
}

TEST_F(TerminalTest, TakesTheWidthOfTheTerminalAndColour) {
  const Pty pty(132);
  ASSERT_NE(pty.stream(), nullptr);
  EXPECT_EQ(style_of(pty.stream()).width, 132u);
  EXPECT_TRUE(style_of(pty.stream()).colour);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(style_of(pty.stream()).colour);
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(style_of(pty.stream()).colour);
}

TEST_F(TerminalTest, AsksForNoLessThanFortyColumns) {
  const Pty tiny(20), narrow(60), unknown(0);
  EXPECT_EQ(style_of(tiny.stream()).width, 40u);
  EXPECT_EQ(style_of(narrow.stream()).width, 60u);
  EXPECT_EQ(style_of(unknown.stream()).width, 100u);
  ::setenv("COLUMNS", "120", 1);
  EXPECT_EQ(style_of(unknown.stream()).width, 120u);
}

TEST_F(TerminalTest, UsesUnicodeWhereTheLocaleHasIt) {
  const auto unicode = [] { return style_of(stdout).glyphs.unicode; };
  EXPECT_FALSE(unicode());
  ::setenv("LANG", "en_US.UTF-8", 1);
  EXPECT_TRUE(unicode());
  ::setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(unicode());
  ::setenv("LC_ALL", "de_DE.utf8@euro", 1);
  EXPECT_TRUE(unicode());
  ::setenv("LC_ALL", "de_DE.ISO-8859-1", 1);
  EXPECT_FALSE(unicode());
  ::setenv("LC_ALL", "", 1);
  EXPECT_TRUE(unicode());
}

}  // namespace
}  // namespace mlrun::report
