// SPDX-License-Identifier: Apache-2.0
// Tests notes of static probes in a library, intact and with changed bytes. The library is the mock of PyTorch's
// allocator (tests/gpu/uprobe/mock_torch.c).
#include "kprobes/libraries/static_probes.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace mlrun::probes {
namespace {

constexpr size_t kHead = sizeof(Elf64_Nhdr) + 8;  // "stapsdt" and its zero
constexpr size_t kPlace = kHead, kSemaphore = kHead + 16, kTexts = kHead + 24;

class StaticProbesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(MLRUN_MOCK_TORCH, std::ios::binary);
    if (!file) GTEST_SKIP() << MLRUN_MOCK_TORCH " is not built: <sys/sdt.h> is missing";
    library_.assign(std::istreambuf_iterator<char>(file), {});
    note_ = library_.find("pytorch", library_.find("stapsdt")) - kTexts;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void put(size_t at, uint64_t value) { std::memcpy(&library_[note_ + at], &value, sizeof value); }
  uint64_t get(size_t at) const {
    uint64_t value = 0;
    std::memcpy(&value, &library_[note_ + at], sizeof value);
    return value;
  }
  Result<StaticProbes> read() const {
    std::ofstream(path_, std::ios::binary) << library_;
    return static_probes(path_, "pytorch");
  }
  // One of them is refused, for that reason, and the two others are as before.
  void expect_refused(const std::string& why) const {
    const auto probes = read();
    ASSERT_TRUE(probes.has_value());
    EXPECT_EQ(probes->found.size(), 2u);
    EXPECT_NE(probes->refused.find(why), std::string::npos) << probes->refused;
  }

  const std::string path_ = testing::TempDir() + "static_probes_" + std::to_string(::getpid());
  std::string library_;
  size_t note_ = 0;  // the first one, of malloc
};

TEST_F(StaticProbesTest, AreFoundInALibrary) {
  const auto probes = read();
  ASSERT_TRUE(probes.has_value());
  EXPECT_EQ(probes->refused, "");
  ASSERT_EQ(probes->found.size(), 3u);
  EXPECT_EQ(probes->found[0].name, "malloc");
  EXPECT_EQ(probes->found[0].arguments.size(), 4u);
  for (const StaticProbe& probe : probes->found) {
    EXPECT_EQ(static_cast<unsigned char>(library_[probe.offset]), 0x90);
    EXPECT_NE(probe.semaphore, 0u);
    EXPECT_EQ(probe.semaphore % 2, 0u);
  }
  EXPECT_EQ(probes->found[1].semaphore, probes->found[2].semaphore);
  EXPECT_EQ(static_probes(path_, "other")->found.size(), 0u);
}

TEST_F(StaticProbesTest, AProbeAtCodeThatIsNotANopIsRefused) {
  const uint64_t place = get(kPlace);
  for (const uint64_t wrong : {place + 1, uint64_t{0}, get(kSemaphore), uint64_t{1} << 40, ~uint64_t{0}}) {
    put(kPlace, wrong);
    expect_refused("pytorch:malloc: no nop");
  }
}

TEST_F(StaticProbesTest, ASemaphoreOutsideOfTheLibrarysDataIsRefused) {
  const uint64_t semaphore = get(kSemaphore);
  for (const uint64_t wrong : {semaphore + 1, get(kPlace), uint64_t{8}, ~uint64_t{0}}) {
    put(kSemaphore, wrong);
    expect_refused("pytorch:malloc: the counter that enables");
  }
  put(kSemaphore, 0);
  EXPECT_EQ(read()->found.size(), 3u);
}

TEST_F(StaticProbesTest, ArgumentsThatAreNotKnownAreRefused) {
  const size_t at = library_.find('@', note_ + kTexts);
  library_[at] = '?';
  expect_refused("pytorch:malloc: mlrun cannot read arguments at '");
}

TEST_F(StaticProbesTest, TextsWithoutAnEndAreRefused) {
  Elf64_Nhdr header{};
  std::memcpy(&header, &library_[note_], sizeof header);
  std::fill_n(library_.begin() + static_cast<std::ptrdiff_t>(note_ + kTexts), header.n_descsz - 24, 'x');
  expect_refused("damaged");
}

TEST_F(StaticProbesTest, ANoteThatIsLongerThanItsSectionEndsTheSearch) {
  const uint32_t bytes = 0xfffffff0;
  std::memcpy(&library_[note_ + offsetof(Elf64_Nhdr, n_descsz)], &bytes, sizeof bytes);
  const auto probes = read();
  ASSERT_TRUE(probes.has_value());
  EXPECT_EQ(probes->found.size(), 0u);
}

// Neither crashes nor runs on: what comes of it does not matter.
TEST_F(StaticProbesTest, ACutOffOrDamagedFileIsRead) {
  const std::string whole = library_;
  for (size_t bytes = 0; bytes < whole.size(); bytes += whole.size() / 40) {
    library_ = whole.substr(0, bytes);
    (void)read();
  }
  for (size_t seed = 1; seed < 300; seed++) {
    library_ = whole;
    const bool is_head = seed % 2 == 0;
    const size_t begin = is_head ? 0 : note_, room = is_head ? sizeof(Elf64_Ehdr) : 200;
    library_[begin + seed * 7919 % room] = static_cast<char>(seed * 31);
    (void)read();
  }
}

}  // namespace
}  // namespace mlrun::probes
