// SPDX-License-Identifier: Apache-2.0
// Events of the running kernel through our ring and decoder: page faults and breakpoints, of which the number and the addresses are known.
#include "runner/samplers/access/event_rung.h"

#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runner/samplers/access/page_bits.h"
#include "runner/samplers/access/perf_events.h"
#include "runner/util/clock.h"

namespace mlrun::access {
namespace {

constexpr size_t kPage = 4096, kPages = 1024;

class Block {
 public:
  Block()
      : at_(static_cast<char*>(
            ::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::madvise(at_, kPages * kPage, MADV_NOHUGEPAGE);
  }
  ~Block() { ::munmap(at_, kPages * kPage); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void write(size_t page, size_t offset) const { *const_cast<volatile char*>(at_ + page * kPage + offset) = 1; }
  [[nodiscard]] char read(size_t page) const { return *const_cast<volatile char*>(at_ + page * kPage); }
  [[nodiscard]] uint64_t address(size_t page) const { return reinterpret_cast<uint64_t>(at_) + page * kPage; }
  [[nodiscard]] bool has(uint64_t address) const {
    return address >= this->address(0) && address < this->address(kPages);
  }

 private:
  char* at_;
};

TEST(AccessSamples, EachPageFaultHasItsAddressThreadAndTime) {
  const Block block;
  PerfEvents events;
  const auto problems = events.open({page_fault_event()}, 0, false);
  if (!problems.empty()) GTEST_SKIP() << problems.front();
  std::vector<uint64_t> wanted, found;
  const uint64_t began_ns = util::monotonic_ns();
  for (size_t page = 0; page < kPages; page++) {
    const size_t at = (page * 389) % kPages;  // each once, in another order
    block.write(at, at % kPage);
    wanted.push_back(block.address(at) + at % kPage);
  }
  const uint64_t ended_ns = util::monotonic_ns();
  uint64_t before_ns = began_ns;
  std::vector<decode::PerfSample> samples;
  events.drain([&](const AccessEvent&, const decode::PerfSample& sample) {
    if (block.has(sample.address)) samples.push_back(sample);
  });
  std::sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  for (const decode::PerfSample& sample : samples) {
    found.push_back(sample.address);
    EXPECT_EQ(sample.tid, static_cast<uint32_t>(::gettid()));
    EXPECT_EQ(sample.pid, static_cast<uint32_t>(::getpid()));
    EXPECT_EQ(sample.period, 1u);
    EXPECT_GE(sample.time_ns, before_ns);
    EXPECT_LE(sample.time_ns, ended_ns);
    before_ns = sample.time_ns;
  }
  EXPECT_EQ(events.take_lost(), 0u);
  EXPECT_EQ(found, wanted);
}

TEST(AccessSamples, AFaultSaysWhetherAPageWasMapped) {
  const Block block;
  PerfEvents events;
  const auto problems = events.open({page_fault_event()}, 0, false);
  if (!problems.empty()) GTEST_SKIP() << problems.front();
  static_cast<void>(block.read(0));  // maps the zero page
  block.write(0, 0);                 // copies it
  ::madvise(reinterpret_cast<void*>(block.address(0)), kPage, MADV_DONTNEED);
  block.write(0, 0);  // fills the page again
  std::vector<std::pair<uint64_t, bool>> found;
  bool knows_page = true;
  events.drain([&](const AccessEvent& event, const decode::PerfSample& sample) {
    if (!block.has(sample.address)) return;
    knows_page = (event.attr.sample_type & PERF_SAMPLE_DATA_PAGE_SIZE) != 0;
    const uint32_t flags = row_of(MLRUN_ACCESS_FAULTS, event, sample).flags;
    const bool is_unmapped = (flags & MLRUN_ACCESS_UNMAPPED) != 0;
    EXPECT_EQ((flags & MLRUN_ACCESS_MAPPED) == 0, is_unmapped || !knows_page);
    found.emplace_back(sample.time_ns, is_unmapped);
  });
  if (!knows_page) GTEST_SKIP() << "older than Linux 5.11";
  std::sort(found.begin(), found.end());
  std::vector<bool> unmapped;
  for (const auto& [time_ns, is_unmapped] : found) unmapped.push_back(is_unmapped);
  EXPECT_EQ(unmapped, (std::vector<bool>{true, false, true}));
}

// The buffer of a read() is filled by the kernel.
TEST(AccessSamples, PageFaultsInsideSystemCallsAreSeenWhereTheKernelAllowsIt) {
  const Block block;
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(zero, 0);
  PerfEvents events;
  const auto problems = events.open({page_fault_event()}, 0, false);
  const ssize_t got = ::read(zero, reinterpret_cast<void*>(block.address(0)), kPages * kPage);
  ::close(zero);
  ASSERT_EQ(got, static_cast<ssize_t>(kPages * kPage));
  if (!problems.empty()) GTEST_SKIP() << problems.front();
  if (!may_count_kernel()) GTEST_SKIP() << "kernel.perf_event_paranoid is above 1";
  std::set<uint64_t> pages;
  events.drain([&](const AccessEvent&, const decode::PerfSample& sample) {
    if (!block.has(sample.address)) return;
    pages.insert(sample.address / kPage);
    EXPECT_EQ(row_of(MLRUN_ACCESS_FAULTS, page_fault_event(), sample).ip, 0u) << "an address of the kernel";
  });
  EXPECT_EQ(pages.size() + events.take_lost(), kPages);
}

TEST(AccessSamples, ABreakpointCountsLoadsAndStoresOfAWordExactly) {
  const Block block;
  for (size_t page = 0; page < kPages; page++) block.write(page, 0);
  perf_event_attr attr = sampled_event();
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.bp_type = HW_BREAKPOINT_RW;
  attr.bp_addr = block.address(7);
  attr.bp_len = HW_BREAKPOINT_LEN_8;
  attr.sample_period = 1;
  PerfEvents events;
  const auto problems = events.open({{attr, "breakpoint"}}, 0, false);
  if (!problems.empty()) GTEST_SKIP() << problems.front();
  for (size_t i = 0; i < 20; i++) {
    for (size_t page = 0; page < kPages; page++) block.write(page, 0);
    static_cast<void>(block.read(7));
  }
  std::vector<uint64_t> addresses;
  events.drain([&](const AccessEvent&, const decode::PerfSample& sample) { addresses.push_back(sample.address); });
  EXPECT_EQ(addresses, std::vector<uint64_t>(40, block.address(7)));
}

TEST(AccessSamples, MoreThanTheRingHoldsAreCountedAsLost) {
  constexpr size_t kRounds = 20;
  cpu_set_t all, one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);  // each processor has a ring of its own
  PerfEvents events;
  const auto problems = events.open({page_fault_event()}, 0, false);
  if (!problems.empty()) {
    ::sched_setaffinity(0, sizeof all, &all);
    GTEST_SKIP() << problems.front();
  }
  size_t faults = 0, found = 0;
  for (size_t round = 0; round < kRounds; round++) {
    const Block block;
    for (size_t page = 0; page < kPages; page++) block.write(page, 0);
    faults += kPages;
  }
  const auto drain = [&] { events.drain([&](const AccessEvent&, const decode::PerfSample&) { found++; }); };
  drain();
  uint64_t lost = events.take_lost();
  if (lost + found <
      faults) {  // before Linux 6.0 the record of what was lost comes with the next sample of the processor
    const Block last;
    for (size_t page = 0; page < 4; page++) last.write(page, 0);
    drain();
    lost += events.take_lost();
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_GT(lost, 0u);
  EXPECT_GE(found + lost, faults);
  EXPECT_EQ(events.take_lost(), 0u) << "each is counted once";
}

TEST(AccessSamples, AFaultOnAHugePageHasItsSize) {
  constexpr size_t kHuge = 2 << 20;
  void* const around = ::mmap(nullptr, 2 * kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* const huge =
      reinterpret_cast<char*>((reinterpret_cast<uint64_t>(around) + kHuge - 1) / kHuge * kHuge);  // NOLINT
  ::madvise(huge, kHuge, MADV_HUGEPAGE);
  PerfEvents events;
  const auto problems = events.open({page_fault_event()}, 0, false);
  *const_cast<volatile char*>(huge) = 1;
  const bool is_huge = huge_bytes(::getpid()) >= kHuge;
  const pid_t child = ::fork();  // from now on a write is a fault, since the page is shared
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  *const_cast<volatile char*>(huge + 5 * kPage) = 1;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  std::vector<std::pair<uint64_t, uint64_t>> faults;  // time and size; each processor has a ring of its own
  uint64_t sample_type = 0;
  if (problems.empty()) {
    events.drain([&](const AccessEvent& event, const decode::PerfSample& sample) {
      sample_type = event.attr.sample_type;
      const bool is_inside = sample.address - reinterpret_cast<uint64_t>(huge) < kHuge;
      if (is_inside && sample.pid == static_cast<uint32_t>(::getpid()))
        faults.emplace_back(sample.time_ns, sample.page_size);
    });
  }
  ::munmap(around, 2 * kHuge);
  if (!problems.empty()) GTEST_SKIP() << problems.front();
  if (!is_huge) GTEST_SKIP() << "no huge pages here";
  if ((sample_type & PERF_SAMPLE_DATA_PAGE_SIZE) == 0) GTEST_SKIP() << "older than Linux 5.11";
  std::sort(faults.begin(), faults.end());
  ASSERT_GE(faults.size(), 2u);
  EXPECT_EQ(faults.front().second, 0u) << "nothing was mapped";
  EXPECT_EQ(faults[1].second, kHuge);
}

TEST(AccessSamples, TheRowOfAFaultIsAboutItsPage) {
  const decode::PerfSample huge{.address = 0x7f0000201234, .page_size = 2 << 20};
  EXPECT_EQ(row_of(MLRUN_ACCESS_HINT_FAULTS, page_fault_event(), huge).bytes, 2u << 20);
  EXPECT_EQ(row_of(MLRUN_ACCESS_FAULTS, page_fault_event(), {.address = 0x7f0000201234}).bytes, kPage);
  EXPECT_EQ(row_of(MLRUN_ACCESS_PRECISE, {sampled_event(), "mem-loads"}, huge).bytes, 0u);
}

TEST(AccessSamples, RingsOfAnOrdinaryUserShareWhatTheUserMayLock) {
  EXPECT_EQ(ring_pages(1, true), 256u);
  EXPECT_EQ(ring_pages(2, true), 256u);
  EXPECT_EQ(ring_pages(1, false), 128u);
  EXPECT_EQ(ring_pages(2, false), 32u);
  EXPECT_EQ(ring_pages(3, false), 32u);
}

// The first processors' rings took all of it, and the last ones got none: with 18 processors, or with any two that may lock no more.
TEST(AccessSamples, AnOrdinaryUserHasARingOnEachProcessorForEachEvent) {
  std::array<int, 2> said{};
  ASSERT_EQ(::pipe(said.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (::getuid() == 0 && ::setuid(65534) != 0)) ::_exit(1);
    std::string text;
    for (const size_t count : {1, 2}) {
      const auto problems = PerfEvents().open(std::vector(count, page_fault_event()), 0, false);
      if (!problems.empty()) text += problems.front() + "\n";
    }
    ::_exit(::write(said[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(said[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  std::array<char, 1024> text{};
  static_cast<void>(::read(said[0], text.data(), text.size() - 1));
  ::close(said[0]);
  EXPECT_EQ(status, 0);
  const std::string problem = text.data();
  if (problem.find("perf_event_paranoid") != std::string::npos) GTEST_SKIP() << problem;
  EXPECT_EQ(problem, "");
}

TEST(AccessSamples, TheHintAboutPrivilegesNamesWhatTheEventNeeds) {
  std::array<int, 2> said{};
  ASSERT_EQ(::pipe(said.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
    AccessEvent event = page_fault_event();
    event.attr.exclude_kernel = 0;
    const auto problems = PerfEvents().open({event}, 0, false);
    const std::string text = problems.empty() ? "" : problems.front();
    ::_exit(::write(said[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(said[1]);
  ::waitpid(child, nullptr, 0);
  std::array<char, 1024> text{};
  static_cast<void>(::read(said[0], text.data(), text.size() - 1));
  ::close(said[0]);
  const std::string problem = text.data();
  if (problem.empty()) GTEST_SKIP() << "this kernel refuses nothing";
  EXPECT_NE(problem.find("perf_event_paranoid to 1 or less"), std::string::npos) << problem;
}

// A program that does nothing but fault from its first moment on. The share of a run of that length that its samples take.
double share_of_samples(uint64_t run_ns) {
  constexpr uint64_t kBegin = 1'000'000'000'000, kStep = 10'000'000;
  rounds::SampleBudget budget = event_budget(kBegin);
  double spent_ns = 0;
  for (uint64_t now_ns = kBegin; now_ns < kBegin + run_ns; now_ns += kStep) {
    if (!budget.allows(now_ns)) continue;
    budget.take(kStep / 2);
    spent_ns += kStep / 2;
  }
  return spent_ns / static_cast<double>(run_ns);
}

TEST(AccessSamples, SamplesTakeHardlyMoreThanTheirShareOfAShortRun) {
  EXPECT_LT(share_of_samples(5'000'000'000), 0.02);
  EXPECT_LT(share_of_samples(30'000'000'000), 0.011);
  EXPECT_GT(share_of_samples(500'000'000), 0.09) << "a program fills its memory at the start";
}

TEST(AccessSamples, RecordsThatAreTooShortOrNotUnderstoodAreLeftOut) {
  const std::vector<char> body(sizeof(uint64_t) * 8);
  EXPECT_TRUE(decode::read_sample(kEventSample, body));
  EXPECT_FALSE(decode::read_sample(kEventSample, std::span<const char>(body).first(body.size() - 1)));
  EXPECT_FALSE(decode::read_sample(kEventSample, {}));
  EXPECT_FALSE(decode::read_sample(kEventSample | PERF_SAMPLE_CALLCHAIN, body));
}

TEST(AccessSamples, TheSizeOfAPageIsFoundBehindOtherFields) {
  std::array<uint64_t, 12> words{};
  for (size_t i = 0; i < words.size(); i++) words[i] = i;
  const auto page_size = [&](uint64_t sample_type, size_t count) {
    const auto sample =
        decode::read_sample(sample_type, {reinterpret_cast<const char*>(words.data()), count * sizeof(uint64_t)});
    return sample ? sample->page_size : UINT64_MAX;
  };
  constexpr uint64_t kWith = kEventSample | PERF_SAMPLE_DATA_PAGE_SIZE;
  EXPECT_EQ(page_size(kEventSample, 9), 0u);
  EXPECT_EQ(page_size(kWith, 9), 8u);
  EXPECT_EQ(page_size(kWith, 8), UINT64_MAX) << "too short";
  EXPECT_EQ(page_size(kWith | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP, 12), 11u);
  EXPECT_EQ(page_size(kWith | PERF_SAMPLE_REGS_INTR, 12), 0u) << "where it is depends on the processor";
}

}  // namespace
}  // namespace mlrun::access
