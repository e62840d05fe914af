// SPDX-License-Identifier: Apache-2.0
// Which windows are left out since their clearing would hold page faults back for too long, with made-up costs of a page.
#include "runner/samplers/access/bits_rung.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include <gtest/gtest.h>

#include "runner/samplers/access/ladder.h"
#include "runner/util/clock.h"

namespace mlrun::access {
namespace {

// A process that waits, with 8 MiB of memory.
class Child {
 public:
  Child() : block_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    ::madvise(block_, kBytes, MADV_NOHUGEPAGE);
    std::fill_n(static_cast<char*>(block_), kBytes, 1);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::pause();
    ::_exit(0);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(block_, kBytes);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  static constexpr size_t kBytes = 8 << 20;
  void* block_;
  pid_t pid_ = -1;
};

constexpr uint64_t kShortWindowNs = 1'000'000;
constexpr uint64_t kTooSlowPs = (kStallMaxNs + 1) * 1000;  // each page takes longer than all may take

model::MemoryAccess::Rung after_one_sample(uint64_t clear_ps, uint64_t stall_max_ns) {
  const Child child;
  const auto rung =
      make_bits_rung({.cost = {.clear_ps = clear_ps}, .window_ns = kShortWindowNs, .stall_max_ns = stall_max_ns});
  Rows rows;
  rung->watch({child.pid()});
  rung->sample(util::monotonic_ns(), rows);
  return rung->facts();
}

TEST(BitsRung, WindowsWhoseClearingIsPredictedToStallTooLongAreLeftOut) {
  const auto slow = after_one_sample(kTooSlowPs, kStallMaxNs);
  EXPECT_EQ(slow.left_out, 1);
  EXPECT_EQ(slow.samples, 0);
  const auto fast = after_one_sample(1, kStallMaxNs);
  EXPECT_EQ(fast.left_out, 0);
  EXPECT_EQ(fast.samples, 1);
}

TEST(BitsRung, WithoutALimitNoWindowIsLeftOut) {
  const auto slow = after_one_sample(kTooSlowPs, BitsOptions().stall_max_ns);
  EXPECT_EQ(slow.left_out, 0);
  EXPECT_EQ(slow.samples, 1);
}

// Some nanoseconds are predicted, which the limit allows. No call is as fast as that.
TEST(BitsRung, AWindowIsLeftOutIfThePreviousOneStalledLongerThanPredicted) {
  const Child child;
  const auto rung = make_bits_rung({.cost = {.clear_ps = 10}, .window_ns = kShortWindowNs, .stall_max_ns = 500});
  Rows rows;
  rung->watch({child.pid()});
  rung->sample(util::monotonic_ns(), rows);
  if (!rung->facts().problem.empty()) GTEST_SKIP() << rung->facts().problem;
  EXPECT_EQ(rung->facts().left_out, 0);
  EXPECT_EQ(rung->facts().samples, 1);
  EXPECT_GT(rung->facts().predicted_stall_ns, 0);
  EXPECT_LT(rung->facts().predicted_stall_ns, 500);
  EXPECT_GT(rung->facts().worst_stall_ns, 500);
  for (int i = 0; i < 10'000 && rung->facts().left_out == 0; i++, ::usleep(1000))
    rung->sample(util::monotonic_ns(), rows);
  EXPECT_GE(rung->facts().left_out, 1);
  EXPECT_EQ(rung->facts().samples, 1) << "the second window";
}

}  // namespace
}  // namespace mlrun::access
