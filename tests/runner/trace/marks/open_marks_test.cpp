// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/open_marks.h"

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

constexpr int32_t kProcess = 1, kMain = 1, kOther = 2;

model::Origin origin(int32_t thread_id, int64_t ns) { return {ns, kProcess, 1, thread_id, 100, 99 + thread_id}; }

class OpenMarksTest : public ::testing::Test {
 protected:
  void begin(int64_t mark_id, int32_t thread_id, int64_t ns, bool is_of_process = false) {
    marks_.begin(origin(thread_id, ns), {mark_id, ns, static_cast<int32_t>(mark_id)}, is_of_process,
                 thread_id == kMain);
  }
  void end(int64_t mark_id, int32_t thread_id, int64_t ns, bool is_of_process = false) {
    marks_.end(origin(thread_id, 0), ns, {mark_id, 0, 0}, is_of_process, thread_id == kMain);
  }
  int64_t mark_of(int32_t thread_id, int64_t start_ns, int64_t end_ns) {
    model::GpuWorkRow call;
    call.origin = origin(thread_id, start_ns);
    call.dur_ns = end_ns - start_ns;
    const bool is_known = marks_.fill(call);
    EXPECT_EQ(call.mark_path, call.mark_id);
    return is_known ? call.mark_id : -1;
  }
  OpenMarks marks_;
};

TEST_F(OpenMarksTest, TheInnermostOfTheThreadGoesBeforeThoseOfTheProcess) {
  begin(1, kMain, 10);
  begin(2, kOther, 20);
  begin(3, kMain, 30);
  EXPECT_EQ(mark_of(kMain, 40, 50), 3);
  EXPECT_EQ(mark_of(kOther, 40, 50), 2);
  end(2, kOther, 60);
  EXPECT_EQ(mark_of(kOther, 70, 80), 3);
  EXPECT_EQ(mark_of(0, 70, 80), 3) << "a thread that recorded nothing";
  end(3, kMain, 90);
  EXPECT_EQ(mark_of(kOther, 100, 110), 1);
}

TEST_F(OpenMarksTest, RangesOfOtherThreadsDoNotCountForTheProcess) {
  begin(1, kOther, 10);
  EXPECT_EQ(mark_of(kMain, 20, 30), 0);
}

TEST_F(OpenMarksTest, ALongCallBelongsToTheRangeOpenAtItsStart) {
  begin(1, kMain, 10);
  end(1, kMain, 50);
  begin(2, kMain, 60);
  EXPECT_EQ(mark_of(kOther, 20, 100), 1);
  EXPECT_EQ(mark_of(kOther, 55, 100), 0);
}

TEST_F(OpenMarksTest, TimesOfAnotherClockMayBeALittleOffAtEitherEnd) {
  begin(1, kMain, 100);
  EXPECT_EQ(mark_of(kMain, 99, 110), 1) << "it began inside the range, which a few nanoseconds hide";
  end(1, kMain, 119);
  EXPECT_EQ(mark_of(kMain, 112, 120), 1);
}

TEST_F(OpenMarksTest, RangesOfTheProcessMayEndInAnyOrder) {
  begin(1, kOther, 10, true);
  begin(2, kOther, 20, true);
  begin(3, kOther, 30, true);
  end(2, kMain, 40, true);
  EXPECT_EQ(mark_of(kMain, 45, 46), 3);
  end(3, kMain, 50, true);
  EXPECT_EQ(mark_of(kMain, 55, 56), 1);
  end(1, kMain, 60, true);
  EXPECT_EQ(mark_of(kMain, 65, 66), 0);
}

TEST_F(OpenMarksTest, AnIntervalOfTheLogIsOneOfTheRun) {
  std::vector<model::MarkRow> log(3);
  log[0].mark_id = 1, log[0].origin.ts_ns = 100, log[0].dur_ns = 100;
  log[1].mark_id = 2, log[1].origin.ts_ns = 120, log[1].dur_ns = -1;  // a point in time
  log[2].mark_id = 3, log[2].origin.ts_ns = 150, log[2].dur_ns = 10;
  const std::vector<int32_t> paths = {1, 2, 3};
  marks_.set_log(log, paths);
  begin(4, kMain, 140);
  EXPECT_EQ(mark_of(kOther, 130, 131), 1);
  EXPECT_EQ(mark_of(kOther, 145, 146), 4) << "the last that was begun";
  EXPECT_EQ(mark_of(kOther, 155, 156), 3);
  EXPECT_EQ(mark_of(kMain, 155, 156), 4) << "the thread's own";
}

TEST_F(OpenMarksTest, ATimeTooLongAgoIsUnknown) {
  for (int64_t i = 1; i <= 20'000; ++i) {
    begin(i, kMain, 10 * i);
    end(i, kMain, 10 * i + 5);
  }
  EXPECT_EQ(mark_of(kOther, 12, 300'000), -1);
  EXPECT_EQ(mark_of(kOther, 200'002, 300'000), 20'000);
}

// A loader that makes new workers for each epoch, with ranges in each.
TEST_F(OpenMarksTest, ProcessesWithoutEndTakeNoMemoryWithoutEnd) {
  constexpr int32_t kProcesses = 1000;
  constexpr int64_t kRanges = 1000;
  int64_t id = 0;
  for (int32_t process = 1; process <= kProcesses; ++process) {
    for (int64_t i = 0; i < kRanges; ++i) {
      model::Origin at;
      at.proc_id = at.thread_id = process;
      at.ts_ns = 10 * ++id;
      marks_.begin(at, {id, at.ts_ns, 0}, false, true);
      marks_.end(at, at.ts_ns + 5, {id, 0, 0}, false, true);
    }
  }
  const auto mark_in = [&](int32_t process, int64_t ns) {
    model::GpuWorkRow call;
    call.origin.proc_id = process;
    call.origin.ts_ns = ns;
    return marks_.fill(call) ? call.mark_id : -1;
  };
  EXPECT_EQ(mark_in(1, 10), -1) << "forgotten, and said so";
  EXPECT_EQ(mark_in(1, 10 * kRanges + 2), kRanges);
  EXPECT_EQ(mark_in(kProcesses, 10 * id + 2), id);
  EXPECT_EQ(mark_in(kProcesses, 10 * (id - 400) + 2), id - 400) << "what has not been long";
}

}  // namespace
}  // namespace mlrun::trace
