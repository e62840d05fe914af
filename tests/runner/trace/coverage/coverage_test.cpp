// SPDX-License-Identifier: Apache-2.0
// Tests the table `coverage`: bytes that only the kernel counted, parents and children (the kernel adds a child's bytes
// to those of the parent that waited for it), and mapped files.
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using nlohmann::json;
using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using testing::TraceFolder;
using Numbers = TraceFolder::Numbers;

constexpr uint32_t kParentPid = 100, kChildPid = 101;
constexpr int64_t kReadByChild = 9'000'000, kReadByParent = 2'000'000;

struct Told {
  int64_t parent_rchar = 0;
  int64_t child_rchar = 0;  // 0: it was killed, and the value is unknown
};

void add_process(SpoolWriter& spool, uint32_t pid, uint32_t number, int64_t read, int64_t rchar, RecordBuffer records) {
  records.add(testing::ProcessRecord{.clock = ticks_at(number * kMillisecond),
                                     .pid = pid,
                                     .parent_pid = pid - 1,
                                     .process = number,
                                     .image = number,
                                     .origin = number == 1 ? MLRUN_PROCESS_LOADED : MLRUN_PROCESS_FORKED,
                                     .start_ticks = 500 + number});
  records.add(testing::DescriptorCall{.start = ticks_at((10 + number) * kMillisecond), .result = read});
  if (rchar != 0) {
    records.add(testing::EndRecord{ticks_at((30 - number) * kMillisecond), static_cast<uint64_t>(rchar), 1, 0, 0});
  }
  spool.add_channel({.serial = number, .pid = pid, .tid = pid, .process = number, .image = number});
  spool.add_data(number, records);
}

SpoolWriter parent_and_child(const Told& reported) {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  RecordBuffer fork;
  fork.add(testing::DescriptorCall{
      .func = events::func::k_fork, .start = ticks_at(kMillisecond), .fd = -1, .result = kChildPid});
  add_process(spool, kParentPid, 1, kReadByParent, reported.parent_rchar, std::move(fork));
  add_process(spool, kChildPid, 2, kReadByChild, reported.child_rchar, RecordBuffer());
  return spool;
}

void merge(const TraceFolder& folder, const SpoolWriter& spool) {
  const auto merged = folder.merge(spool);
  ASSERT_TRUE(merged) << merged.error().text;
  ASSERT_EQ(folder.numbers("process", "parent_proc_id"), Numbers({std::nullopt, 1}));
}

TEST(Coverage, AParentThatWaitedIsNotBlamedForWhatItsChildRead) {
  const TraceFolder folder;
  merge(folder, parent_and_child({kReadByParent + kReadByChild, kReadByChild}));
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers());
}

TEST(Coverage, AParentIsNotBlamedForAChildKilledBeforeItRecordedTheKernelsTotals) {
  const TraceFolder folder;
  merge(folder, parent_and_child({kReadByParent + kReadByChild, 0}));
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers());
}

TEST(Coverage, BytesThatParentAndChildLackAreTheParents) {
  constexpr int64_t kUnseen = 3'000'000;
  const TraceFolder folder;
  merge(folder, parent_and_child({kReadByParent + kReadByChild + kUnseen, kReadByChild}));
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers({1}));
  EXPECT_EQ(folder.numbers("coverage", "seen"), Numbers({kReadByParent}));
  EXPECT_EQ(folder.numbers("coverage", "kernel"), Numbers({kReadByParent + kUnseen}));
}

TEST(Coverage, BytesAreNotMissingWhereFilesWereNotRecorded) {
  SpoolWriter spool = parent_and_child({kReadByParent + kReadByChild + 3'000'000, kReadByChild});
  spool.session()["options"]["streams"] = {"marks"};
  const TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers());
}

// A program whose libraries ld.so reads stays below, a file that was read without a call does not.
TEST(Coverage, BytesBelowAMebibyteAreReportedIfTheyAreMostOfTheTotal) {
  const auto reported = [](int64_t seen, int64_t unseen) {
    SpoolWriter spool;
    for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
    add_process(spool, kParentPid, 1, seen, seen + unseen, RecordBuffer());
    const TraceFolder folder;
    EXPECT_TRUE(folder.merge(spool));
    return folder.numbers("coverage", "kernel");
  };
  EXPECT_EQ(reported(34'000, 1'000'000), Numbers({1'034'000}));
  EXPECT_EQ(reported(100, 250'000), Numbers());
  EXPECT_EQ(reported(20'000'000, 1'000'000), Numbers());
}

TEST(Coverage, NamesThePauseWhereThereWasOne) {
  SpoolWriter spool = parent_and_child({kReadByParent + kReadByChild + 3'000'000, kReadByChild});
  spool.add_gap(0, MLRUN_GAP_PAUSED, 100 * kMillisecond, 200 * kMillisecond, 0);
  const TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.texts("coverage", "detail"),
            std::vector<std::string>{"while recording was paused; the kernel counted them"});
}

TEST(Coverage, NamesAChildWithUnknownTotals) {
  const TraceFolder folder;
  merge(folder, parent_and_child({kReadByParent + kReadByChild + 3'000'000, 0}));
  EXPECT_EQ(folder.texts("coverage", "detail"),
            std::vector<std::string>{
                "by children whose totals are unknown (killed, ended without libc's exit, or replaced by a "
                "program without mlrun's library); the kernel counted them"});
}

// Three children: one records, one executes a static program, of one nothing is known.
SpoolWriter run_with_unseen_children(int64_t parent_rchar, bool waits) {
  constexpr uint32_t kStaticPid = 202, kUnseenPid = 203;
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  RecordBuffer records;
  for (const uint32_t pid : {kChildPid, kStaticPid, kUnseenPid}) {
    records.add(testing::DescriptorCall{
        .func = events::func::k_vfork, .start = ticks_at(kMillisecond), .fd = -1, .result = pid});
    if (waits) records.add_child_end(ticks_at(30 * kMillisecond), pid, 0);
  }
  const uint64_t path = records.add_string("/bin/static-tool");
  records.add(testing::PathCall{.func = events::func::k_execve,
                                .start = ticks_at(kMillisecond),
                                .w3 = MLRUN_EXEC_STATIC,
                                .result = kStaticPid,
                                .path = path,
                                .flags = MLRUN_CALL_PASSED_FD});
  add_process(spool, kParentPid, 1, kReadByParent, parent_rchar, std::move(records));
  add_process(spool, kChildPid, 2, kReadByChild, kReadByChild, RecordBuffer());
  return spool;
}

TEST(Coverage, AStaticChildHasOneLineAndTheOthersAreCountedOfAll) {
  const TraceFolder folder;
  merge(folder, run_with_unseen_children(kReadByParent + kReadByChild, true));
  EXPECT_EQ(folder.texts("coverage", "subject"), std::vector<std::string>({"/bin/static-tool", "child processes"}));
  EXPECT_EQ(folder.numbers("coverage", "seen"), Numbers({0, 2}));
  EXPECT_EQ(folder.numbers("coverage", "kernel"), Numbers({1, 3}));
}

TEST(Coverage, ChildrenThatMovedNothingAreRemarks) {
  const auto levels = [](int64_t parent_rchar, bool waits) {
    const TraceFolder folder;
    EXPECT_TRUE(folder.merge(run_with_unseen_children(parent_rchar, waits)));
    return folder.texts("coverage", "level");
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(levels(kReadByParent + kReadByChild, true), Texts({"remark", "remark"}));
  EXPECT_EQ(levels(kReadByParent + kReadByChild, false), Texts({"unseen", "unseen"})) << "no wait added their bytes";
  EXPECT_EQ(levels(kReadByParent + kReadByChild + 300'000, true), Texts({"unseen", "unseen"}));
}

struct Ring {
  std::vector<uint32_t> operations;
  bool is_made = true;
};

std::vector<std::string> ring_levels(const Ring& ring) {
  SpoolWriter spool;
  spool.add_anchor(0);
  spool.add_anchor(1000 * kMillisecond);
  RecordBuffer records;
  const uint64_t path = records.add_string("anon_inode:[io_uring]");
  if (ring.is_made) records.add_ring(ticks_at(kMillisecond), MLRUN_RING_MADE);
  records.add(testing::OpenFileRecord{.number = 9, .inode = 9, .mode = 0, .origin = MLRUN_ORIGIN_FOUND, .path = path});
  records.add(testing::DescriptorCall{.func = events::func::k_mmap,
                                      .start = ticks_at(kMillisecond),
                                      .requested = 4096,
                                      .result = 0x7f0000000000,
                                      .offset = 0,
                                      .open_file = 9,
                                      .arg2 = PROT_READ | uint64_t{MAP_SHARED} << 32});
  for (const uint32_t operation : ring.operations) {
    records.add_ring(ticks_at(2 * kMillisecond), MLRUN_RING_USED, operation);
  }
  add_process(spool, kParentPid, 1, 0, 0, std::move(records));
  const TraceFolder folder;
  EXPECT_TRUE(folder.merge(spool));
  return folder.texts("coverage", "level");
}

TEST(Coverage, ARingIsUnseenOnlyIfItMayHaveMovedBytes) {
  constexpr uint32_t kPollAdd = 6, kRead = 22, kEpollCtl = 29, kOfTheFuture = 200;
  using Texts = std::vector<std::string>;
  EXPECT_EQ(ring_levels({.operations = {kEpollCtl, kPollAdd}}), Texts({"remark"}));
  EXPECT_EQ(ring_levels({.operations = {}}), Texts());
  EXPECT_EQ(ring_levels({.operations = {kEpollCtl, kRead}}), Texts({"unseen"}));
  EXPECT_EQ(ring_levels({.operations = {kOfTheFuture}}), Texts({"unseen"}));
  EXPECT_EQ(ring_levels({.operations = {}, .is_made = false}), Texts({"unseen"})) << "made past libc";
}

struct Mapped {
  uint64_t bytes;
  uint64_t protection = PROT_READ;
  uint32_t mode = 0100644;
};

SpoolWriter run_that_maps(const std::vector<Mapped>& files) {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  RecordBuffer records;
  uint32_t number = 0;
  for (const Mapped& file : files) {
    ++number;
    const uint64_t path = records.add_string("/data/" + std::to_string(number) + ".npy");
    records.add(testing::OpenFileRecord{.number = number, .inode = number, .mode = file.mode, .path = path});
    records.add(testing::DescriptorCall{.func = events::func::k_mmap,
                                        .start = ticks_at(number * kMillisecond),
                                        .requested = file.bytes,
                                        .result = 0x7f0000000000,
                                        .offset = 0,
                                        .open_file = number,
                                        .arg2 = file.protection | uint64_t{MAP_SHARED} << 32});
  }
  add_process(spool, kParentPid, 1, 0, 0, std::move(records));
  return spool;
}

TEST(Coverage, NamesMappedFilesOfDataTheLargestFirst) {
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(run_that_maps({{2 << 20}, {128 << 20}, {1 << 20}})));
  EXPECT_EQ(folder.texts("coverage", "detail"),
            std::vector<std::string>{"/data/2.npy (128 MiB) and 2 more, 131 MiB in all: page faults are not calls; "
                                     "mlrun doctor reports whether --kprobes can record them here"});
}

TEST(Coverage, ManyShortMappingsAreAsMuchAsALongOne) {
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(run_that_maps(std::vector<Mapped>(40, {64 << 10}))));
  EXPECT_EQ(folder.texts("coverage", "detail"),
            std::vector<std::string>{"/data/1.npy (64.0 KiB) and 39 more, 2.50 MiB in all: page faults are not calls; "
                                     "mlrun doctor reports whether --kprobes can record them here"});
}

TEST(Coverage, ShortMappingsCodeAndSharedMemoryAreNotReported) {
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(run_that_maps(
      {{(1 << 20) - 1}, {2 << 20, PROT_READ | PROT_EXEC}, {2 << 20, PROT_NONE}, {2 << 20, PROT_READ, 0020644}})));
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers());
}

TEST(Coverage, MappedFilesAreSeenWhereTheKernelSideRecordsFaults) {
  SpoolWriter spool = run_that_maps({{2 << 20}});
  spool.session()["options"]["streams"] = {"files", "block", "vfs"};
  spool.session()["kernel_side"] = {{"state", "recorded"},
                                    {"signals", {{{"signal", "file operations"}, {"mechanism", "fentry"}}}}};
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(spool));
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers());
}

// --kprobes on a kernel whose functions cannot be probed.
TEST(Coverage, MappedFilesAreNamedWhereTheKernelSideRecordedNoFaults) {
  const json without = {{"signal", "file operations"}, {"mechanism", nullptr}, {"missing", "no BTF"}};
  const json by_system_calls = {{"signal", "file operations"}, {"mechanism", "tracepoint"}};
  const json with = {{"signal", "file operations"}, {"mechanism", "fentry"}};
  const json no_fault = {{"event", "filemap_fault"}, {"mechanism", "fentry"}, {"missing", "not in this kernel"}};
  const auto reported = [](const char* state, const json& signal, const json& programs) {
    SpoolWriter spool = run_that_maps({{2 << 20}});
    spool.session()["options"]["streams"] = {"files", "block", "vfs"};
    spool.session()["kernel_side"] = {{"state", state}, {"signals", {signal}}, {"programs", programs}};
    const TraceFolder folder;
    EXPECT_TRUE(folder.merge(spool));
    const auto subjects = folder.texts("coverage", "subject");
    return std::count(subjects.begin(), subjects.end(), "what is read and written in mapped files");
  };
  EXPECT_EQ(reported("recorded", without, json::array()), 1);
  EXPECT_EQ(reported("recorded", by_system_calls, json::array()), 1);
  EXPECT_EQ(reported("recorded", with, json::array({no_fault})), 1);
  EXPECT_EQ(reported("broken", with, json::array()), 1);
  EXPECT_EQ(reported("recorded", with, json::array()), 0);
}

json watched(uint32_t pid, uint32_t ppid, const char* exe, int64_t rchar, bool is_final) {
  return {{"pid", pid},
          {"ppid", ppid},
          {"ns_pid", pid},
          {"pid_namespace", 77},
          {"start_ticks", 400},
          {"exe", exe},
          {"comm", "x"},
          {"alive", false},
          {"final", is_final},
          {"io_ns", testing::kStartNs + 40 * kMillisecond},
          {"io", {{"rchar", rchar}, {"wchar", 0}, {"syscr", 1}, {"syscw", 0}, {"read_bytes", 0}, {"write_bytes", 0}}}};
}

// A parent that records nothing: its bytes are those that the kernel counted, without those of the child that it waited for.
TEST(Coverage, ACommandThatRecordedNothingIsNamedWithItsOwnBytes) {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  add_process(spool, kParentPid, 1, kReadByParent, kReadByParent, RecordBuffer());
  spool.session()["watched"]["processes"] = {watched(kParentPid - 1, 1, "/bin/static", 9'000'000, true)};
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(spool));
  EXPECT_EQ(folder.texts("coverage", "subject"), (std::vector<std::string>{"/bin/static", "bytes read"}));
  EXPECT_EQ(folder.numbers("coverage", "kernel"), Numbers({1, 9'000'000 - kReadByParent}));
}

TEST(Coverage, CountsReadBeforeTheEndAreLowerBounds) {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  add_process(spool, kParentPid, 1, kReadByParent, kReadByParent, RecordBuffer());
  spool.session()["watched"]["processes"] = {watched(7, 1, "/bin/a", 0, true),
                                             watched(kParentPid + 1, kParentPid, "/bin/static", 9'000'000, false)};
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(spool));
  const auto details = folder.texts("coverage", "detail");
  ASSERT_EQ(details.size(), 2U);
  EXPECT_NE(details[1].find("by /bin/static, which recorded nothing; the kernel had counted them when"),
            std::string::npos)
      << details[1];
}

// What a sample of it missed is in the parent's counts: two halves would each be too small to report.
TEST(Coverage, BytesOfAnUntracedChildThatWasSampledTooEarlyAreItsParents) {
  constexpr int64_t kUnseen = 4'000'000;
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  add_process(spool, kParentPid, 1, kReadByParent, kReadByParent + kUnseen, RecordBuffer());
  json child = watched(kParentPid + 1, kParentPid, "/bin/static", kUnseen / 2, false);
  child["io_ns"] = testing::kStartNs + 20 * kMillisecond;
  spool.session()["watched"]["processes"] = {watched(7, 1, "/bin/a", 0, true), child};
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(spool));
  EXPECT_EQ(folder.texts("coverage", "subject"), (std::vector<std::string>{"bytes read", "/bin/a"}));
  EXPECT_EQ(folder.numbers("coverage", "kernel"), Numbers({kReadByParent + kUnseen, 1}));
}

// The parent's wait says that the process exited, and not what its last image had moved by then.
TEST(Coverage, CountsOfAnEarlierImageAreLowerBounds) {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  add_process(spool, kParentPid, 1, kReadByParent, 9'000'000, RecordBuffer());
  RecordBuffer last;
  last.add(testing::ProcessRecord{.clock = ticks_at(40 * kMillisecond),
                                  .pid = kParentPid,
                                  .parent_pid = kParentPid - 1,
                                  .process = 2,
                                  .image = 2,
                                  .origin = MLRUN_PROCESS_LOADED,
                                  .start_ticks = 501});
  spool.add_channel({.serial = 2, .pid = kParentPid, .tid = kParentPid, .process = 2, .image = 2});
  spool.add_data(2, last);
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(spool));
  EXPECT_EQ(folder.texts("process", "ended"), std::vector<std::string>{"exit"});
  const auto details = folder.texts("coverage", "detail");
  ASSERT_FALSE(details.empty());
  EXPECT_NE(details[0].find("; the kernel had counted them when"), std::string::npos) << details[0];
}

TEST(Coverage, ProcessesThatWereNotWatchedAreCounted) {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  add_process(spool, kParentPid, 1, kReadByParent, kReadByParent, RecordBuffer());
  spool.session()["watched"]["left_out"] = 3;
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(spool));
  EXPECT_EQ(folder.texts("coverage", "subject"), std::vector<std::string>{"bytes read and written"});
  EXPECT_EQ(folder.numbers("coverage", "kernel"), Numbers({3}));
}

TEST(Coverage, ProcessesWhoseMappedFilesHadNoRoomAreARemark) {
  const TraceFolder folder;
  SpoolWriter spool = parent_and_child({kReadByParent + kReadByChild, kReadByChild});
  spool.session()["placement"] = {{"policy", "preferred"}, {"mem_node", "0"}, {"processes_left_out", 3}};
  merge(folder, spool);
  EXPECT_EQ(folder.texts("coverage", "subject"), (std::vector<std::string>{"nodes of mapped files"}));
  EXPECT_EQ(folder.texts("coverage", "level"), (std::vector<std::string>{"remark"}));
  EXPECT_EQ(folder.numbers("coverage", "kernel"), Numbers({3}));
}

TEST(Coverage, AChildThatOutlivesItsParentIsNotTakenOffTheParentsCounts) {
  SpoolWriter spool = parent_and_child({kReadByParent + 3'000'000, kReadByChild});
  spool.session()["watched"]["processes"] = {watched(7, 1, "/bin/a", 0, true)};
  json child = watched(kChildPid, kParentPid, "/bin/b", kReadByChild, false);
  child["start_ticks"] = 500;
  child["alive"] = true;
  spool.session()["watched"]["processes"].push_back(child);
  const TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.texts("coverage", "subject"), (std::vector<std::string>{"bytes read", "/bin/a"}));
  EXPECT_EQ(folder.numbers("coverage", "kernel"), Numbers({kReadByParent + 3'000'000, 1}));
}

TEST(Coverage, MoreFromDevicesThanCallsAskedForIsNamed) {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  add_process(spool, kParentPid, 1, kReadByParent, kReadByParent, RecordBuffer());
  json process = watched(kParentPid, 1, "/bin/a", kReadByParent + 1, true);
  process["start_ticks"] = 500;
  process["io"]["read_bytes"] = 500'000'000;
  spool.session()["watched"]["processes"] = {process};
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(spool));
  EXPECT_EQ(folder.texts("coverage", "subject"), std::vector<std::string>{"bytes read from devices"});
}

TEST(Coverage, AnAllocatorInFrontOfTheHooksIsNamed) {
  const auto reported = [](bool in_front) {
    SpoolWriter spool;
    spool.session()["options"]["streams"] = {"allocs"};
    for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
    RecordBuffer records;
    const uint64_t exe = records.add_string("/bin/a"), allocator = records.add_string("/lib/libtcmalloc.so.4");
    records.add(testing::ProcessRecord{.clock = ticks_at(kMillisecond),
                                       .pid = kParentPid,
                                       .start_ticks = 501,
                                       .exe = exe,
                                       .allocator = allocator,
                                       .malloc_in_front = in_front});
    spool.add_channel({.serial = 1, .pid = kParentPid, .tid = kParentPid, .process = 1, .image = 1});
    spool.add_data(1, records);
    const TraceFolder folder;
    EXPECT_TRUE(folder.merge(spool));
    return folder.texts("coverage", "detail");
  };
  EXPECT_EQ(reported(true),
            std::vector<std::string>{"the allocator in /lib/libtcmalloc.so.4 is in front of mlrun's hooks, "
                                     "which do not see its calls; one in LD_PRELOAD belongs behind mlrun's "
                                     "library, or into the environment of mlrun itself"});
  EXPECT_EQ(reported(false), std::vector<std::string>{});
}

TEST(Coverage, RowsOfAccessesThatWereNotFetchedInTimeAreALoss) {
  SpoolWriter spool = parent_and_child({kReadByParent + kReadByChild, kReadByChild});
  spool.session()["access"] = {{"rows", 9}, {"rows_dropped", 4}, {"problem", ""}};
  const TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.texts("loss", "reason"), std::vector<std::string>{"rows of accesses not fetched in time"});
  EXPECT_EQ(folder.numbers("loss", "count"), Numbers({4}));
}

}  // namespace
}  // namespace mlrun
