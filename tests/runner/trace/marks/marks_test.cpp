// SPDX-License-Identifier: Apache-2.0
// Marks of NVTX with structured payloads, from the spool to the tables.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::MarkRecord;
using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using Numbers = testing::TraceFolder::Numbers;
using Texts = std::vector<std::string>;

constexpr uint64_t kMicrosecond = 1000;
constexpr const char* kReduce = "1 16 0\nF 0 8 0 0 0 NCCL communicator ID\nF 0 67 0 8 0 Message size [bytes]\n";
constexpr const char* kMade = "1 16 0\nF 0 8 0 0 0 NCCL communicator ID\nF 0 5 0 8 0 No. of ranks\nF 0 5 0 12 0 Rank\n";

std::string bytes_of(uint64_t first, uint64_t second) {
  const uint64_t words[2] = {first, second};
  return {reinterpret_cast<const char*>(words), sizeof words};
}

// Two processes with a thread each. Times in microseconds.
class Marks : public ::testing::Test {
 protected:
  Marks() {
    spool_.add_anchor(0);
    spool_.add_anchor(1'000'000'000);
    spool_.add_channel({.serial = 1});
    spool_.add_channel({.serial = 2, .pid = 200, .tid = 200, .process = 2, .start_ticks = 600});
  }
  // A range that begins and ends with these payloads; a layout of "-" means none, "" an unregistered one.
  void range(int process, uint64_t at, const char* name, const std::string& layout, const std::string& structure,
             const std::string& end_layout = "-", const std::string& end_structure = "") {
    put(process, MLRUN_MARK_PUSH, at, name, layout, structure);
    put(process, MLRUN_MARK_POP, at + 1, "", end_layout, end_structure);
  }
  void begin(int process, uint64_t at, const char* name, const std::string& domain = "NCCL") {
    put(process, MLRUN_MARK_PUSH, at, name, "-", "", domain);
  }
  void reduce(int process, uint64_t at) { range(process, at, "ncclAllReduce", kReduce, bytes_of(0xabc, 4096)); }
  void flush() {
    for (int process : {1, 2}) {
      if (records_[process - 1].bytes() != 0) spool_.add_data(static_cast<uint64_t>(process), records_[process - 1]);
    }
  }
  void merge() {
    flush();
    const auto merged = folder_.merge(spool_);
    ASSERT_TRUE(merged) << merged.error().text;
  }
  Texts coverage() const { return folder_.texts("coverage", "detail"); }

  SpoolWriter spool_;
  testing::TraceFolder folder_;

 private:
  void put(int process, uint16_t kind, uint64_t at, const char* name, const std::string& layout,
           const std::string& structure, const std::string& domain_name = "NCCL") {
    RecordBuffer& records = records_[process - 1];
    const uint64_t domain = records.add_string(domain_name);
    const uint64_t id = layout == "-" || layout.empty() ? 0 : records.add_string(layout);
    records.add(MarkRecord{.kind = kind,
                           .clock = ticks_at(at * kMicrosecond),
                           .domain = domain,
                           .name = name,
                           .has_structure = layout != "-",
                           .layout = id,
                           .structure = structure});
  }
  RecordBuffer records_[2];
};

TEST_F(Marks, KeepTheBeginsPayloadIfTheEndsIsUnreadable) {
  range(1, 10, "ncclAllReduce", kReduce, bytes_of(0xabc, 4096), "", "");
  range(1, 20, "ncclAllReduce", kReduce, bytes_of(0xabc, 512), "9 no layout", bytes_of(0, 0));
  range(1, 30, "ncclAllReduce", kReduce, bytes_of(0xabc, 1), kReduce, bytes_of(0xabc, 2));
  range(1, 40, "ncclAllReduce", kReduce, bytes_of(0xabc, 3), kReduce, "");
  merge();
  EXPECT_EQ(folder_.texts("mark", "value"), (Texts{R"({"Message size [bytes]":4096,"NCCL communicator ID":2748})",
                                                   R"({"Message size [bytes]":512,"NCCL communicator ID":2748})",
                                                   R"({"Message size [bytes]":2,"NCCL communicator ID":2748})",
                                                   R"({"Message size [bytes]":3,"NCCL communicator ID":2748})"}));
  EXPECT_EQ(folder_.numbers("collective", "bytes"), (Numbers{4096, 512, 2, 3}));
  EXPECT_EQ(folder_.numbers("collective", "sequence"), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(coverage(),
            (Texts{"1 have a layout that the program did not register: their marks have no value",
                   "1 have a layout that is damaged, too large or beyond the limit: their marks have no value",
                   "1 could be decoded only in part: their marks lack some members"}));
}

TEST_F(Marks, OfNcclHaveNoNumberAfterRecordingWasPaused) {
  for (int process : {1, 2}) {
    range(process, 5, "ncclCommInitRank", "-", "", kMade, bytes_of(0xabc, uint64_t{2} | uint64_t(process - 1) << 32));
  }
  for (int process : {1, 2}) reduce(process, 10);
  flush();
  spool_.add_gap(0, MLRUN_GAP_PAUSED, 15'000, 25'000, 0);
  reduce(2, 12);  // the other rank was a moment later, when it was paused
  for (int process : {1, 2}) reduce(process, 30);
  merge();
  EXPECT_EQ(folder_.numbers("collective", "sequence"), (Numbers{0, 0, 1, std::nullopt, std::nullopt}));
  EXPECT_EQ(folder_.numbers("collective", "rank"), (Numbers{0, 1, 1, 0, 1}));
  EXPECT_EQ(folder_.numbers("summary_collective", "compared"), (Numbers{1}));
  EXPECT_EQ(coverage(),
            (Texts{"2 came after lost records of their process: they have no number and are not compared"}));
}

TEST_F(Marks, OfNcclHaveNoNumberAfterTheirProcessLostRecords) {
  for (int process : {1, 2}) reduce(process, 10);
  flush();
  RecordBuffer none;
  none.add_string("nothing");
  spool_.pass_at(20 * kMicrosecond);
  spool_.add_data(2, none, 7);
  for (int process : {1, 2}) reduce(process, 30);
  merge();
  EXPECT_EQ(folder_.numbers("collective", "sequence"), (Numbers{0, 0, 1, std::nullopt}));
}

// With --last.
TEST_F(Marks, OfNcclHaveNoNumberWhereOlderRecordsWereFreed) {
  SpoolWriter kept;
  kept.add_gap(0, MLRUN_GAP_OLD, 0, 20'000, 5);
  std::ofstream(folder_.path() + "/" MLRUN_KEPT_FILE, std::ios::binary) << kept.bytes();
  reduce(1, 30);
  range(2, 40, "ncclCommInitRank", "-", "", kMade, bytes_of(0xabc, 2));
  reduce(2, 50);
  merge();
  EXPECT_TRUE(folder_.run().contains("events_from_ns"));
  EXPECT_EQ(folder_.numbers("collective", "sequence"), (Numbers{std::nullopt, 0}));
}

// A layout may name the same bytes many times.
TEST_F(Marks, OfFewBytesMakeNoLongRow) {
  const auto layout_of = [](int members, size_t name) {
    std::string text = "1 8 0\n";
    for (int i = 0; i < members; ++i) {
      std::string number = std::to_string(i);
      text += "F 0 2 0 " + std::string(i == 0 ? "0" : "1") + " 0 " + number + std::string(name, 'x') + "\n";
    }
    return text;
  };
  range(1, 10, "long", layout_of(150, 75), "12345678");
  range(1, 20, "many", layout_of(257, 0), "12345678");
  range(1, 30, "large", layout_of(250, 75), "12345678");
  range(1, 40, "most", layout_of(256, 0), "12345678");
  merge();
  const Texts values = folder_.texts("mark", "value");
  ASSERT_EQ(values.size(), 4u);
  EXPECT_GT(values[0].size(), 2500u);
  EXPECT_LE(values[0].size(), 4096u);
  EXPECT_TRUE(nlohmann::json::accept(values[0]));
  EXPECT_EQ(values[1] + values[2], "");
  EXPECT_LE(values[3].size(), 4096u);
  EXPECT_EQ(coverage(),
            (Texts{"2 have a layout that is damaged, too large or beyond the limit: their marks have no value",
                   "2 are too long: their marks have only the first members"}));
}

TEST_F(Marks, ThatAreBegunAndNeverEndedTakeBoundedMemory) {
  const std::string name(3000, 'n');
  constexpr uint64_t kFit = (uint64_t{32} << 20) / 3000;
  constexpr uint64_t kOfAFrame = 100;
  for (uint64_t i = 0; i < kFit + 7; ++i) {
    begin(1, 10 + i, name.c_str());
    if (i % kOfAFrame == 0) flush();
  }
  range(1, 100'000, "short", "-", "");
  merge();
  EXPECT_EQ(folder_.numbers("mark", "ts").size(), kFit + 1);
  EXPECT_EQ(folder_.numbers("loss", "count"), (Numbers{7}));
}

TEST_F(Marks, ALongDomainIsMarkedAsCut) {
  begin(1, 10, "mark", std::string(300, 'd'));
  merge();
  EXPECT_EQ(folder_.texts("mark", "domain"), (Texts{"nvtx:" + std::string(256, 'd')}));
  EXPECT_EQ(coverage(), (Texts{"1 marks have only the first 256 bytes of their domain's name"}));
}

TEST_F(Marks, BeyondTheLimitOfLayoutsAreCountedSeparately) {
  constexpr int kLayouts = 4096 + 3;
  for (int i = 0; i < kLayouts; ++i) {
    range(1, 10 + static_cast<uint64_t>(i) * 2, "mark", "1 0 0\nF 0 2 0 0 0 m" + std::to_string(i) + "\n", "\x05");
  }
  merge();
  EXPECT_EQ(folder_.texts("mark", "value")[0], R"({"m0":5})");
  EXPECT_EQ(coverage(),
            (Texts{"3 have a layout that is damaged, too large or beyond the limit: their marks have no value"}));
}

}  // namespace
}  // namespace mlrun
