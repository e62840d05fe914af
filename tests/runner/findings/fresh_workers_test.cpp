// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "runner/findings/workers.h"
#include "tests/runner/blame/made_timeline.h"

namespace mlrun::findings {
namespace {

using namespace blame;

// A second worker is started at 500 ms. Its first batch takes `first_ms`, each later one 10 ms; the driver waits for all of it.
struct TwoWorkers {
  explicit TwoWorkers(Ns first_ms) {
    constexpr int32_t kSecond = 5;
    constexpr int64_t kPipeOfSecond = 4, kTasksOfSecond = 5;
    analysis.timeline = made_timeline(1000 * kMs);
    Timeline& timeline = analysis.timeline;
    for (int i = 0; i < 2; ++i) timeline.file_kinds.push_back(static_cast<uint8_t>(model::FileKind::kPipe));
    Process& second = add_process(timeline, 3, 1, kSecond, 500 * kMs, 1000 * kMs);
    second.forked = true;
    second.role = "DataLoader worker";
    add_batches(kWorkerMain, kPipe, kTasks, 100, 10);
    add_batches(kSecond, kPipeOfSecond, kTasksOfSecond, 510, first_ms);
    analysis.divider = std::make_unique<Divider>(timeline, analysis.lines);
    analysis.division = analysis.divider->divide(0);
  }

  void add_batches(int32_t worker, int64_t pipe, int64_t tasks, Ns at_ms, Ns first_ms) {
    Timeline& timeline = analysis.timeline;
    for (int i = 0; i < 8; ++i) {
      const Ns from_ns = at_ms * kMs, to_ns = from_ns + (i == 0 ? first_ms : 10) * kMs;
      timeline.messages[tasks].push_back({from_ns - 2000, from_ns - 1000, kDriver, 50});
      thread_of(timeline, worker).reads.push_back({from_ns - 1000, from_ns, tasks, 50});
      timeline.messages[pipe].push_back({to_ns - 1000, to_ns, worker, 400});
      add_wait(timeline, kDriver, WaitKind::kPoll, from_ns, to_ns);
      thread_of(timeline, kDriver).reads.push_back({to_ns + 1000, to_ns + 2000, pipe, 400});
      at_ms = to_ns / kMs + 20;
    }
  }

  // The time, in ms, that is the start of workers.
  double startup() {
    Context context(analysis, {});
    context.causes.assign(analysis.division.pieces.size(), Cause::kDataTransformCpu);
    settle_fresh_workers(context);
    double ns = 0;
    for (size_t i = 0; i < context.causes.size(); ++i)
      ns += context.causes[i] == Cause::kWorkerStartup ? analysis.division.pieces[i].ns() : 0;
    return ns / kMs;
  }

  Analysis analysis;
};

TEST(FreshWorkers, NeedLongerForTheirFirstBatchAlone) { EXPECT_NEAR(TwoWorkers(80).startup(), 80, 1); }

TEST(FreshWorkers, ThatAreFastFromTheStartHaveNoStartUpTime) { EXPECT_EQ(TwoWorkers(12).startup(), 0); }

}  // namespace
}  // namespace mlrun::findings
