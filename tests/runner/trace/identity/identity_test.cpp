// SPDX-License-Identifier: Apache-2.0
// Processes, images and threads of a merged trace.
#include <map>

#include <gtest/gtest.h>

#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::ChannelFacts;
using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using Numbers = testing::TraceFolder::Numbers;

// A channel with a process record and one call, at a time in milliseconds.
void add_image(SpoolWriter& spool, const ChannelFacts& facts, testing::ProcessRecord record, uint64_t at_ms) {
  spool.add_channel(facts);
  RecordBuffer records;
  record.clock = ticks_at(at_ms * kMillisecond);
  record.pid = facts.pid;
  record.process = facts.process;
  record.image = facts.image;
  record.pid_namespace = facts.pid_namespace;
  record.arguments =
      records.add_string(std::string("program") + '\0' + "argument " + std::to_string(facts.serial) + '\0');
  records.add(record);
  records.add(testing::DescriptorCall{.start = record.clock + 10, .duration = 5});
  spool.add_data(facts.serial, records);
}

SpoolWriter spool_with_anchors() {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  return spool;
}

void merge(const testing::TraceFolder& folder, const SpoolWriter& spool) {
  const auto merged = folder.merge(spool);
  ASSERT_TRUE(merged) << merged.error().text;
}

TEST(Identity, AnImageEnteredByExecIsTheSameProcess) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1, .process = 1, .image = 1}, {.parent_pid = 1, .start_ticks = 500}, 10);
  add_image(spool, {.serial = 2, .process = 2, .image = 2}, {.parent_pid = 1, .start_ticks = 500}, 20);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("process", "proc_id"), Numbers({1}));
  EXPECT_EQ(folder.numbers("image", "proc_id"), Numbers({1, 1}));
  EXPECT_EQ(folder.numbers("call", "proc_id"), Numbers({1, 1}));
  EXPECT_EQ(folder.numbers("call", "image_id"), Numbers({1, 2}));
  EXPECT_EQ(folder.texts("process", "command"), std::vector<std::string>({"program argument 2"}));
}

TEST(Identity, AnotherStartTimeIsAnotherProcessThoughThePidCameBack) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1, .process = 1, .start_ticks = 500}, {.start_ticks = 500}, 10);
  add_image(spool, {.serial = 2, .process = 2, .image = 2, .start_ticks = 510}, {.start_ticks = 510}, 200);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("process", "start_ticks"), Numbers({500, 510}));
}

TEST(Identity, WithoutAStartTimeALoadedImageContinuesTheProcessWithoutRecords) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1, .process = 1, .start_ticks = 0}, {}, 10);
  add_image(spool, {.serial = 2, .process = 2, .image = 2, .start_ticks = 510}, {.start_ticks = 510}, 200);
  add_image(spool, {.serial = 3, .process = 3, .image = 2, .start_ticks = 0}, {.origin = MLRUN_PROCESS_FORKED}, 300);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("image", "proc_id"), Numbers({1, 1, 2}))
      << "a forked child with that pid is another process";
}

TEST(Identity, ProcessesOfTwoPidNamespacesMayHaveOnePid) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1, .pid = 7, .tid = 7, .host_pid = 1007, .process = 1, .pid_namespace = 1}, {}, 10);
  add_image(spool,
            {.serial = 2, .pid = 7, .tid = 7, .host_pid = 2007, .host_tid = 2007, .process = 2, .pid_namespace = 2}, {},
            20);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("process", "pid"), Numbers({1007, 2007}));
  EXPECT_EQ(folder.numbers("process", "ns_pid"), Numbers({7, 7}));
  EXPECT_EQ(folder.numbers("call", "pid"), Numbers({1007, 2007}));
}

TEST(Identity, TheForkThatReturnedThePidGivesTheParent) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1, .pid = 100, .tid = 100, .process = 1}, {.parent_pid = 1}, 10);
  RecordBuffer records;
  records.add(testing::DescriptorCall{
      .func = events::func::k_fork, .start = ticks_at(30 * kMillisecond), .duration = 100, .fd = -1, .result = 101});
  spool.add_data(1, records);
  // The parent had died when the child recorded its parent.
  add_image(spool, {.serial = 2, .pid = 101, .tid = 101, .process = 2, .start_ticks = 502},
            {.parent_pid = 1, .origin = MLRUN_PROCESS_FORKED}, 31);
  // Nobody's fork was recorded: the pid that it names.
  add_image(spool, {.serial = 3, .pid = 102, .tid = 102, .process = 3, .start_ticks = 503},
            {.parent_pid = 101, .origin = MLRUN_PROCESS_FORKED}, 40);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("process", "parent_proc_id"), Numbers({std::nullopt, 1, 2}));
  EXPECT_EQ(folder.numbers("process", "forked"), Numbers({0, 1, 1}));
}

TEST(Identity, ASecondChannelOfALivingThreadIsTheSameThread) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1}, {}, 10);
  add_image(spool, {.serial = 2}, {}, 20);
  spool.add_counters(1, 500 * kMillisecond, {}, true);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("thread", "thread_id"), Numbers({1}));
  EXPECT_EQ(folder.numbers("call", "thread_id"), Numbers({1, 1}));
}

TEST(Identity, ATidThatComesBackIsAnotherThread) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1}, {}, 10);
  spool.add_counters(1, 15 * kMillisecond, {}, true);
  add_image(spool, {.serial = 2}, {}, 20);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("call", "thread_id"), Numbers({1, 2}));
}

testing::DescriptorCall thread_made(uint64_t ms, uint64_t tid) {
  return {.func = events::func::k_pthread_create,
          .start = ticks_at(ms * kMillisecond),
          .duration = 100,
          .fd = -1,
          .arg2 = tid};
}

testing::DescriptorCall wait_ended_by(uint64_t from_ms, uint64_t to_ms, uint64_t tid, int64_t result = 0) {
  return {.func = events::func::k_sem_wait,
          .start = ticks_at(from_ms * kMillisecond),
          .duration = ticks_at((to_ms - from_ms) * kMillisecond),
          .fd = -1,
          .result = result,
          .offset = tid};
}

// 101 records nothing; its number comes back as another thread's, which does.
TEST(Identity, AThreadWithoutRecordsIsThereFromItsCreationToTheLastWaitThatItEnded) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1}, {}, 10);
  RecordBuffer records;
  records.add(thread_made(20, 101));
  records.add(wait_ended_by(21, 30, 101));
  records.add(wait_ended_by(31, 40, 101));
  records.add(thread_made(50, 101));
  records.add(thread_made(55, 102));
  records.add(wait_ended_by(60, 70, 101));
  records.add(wait_ended_by(70, 74, 555));                // by a thread of which nothing else is known
  records.add(wait_ended_by(74, 75, UINT32_MAX + 9ull));  // damaged
  records.add(wait_ended_by(75, 77, 101, -110));          // timed out
  spool.add_data(1, records);
  spool.add_channel({.serial = 2, .tid = 101});
  records.add(testing::DescriptorCall{.start = ticks_at(80 * kMillisecond), .duration = 5});
  records.add_comm(ticks_at(81 * kMillisecond), 102, records.add_string("silent"));
  spool.add_data(2, records);
  const testing::TraceFolder folder;
  merge(folder, spool);
  const auto at = [](uint64_t ms) { return int64_t(testing::kStartNs + ms * kMillisecond); };
  EXPECT_EQ(folder.numbers("thread", "tid"), Numbers({100, 101, 101, 102, 555}));
  const Numbers first = folder.numbers("thread", "first"), last = folder.numbers("thread", "last");
  ASSERT_EQ(first.size(), 5u);
  EXPECT_EQ(*first[1], at(20));
  EXPECT_NEAR(*last[1], at(40), 10);
  EXPECT_EQ(*first[2], at(50));
  EXPECT_NEAR(*last[2], at(80), 10);
  EXPECT_EQ(*first[3], at(55));
  EXPECT_NEAR(*first[4], at(74), 10);
  EXPECT_EQ(folder.texts("thread", "comm")[3], "silent");
  const auto none = std::nullopt;
  EXPECT_EQ(folder.numbers("call", "poster_thread_id"),
            Numbers({none, none, 2, 2, none, none, 3, 5, none, none, none}));
  EXPECT_EQ(folder.numbers("call", "thread_id").back(), 3);
  EXPECT_EQ(folder.numbers("call", "arg2")[1], 101);
}

TEST(Identity, ThreadsHaveTheNameThatTheyTookLast) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1}, {}, 10);
  spool.add_process_text(11 * kMillisecond, {{"process", 1}, {"pid", 100}, {"tid", 100}, {"comm", "python"}});
  RecordBuffer records;
  records.add_comm(ticks_at(12 * kMillisecond), 100, records.add_string("loader"));
  spool.add_data(1, records);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.texts("thread", "comm"), std::vector<std::string>({"loader"}));
}

TEST(Identity, KernelCountsAreThoseOfTheProcessesEnd) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1}, {.rank = 2, .local_rank = 0, .world_size = 4}, 10);
  spool.add_process_text(11 * kMillisecond,
                         {{"process", 1}, {"io", {{"rchar", 5}, {"wchar", 6}, {"syscr", 1}, {"syscw", 1}}}});
  RecordBuffer records;
  records.add(testing::EndRecord{ticks_at(90 * kMillisecond), 50, 3, 60, 4});
  spool.add_data(1, records);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("process", "kernel_rchar"), Numbers({50}));
  EXPECT_EQ(folder.numbers("process", "kernel_syscw"), Numbers({4}));
  EXPECT_EQ(folder.numbers("process", "rank"), Numbers({2}));
  EXPECT_EQ(folder.numbers("process", "world_size"), Numbers({4}));
  EXPECT_EQ(folder.numbers("process", "uid"), Numbers({1000}));
}

// Four processes: the first recorded its end, the second did not, the third lost records, and the fourth still ran when
// the run was over.
TEST(Identity, TheExitStatusIsKnownUnlessItsRecordMayBeLost) {
  SpoolWriter spool = spool_with_anchors();
  for (uint64_t n = 1; n <= 4; n++) {
    const auto id = static_cast<uint32_t>(n);
    add_image(spool, {.serial = n, .pid = 100 + id, .process = id, .image = id}, {.start_ticks = 500 + n}, 10 * n);
  }
  RecordBuffer records;
  records.add(testing::EndRecord{ticks_at(90 * kMillisecond), UINT64_MAX, 0, UINT64_MAX, 0});
  spool.add_data(1, records);
  records.add(testing::DescriptorCall{.start = ticks_at(91 * kMillisecond), .duration = 5});
  spool.add_data(3, records, 7);
  spool.add_gap(4, MLRUN_GAP_CUT_OFF, 95 * kMillisecond, 95 * kMillisecond, 1);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.texts("process", "ended"), std::vector<std::string>({"exit", "no record", "", "running"}));
}

// The parent (of a namespace of its own) waits for three: one that recorded nothing of its end, one that was killed, and one
// that is pid 1 of another namespace.
TEST(Identity, HowAProcessEndedIsWhatItsParentsWaitReturned) {
  constexpr int32_t kExit3 = 3 << 8, kKilled = 9;
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1}, {}, 10);
  RecordBuffer records;
  for (const uint32_t pid : {101u, 102u, 103u}) {
    records.add(testing::DescriptorCall{
        .func = events::func::k_fork, .start = ticks_at((11 + pid - 100) * kMillisecond), .fd = -1, .result = pid});
  }
  for (const auto& [pid, status] : {std::pair{101u, kExit3}, {102u, kKilled}, {103u, kExit3}}) {
    records.add_child_end(ticks_at(80 * kMillisecond), pid, status);
  }
  spool.add_data(1, records);
  add_image(spool, {.serial = 2, .pid = 101, .process = 2, .image = 2}, {.parent_pid = 100, .start_ticks = 501}, 20);
  add_image(spool, {.serial = 3, .pid = 102, .process = 3, .image = 3}, {.parent_pid = 100, .start_ticks = 502}, 21);
  add_image(spool, {.serial = 4, .pid = 1, .process = 4, .image = 4, .pid_namespace = 99},
            {.start_ticks = 503, .pid_namespace = 99}, 22);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.texts("process", "ended"), std::vector<std::string>({"exit", "exit", "no exit", "exit"}));
  EXPECT_EQ(folder.numbers("process", "wait_status"), Numbers({0, kExit3, kKilled, kExit3}));
  EXPECT_EQ(folder.numbers("process", "parent_proc_id"), Numbers({std::nullopt, 1, 1, 1}));
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers());
}

TEST(Identity, NoProcessIsReportedKilledAfterRecordingStopped) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1}, {}, 10);
  add_image(spool, {.serial = 2, .pid = 101, .process = 2, .image = 2}, {.parent_pid = 100, .start_ticks = 501}, 20);
  spool.add_gap(0, MLRUN_GAP_SPOOL_FULL, 50 * kMillisecond, 100 * kMillisecond, 0);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.texts("process", "ended"), std::vector<std::string>({"exit", ""})) << "of the command wait tells";
}

TEST(Identity, RowsOfAnUndescribedChannelAreKept) {
  SpoolWriter spool = spool_with_anchors();
  RecordBuffer records;
  records.add(testing::DescriptorCall{.start = ticks_at(5 * kMillisecond), .duration = 5});
  spool.add_data(9, records);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("call", "proc_id"), Numbers({1}));
  EXPECT_EQ(folder.texts("loss", "reason"), std::vector<std::string>({"the recording thread is unknown"}));
}

TEST(Identity, AllocationSitesAreNamedByTheMappingsThatWereSeen) {
  SpoolWriter spool = spool_with_anchors();
  add_image(spool, {.serial = 1}, {}, 10);
  spool.add_process_text(
      11 * kMillisecond,
      {{"process", 1}, {"modules", {{0x1000, 0x3000, 0x500, "/lib/a.so"}, {0x3000, 0x4000, 0, "/lib/b.so"}}}});
  RecordBuffer records;
  for (const uint64_t site : {0x2010, 0x3fff, 0x4000}) {
    records.add(testing::Allocation{.start = ticks_at((20 + site % 7) * kMillisecond), .site = site});
  }
  spool.add_data(1, records);
  // A forked child that the collector never read runs the same code.
  spool.add_channel({.serial = 2, .pid = 101, .tid = 101, .process = 2, .start_ticks = 501});
  records.add(testing::ProcessRecord{.clock = ticks_at(40 * kMillisecond),
                                     .pid = 101,
                                     .parent_pid = 100,
                                     .process = 2,
                                     .origin = MLRUN_PROCESS_FORKED});
  records.add(testing::Allocation{.start = ticks_at(41 * kMillisecond), .site = 0x1000});
  spool.add_data(2, records);
  const testing::TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.texts("name", "name"), std::vector<std::string>({"/lib/a.so", "/lib/b.so"}));
  std::map<std::optional<int64_t>, std::pair<std::optional<int64_t>, std::optional<int64_t>>> found;  // by site
  const Numbers sites = folder.numbers("alloc", "site"), libraries = folder.numbers("alloc", "site_library");
  const Numbers offsets = folder.numbers("alloc", "site_offset");
  for (size_t i = 0; i < sites.size(); ++i) found[sites[i]] = {libraries[i], offsets[i]};
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0x2010], std::pair(std::optional<int64_t>(1), std::optional<int64_t>(0x1510)));
  EXPECT_EQ(found[0x3fff], std::pair(std::optional<int64_t>(2), std::optional<int64_t>(0xfff)));
  EXPECT_EQ(found[0x4000].first, std::nullopt);
  EXPECT_EQ(found[0x1000].first, 1) << "the child's, by its parent's mappings";
}

}  // namespace
}  // namespace mlrun
