// SPDX-License-Identifier: Apache-2.0
// The text against golden files. After a wanted change: MLRUN_UPDATE_GOLDEN=1 summary_test, and look at the
// difference.
#include "runner/report/text/text.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/runner/summary/small_training.h"

namespace mlrun::report {
namespace {

using summary::Activity;
using summary::ProcessSummary;
using summary::State;
using summary::Summary;
using summary::testing::small_training;

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
  static std::ptrdiff_t lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }
  static size_t widest_line(const std::string& text) {
    size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, text_width(line));
    return widest;
  }
};

Summary incomplete_training() {
  Summary summary = small_training();
  summary.run.exit_status = 137;
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
  Summary summary = small_training();
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
    summary::FuncSummary func = summary.funcs[0];
    func.name = "function" + std::to_string(i);
    summary.funcs.push_back(func);
    summary::FileSummary file = summary.files[0];
    file.path =
        "/a/very/long/path/of/a/data/set/with/many/folders/and/a/longer/name/still/case_" + std::to_string(i) + ".npy";
    summary.files.push_back(file);
  }
  return summary;
}

// A run that waits for two workers, with every block of the answer.
Summary answered_training() {
  constexpr int64_t kMs = 1'000'000;
  Summary summary = large_training();
  summary.run.wall_ns = 10'000 * kMs;
  summary::Answer& answer = summary.answer;
  answer.driver_thread_id = 1;
  answer.driver_tid = answer.driver_pid = 100;
  answer.wall_ns = 10'000 * kMs;
  answer.batches_from_ns = 1000 * kMs;
  answer.batches_to_ns = 9000 * kMs;
  answer.without_batch_ns = 6000 * kMs;
  answer.low_ns = 5600 * kMs;
  answer.high_ns = 6400 * kMs;
  answer.waiting_ns = 6000 * kMs;
  answer.samples = 160;
  answer.steps = 200;
  answer.time = {{Activity::kWait, State::kDevice, 5000 * kMs},    {Activity::kCompute, State::kOnCpu, 1990 * kMs},
                 {Activity::kStartup, State::kOnCpu, 900 * kMs},   {Activity::kWait, State::kOnCpu, 950 * kMs},
                 {Activity::kStartup, State::kBlocked, 100 * kMs}, {Activity::kEnd, State::kBlocked, 1000 * kMs},
                 {Activity::kLogging, State::kOnCpu, 30 * kMs},    {Activity::kReceive, State::kOnCpu, 30 * kMs}};
  for (int i = 0; i < 5; ++i) {
    answer.findings.push_back({"small_files", "small_requests,metadata",
                               "38,400 files of 8.00 KiB were opened and read", 5000 * kMs, 450'000, 550'000,
                               "160 samples of the training thread, one run", "rows",
                               "mlrun show TRACE blame --where 'cause = small_files'",
                               "pack the samples into a few large files", "packing saves most of it", 4000 * kMs});
  }
  for (int32_t pid = 101; pid < 103; ++pid) {
    answer.waited_for.push_back({"DataLoader worker", "", pid - 99, pid, pid, "reading", "data.py:16 Set.__getitem__",
                                 "pipe", (2600 - pid) * kMs});
  }
  answer.waited_for.push_back({"main", "", 1, 100, 100, "waiting", "", "none", 950 * kMs});
  for (int32_t line = 1; line < 20; ++line) {
    summary.python.push_back({"main", "main", "/home/me/train.py", 1, line, 100 - line, 50, 0, 0, 50 - line, 1});
    summary.python.push_back(
        {"DataLoader worker", "Set.__getitem__", "/home/me/data.py", 2, line, 90 - line, 80 - line, 0, 0, 10, 0});
  }
  summary.python.push_back(
      {"main", "Condition.wait", "/usr/lib/python3.11/threading.py", 1, 320, 5000, 0, 0, 0, 5000, 0});
  for (model::PhaseRow& phase : summary.phases) phase.wait_ns = phase.compute_ns = 5 * kMs;
  return summary;
}

TEST_F(TextTest, FitsOneScreen) {
  TextStyle style;
  style.trace = "mlrun-train-1";
  const std::string shown = text(answered_training(), "mlrun-train-1", style);
  expect_golden("answer.txt", shown);
  EXPECT_LE(lines_of(shown), std::ptrdiff_t{kLinesMost});
  EXPECT_EQ(shown.find("TRACE"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("threading.py"), std::string::npos) << "idle helper threads are no answer:\n" << shown;
}

TEST_F(TextTest, AnswersOnANarrowTerminalInAscii) {
  TextStyle style;
  style.width = 60;
  style.glyphs.unicode = false;
  const std::string ascii = text(answered_training(), "mlrun-train-1", style);
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](char c) { return c > 0; }));
  expect_golden("answer_ascii_60.txt", ascii);
}

// The parts of a whole, as printed.
TEST_F(TextTest, AddsTheTimeUpToTheWallTime) {
  std::istringstream lines(where_time_text(answered_training(), TextStyle{}));
  double percent = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(" %")) percent += std::stod(line.substr(line.size() - 6));
  }
  EXPECT_NEAR(percent, 100, 1);
}

TEST_F(TextTest, ShowsWhyThereAreNoSteps) {
  Summary summary = answered_training();
  EXPECT_EQ(where_time_text(summary, TextStyle{}).find("steps"), std::string::npos);
  summary.answer.steps = 0;
  EXPECT_NE(where_time_text(summary, TextStyle{}).find("steps: unknown: the waits"), std::string::npos);
  summary.answer.waiting_ns = 0;
  EXPECT_NE(where_time_text(summary, TextStyle{}).find("steps: unknown: no call"), std::string::npos);
}

TEST_F(TextTest, FindsNothingInAProgramThatOnlyComputes) {
  Summary summary = answered_training();
  summary.answer.findings.resize(1);
  summary.answer.findings[0].cause = "compute_bound";
  EXPECT_NE(findings_text(summary, TextStyle{}), "");
  summary.answer.batches_from_ns = summary.answer.samples = 0;
  EXPECT_EQ(findings_text(summary, TextStyle{}), "");
}

TEST_F(TextTest, ShowsOnlyTheFailureOfACommandThatFailedAtOnce) {
  Summary summary = answered_training();
  EXPECT_EQ(extent_at_end(summary), Extent::kAnswer);
  summary.run.exit_status = 1;
  EXPECT_EQ(extent_at_end(summary), Extent::kAnswer) << "it ran for long";
  summary.run.wall_ns = 2'000'000'000;
  EXPECT_EQ(extent_at_end(summary), Extent::kShort);
  TextStyle style;
  style.trace = "mlrun-train-1";
  const std::string shown = text(summary, "mlrun-train-1", style, Extent::kShort);
  EXPECT_LE(lines_of(shown), 5) << shown;
  EXPECT_NE(shown.find("mlrun report mlrun-train-1"), std::string::npos) << shown;
}

TEST_F(TextTest, QuotesTheFolderInCommands) {
  TextStyle style;
  style.trace = shell_word("my run/it's");
  EXPECT_EQ(style.with_trace("mlrun show TRACE call"), "mlrun show 'my run/it'\\''s' call");
  EXPECT_EQ(shell_word("/tmp/mlrun-train-1"), "/tmp/mlrun-train-1");
  EXPECT_EQ(style.with_trace("TRACE is a word"), "TRACE is a word");
}

TEST_F(TextTest, ShowsASmallTraining) {
  expect_golden("small_training.txt", text(small_training(), "mlrun-train-1", TextStyle{}, Extent::kFull));
}

TEST_F(TextTest, ShowsItInPlainAscii) {
  TextStyle style;
  style.width = 80;
  style.glyphs.unicode = false;
  const std::string ascii = text(small_training(), "mlrun-train-1", style, Extent::kFull);
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](char c) { return c > 0; }));
  expect_golden("small_training_ascii_80.txt", ascii);
}

TEST_F(TextTest, ShowsFirstWhatIsNotComplete) {
  expect_golden("incomplete_training.txt", text(incomplete_training(), "mlrun-train-1", TextStyle{}, Extent::kFull));
}

TEST_F(TextTest, FoldsLongListsToAScreenful) {
  const std::string large = text(large_training(), "mlrun-train-1", TextStyle{}, Extent::kFull);
  expect_golden("large_training.txt", large);
  EXPECT_LE(lines_of(large), 90);
}

TEST_F(TextTest, KeepsWithinTheWidth) {
  for (const size_t width : {size_t{60}, size_t{72}, size_t{80}, size_t{100}, size_t{160}, size_t{200}}) {
    for (const Extent extent : {Extent::kShort, Extent::kAnswer, Extent::kFull}) {
      TextStyle style;
      style.width = width;
      style.trace = "mlrun-train-1";
      EXPECT_LE(widest_line(text(large_training(), "mlrun-train-1", style, extent)), width);
      EXPECT_LE(widest_line(text(incomplete_training(), "mlrun-train-1", style, extent)), width);
      EXPECT_LE(widest_line(text(answered_training(), "mlrun-train-1", style, extent)), width);
    }
  }
}

TEST_F(TextTest, ColoursOnlyWhenAsked) {
  TextStyle style;
  EXPECT_EQ(text(small_training(), "", style).find('\x1b'), std::string::npos);
  style.colour = true;
  const std::string coloured = text(small_training(), "", style);
  EXPECT_NE(coloured.find("\x1b[1mFILES BY TIME\x1b[0m"), std::string::npos);
  EXPECT_LE(widest_line(coloured), 100u);
}

Summary of_processes(const std::vector<std::pair<int32_t, int32_t>>& ids_and_parents) {
  Summary summary = small_training();
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
  const std::string shown = text(of_processes({{0, 0}, {1, 0}, {2, 1}}), "", TextStyle{}, Extent::kFull);
  EXPECT_NE(shown.find("PROCESS TREE"), std::string::npos);
}

TEST_F(TextTest, EndsWithProcessesThatAreTheirOwnParents) {
  const std::string shown = text(of_processes({{5, 0}, {5, 5}, {7, 8}, {8, 7}}), "", TextStyle{}, Extent::kFull);
  EXPECT_NE(shown.find("PROCESS TREE"), std::string::npos);
}

TEST_F(TextTest, ShowsALineOfProcessesHoweverLong) {
  constexpr int32_t kProcesses = 200'000;
  std::vector<std::pair<int32_t, int32_t>> chain;
  for (int32_t i = 1; i <= kProcesses; ++i) chain.emplace_back(i, i - 1);
  const std::string shown = processes_text(of_processes(chain), TextStyle{});
  EXPECT_NE(shown.find(" more processes"), std::string::npos);
}

TEST_F(TextTest, CountsChildrenByTheirName) {
  std::vector<std::pair<int32_t, int32_t>> family = {{1, 0}};
  for (int32_t i = 2; i < 12; ++i) family.emplace_back(i, 1);
  Summary summary = of_processes(family);
  for (size_t i = 1; i < summary.processes.size(); ++i) summary.processes[i].role = "child";
  const std::string shown = processes_text(summary, TextStyle{});
  EXPECT_NE(shown.find(" more children"), std::string::npos) << shown;
}

TEST_F(TextTest, ShowsAnEmptyTrace) {
  expect_golden("empty.txt", text(summary::Builder().finish({}), "", TextStyle{}));
}

TEST_F(TextTest, ShowsHowProcessesEndedAndWhereThatIsUnknown) {
  Summary summary = summary::Builder().finish({});
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
  Summary summary = small_training();
  summary.processes[0].mapped_peak.ts_ns = summary::testing::kStart + 5 * summary::testing::kMillisecond;
  summary.processes[0].mapped_peak.bytes = 300 << 20;
  const std::string shown = heap_text(summary, TextStyle{});
  EXPECT_NE(shown.find("\nMAPPED        300 MiB at once in main (100) at 5.00 ms"), std::string::npos) << shown;
  for (ProcessSummary& process : summary.processes) process.heap_peak = {};
  EXPECT_TRUE(heap_text(summary, TextStyle{}).starts_with("MAPPED        300 MiB")) << heap_text(summary, TextStyle{});
}

// With --last the state before the first event is unknown: no zero, and no exact figure.
TEST_F(TextTest, ClaimsNothingAboutTheTimeBeforeTheFirstEvents) {
  Summary summary = small_training();
  summary.run.options.last_ns = 10 * summary::testing::kMillisecond;
  summary.run.events_from_ns = summary.phases[0].end_ns();
  const std::string phases = phases_text(summary, TextStyle{}), heap = heap_text(summary, TextStyle{});
  EXPECT_NE(phases.find("-          -         -         -\n"), std::string::npos) << phases;
  EXPECT_EQ(heap.find("exact"), std::string::npos) << heap;
  EXPECT_NE(heap.find("only blocks allocated since the first kept event"), std::string::npos) << heap;
}

TEST_F(TextTest, CallsNoSampledHeapExact) {
  Summary summary = small_training();
  summary.alloc_sample_bytes = 512 << 10;
  const std::string shown = text(summary, "", TextStyle{}, Extent::kFull);
  EXPECT_EQ(shown.find("exact"), std::string::npos) << shown;
  EXPECT_NE(shown.find("readings 0.1 to 1.6 s apart"), std::string::npos) << shown;
}

TEST_F(TextTest, ShowsThatASystemCallTookMoreThanTheLastBound) {
  Summary summary;
  summary.run.kernel_side.syscalls = {{"futex", 0, 0, 0, 0, 2048, {}}};
  const std::string shown = syscalls_text(summary, TextStyle{});
  EXPECT_NE(shown.find("2.05 "), std::string::npos) << shown;
  EXPECT_NE(shown.find("more than 9 min 10 s"), std::string::npos) << shown;
}

// A server may have had it, or a disk in memory that has no requests.
TEST_F(TextTest, ClaimsNoPageCacheWhereNoBlockDeviceWasUsed) {
  Summary summary;
  summary.run.kernel_side.own_devices.emplace();
  const std::string shown = devices_text(summary, TextStyle{});
  EXPECT_NE(shown.find("these processes used only the page cache, memory or file servers"), std::string::npos) << shown;
}

// What lacks some of it is not said to be missing.
TEST_F(TextTest, DistinguishesMissingFromIncompleteSignals) {
  Summary summary;
  summary.run.kernel_side.signals = {{"file operations", "tracepoint", "page faults (no call)", ""},
                                     {"waits", "", "not asked for", ""}};
  const std::string shown = kernel_text(summary, TextStyle{});
  EXPECT_NE(shown.find("file operations without page faults (no call)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("without waits: not asked for"), std::string::npos) << shown;
}

TEST_F(TextTest, LetsNoNameSteerTheTerminal) {
  Summary summary = small_training();
  summary.run.command = {"evil\x1b[2J"};
  summary.files[0].path = "/x\x1b]0;title\x07";
  summary.processes[0].command = "a\nb";
  summary.phases[0].name = "\x1b[31mred";
  const std::string shown = text(summary,
                                 "tr\x1b"
                                 "ace",
                                 TextStyle{}, Extent::kFull);
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_EQ(shown.find('\x07'), std::string::npos);
}

TEST_F(TextTest, GpusOfOneNameHaveTheNumbersOfNvidiaSmi) {
  Summary summary;
  for (int32_t gpu_id = 1; gpu_id <= 3; ++gpu_id) {
    summary::GpuWorkSummary& work = summary.gpu_work.emplace_back();
    work.gpu_id = gpu_id;
    work.name = "NVIDIA H200";
    summary::GpuIdleSummary& idle = summary.gpu_idle.emplace_back();
    idle.gpu_id = gpu_id;
    idle.label = "cpu";
    idle.time_ns = 1000;
    if (gpu_id == 3) break;  // the driver does not report this one
    summary::GpuSummary& gpu = summary.gpus.emplace_back();
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

TEST_F(TextTest, AShareOfAMachineOrGpuIsOnlyZeroOrAllIfItIsExactlyThat) {
  constexpr int64_t kLong = 1'000'000'000;
  Summary summary;
  summary::MachineUse& use = summary.machine.emplace_back();
  use.observed_ns = kLong;
  use.busy_ns = kLong - 1;
  use.iowait_ns = 1;
  summary::GpuSummary& gpu = summary.gpus.emplace_back();
  gpu.busy_ppm = 999'999;
  gpu.sm_active_ppm = 1;
  for (const std::string& shown : {machine_text(summary, {}), gpus_text(summary, {})}) {
    EXPECT_NE(shown.find(">99.9 %"), std::string::npos) << shown;
    EXPECT_NE(shown.find("<0.1 %"), std::string::npos) << shown;
  }
}

TEST_F(TextTest, ThreadsOfOneProcessThatMadeAGpuWaitAreSeparate) {
  Summary summary = small_training();
  const int32_t pid = summary.processes[1].pid;
  summary.gpu_idle.clear();
  for (const int32_t tid : {pid, pid + 7}) {
    summary::GpuIdleSummary& idle = summary.gpu_idle.emplace_back();
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
  Summary summary = small_training();
  summary.gpu_idle.clear();
  for (const char* func : {"clock_nanosleep", ""}) {
    summary::GpuIdleSummary& idle = summary.gpu_idle.emplace_back();
    idle.label = "waiting";
    idle.func = func;
    idle.time_ns = 1000;
  }
  const std::string text = gpu_idle_text(summary, {});
  EXPECT_NE(text.find("unknown in clock_nanosleep "), std::string::npos) << text;
  EXPECT_NE(text.find("unknown  "), std::string::npos) << "of the other one no call is known:\n" << text;
}

TEST_F(TextTest, TheEndListsTheStreamsThatWereOn) {
  Summary summary = small_training();
  EXPECT_EQ(streams_text(summary, TextStyle{}), "") << "nothing is said of streams";
  model::Run& run = summary.run;
  run.options.streams = {"files", "allocs", "marks", "gpu_samples", "python_stacks", "block", "wait", "vfs"};
  run.options.asked_streams = {"python_stacks", "block", "wait", "vfs"};
  run.collector.channels = 3;
  run.gpu_sampler.problem = "there is no driver";
  run.python_stacks.problem = "ptrace is refused";
  run.kernel_side.state = "recorded";
  run.kernel_side.signals = {{"block I/O", "tracepoint", "", ""}, {"file operations", "", "", ""}};
  std::string shown = streams_text(summary, TextStyle{.width = 1000, .glyphs = {}});
  EXPECT_TRUE(shown.starts_with("STREAMS       on: files, allocations, marks, block I/O, waits of the kernel"))
      << shown;
  EXPECT_NE(shown.find("not available: GPU samples ·"), std::string::npos) << shown;
  EXPECT_NE(shown.find("requested but not available: Python stacks (ptrace is refused)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("requested but not available: file operations of the kernel (see KERNEL SIDE)"),
            std::string::npos)
      << shown;
  EXPECT_NE(shown.find("off: --cupti"), std::string::npos) << shown;
  run.kernel_side.state = "refused";
  run.kernel_side.reason = "it needs root";
  run.collector.channels = 0;
  shown = streams_text(summary, TextStyle{.width = 1000, .glyphs = {}});
  EXPECT_TRUE(shown.starts_with("STREAMS       none was on")) << shown;
  EXPECT_NE(shown.find("block I/O (it needs root)"), std::string::npos) << shown;
}

}  // namespace
}  // namespace mlrun::report
