// SPDX-License-Identifier: Apache-2.0
// Compares the library's own string functions with libc's, on texts that end at the end of readable memory.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

extern "C" {
void* own_memcpy(void*, const void*, size_t);
void* own_memmove(void*, const void*, size_t);
void* own_memset(void*, int, size_t);
int own_memcmp(const void*, const void*, size_t);
void* own_memchr(const void*, int, size_t);
size_t own_strnlen(const char*, size_t);
size_t own_strlen(const char*);
int own_strncmp(const char*, const char*, size_t);
int own_strcmp(const char*, const char*);
char* own_strchr(const char*, int);
char* own_strrchr(const char*, int);
size_t own_strspn(const char*, const char*);
size_t own_strcspn(const char*, const char*);
char* own_strstr(const char*, const char*);
}

namespace mlrun::preload_test {
namespace {

constexpr size_t kPage = 4096;
constexpr int kRounds = 50000;
constexpr std::string_view kLetters("abA:/ \x80", 7);

int sign(int value) { return (value > 0) - (value < 0); }

class OwnString : public testing::Test {
 protected:
  OwnString() {
    void* mapped = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_ = static_cast<char*>(mapped);
    mprotect(start_ + kPage, kPage, PROT_NONE);
  }
  void TearDown() override { munmap(start_, 2 * kPage); }

  size_t below(size_t bound) { return random_() % bound; }
  std::string text(size_t most) {
    std::string result(below(most), 0);
    for (char& letter : result) letter = kLetters[below(kLetters.size())];
    return result;
  }
  // Behind its 0, or its last letter, nothing can be read.
  char* at_the_end(const std::string& text, size_t bytes) {
    return static_cast<char*>(std::memcpy(start_ + kPage - bytes, text.c_str(), bytes));
  }

  std::mt19937 random_{1};  // NOLINT: the same in every run
  char* start_;
};

TEST_F(OwnString, ComparesTextsAsLibcDoes) {
  for (int round = 0; round < kRounds; round++) {
    const std::string whole = text(80), set = below(2) ? text(4) : whole.substr(0, below(5));
    std::string other = whole;
    if (!other.empty() && below(2) != 0) other[below(other.size())] = 'b';
    const char* at = at_the_end(whole, whole.size() + 1);
    const size_t most = below(90), within = std::min(most, whole.size());
    const int letter = below(8) != 0 ? kLetters[below(kLetters.size())] : 0;
    ASSERT_EQ(own_strlen(at), strlen(at)) << whole;
    ASSERT_EQ(own_strnlen(at, most), strnlen(at, most)) << whole;
    ASSERT_EQ(sign(own_strcmp(at, other.c_str())), sign(strcmp(at, other.c_str()))) << whole << '\n' << other;
    ASSERT_EQ(sign(own_strncmp(at, other.c_str(), most)), sign(strncmp(at, other.c_str(), most))) << whole;
    ASSERT_EQ(sign(own_memcmp(at, other.c_str(), within)), sign(memcmp(at, other.c_str(), within))) << whole;
    ASSERT_EQ(own_memchr(at, letter, within), memchr(at, letter, within)) << whole;
    ASSERT_EQ(own_strchr(at, letter), strchr(at, letter)) << whole;
    ASSERT_EQ(own_strrchr(at, letter), strrchr(at, letter)) << whole;
    ASSERT_EQ(own_strspn(at, set.c_str()), strspn(at, set.c_str())) << whole << '\n' << set;
    ASSERT_EQ(own_strcspn(at, set.c_str()), strcspn(at, set.c_str())) << whole << '\n' << set;
    ASSERT_EQ(own_strstr(at, set.c_str()), strstr(at, set.c_str())) << whole << '\n' << set;
  }
}

TEST_F(OwnString, ReadsNoFurtherThanItMay) {
  const std::string letters(100, 'x');
  for (size_t bytes = 0; bytes <= letters.size(); bytes++) {
    const char* at = at_the_end(letters, bytes);
    ASSERT_EQ(own_strnlen(at, bytes), bytes);
    ASSERT_EQ(own_memchr(at, 'y', bytes), nullptr);
  }
}

TEST_F(OwnString, MovesAndFillsAsLibcDoes) {
  std::array<char, 200> left{}, right{};
  for (int round = 0; round < kRounds; round++) {
    for (size_t i = 0; i < left.size(); i++) left[i] = right[i] = static_cast<char>(random_());
    const size_t from = below(100), to = below(100), bytes = below(100);
    ASSERT_EQ(own_memmove(&left[to], &left[from], bytes), &left[to]);
    std::memmove(&right[to], &right[from], bytes);
    ASSERT_EQ(left, right) << from << " " << to << " " << bytes;
    ASSERT_EQ(own_memset(&left[from], static_cast<int>(to), bytes), &left[from]);
    std::memset(&right[from], static_cast<int>(to), bytes);
    ASSERT_EQ(left, right) << from << " " << to << " " << bytes;
    const size_t half = bytes / 2;
    ASSERT_EQ(own_memcpy(&left[100], &left[from / 2], half), &left[100]);
    std::memcpy(&right[100], &right[from / 2], half);
    ASSERT_EQ(left, right) << from << " " << half;
  }
}

}  // namespace
}  // namespace mlrun::preload_test
