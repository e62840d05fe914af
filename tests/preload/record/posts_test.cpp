// SPDX-License-Identifier: Apache-2.0
// Tests that the record of a wait has the thread that ended it, against the thread ids that the victim prints.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/preload/files/recorded_run.h"

namespace mlrun::preload_test {
namespace {

struct Told {
  std::string func;
  uint32_t waiter = 0, poster = 0;
};

std::vector<Told> told_by(const RecordedRun& run) {
  std::vector<Told> lines;
  std::istringstream text(run.output());
  for (Told line; text >> line.func >> line.waiter >> line.poster;) lines.push_back(line);
  return lines;
}

// The poster by the record, for each wait that the victim prints.
void expect_posters(const std::string& how, size_t waits) {
  const RecordedRun run({victim("posts"), how});
  ASSERT_EQ(run.exit_code(), 0) << run.output();
  EXPECT_TRUE(run.whole());
  const std::vector<Told> lines = told_by(run);
  EXPECT_EQ(lines.size(), waits) << run.output();
  for (const Told& line : lines) {
    std::vector<uint64_t> posters;
    for (const RecordedCall& call : run.calls_of({line.func})) {
      const bool ended = (call.event.flags & MLRUN_CALL_CANCELLED) == 0;
      if (call.tid == line.waiter && ended) posters.push_back(call.event.offset);
    }
    const uint64_t wanted = line.poster == 0 ? MLRUN_NO_OFFSET : line.poster;
    EXPECT_EQ(posters, std::vector<uint64_t>{wanted}) << how << ": " << line.func << " of " << line.waiter;
  }
}

TEST(Posts, OfEveryKindAreInTheRecordOfTheWaitThatTheyEnd) { expect_posters("kinds", 12); }
TEST(Posts, ToManyWaitersAreInTheRecordOfEach) { expect_posters("many", 16); }
TEST(Posts, InAForkedChildAreThoseOfItsOwnThreads) { expect_posters("forks", 2); }
TEST(Posts, AfterACancelledWaitAreKnown) { expect_posters("cancels", 2); }
TEST(Posts, AfterAWaitThatAHandlerJumpedOutOfAreKnown) { expect_posters("jumps", 1); }
TEST(Posts, InASignalHandlerAreThoseOfItsThread) { expect_posters("handles", 1); }
TEST(Posts, OnWhatProcessesShareAreUnknown) { expect_posters("shares", 3); }

TEST(Posts, AJoinHasTheThreadThatItWaitedForAndCreationsHaveTheNewOne) {
  const RecordedRun run({victim("posts"), "kinds"});
  ASSERT_EQ(run.exit_code(), 0);
  std::vector<uint64_t> created, wanted;
  for (const RecordedCall& call : run.calls_of({"pthread_create"})) created.push_back(call.event.arg2);
  for (const Told& line : told_by(run)) {
    wanted.push_back(line.waiter);
    wanted.push_back(line.poster);
  }
  ASSERT_EQ(created.size(), wanted.size());
  size_t known = 0;
  for (size_t i = 0; i < created.size(); i++) {
    if (created[i] == 0) continue;  // it had ended before it could be asked
    EXPECT_EQ(created[i], wanted[i]) << i;
    known++;
  }
  EXPECT_GE(known, wanted.size() / 2);        // each waiter lives on
  constexpr uint64_t kLongTicks = 1'000'000;  // a join of a thread that had ended returns at once
  for (const RecordedCall& call : run.calls_of({"pthread_join"})) {
    if (call.event.offset == MLRUN_NO_OFFSET && call.event.duration < kLongTicks) continue;
    EXPECT_NE(std::find(wanted.begin(), wanted.end(), call.event.offset), wanted.end()) << call.event.offset;
  }
}

}  // namespace
}  // namespace mlrun::preload_test
