// SPDX-License-Identifier: Apache-2.0
// Which pages are sampled. What the kernel says of their nodes: t750 and tests/vm/placement.
#include "runner/placement/page_sampler.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "runner/events/placed_mappings.h"
#include "runner/events/session.h"
#include "runner/model/run.h"
#include "runner/util/mapping.h"
#include "runner/util/unique_fd.h"

namespace mlrun::placement {
namespace {

constexpr uint64_t kPage = 4096;

bool operator==(const PlacedMapping& a, const PlacedMapping& b) {
  return a.rule == b.rule && a.start == b.start && a.end == b.end;
}

// Blocks of 16 MiB by the ratio 3:1, in pieces of 48 and 16 pages. 1,024 pages of 65,536: a part is as long as a cycle, and with 64 blocks four
// times as long.
TEST(ChoosePages, HasEachSpanByItsSize) {
  for (const int blocks : {1, 16, 64}) {
    std::vector<Span> spans;
    uint64_t at = 1 << 30;
    for (int cycle = 0; cycle < blocks * 64; cycle++) {
      for (const uint64_t pages : {48, 16}) {
        spans.push_back({at, at + pages * kPage});
        at += pages * kPage;
      }
    }
    double second = 0;
    constexpr int kTimes = 20;
    for (int i = 0; i < kTimes; i++) {
      const auto pages = choose_pages(spans, 1024);
      ASSERT_EQ(pages.size(), 1024u);
      EXPECT_TRUE(std::is_sorted(pages.begin(), pages.end()));
      for (const uint64_t page : pages) second += (page - (1 << 30)) / kPage % 64 >= 48 ? 1 : 0;
    }
    EXPECT_NEAR(second / (1024.0 * kTimes), 0.25, 0.02) << blocks << " blocks";
  }
}

TEST(ChoosePages, OfAFewIsAllOfThem) {
  const auto pages = choose_pages({{kPage, 3 * kPage}, {9 * kPage, 10 * kPage}}, 1024);
  EXPECT_EQ(pages, (std::vector<uint64_t>{kPage, 2 * kPage, 9 * kPage}));
  EXPECT_TRUE(choose_pages({}, 1024).empty());
}

TEST(FoundPages, OfEndedProcessesBecomeOneEntryForEachRule) {
  FoundPages found;
  for (uint32_t number = 1; number <= 4; number++)
    for (uint32_t rule = 0; rule < 2; rule++) found.by_number_and_rule[{number, rule}].add({{0, number}}, 10.0, 100);
  FoundPages part = found.part({3, 4}, {});  // as sampled while processes end
  EXPECT_EQ(part.by_number_and_rule.size(), 4u);
  for (auto& [where, pages] : part.by_number_and_rule) pages.add({{0, where.first}}, 10.0, 100);
  found.sum_up({1, 2, 3});
  found.take(part, {1, 2, 3});
  ASSERT_EQ(found.by_number_and_rule.size(), 4u);
  EXPECT_EQ((found.by_number_and_rule[{0, 1}].sampled[0]), 1u + 2 + 3) << "each once";
  EXPECT_EQ((found.by_number_and_rule[{4, 1}].samples), 2u);
}

TEST(FoundPages, APartHasItsProcessesAndRespectsTheLimitOfFilesOfAll) {
  FoundPages found;
  for (uint32_t pid = 1; pid <= 4096; pid++) found.by_process_and_file[{pid, ""}] = {};
  FoundPages part = found.part({}, {7, 5000});
  EXPECT_EQ(part.by_process_and_file.size(), 1u);
  EXPECT_FALSE(part.has_room(5000, "/lib/libc.so"));
  EXPECT_TRUE(part.has_room(7, ""));
  part.left_out.insert(5000);
  found.take(part, {});
  EXPECT_EQ(found.by_process_and_file.size(), 4096u);
  EXPECT_EQ(found.left_out.size(), 1u);
}

TEST(FoundPages, HasRoomForALimitedNumberOfFiles) {
  FoundPages found;
  for (uint32_t pid = 1; pid <= 4096; pid++) {
    EXPECT_TRUE(found.has_room(pid, "/lib/libc.so")) << pid;
    found.by_process_and_file[{pid, "/lib/libc.so"}] = {};
  }
  EXPECT_FALSE(found.has_room(1, "/lib/libm.so"));
  EXPECT_TRUE(found.has_room(1, "/lib/libc.so")) << "it has an entry";
}

// A process of 10 bytes times its pid, that many processes.
FoundPages found_in(uint32_t processes) {
  FoundPages found;
  for (uint32_t pid = 1; pid <= processes; pid++)
    found.by_process_and_file[{pid, ""}].add({{0, pid}}, 10.0, uint64_t{1} << 40);
  return found;
}

double bytes_in(const FoundPages& found) {
  double sum = 0;
  for (const auto& [where, pages] : found.by_process_and_file) {
    for (const auto& [node, bytes] : pages.bytes) sum += bytes / static_cast<double>(pages.full_samples);
  }
  return sum;
}

TEST(FoundPages, OfManyEndedProcessesTheSmallestAreAddedUp) {
  FoundPages found = found_in(3000);
  const double before = bytes_in(found);
  found.sum_up_ended({1, 5});
  EXPECT_EQ(found.by_process_and_file.size(), 2048u);
  for (const uint32_t pid : {1, 5, 2999, 3000}) EXPECT_TRUE(found.by_process_and_file.contains({pid, ""})) << pid;
  for (const uint32_t pid : {2, 6, 900}) EXPECT_FALSE(found.by_process_and_file.contains({pid, ""})) << pid;
  EXPECT_DOUBLE_EQ(bytes_in(found), before) << "each once";
  EXPECT_TRUE(found.has_room(5, "/lib/libc.so"));
}

TEST(FoundPages, FilesOfEndedProcessesAreOneFileOfTheSumAndSharedMemoryIsNot) {
  FoundPages found = found_in(2047);
  for (const char* const file : {"/lib/libc.so", "/lib/libm.so", model::Placement::kSharedMemory})
    found.by_process_and_file[{5000, file}].add({{1, 1}}, 1.0, 100);
  std::vector<uint32_t> alive;
  for (uint32_t pid = 1; pid <= 2047; pid++) alive.push_back(pid);
  found.sum_up_ended(alive);
  EXPECT_EQ((found.by_process_and_file.at({0, model::Placement::kOtherFiles}).sampled.at(1)), 2u);
  EXPECT_EQ((found.by_process_and_file.at({0, model::Placement::kSharedMemory}).sampled.at(1)), 1u);
  EXPECT_FALSE(found.by_process_and_file.contains({5000, "/lib/libc.so"}));
}

TEST(FoundPages, OfFewProcessesKeepEachProcess) {
  FoundPages found = found_in(2048);
  found.sum_up_ended({});
  EXPECT_FALSE(found.by_process_and_file.contains({0, ""}));
}

TEST(FoundPages, ProcessesThatHadNoRoomAreCountedOnceTheyHaveEnded) {
  FoundPages found = found_in(3000);
  found.left_out = {1, 2, 7000};
  found.sum_up_ended({1});
  EXPECT_EQ(found.left_out, std::set<uint32_t>{1});
  EXPECT_EQ(found.ended_left_out, 2u);
}

TEST(Newest, CutsWhatNewerMappingsCover) {
  const auto kept = newest({{1, 40, 60}, {0, 0, 100}, {2, 50, 55}, {3, 90, 120}});
  ASSERT_EQ(kept.size(), 4u);
  EXPECT_TRUE(kept[0] == (PlacedMapping{1, 40, 60}));
  EXPECT_TRUE(kept[1] == (PlacedMapping{0, 0, 40}));
  EXPECT_TRUE(kept[2] == (PlacedMapping{0, 60, 100}));
  EXPECT_TRUE(kept[3] == (PlacedMapping{3, 100, 120}));
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // whose own memory is so large that hardly a sample is of ours
constexpr size_t kPlacedBytes = size_t{64} << 20;

// A part of the window of a library near this address.
util::Mapping part_of_window(const void* library) {
  const uint64_t at = (reinterpret_cast<uint64_t>(library) >> MLRUN_PLACE_BELOW_BITS << MLRUN_PLACE_BELOW_BITS) -
                      (uint64_t{2} << MLRUN_PLACE_BELOW_BITS);
  void* const part = ::mmap(reinterpret_cast<void*>(at), kPlacedBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (part != MAP_FAILED) std::memset(part, 1, kPlacedBytes);
  return {part, kPlacedBytes};
}

// This process's memory under a policy of the command, by one sample; -1: it cannot be sampled.
double sampled_bytes() {
  const auto self = static_cast<uint32_t>(::getpid());
  std::string problem;
  PageSampler sampler(0, "");
  sampler.set_targets({{}, {self}, {}});
  std::this_thread::sleep_for(std::chrono::seconds(3));  // the first sample comes after 0.1 s, on a busy machine later
  const FoundPages found = sampler.finish(problem);
  const auto own = found.by_process_and_file.find({self, ""});
  return own == found.by_process_and_file.end() || own->second.samples == 0 ? -1 : own->second.full_bytes;
}

TEST(PageSampler, BlocksOfRulesAreNotCountedUnderThePolicy) {
  const std::string path = testing::TempDir() + "/" + MLRUN_PLACEMENT_LIBRARY;
  const util::UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::ftruncate(file.get(), kPage), 0);
  util::Mapping library(::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, file.get(), 0), kPage);
  const util::Mapping placed = part_of_window(library.data());
  const double with_rules = sampled_bytes();
  library = util::Mapping();
  const double without_rules = sampled_bytes();
  ::unlink(path.c_str());
  if (!placed.valid()) GTEST_SKIP() << "the addresses are taken";
  if (with_rules < 0 || without_rules < 0) GTEST_SKIP() << "pages of this process cannot be sampled here";
  EXPECT_LT(with_rules, kPlacedBytes / 2.0);
  EXPECT_GT(without_rules, kPlacedBytes / 2.0);
}

TEST(PageSampler, AReservationIsSampledWhereItMayBeAccessed) {
  constexpr size_t kReserved = size_t{64} << 30;
  const util::Mapping all(::mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                          kReserved);
  ASSERT_TRUE(all.valid());
  char* const used = static_cast<char*>(all.data()) + kReserved / 2;
  ASSERT_EQ(::mprotect(used, kPlacedBytes, PROT_READ | PROT_WRITE), 0);
  std::memset(used, 1, kPlacedBytes);
  const auto start = reinterpret_cast<uint64_t>(all.data());
  const auto self = static_cast<uint32_t>(::getpid());
  std::string problem;
  PageSampler sampler(2, "", true);
  HeapPlace place, before;
  place.number = 1;
  before.number = 2;
  place.pid = before.pid = self;
  place.mappings = before.mappings = {{1, start, start + kReserved}};
  before.vdso_page = 1;  // of the image that this process was before an exec
  sampler.set_targets({{place, before}, {}, {self}});
  std::this_thread::sleep_for(std::chrono::seconds(4));
  const FoundPages found = sampler.finish(problem);
  const auto pages = found.by_number_and_rule.find({1, 1});
  ASSERT_NE(pages, found.by_number_and_rule.end());
  if (pages->second.error != 0) GTEST_SKIP() << "pages of this process cannot be sampled here";
  EXPECT_NEAR(pages->second.full_bytes, kPlacedBytes, kPlacedBytes * 0.1);
  EXPECT_FALSE(found.by_number_and_rule.contains({2, 1}));
  const PageRows rows = sampler.fetch();
  EXPECT_EQ(rows.size(), pages->second.sampled.begin()->second);
  double bytes = 0;
  for (const mlrun_page_sample& row : rows) {
    bytes += static_cast<double>(row.bytes);
    const bool is_in = row.address >= start + kReserved / 2 && row.address < start + kReserved / 2 + kPlacedBytes;
    ASSERT_TRUE(is_in && row.host_pid == self && row.rule == 1) << row.address;
  }
  EXPECT_NEAR(bytes / static_cast<double>(pages->second.samples), kPlacedBytes, kPlacedBytes * 0.1);
  EXPECT_TRUE(sampler.fetch().empty());
  EXPECT_EQ(found.count_without_rules(), 1u) << "this process has no placement library";
}
#endif

}  // namespace
}  // namespace mlrun::placement
