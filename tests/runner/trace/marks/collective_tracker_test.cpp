// SPDX-License-Identifier: Apache-2.0
// Tests collectives from NCCL's ranges: which have a number, and the process's rank in each communicator.
#include "runner/trace/marks/collective_tracker.h"

#include <deque>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/runner/trace/trace_folder.h"

namespace mlrun::trace {
namespace {

using Numbers = testing::TraceFolder::Numbers;
using Members = std::vector<std::pair<const char*, int64_t>>;

constexpr int64_t kA = 0x111, kB = 0x222;

class Collectives : public ::testing::Test {
 protected:
  void add(int32_t proc_id, int64_t end_ns, const char* name, const Members& members) {
    model::MarkRow range;
    range.origin.proc_id = proc_id;
    range.origin.ts_ns = end_ns - 5;
    range.dur_ns = 5;
    range.domain = "nvtx:NCCL";
    range.name = name;
    std::vector<PayloadValue> values;
    for (const auto& [member, number] : members) {
      members_.push_back({.name = member, .form = PayloadForm::kSigned, .width = 8, .meanings = {}});
      values.push_back({&members_.back(), static_cast<uint64_t>(number)});
    }
    tracker().add(range, values);
  }
  void make(int32_t proc_id, int64_t end_ns, int64_t communicator, int64_t rank,
            const char* name = "ncclCommInitRank") {
    add(proc_id, end_ns, name, {{"NCCL communicator ID", communicator}, {"No. of ranks", 4}, {"Rank", rank}});
  }
  void reduce(int32_t proc_id, int64_t end_ns, int64_t communicator = kA) {
    add(proc_id, end_ns, "ncclAllReduce", {{"NCCL communicator ID", communicator}, {"Message size [bytes]", 8}});
  }
  // The tracker, made with what was lost until then.
  CollectiveTracker& tracker() {
    if (!tracker_) {
      tracker_.emplace(losses_);
      tracker_->write_to(folder_.path() + "/tables");
    }
    return *tracker_;
  }
  void finish() {
    if (is_finished_) return;
    EXPECT_TRUE(tracker().finish());
    is_finished_ = true;
  }
  Numbers column(const char* name) {
    finish();
    return folder_.numbers("collective", name);
  }
  std::vector<std::string> coverage() {
    std::vector<std::string> rows;
    (void)tracker().meter().finish();
    for (const auto& row : tracker().coverage()) rows.push_back(row.subject + ": " + row.detail);
    return rows;
  }

  std::vector<PositionLoss> losses_;

 private:
  testing::TraceFolder folder_;
  std::deque<PayloadMember> members_;
  std::optional<CollectiveTracker> tracker_;
  bool is_finished_ = false;
};

const auto kNone = std::nullopt;

TEST_F(Collectives, AreNumberedByProcessAndCommunicator) {
  make(1, 10, kA, 0);
  make(2, 11, kA, 3);
  reduce(1, 20);
  reduce(2, 21);
  reduce(1, 30);
  reduce(1, 40, kB);
  add(1, 50, "ncclSend", {{"NCCL communicator ID", kA}, {"Message size [bytes]", 8}, {"Peer rank", 3}});
  reduce(1, 60);
  EXPECT_EQ(column("sequence"), (Numbers{0, 0, 1, 0, kNone, 2}));
  EXPECT_EQ(column("rank"), (Numbers{0, 3, 0, kNone, 0, 0}));
  EXPECT_EQ(column("ranks"), (Numbers{4, 4, 4, kNone, 4, 4}));
  EXPECT_TRUE(coverage().empty());
}

TEST_F(Collectives, HaveNoNumberOnceTheirProcessHasLostRecords) {
  losses_ = {{35, 2}, {25, 2}};
  for (int32_t process : {1, 2}) make(process, 10, kA, process);
  for (int64_t end_ns : {20, 30, 40}) {
    for (int32_t process : {1, 2}) reduce(process, end_ns);
  }
  EXPECT_EQ(column("sequence"), (Numbers{0, 0, 1, kNone, 2, kNone}));
  EXPECT_EQ(column("rank"), (Numbers{1, 2, 1, 2, 1, 2})) << "the rank stays";
  EXPECT_EQ(coverage(), (std::vector<std::string>{"numbers of collectives: 2 came after lost records of their process: "
                                                  "they have no number and are not compared"}));
}

TEST_F(Collectives, AreNumberedInACommunicatorMadeAfterALoss) {
  losses_ = {{15, 0}};
  make(1, 10, kA, 0);
  make(1, 20, kB, 0);
  reduce(1, 30, kA);
  reduce(1, 40, kB);
  reduce(1, 50, 0x333);  // its creation was not seen
  EXPECT_EQ(column("sequence"), (Numbers{kNone, 0, kNone}));
}

TEST_F(Collectives, HaveNoNumberAfterAnUnreadableOne) {
  make(1, 10, kA, 0);
  add(1, 11, "ncclCommFinalize", {});  // surely none
  reduce(1, 20);
  add(1, 30, "ncclAllGather", {});
  reduce(1, 40);
  EXPECT_EQ(column("sequence"), (Numbers{0, kNone}));
  tracker().lost(2);
  EXPECT_EQ(coverage().size(), 1u);
}

TEST_F(Collectives, HaveNoNumberInAProcessWithSeveralRanks) {
  make(1, 10, kA, 0);
  make(1, 11, kA, 1);
  reduce(1, 20);
  reduce(1, 30, kB);  // made from it, perhaps
  add(2, 40, "ncclCommInitAll", {{"NCCL communicator ID", kA}, {"No. of devices", 2}});
  reduce(2, 50);
  add(3, 60, "ncclCommInitAll", {{"NCCL communicator ID", kA}, {"No. of devices", 1}});
  reduce(3, 70);
  EXPECT_EQ(column("sequence"), (Numbers{kNone, kNone, kNone, 0}));
  EXPECT_EQ(column("rank"), (Numbers{kNone, kNone, kNone, kNone}));
  EXPECT_TRUE(coverage().empty()) << "nothing is missing";
}

// ncclGroupStart(); ncclCommInitRank() for each device; ncclGroupEnd(): the calls end before there is a number.
TEST_F(Collectives, OfSeveralRanksMadeInOneGroupHaveNoNumber) {
  make(1, 10, 0, 0);
  make(1, 11, 0, 1);
  reduce(1, 20);
  make(2, 30, 0, 2);  // one rank, which did not wait
  reduce(2, 40);
  reduce(2, 50);
  EXPECT_EQ(column("sequence"), (Numbers{kNone, 0, 1}));
}

TEST_F(Collectives, OfASplitCommunicatorDoNotTakeTheParentsRank) {
  make(1, 10, kA, 3);
  for (const char* name : {"ncclCommSplit", "ncclCommShrink"}) {
    make(1, 20, kB, 3, name);
    make(1, 21, 0, 3, name);
    make(1, 22, 0, 1, name);  // of another parent
  }
  reduce(1, 30, kB);
  reduce(1, 40, kA);
  EXPECT_EQ(column("rank"), (Numbers{kNone, 3}));
  EXPECT_EQ(column("ranks"), (Numbers{kNone, 4}));
  EXPECT_EQ(column("sequence"), (Numbers{0, 0}));
}

TEST_F(Collectives, BeyondTheLimitOfCommunicatorsAreCounted) {
  for (int64_t i = 1; i <= int64_t{1} << 16; ++i) make(1, i, i, 0);
  reduce(1, 70'000, 0x7fffffff);
  reduce(1, 70'001, 1);
  EXPECT_EQ(column("sequence"), (Numbers{kNone, 0}));
  EXPECT_EQ(coverage(), (std::vector<std::string>{"numbers of collectives: 1 are of communicators beyond the limit: "
                                                  "they have no number and are not compared"}));
}

}  // namespace
}  // namespace mlrun::trace
