// SPDX-License-Identifier: Apache-2.0
// Tests short, cancelled and named threads, and threads that hold robust mutexes.
#include <cerrno>
#include <set>

#include <gtest/gtest.h>

#include "preload/core/call_kind.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

TEST(Threads, TwoThousandOverALifeLoseNoCall) {
  std::set<uint64_t> serials;
  RunOptions options;
  options.on_record = [&](const RecordView& r) { serials.insert(r.descriptor->serial); };
  const Totals t = run_traced({victim("threads"), "2000", "500"}, options);
  EXPECT_EQ(t.of(KIND_pread), 1000000);
  EXPECT_EQ(t.channels, 2001);
  EXPECT_EQ(serials.size(), 2001);
  EXPECT_EQ(t.of(KIND_pthread_create), 2000);
  EXPECT_EQ(t.all_drops(), 0);
}

TEST(Threads, KeepTheirOrderWhileSegmentsAreReused) {
  OrderCheck order;
  RunOptions options{.arena = {.segments = 32}};
  options.on_record = [&](const RecordView& r) { order.look_at(r); };
  const Totals t = run_traced({victim("threads"), "1000", "1000"}, options);
  EXPECT_EQ(t.of(KIND_pread), 1000000);
  EXPECT_EQ(order.wrong(), 0);
}

TEST(Cancellation, InsideReadIsRecordedAndTheThreadsCleanupRuns) {
  uint64_t cancelled = 0;
  RunOptions options;
  options.on_record = [&](const RecordView& r) {
    const bool flag = (r.words[6] >> 40 & MLRUN_CALL_CANCELLED) != 0;
    if (r.kind() == KIND_read && r.result() == -ECANCELED && flag) cancelled++;
  };
  const Totals t = run_traced({victim("cancel")}, options);
  EXPECT_EQ(t.number("cancelled"), 100);
  EXPECT_EQ(t.number("cleaned"), 100);
  EXPECT_EQ(cancelled, 100);
  EXPECT_EQ(t.of(KIND_pread), 100);
  EXPECT_EQ(t.torn, 0);
}

TEST(RobustMutexes, OfTheProgramKeepWorking) {
  const Totals t = run_traced({victim("robust")});
  EXPECT_EQ(t.number("told"), 100);
  EXPECT_EQ(t.of(KIND_pread), 10);
  EXPECT_EQ(t.live_at_end, 0);
  EXPECT_EQ(t.failures[MLRUN_FAIL_NO_ROBUST], 0);
}

TEST(RobustList, OfTheLibraryWorksInAProcessThatHasNone) {
  const Totals t = run_traced({victim("calls"), "10000", "kill"},
                              {.library = preload_library() + ":" + victim("libno_robust_list.so")});
  EXPECT_EQ(t.of(KIND_pread), 10000);
  EXPECT_EQ(t.live_at_end, 0);
  EXPECT_EQ(t.failures[MLRUN_FAIL_NO_ROBUST], 0);
}

TEST(Names, AreRecordedWithTheirThread) {
  std::map<uint64_t, std::string> strings;
  std::map<uint32_t, uint64_t> names;
  RunOptions options;
  options.on_record = [&](const RecordView& r) {
    if (r.kind() == MLRUN_STRING) strings[r.words[1]] = fragment_text(r);
    if (r.kind() == MLRUN_COMM) names[r.arg()] = r.words[3];
  };
  const Totals t = run_traced({victim("names")}, options);
  ASSERT_EQ(names.size(), 2);
  EXPECT_EQ(strings[names[static_cast<uint32_t>(t.number("main"))]], "from prctl");
  EXPECT_EQ(strings[names[static_cast<uint32_t>(t.number("other"))]], "a longer name i");
}

}  // namespace
}  // namespace mlrun::preload_test
