// SPDX-License-Identifier: Apache-2.0
// The text against golden files. After a wanted change: MLRUN_UPDATE_GOLDEN=1 summary_test, and look at the
// difference.
#include "runner/report/text/text.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/runner/summary/small_training.h"

namespace mlrun::summary {
namespace {

class TextTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("TZ", "UTC", 1); }

  static void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(MLRUN_GOLDEN_FOLDER) + "/" + name;
    if (std::getenv("MLRUN_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::stringstream expected;
    expected << std::ifstream(path).rdbuf();
    EXPECT_EQ(text, expected.str()) << path;
  }
  static size_t widest_line(const std::string& text) {
    size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, text_width(line));
    return widest;
  }
};

Summary incomplete_training() {
  Summary summary = testing::small_training();
  (*summary.run)["exit_status"] = 137;
  for (int32_t thread = 1; thread <= 3; ++thread) {
    model::LossRow& loss = summary.losses.emplace_back();
    loss.channel = "interposer";
    loss.reason = "arena full";
    loss.proc_id = 2;
    loss.thread_id = thread;
    loss.count = 1000;
    loss.unit = "records";
    loss.kind = thread < 3 ? "file call" : "free";
  }
  for (const int32_t proc_id : {2, 3}) summary.coverage.push_back({proc_id, "io_uring", "not hooked", -1, -1});
  summary.coverage.push_back({1, "bytes read", "by raw system calls", 250, 1'000'250});
  for (int i = 0; i < 5; ++i)
    summary.coverage.push_back({0, "program " + std::to_string(i), "statically linked", -1, -1});
  return summary;
}

// A run whose every list is longer than the screen.
Summary large_training() {
  Summary summary = testing::small_training();
  for (int32_t i = 0; i < 40; ++i) {
    ProcessSummary worker = summary.processes[1];
    worker.proc_id = 100 + i;
    worker.pid = 2000 + i;
    summary.processes.insert(summary.processes.end() - 1, worker);
  }
  for (int32_t i = 0; i < 30; ++i) {
    ProcessSummary child = summary.processes[3];
    child.proc_id = 200 + i;
    child.role = "rank " + std::to_string(i);
    summary.processes.push_back(child);
  }
  for (int32_t i = 3; i < 20; ++i) {
    model::PhaseRow phase = summary.phases[0];
    phase.name = "epoch " + std::to_string(i);
    summary.phases.push_back(phase);
  }
  for (int i = 0; i < 20; ++i) {
    summary.errors.push_back({20, "stat", 5 + i, 1});
    FuncSummary func = summary.funcs[0];
    func.name = "function" + std::to_string(i);
    summary.funcs.push_back(func);
    FileSummary file = summary.files[0];
    file.path =
        "/a/very/long/path/of/a/data/set/with/many/folders/and/a/longer/name/still/case_" + std::to_string(i) + ".npy";
    summary.files.push_back(file);
  }
  return summary;
}

TEST_F(TextTest, ShowsASmallTraining) {
  expect_golden("small_training.txt", text(testing::small_training(), "mlrun-train-1", TextStyle{}));
}

TEST_F(TextTest, ShowsItInPlainAscii) {
  TextStyle style;
  style.width = 80;
  style.glyphs.unicode = false;
  const std::string ascii = text(testing::small_training(), "mlrun-train-1", style);
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](char c) { return c > 0; }));
  expect_golden("small_training_ascii_80.txt", ascii);
}

TEST_F(TextTest, ShowsFirstWhatIsNotComplete) {
  expect_golden("incomplete_training.txt", text(incomplete_training(), "mlrun-train-1", TextStyle{}));
}

TEST_F(TextTest, FoldsLongListsToAScreenful) {
  const std::string large = text(large_training(), "mlrun-train-1", TextStyle{});
  expect_golden("large_training.txt", large);
  EXPECT_LE(std::count(large.begin(), large.end(), '\n'), 58);
}

TEST_F(TextTest, KeepsWithinTheWidth) {
  for (const size_t width : {size_t{60}, size_t{72}, size_t{80}, size_t{100}, size_t{160}}) {
    TextStyle style;
    style.width = width;
    EXPECT_LE(widest_line(text(large_training(), "mlrun-train-1", style)), width);
    EXPECT_LE(widest_line(text(incomplete_training(), "mlrun-train-1", style)), width);
  }
}

TEST_F(TextTest, ColoursOnlyWhenAsked) {
  TextStyle style;
  EXPECT_EQ(text(testing::small_training(), "", style).find('\x1b'), std::string::npos);
  style.colour = true;
  const std::string coloured = text(testing::small_training(), "", style);
  EXPECT_NE(coloured.find("\x1b[1mPROCESSES\x1b[0m"), std::string::npos);
  EXPECT_LE(widest_line(coloured), 100u);
}

Summary of_processes(const std::vector<std::pair<int32_t, int32_t>>& ids_and_parents) {
  Summary summary = testing::small_training();
  const ProcessSummary like = summary.processes[0];
  summary.processes.clear();
  for (const auto& [proc_id, parent] : ids_and_parents) {
    summary.processes.push_back(like);
    summary.processes.back().proc_id = proc_id;
    summary.processes.back().parent_proc_id = parent;
  }
  return summary;
}

TEST_F(TextTest, ShowsCallsOfAProcessThatIsNotKnown) {
  const std::string shown = text(of_processes({{0, 0}, {1, 0}, {2, 1}}), "", TextStyle{});
  EXPECT_NE(shown.find("PROCESSES"), std::string::npos);
}

TEST_F(TextTest, EndsWithProcessesThatAreTheirOwnParents) {
  const std::string shown = text(of_processes({{5, 0}, {5, 5}, {7, 8}, {8, 7}}), "", TextStyle{});
  EXPECT_NE(shown.find("PROCESSES"), std::string::npos);
}

TEST_F(TextTest, ShowsALineOfProcessesHoweverLong) {
  constexpr int32_t kProcesses = 200'000;
  std::vector<std::pair<int32_t, int32_t>> chain;
  for (int32_t i = 1; i <= kProcesses; ++i) chain.emplace_back(i, i - 1);
  const std::string shown = text(of_processes(chain), "", TextStyle{});
  EXPECT_NE(shown.find(" more processes"), std::string::npos);
}

TEST_F(TextTest, CountsChildrenByTheirName) {
  std::vector<std::pair<int32_t, int32_t>> family = {{1, 0}};
  for (int32_t i = 2; i < 12; ++i) family.emplace_back(i, 1);
  Summary summary = of_processes(family);
  for (size_t i = 1; i < summary.processes.size(); ++i) summary.processes[i].role = "child";
  const std::string shown = text(summary, "", TextStyle{});
  EXPECT_NE(shown.find(" more children"), std::string::npos) << shown;
}

TEST_F(TextTest, ShowsAnEmptyTrace) { expect_golden("empty.txt", text(Builder().finish({}), "", TextStyle{})); }

TEST_F(TextTest, SaysThatACommandWithoutCallsWasFollowed) {
  Summary summary;
  summary.processes.resize(1);
  const std::string shown = completeness_text(summary, TextStyle{});
  EXPECT_NE(shown.find("NOTHING RECORDED"), std::string::npos) << shown;
  EXPECT_NE(shown.find("were followed, and made no call"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("doctor"), std::string::npos) << shown;
}

TEST_F(TextTest, ListsAtTheEndWhatWasNotSeenAndMovedNothing) {
  Summary summary = Builder().finish({});
  summary.calls = 1;
  summary.coverage.push_back({0, "/sbin/ldconfig", "statically linked", 0, 1, model::kRemark});
  EXPECT_TRUE(summary.complete());
  EXPECT_EQ(completeness_text(summary, TextStyle{}),
            "complete: nothing lost, nothing known to be unseen that moved bytes or memory (remarks at the end)\n");
  EXPECT_EQ(remarks_text(summary, TextStyle{}), "REMARKS\n  /sbin/ldconfig (1 of 1), statically linked\n");
  summary.coverage.push_back({0, "bytes read", "by a child", 0, 1 << 20});
  EXPECT_FALSE(summary.complete());
  EXPECT_NE(completeness_text(summary, TextStyle{}).find("NOT ALL SEEN"), std::string::npos);
  EXPECT_EQ(completeness_text(summary, TextStyle{}).find("ldconfig"), std::string::npos);
}

TEST_F(TextTest, SaysOfProcessesHowTheyEndedAndWhenThatIsNotKnown) {
  Summary summary = Builder().finish({});
  const std::pair<const char*, const char*> ends[] = {{"exit", "main"}, {"no exit", "child"}, {"no record", "rank 1"}};
  for (int32_t i = 0; i < 3; ++i) {
    ProcessSummary& process = summary.processes.emplace_back();
    process.proc_id = process.pid = i + 1;
    process.end = ends[i].first;
    process.role = ends[i].second;
  }
  const std::string shown = processes_text(summary, TextStyle{});
  EXPECT_NE(shown.find("KILLED        1 process was killed by a signal"), std::string::npos) << shown;
  EXPECT_NE(shown.find("2 (child)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("ENDED         1 process ended without an exit record"), std::string::npos) << shown;
  EXPECT_NE(shown.find("3 (rank 1)"), std::string::npos) << shown;
}

TEST_F(TextTest, ShowsWhatIsMappedBesideTheHeap) {
  Summary summary = testing::small_training();
  summary.processes[0].mapped_peak.ts_ns = testing::kStart + 5 * testing::kMillisecond;
  summary.processes[0].mapped_peak.bytes = 300 << 20;
  const std::string shown = heap_text(summary, TextStyle{});
  EXPECT_NE(shown.find("\nMAPPED        300 MiB at once in main (100) at 5.00 ms"), std::string::npos) << shown;
  for (ProcessSummary& process : summary.processes) process.heap_peak = {};
  EXPECT_TRUE(heap_text(summary, TextStyle{}).starts_with("MAPPED        300 MiB")) << heap_text(summary, TextStyle{});
}

// With --last the state before the first event is unknown: no zero, and no exact figure.
TEST_F(TextTest, ClaimsNothingOfWhatWasBeforeTheEventsBegin) {
  Summary summary = testing::small_training();
  (*summary.run)["options"]["last_ns"] = 10 * testing::kMillisecond;
  (*summary.run)["events_from_ns"] = summary.phases[0].end_ns();
  const std::string phases = phases_text(summary, TextStyle{}), heap = heap_text(summary, TextStyle{});
  EXPECT_NE(phases.find("-         -        -         -\n"), std::string::npos) << phases;
  EXPECT_EQ(heap.find("exact"), std::string::npos) << heap;
  EXPECT_NE(heap.find("only of what was allocated since the events begin"), std::string::npos) << heap;
}

TEST_F(TextTest, CallsNoSampledHeapExact) {
  Summary summary = testing::small_training();
  summary.alloc_sample_bytes = 512 << 10;
  const std::string shown = text(summary, "", TextStyle{});
  EXPECT_EQ(shown.find("exact"), std::string::npos) << shown;
  EXPECT_NE(shown.find("looks 0.1 to 1.6 s apart"), std::string::npos) << shown;
}

TEST_F(TextTest, SaysThatASystemCallTookMoreThanTheLastBoundThatIsCountedBy) {
  Summary summary;
  (*summary.run)["kernel_side"]["syscalls"] = {{{"name", "futex"}, {"p50_below_ns", 2048}, {"p99_below_ns", nullptr}}};
  const std::string shown = syscalls_text(summary, TextStyle{});
  EXPECT_NE(shown.find("2.05 "), std::string::npos) << shown;
  EXPECT_NE(shown.find("more than 9 min 10 s"), std::string::npos) << shown;
}

// A server may have had it, or a disk in memory that has no requests.
TEST_F(TextTest, ClaimsNoPageCacheWhereNoBlockDeviceWasAsked) {
  Summary summary;
  (*summary.run)["kernel_side"]["own_devices"] = nlohmann::json::array();
  const std::string shown = devices_text(summary, TextStyle{});
  EXPECT_NE(shown.find("the page cache, memory or file servers had all of it"), std::string::npos) << shown;
}

// What lacks some of it is not said to be missing.
TEST_F(TextTest, DistinguishesMissingFromIncompleteSignals) {
  Summary summary;
  (*summary.run)["kernel_side"]["signals"] = {
      {{"signal", "file operations"}, {"way", "tracepoint"}, {"missing", "page faults (no call)"}},
      {{"signal", "waits"}, {"way", nullptr}, {"missing", "not asked for"}}};
  const std::string shown = kernel_text(summary, TextStyle{});
  EXPECT_NE(shown.find("file operations without page faults (no call)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("without waits: not asked for"), std::string::npos) << shown;
}

TEST_F(TextTest, LetsNoNameSteerTheTerminal) {
  Summary summary = testing::small_training();
  (*summary.run)["command"] = {"evil\x1b[2J"};
  summary.files[0].path = "/x\x1b]0;title\x07";
  summary.processes[0].command = "a\nb";
  summary.phases[0].name = "\x1b[31mred";
  const std::string shown = text(summary,
                                 "tr\x1b"
                                 "ace",
                                 TextStyle{});
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_EQ(shown.find('\x07'), std::string::npos);
}

TEST_F(TextTest, GpusOfOneNameHaveTheNumbersOfNvidiaSmi) {
  Summary summary;
  for (int32_t gpu_id = 1; gpu_id <= 3; ++gpu_id) {
    GpuWorkSummary& work = summary.gpu_work.emplace_back();
    work.gpu_id = gpu_id;
    work.name = "NVIDIA H200";
    GpuIdleSummary& idle = summary.gpu_idle.emplace_back();
    idle.gpu_id = gpu_id;
    idle.label = "cpu";
    idle.time_ns = 1000;
    if (gpu_id == 3) break;  // the driver does not report this one
    GpuSummary& gpu = summary.gpus.emplace_back();
    gpu.gpu_id = gpu_id;
    gpu.index = gpu_id - 1;
  }
  const std::string work = gpu_work_text(summary, {}), idle = gpu_idle_text(summary, {});
  for (const char* name : {"\n0 NVIDIA H200", "\n1 NVIDIA H200", "\n#3 NVIDIA H200"}) {
    EXPECT_NE(work.find(name), std::string::npos) << work;
  }
  for (const char* name : {"\nGPU 0 ", "\nGPU 1 ", "\nGPU #3 "}) EXPECT_NE(idle.find(name), std::string::npos) << idle;
  summary.gpu_work.resize(1);
  EXPECT_NE(gpu_work_text(summary, {}).find("\nNVIDIA H200"), std::string::npos);
}

TEST_F(TextTest, ThreadsOfOneProcessThatMadeAGpuWaitAreSeparate) {
  Summary summary = testing::small_training();
  const int32_t pid = summary.processes[1].pid;
  summary.gpu_idle.clear();
  for (const int32_t tid : {pid, pid + 7}) {
    GpuIdleSummary& idle = summary.gpu_idle.emplace_back();
    idle.label = "cpu";
    idle.proc_id = summary.processes[1].proc_id;
    idle.tid = tid;
    idle.time_ns = 1000;
  }
  const std::string text = gpu_idle_text(summary, {});
  EXPECT_NE(text.find(std::to_string(pid) + " thread " + std::to_string(pid + 7)), std::string::npos) << text;
  EXPECT_EQ(text.find("thread " + std::to_string(pid) + " "), std::string::npos) << text;
}

TEST_F(TextTest, NamesTheCallOfAWaitThatAGpuWaitedFor) {
  Summary summary = testing::small_training();
  summary.gpu_idle.clear();
  for (const char* func : {"clock_nanosleep", ""}) {
    GpuIdleSummary& idle = summary.gpu_idle.emplace_back();
    idle.label = "waiting";
    idle.func = func;
    idle.time_ns = 1000;
  }
  const std::string text = gpu_idle_text(summary, {});
  EXPECT_NE(text.find("not known in clock_nanosleep "), std::string::npos) << text;
  EXPECT_NE(text.find("not known  "), std::string::npos) << "of the other one no call is known:\n" << text;
}

TEST_F(TextTest, TheEndSaysWhichStreamsWereOn) {
  Summary summary = testing::small_training();
  EXPECT_EQ(streams_text(summary, TextStyle{}), "") << "nothing is said of streams";
  (*summary.run)["options"] = {
      {"streams", {"files", "allocs", "marks", "gpu_samples", "python_stacks", "block", "wait", "vfs"}},
      {"asked_streams", {"python_stacks", "block", "wait", "vfs"}}};
  (*summary.run)["collector"]["channels"] = 3;
  (*summary.run)["gpu_sampler"]["problem"] = "there is no driver";
  (*summary.run)["python_stacks"]["problem"] = "ptrace is refused";
  (*summary.run)["kernel_side"] = {
      {"state", "recorded"},
      {"signals",
       {{{"signal", "block I/O"}, {"way", "tracepoint"}}, {{"signal", "file operations"}, {"way", nullptr}}}}};
  std::string shown = streams_text(summary, TextStyle{.width = 1000, .glyphs = {}});
  EXPECT_TRUE(shown.starts_with("STREAMS       on: files, allocations, marks, block I/O, waits of the kernel"))
      << shown;
  EXPECT_NE(shown.find("not available: GPU samples ·"), std::string::npos) << shown;
  EXPECT_NE(shown.find("asked for and not available: Python stacks (ptrace is refused)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("asked for and not available: file operations of the kernel (see KERNEL SIDE)"),
            std::string::npos)
      << shown;
  EXPECT_NE(shown.find("off: --cupti"), std::string::npos) << shown;
  (*summary.run)["kernel_side"] = {{"state", "refused"}, {"reason", "it needs root"}};
  (*summary.run)["collector"]["channels"] = 0;
  shown = streams_text(summary, TextStyle{.width = 1000, .glyphs = {}});
  EXPECT_TRUE(shown.starts_with("STREAMS       none was on")) << shown;
  EXPECT_NE(shown.find("block I/O (it needs root)"), std::string::npos) << shown;
}

}  // namespace
}  // namespace mlrun::summary
