// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/page_bits.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "runner/samplers/access/precise_events.h"

namespace mlrun::access {
namespace {

constexpr const char* kSmaps =
    "55d0c0000000-55d0c0100000 r--p 00000000 fe:00 1234                       /usr/bin/app\n"
    "Size:               1024 kB\nRss:                 512 kB\nReferenced:          512 kB\nAnonHugePages:         0 "
    "kB\n"
    "55d0c1000000-55d0c1200000 rw-p 00000000 00:00 0                          [heap]\n"
    "Size:               2048 kB\nRss:                1024 kB\nReferenced:            16 kB\nAnonHugePages:         0 "
    "kB\n"
    "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 \n"
    "Size:               8192 kB\nRss:                8192 kB\nShared_Clean:          8 kB\nShared_Dirty:         16 "
    "kB\n"
    "Referenced:          4096 kB\nAnonHugePages:      6144 kB\nLocked:               32 kB\n"
    "VmFlags: rd wr mr mw me ac sd\n"
    "7f0000900000-7f0000901000 rw-p 00000000 00:00 0                          [anon: my arena]\n"
    "Rss:                   4 kB\nReferenced:            0 kB\n"
    "7f0001000000-7f0001800000 rw-s 00000000 00:01 99                         /dev/shm/x\n"
    "Rss:                   4 kB\nReferenced:            4 kB\n"
    "7f0002000000-7f0002001000 ---p 00000000 00:00 0 \n"
    "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n"
    "Rss:                   8 kB\nReferenced:            8 kB\n";

TEST(PageBits, PrivateWritableMappingsWithoutAFileAreRead) {
  const std::vector<Mapping> mappings = parse_mappings(kSmaps);
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].start, 0x55d0c1000000u);
  EXPECT_EQ(mappings[0].bytes(), 2u << 20);
  EXPECT_EQ(mappings[0].resident_bytes, 1024u << 10);
  EXPECT_EQ(mappings[0].referenced_bytes, 16u << 10);
  EXPECT_EQ(mappings[1].start, 0x7f0000000000u);
  EXPECT_EQ(mappings[1].referenced_bytes, 4096u << 10);
  EXPECT_EQ(mappings[1].huge_bytes, 6144u << 10);
  EXPECT_EQ(mappings[1].shared_bytes, 24u << 10);
  EXPECT_EQ(mappings[1].locked_bytes, 32u << 10);
  EXPECT_EQ(mappings[0].shared_bytes + mappings[0].locked_bytes, 0u);
  EXPECT_FALSE(mappings[0].is_all_dirty);
  EXPECT_TRUE(mappings[1].is_all_dirty);
  EXPECT_EQ(mappings[2].resident_bytes, 4u << 10) << "a name with a blank";
}

using Parts = std::vector<std::tuple<uint64_t, uint64_t, bool>>;

Parts parts_of(const Mapping& mapping, const std::vector<Mapping>& before) {
  Parts parts;
  for (const DirtyPart& part : dirty_parts(mapping, before))
    parts.emplace_back(part.range.start, part.range.end, part.is_known);
  return parts;
}

// The kernel reports all pages of a mapping as written when it has been merged with a new one.
TEST(PageBits, OldMemoryMergedWithANewMappingIsNotMarkedWritten) {
  const std::vector<Mapping> before = {{.start = 10, .end = 20}, {.start = 30, .end = 40}, {.start = 50, .end = 60}};
  EXPECT_EQ(parts_of({.start = 10, .end = 21}, before), (Parts{{10, 21, true}})) << "grown, but not all is dirty";
  EXPECT_EQ(parts_of({.start = 10, .end = 21, .is_all_dirty = true}, before), (Parts{{10, 20, false}, {20, 21, true}}));
  EXPECT_EQ(parts_of({.start = 9, .end = 35, .is_all_dirty = true}, before),
            (Parts{{9, 10, true}, {10, 20, false}, {20, 30, true}, {30, 35, false}}));
  EXPECT_EQ(parts_of({.start = 15, .end = 20, .is_all_dirty = true}, before), (Parts{{15, 20, false}}));
  EXPECT_EQ(parts_of({.start = 20, .end = 30, .is_all_dirty = true}, before), (Parts{{20, 30, true}})) << "all new";
}

TEST(PageBits, ProcessesThatHaveEndedHaveNone) {
  uint64_t longest_ns = 0;
  EXPECT_TRUE(read_smaps(0x7ffffff0, longest_ns).empty());
  EXPECT_EQ(resident_pages(0x7ffffff0), 0u);
  EXPECT_EQ(huge_bytes(0x7ffffff0), 0u);
  EXPECT_NE(clear_refs(0x7ffffff0, Refs::kAccessed, longest_ns), 0);
  const WrittenRuns written = written_runs(0x7ffffff0, {.start = 4096, .end = 8192});
  EXPECT_TRUE(written.runs.empty());
  EXPECT_EQ(written.known_until, 4096u);  // not: unwritten up to 8192
  EXPECT_NE(written.error, 0);
}

TEST(PageBits, WrittenPagesAreForgottenWhenTheProcessEnds) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  void* const block = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const Mapping mapping{.start = reinterpret_cast<uint64_t>(block),
                        .end = reinterpret_cast<uint64_t>(block) + (1 << 20)};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ready[1]);
    char byte = 0;
    static_cast<void>(::read(ready[0], &byte, 1));
    ::_exit(0);
  }
  ::close(ready[0]);
  EXPECT_EQ(written_runs(child, mapping).known_until, mapping.end);
  ::close(ready[1]);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);  // it is there, without memory
  EXPECT_EQ(written_runs(child, mapping).known_until, mapping.start);
  ::waitpid(child, nullptr, 0);
  ::munmap(block, 1 << 20);
}

void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

// Fills a few pages of `mapping`, writes a byte to `ready` and stays on its processor.
[[noreturn]] void fill_and_spin(const Mapping& mapping, int cpu, int ready) {
  stay_on(cpu);
  for (uint64_t page = mapping.start; page < mapping.end; page += 4096) *reinterpret_cast<volatile char*>(page) = 1;
  static_cast<void>(::write(ready, "", 1));
  for (;;) {
  }
}

TEST(PageBits, NewPagesOfAnotherProcessorAreMadeColdToo) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &before)) --last;
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  constexpr size_t kBytes = 5 * 4096;
  void* const around = ::mmap(nullptr, kBytes + 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto start = reinterpret_cast<uint64_t>(around) + 4096;  // the kernel merges it with no neighbour
  ASSERT_EQ(::mprotect(reinterpret_cast<void*>(start), kBytes, PROT_READ | PROT_WRITE), 0);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) fill_and_spin({.start = start, .end = start + kBytes}, last, ready[1]);
  stay_on(first);
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  uint64_t longest_ns = 0;
  sort_new_pages_in();
  const int error = make_cold(child, start, start + kBytes, longest_ns);
  uint64_t resident = 0, referenced = 0;
  for (const Mapping& mapping : read_smaps(child, longest_ns)) {
    if (mapping.start != start) continue;
    resident = mapping.resident_bytes;
    referenced = mapping.referenced_bytes;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::sched_setaffinity(0, sizeof before, &before);
  ::munmap(around, kBytes + 2 * 4096);
  ::close(ready[0]);
  ::close(ready[1]);
  if (error == EPERM) GTEST_SKIP() << "MADV_COLD of another process needs CAP_SYS_NICE";
  EXPECT_EQ(error, 0);
  EXPECT_EQ(resident, kBytes);
  EXPECT_EQ(referenced, 0u);
}

TEST(PageBits, RawEventsReplaceTheProcessorsOwn) {
  std::string why;
  const PreciseWish wish{.hz = 500, .read_event = 0x1cd, .write_event = 0x82d0};
  const std::vector<AccessEvent> events = find_precise_events("/nowhere", wish, why);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].attr.config, 0x1cdu);
  EXPECT_EQ(events[0].kind, MLRUN_ACCESS_LOAD);
  EXPECT_EQ(events[1].attr.config, 0x82d0u);
  EXPECT_EQ(events[1].kind, MLRUN_ACCESS_STORE);
  EXPECT_EQ(events[1].attr.sample_freq, 500u);
  EXPECT_TRUE(find_precise_events("/nowhere", {}, why).empty());
  EXPECT_NE(why, "");
}

}  // namespace
}  // namespace mlrun::access
