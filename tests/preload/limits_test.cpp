// SPDX-License-Identifier: Apache-2.0
// Tests restricted and self-restricting programs: they run as untraced, and unrecorded calls are counted.
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "preload/core/call_kind.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

class Restriction : public testing::TestWithParam<const char*> {};

TEST_P(Restriction, DoesNotStopRecording) {
  if (geteuid() != 0 && GetParam() != std::string("fsize") && GetParam() != std::string("emfile"))
    GTEST_SKIP() << "needs root";
  const Totals t = run_traced({victim("limited"), GetParam(), "10000"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 40000);
  EXPECT_EQ(t.all_drops(), 0);
  EXPECT_EQ(t.live_at_end, 0);
}

INSTANTIATE_TEST_SUITE_P(, Restriction, testing::Values("fsize", "emfile", "chroot", "nobody"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Closefrom, LeavesNoDescriptorOfOursBehind) {
  const Totals t = run_traced({victim("closefrom"), "10000"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 20000);
}

TEST(SeccompFilter, MeetsNoSystemCallOfOurs) {
  const Totals t = run_traced({victim("filtered"), "10000"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 30000);
  EXPECT_EQ(t.all_drops(), 0);
}

TEST(SeccompFilter, AFullPoolIsWaitedForWithoutAFutex) {
  const RunOptions options{.arena = {.segments = 17}, .per_segment = std::chrono::milliseconds(3)};
  const Totals t = run_traced({victim("filtered"), "100000"}, options);
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 300000);
  EXPECT_EQ(t.all_drops(), 0);
}

// Calls before the victim loses the clock have records, those after it have none.
void expect_no_record_after(const char* loss) {
  const Totals t = run_traced({victim("strict"), "10000", loss});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 10000);
  EXPECT_EQ(t.of(KIND_read), 0);
  EXPECT_EQ(t.failures[MLRUN_FAIL_NO_CLOCK], 1);
}

TEST(NoTimeStampCounter, EndsRecordingUnderStrictSeccomp) { expect_no_record_after("seccomp"); }

TEST(NoTimeStampCounter, EndsRecordingUnderPrSetTsc) { expect_no_record_after("tsc"); }

TEST(NoTimeStampCounter, IsNotReadByAForkedChild) { expect_no_record_after("forks"); }

TEST(NoTimeStampCounter, IsNotReadAfterTheEndOfTheRun) {
  RunOptions options;
  options.on_pass = [](MiniArena& arena) { arena.control().state = MLRUN_STOP; };
  const Totals t = run_traced({victim("strict"), "1000000", "tsc"}, options);
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_read), 0);
}

TEST(NoTimeStampCounter, IsNotAssumedWhenTheCallIsRefused) {
  const Totals t = run_traced({victim("strict"), "10000", "refused"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_read), 10000);
  EXPECT_EQ(t.failures[MLRUN_FAIL_NO_CLOCK], 0);
}

TEST(MonotonicClock, IsUsedWhereTheCounterIsNotTrusted) {
  uint64_t first = 0, last = 0;
  RunOptions options{.arena = {.clock_kind = MLRUN_CLOCK_MONOTONIC}};
  options.on_record = [&](const RecordView& r) {
    if (r.kind() != KIND_pread) return;
    if (first == 0) first = r.words[1];
    last = r.words[1];
  };
  timespec before{}, after{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const Totals t = run_traced({victim("calls"), "10000", "exit"}, options);
  clock_gettime(CLOCK_MONOTONIC, &after);
  const auto ns = [](const timespec& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
  };
  EXPECT_EQ(t.of(KIND_pread), 10000);
  EXPECT_GT(first, ns(before));
  EXPECT_GT(last, first);
  EXPECT_LT(last, ns(after));
}

TEST(FileSizeLimit, OfZeroBeforeTheProgramIsExecutedLosesNoCall) {
  const Totals t = run_traced({"bash", "-c", "ulimit -f 0; exec " + victim("calls") + " 10000 exit"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 10000);
}

TEST(AddressSpaceLimit, OfFourHundredMegabytesLeavesRoomForSome) {
  const Totals t = run_traced({"bash", "-c", "ulimit -v 400000; exec " + victim("calls") + " 100000 exit"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 100000);
  EXPECT_EQ(t.failures[MLRUN_FAIL_NO_ROOM], 0);
}

TEST(AddressSpaceLimit, OfThirtyMegabytesLeavesTheProgramUntracedAndIsCounted) {
  const Totals t = run_traced({"bash", "-c", "ulimit -v 30000; exec " + victim("calls") + " 10000 exit"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 0);
  EXPECT_EQ(t.failures[MLRUN_FAIL_NO_ROOM], 1);
}

TEST(OtherVersion, PassesEverythingThroughAndCountsItself) {
  const Totals t = run_traced({victim("calls"), "10000", "exit"}, {.arena = {.abi = MLRUN_ABI + 1}});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.all_records(), 0);
  EXPECT_EQ(t.failures[MLRUN_FAIL_ABI], 1);
}

TEST(Pause, RecordsAndCountsNothingUntilItEnds) {
  RunOptions options;
  uint64_t records_while_paused = 0, passes = 0;
  options.on_pass = [&](MiniArena& arena) {
    passes++;
    if (passes == 1) arena.control().state = MLRUN_PAUSE;
    if (passes == 100) arena.control().state = MLRUN_RUN;
  };
  options.on_record = [&](const RecordView&) { records_while_paused += passes > 2 && passes < 99 ? 1 : 0; };
  const Totals t = run_traced(
      {"bash", "-c", "sleep 0.02; " + victim("calls") + " 10000 exit; sleep 3; exec " + victim("calls") + " 500 exit"},
      options);
  EXPECT_EQ(records_while_paused, 0);
  EXPECT_EQ(t.of(KIND_pread), 500);
  EXPECT_GE(t.of(MLRUN_PROCESS), 2);  // the shell's own, when its time has come, and the last program's
}

TEST(Streams, ThatAreOffLeaveNoRecords) {
  const Totals files = run_traced({victim("calls"), "1000", "exit"}, {.arena = {.streams = MLRUN_STREAM_FILES}});
  EXPECT_EQ(files.of(KIND_pread), 1000);
  EXPECT_EQ(files.of(MLRUN_MALLOC) + files.counted_allocs, 0);
  const Totals allocs = run_traced({victim("calls"), "1000", "exit"}, {.arena = {.streams = MLRUN_STREAM_ALLOCS}});
  EXPECT_EQ(allocs.of(KIND_pread), 0);
  EXPECT_EQ(allocs.of(MLRUN_MALLOC), 100);
}

TEST(Untraced, ALibraryWithoutASessionPassesEverythingThrough) {
  const Totals t =
      run_traced({"env", "-u", "MLRUN_SESSION", "LD_PRELOAD=" + preload_library(), victim("calls"), "1000", "exit"},
                 {.library = "none"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.all_records(), 0);
}

}  // namespace
}  // namespace mlrun::preload_test
