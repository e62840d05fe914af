// SPDX-License-Identifier: Apache-2.0
// Tests samples of Python stacks, from the spool to the tables.
#include <cstring>

#include <gtest/gtest.h>

#include "runner/events/python_sample.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::kStartNs;
using Numbers = testing::TraceFolder::Numbers;
using Texts = std::vector<std::string>;

struct Payload {
  std::vector<mlrun_python_sample> samples;
  std::vector<mlrun_python_stack> stacks;
  std::vector<__u32> steps;
  std::vector<mlrun_python_frame> frames;
  std::vector<mlrun_python_text> texts;
  std::string text_bytes;

  [[nodiscard]] std::string bytes() const {
    mlrun_frame_python head{};
    head.samples = static_cast<__u32>(samples.size());
    head.stacks = static_cast<__u32>(stacks.size());
    head.steps = static_cast<__u32>(steps.size());
    head.frames = static_cast<__u32>(frames.size());
    head.texts = static_cast<__u32>(texts.size());
    head.text_bytes = static_cast<__u32>(text_bytes.size());
    head.sample_bytes = sizeof(mlrun_python_sample);
    std::string all(reinterpret_cast<const char*>(&head), sizeof head);
    const auto append = [&](const auto& items) {
      all.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof items[0]);
    };
    append(samples);
    append(stacks);
    append(steps);
    append(frames);
    append(texts);
    return all + text_bytes;
  }
};

// Process 1, threads 100 and 101: main.py:3 work called by main.py:9 <module>; the second one's stack was cut.
Payload two_threads() {
  Payload payload;
  payload.samples = {{kStartNs + 10, kStartNs + 10, 1, 100, 0, 1, 1, 'R', 50, 0, 0},
                     {kStartNs + 20, kStartNs + 70, 1, 101, 1, 6, 0, 'D', 300, 0, 0}};
  payload.stacks = {{0, 2, 0, 0}, {1, 1, 1, 0}};
  payload.steps = {0, 1};
  payload.frames = {{0, 1, 3}, {0, 2, 9}};
  payload.texts = {{0, 12}, {12, 4}, {16, 8}};
  payload.text_bytes = "/data/main.pywork<module>";
  payload.texts[0].bytes = 13;
  payload.texts[1].first = 13;
  payload.texts[2].first = 17;
  return payload;
}

class PythonStacks : public ::testing::Test {
 protected:
  PythonStacks() {
    spool_.add_anchor(0);
    spool_.add_anchor(1'000'000'000);
    spool_.add_channel({.serial = 1});
    spool_.add_channel({.serial = 2, .tid = 101});
  }
  void merge(const std::vector<std::string>& payloads) {
    for (const std::string& bytes : payloads) spool_.add_frame(MLRUN_FRAME_PYTHON, 0, bytes.data(), bytes.size());
    const auto merged = folder_.merge(spool_);
    ASSERT_TRUE(merged) << merged.error().text;
  }
  testing::SpoolWriter spool_;
  testing::TraceFolder folder_;
};

TEST_F(PythonStacks, AreRowsWithTheirStacks) {
  merge({two_threads().bytes()});
  EXPECT_EQ(folder_.numbers("python_stack", "ts"), (Numbers{kStartNs + 10, kStartNs + 20}));
  EXPECT_EQ(folder_.numbers("python_stack", "dur"), (Numbers{0, 50}));
  EXPECT_EQ(folder_.numbers("python_stack", "tid"), (Numbers{100, 101}));
  EXPECT_EQ(folder_.numbers("python_stack", "samples"), (Numbers{1, 6}));
  EXPECT_EQ(folder_.numbers("python_stack", "running"), (Numbers{1, 0}));
  EXPECT_EQ(folder_.texts("python_stack", "state"), (Texts{"R", "D"}));
  EXPECT_EQ(folder_.numbers("python_stack", "period_ns"), (Numbers{50, 300}));
  EXPECT_EQ(folder_.numbers("summary_python", "running_ns"), (Numbers{50, 0}));
  EXPECT_EQ(folder_.numbers("summary_python", "time_ns"), (Numbers{50, 300}));
  EXPECT_EQ(folder_.numbers("python_stack", "stack_id"), (Numbers{1, 2}));
  EXPECT_EQ(folder_.texts("python_stack", "python_line"), (Texts{"main.py:3 work", "main.py:9 <module>"}));
  EXPECT_EQ(folder_.numbers("stack", "frame_id"), (Numbers{1, 2, 2}));
  EXPECT_EQ(folder_.texts("stack", "ending"), (Texts{"", "root", "depth"}));
  EXPECT_EQ(folder_.texts("frame", "state"), (Texts{"python", "python"}));
  EXPECT_EQ(folder_.texts("frame", "source")[0], "/data/main.py");
  EXPECT_EQ(folder_.texts("frame", "label")[1], "main.py:9 <module>");
}

// Rows of a version without state and period, and longer ones of a later version.
TEST_F(PythonStacks, OfOtherVersionsAreRead) {
  const std::string now = two_threads().bytes();
  constexpr size_t kHead = sizeof(mlrun_frame_python), kNow = sizeof(mlrun_python_sample);
  const auto resized = [&](__u32 told_bytes, size_t each) {
    std::string bytes = now.substr(0, kHead);
    bytes.replace(offsetof(mlrun_frame_python, sample_bytes), sizeof told_bytes,
                  std::string(reinterpret_cast<const char*>(&told_bytes), sizeof told_bytes));
    for (size_t i = 0; i < 2; ++i) bytes += (now.substr(kHead + i * kNow, kNow) + std::string(16, 'x')).substr(0, each);
    return bytes + now.substr(kHead + 2 * kNow);
  };
  std::string before = resized(0, MLRUN_PYTHON_SAMPLE_SHORT);
  before[kHead + 36] = before[kHead + MLRUN_PYTHON_SAMPLE_SHORT + 36] = 0;  // was spare
  merge({before, resized(kNow + 16, kNow + 16)});
  EXPECT_EQ(folder_.numbers("python_stack", "samples"), (Numbers{1, 6, 1, 6}));
  EXPECT_EQ(folder_.texts("python_stack", "state"), (Texts{"", "", "R", "D"}));
  EXPECT_EQ(folder_.texts("python_stack", "python_line")[1], "main.py:9 <module>");
  EXPECT_EQ(folder_.numbers("loss", "count"), Numbers());
}

TEST_F(PythonStacks, OfSeveralFramesOfTheSpoolAreTheSame) {
  merge({two_threads().bytes(), two_threads().bytes()});
  EXPECT_EQ(folder_.numbers("python_stack", "stack_id"), (Numbers{1, 2, 1, 2}));
  EXPECT_EQ(folder_.numbers("stack", "frame_id").size(), 3u);
}

TEST_F(PythonStacks, ThatBreakTheRulesAreCounted) {
  std::string cut = two_threads().bytes();
  cut.pop_back();
  Payload no_stack = two_threads();
  no_stack.samples[0].stack = 7;
  Payload no_frame = two_threads();
  no_frame.steps[0] = 1000;
  Payload endless = two_threads();
  endless.stacks[1] = {0, 0xffffffff, 0, 0};
  Payload no_text = two_threads();
  no_text.texts[1] = {0xfffffff0, 0xfffffff0};
  merge({cut, std::string(7, 'x'), no_stack.bytes(), no_frame.bytes(), endless.bytes(), no_text.bytes()});
  EXPECT_EQ(folder_.texts("loss", "channel"), (Texts{"python stacks", "python stacks"}));
  EXPECT_EQ(folder_.numbers("loss", "count"), (Numbers{3, 3}));
  EXPECT_EQ(folder_.numbers("python_stack", "ts").size(), 8u);
  EXPECT_EQ(folder_.texts("python_stack", "python_line")[6], "main.py:3");
}

TEST_F(PythonStacks, FailuresOfTheSamplerAreReported) {
  spool_.session()["python_stacks"] = {
      {"by_name", true},   {"rounds", 100}, {"rounds_left_out", 10},
      {"rows_dropped", 3}, {"problem", ""}, {"problems", {{{"text", "Python 3.9.1 is none"}, {"processes", {1, 77}}}}}};
  merge({});
  EXPECT_EQ(folder_.texts("coverage", "detail"), (Texts{"Python 3.9.1 is none", "Python 3.9.1 is none",
                                                        "10 of 100 rounds were without some of the threads: with all "
                                                        "threads they would have taken more than 2 % of a "
                                                        "processor"}));
  EXPECT_EQ(folder_.numbers("coverage", "proc_id"), (Numbers{1, 0, 0}));
  EXPECT_EQ(folder_.numbers("loss", "count"), (Numbers{3}));
}

// Bytes that are no text are kept as four each, in the frame and where it is looked up.
TEST_F(PythonStacks, ThatNameOneLongTextManyTimesTakeBoundedMemory) {
  constexpr size_t kText = 4096, kKeptMax = (size_t{128} << 20) / (2 * 2 * 4 * kText), kStacks = kKeptMax + 10;
  Payload payload;
  for (__u32 i = 0; i < kStacks; ++i) {
    payload.samples.push_back({kStartNs + i, kStartNs + i, 1, 100, i, 1, 1, 0, 0, 0, 0});
    payload.stacks.push_back({i, 1, 0, 0});
    payload.steps.push_back(i);
    payload.frames.push_back({0, 0, static_cast<__s32>(i)});
  }
  payload.texts = {{0, kText}};
  payload.text_bytes = std::string(kText, '\x80');
  Payload longer = two_threads();
  longer.texts[0].bytes = 4097;
  longer.text_bytes += std::string(4097, 'x');
  merge({payload.bytes(), longer.bytes()});
  EXPECT_EQ(folder_.numbers("frame", "frame_id").size(), kKeptMax);
  EXPECT_EQ(folder_.texts("loss", "reason"), (Texts{"rows whose stack is beyond the limits or malformed"}));
  EXPECT_EQ(folder_.numbers("loss", "count"), (Numbers{12}));
}

// mlrun was killed, and the trace recovered: the sampler's failures are unknown.
TEST_F(PythonStacks, AreIncompleteIfTheirSamplerDied) {
  spool_.session()["options"]["streams"] = {"files", "python_stacks"};
  spool_.session()["options"]["asked_streams"] = {"python_stacks"};
  merge({two_threads().bytes()});
  EXPECT_EQ(folder_.texts("coverage", "subject"), (Texts{"Python stacks"}));
  EXPECT_EQ(
      folder_.texts("coverage", "detail"),
      (Texts{"mlrun died before it reported how many rounds were incomplete, and which processes have no stacks"}));
}

// What was not asked for is no gap.
TEST_F(PythonStacks, ByDefaultAreNotMissed) {
  spool_.session()["options"]["streams"] = {"files", "python_stacks"};
  merge({two_threads().bytes()});
  EXPECT_EQ(folder_.texts("coverage", "detail"), Texts());
}

TEST_F(PythonStacks, InTurnByDefaultLeaveNothingOut) {
  spool_.session()["python_stacks"] = {{"by_name", false}, {"rounds", 100}, {"rounds_left_out", 10}};
  merge({});
  EXPECT_EQ(folder_.texts("coverage", "detail"), Texts());
}

}  // namespace
}  // namespace mlrun
