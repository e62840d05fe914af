// SPDX-License-Identifier: Apache-2.0
// Processes and threads: files with known numbers, and processes of the test's own.
#include "runner/samplers/machine/process_source.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include <fmt/format.h>

#include "runner/samplers/machine/machine_sampler.h"
#include "runner/util/clock.h"
#include "tests/runner/samplers/machine/sampled_files.h"
#include "tests/runner/samplers/no_descriptors.h"

namespace mlrun::machine {
namespace {

const int64_t kOneTickNs = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);

// A child that has used 100 ms of a processor and has ended, but is not reaped.
pid_t child_that_computed() {
  const pid_t child = ::fork();
  if (child == 0) {
    const uint64_t until_ns = util::clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 100'000'000;
    while (util::clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns) {
    }
    _exit(0);
  }
  siginfo_t about{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOWAIT), 0);
  return child;
}

class ProcessTest : public SampledFiles {
 protected:
  std::vector<mlrun_process_sample> sample(Source& source) {
    return SampledFiles::sample<mlrun_process_sample>(source, MLRUN_SAMPLE_PROCESS);
  }
  void put_stat(const std::string& folder, char state, int user_ticks, int faults, int threads) const {
    put(folder + "/stat",
        fmt::format("7 (a) b (c) {} 1 7 7 0 -1 0 {} 0 2 0 {} 3 0 0 20 0 {} 0 100 9999 50 0 0 0 0 0 0 0 "
                    "0 0 0 0 0 0 17 5 0 0 0 0 0\n",
                    state, faults, user_ticks, threads));
  }
  void put_process(char state, int user_ticks, int faults, int turns) const {
    put_stat("proc/7", state, user_ticks, faults, 1);
    put_stat("proc/7/task/7", state, user_ticks, faults, 1);
    put("proc/7/task/7/schedstat", fmt::format("{} 9 {}\n", turns * 1000, turns));
    put("proc/7/task/7/status",
        fmt::format("Name:\tx\nvoluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t1\n", turns));
    put("proc/7/statm", "900 50 20 1 0 30 0\n");
  }
};

TEST_F(ProcessTest, AProcessAndItsThreadHaveTheirTotalsFromTheirBeginningOn) {
  put_process('S', 40, 11, 6);
  put("proc/7/io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n");
  ProcessSource source(places_);
  source.watch({7});
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 2u);
  const mlrun_process_sample& thread = rows[0];
  const mlrun_process_sample& process = rows[1];
  EXPECT_EQ(process.host_tid, 0u);
  EXPECT_EQ(process.is_first, 1u);
  EXPECT_EQ(process.state, static_cast<uint32_t>('S'));
  EXPECT_STREQ(process.comm, "a) b (c");
  EXPECT_EQ(process.values[MLRUN_PROCESS_USER_NS], 40 * kOneTickNs);
  EXPECT_EQ(process.values[MLRUN_PROCESS_SYSTEM_NS], 3 * kOneTickNs);
  EXPECT_EQ(process.values[MLRUN_PROCESS_MINOR_FAULTS], 11);
  EXPECT_EQ(process.values[MLRUN_PROCESS_MAJOR_FAULTS], 2);
  EXPECT_EQ(process.values[MLRUN_PROCESS_RSS_BYTES], 50 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(process.values[MLRUN_PROCESS_SHARED_BYTES], 20 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(process.values[MLRUN_PROCESS_THREADS], 1);
  EXPECT_EQ(process.values[MLRUN_PROCESS_PROCESSOR], 5);
  EXPECT_EQ(process.values[MLRUN_PROCESS_VOLUNTARY_SWITCHES], MLRUN_NOT_KNOWN) << "of threads";
  for (int i = 0; i < 7; ++i) EXPECT_EQ(process.values[MLRUN_PROCESS_READ_CHARS + i], i + 1);
  EXPECT_EQ(thread.host_tid, 7u);
  EXPECT_EQ(thread.values[MLRUN_PROCESS_VOLUNTARY_SWITCHES], 6);
  EXPECT_EQ(thread.values[MLRUN_PROCESS_INVOLUNTARY_SWITCHES], 1);
  EXPECT_EQ(thread.values[MLRUN_PROCESS_RUN_NS], 6000);
  EXPECT_EQ(thread.values[MLRUN_PROCESS_READ_CHARS], MLRUN_NOT_KNOWN) << "there is no file";
  put_process('S', 45, 12, 8);
  for (const mlrun_process_sample& row : sample(source)) {
    EXPECT_EQ(row.is_first, 0u);
    EXPECT_EQ(row.interval_ns, 1'000'000'000u);
    EXPECT_EQ(row.values[MLRUN_PROCESS_USER_NS], 5 * kOneTickNs);
    EXPECT_EQ(row.values[MLRUN_PROCESS_MINOR_FAULTS], 1);
  }
}

// The line with the groups comes before the counters.
TEST_F(ProcessTest, SwitchesOfAProcessOfManyGroupsAreRead) {
  put_process('R', 40, 11, 6);
  std::string groups = "Groups:\t";
  for (int i = 0; i < 2000; ++i) groups += std::to_string(1'000'000'000 + i) + " ";
  put("proc/7/task/7/status", groups + "\nvoluntary_ctxt_switches:\t123456\nnonvoluntary_ctxt_switches:\t77\n");
  ProcessSource source(places_);
  source.watch({7});
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].values[MLRUN_PROCESS_VOLUNTARY_SWITCHES], 123456);
  EXPECT_EQ(rows[0].values[MLRUN_PROCESS_INVOLUNTARY_SWITCHES], 77);
}

TEST_F(ProcessTest, ASleeperHasOneRowUntilItRunsAgain) {
  put_process('S', 40, 11, 6);
  ProcessSource source(places_);
  source.watch({7});
  sample(source);
  std::map<uint32_t, size_t> rows;
  for (int i = 0; i < 8; ++i) {
    for (const mlrun_process_sample& row : sample(source)) ++rows[row.host_tid];
  }
  EXPECT_EQ(rows[7], 0u) << "of a thread for ten seconds";
  EXPECT_EQ(rows[0], 8u) << "of a process for one";
  put_process('R', 50, 11, 7);
  std::vector<mlrun_process_sample> thread;
  for (const mlrun_process_sample& row : sample(source)) {
    if (row.host_tid == 7) thread.push_back(row);
  }
  ASSERT_EQ(thread.size(), 2u);
  EXPECT_EQ(thread[0].state, static_cast<uint32_t>('S')) << "that at the row's end";
  EXPECT_EQ(thread[1].state, static_cast<uint32_t>('R'));
  EXPECT_EQ(thread[0].interval_ns, 8'000'000'000u);
  EXPECT_EQ(thread[0].values[MLRUN_PROCESS_USER_NS], 0);
  EXPECT_EQ(thread[0].values[MLRUN_PROCESS_READ_CHARS], MLRUN_NOT_KNOWN);
  EXPECT_EQ(thread[1].interval_ns, 1'000'000'000u);
  EXPECT_EQ(thread[1].values[MLRUN_PROCESS_USER_NS], 10 * kOneTickNs);
}

TEST_F(ProcessTest, AProcessWithMoreThreadsThanHaveRowsIsNotTakenForIdle) {
  const auto put_all = [&](int user_ticks) {
    put_process('S', 40, 11, 6);
    put_stat("proc/7", 'R', user_ticks, 11, 3);
    for (const char* tid : {"8", "9"}) {
      put_stat(std::string("proc/7/task/") + tid, 'S', 1, 0, 3);
      put(std::string("proc/7/task/") + tid + "/schedstat", "1000 9 6\n");
    }
  };
  put_all(40);
  ProcessSource source(places_, 1);
  source.watch({7});
  sample(source);
  put_all(60);  // by threads without rows: the one that has rows sleeps
  const auto rows = sample(source);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.back().host_tid, 0u);
  EXPECT_EQ(rows.back().interval_ns, 1'000'000'000u);
  EXPECT_EQ(rows.back().values[MLRUN_PROCESS_USER_NS], 20 * kOneTickNs);
  const auto problems = source.problems();
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0],
            "more than 1 threads: the further ones have no rows and are only in the rows of their process");
}

TEST_F(ProcessTest, AThousandNewThreadsAreReadInSeveralSamplesWithAllThatTheyUsed) {
  constexpr int kThreads = 1000;
  put_process('R', 40, 11, 6);
  put_stat("proc/7", 'R', 40, 11, kThreads);
  for (int tid = 7; tid < 7 + kThreads; ++tid) put_stat(fmt::format("proc/7/task/{}", tid), 'R', 3, 0, kThreads);
  ProcessSource source(places_);
  source.watch({7});
  std::map<uint32_t, int64_t> used_ns;
  size_t samples = 0;
  for (; used_ns.size() < kThreads && samples < 100; ++samples) {
    size_t first = 0;
    for (const mlrun_process_sample& row : sample(source)) {
      if (row.host_tid == 0) continue;
      first += row.is_first;
      used_ns[row.host_tid] += row.values[MLRUN_PROCESS_USER_NS];
    }
    EXPECT_LE(first, 64u);
  }
  EXPECT_EQ(samples, 16u) << "64 at once";
  for (const auto& [tid, ns] : used_ns) EXPECT_EQ(ns, 3 * kOneTickNs) << tid;
}

TEST_F(ProcessTest, AThreadWithTheIdOfAnEarlierOneIsAnotherOne) {
  const auto put_thread = [&](int start_ticks, int user_ticks) {
    put("proc/7/stat", fmt::format("7 (a) R 1 7 7 0 -1 0 0 0 0 0 {} 3 0 0 20 0 1 0 {} 9 5\n", user_ticks, start_ticks));
  };
  put_thread(100, 40);
  ProcessCounters counters(places_, 7, 0, 0);
  Batch batch;
  EXPECT_EQ(counters.sample(2'000'000'000, batch), ProcessCounters::Seen::kRan);
  put_thread(300, 2);
  EXPECT_EQ(counters.sample(3'000'000'000, batch), ProcessCounters::Seen::kGone);
}

TEST_F(ProcessTest, AProcessThatVanishesEndsAndDoesNotBeginAgain) {
  put_process('R', 40, 11, 6);
  ProcessSource source(places_);
  source.watch({7, 8});
  EXPECT_EQ(sample(source).size(), 2u) << "8 had ended before it was seen";
  for (const char* name : {"stat", "statm", "task/7/stat", "task/7/schedstat"})
    put(std::string("proc/7/") + name, "");  // an open file of /proc cannot be read any more; one of a disk can
  std::filesystem::remove_all(top_ / "proc/7");
  sample(source);
  put_process('R', 40, 11, 6);
  source.watch({7, 8});
  EXPECT_TRUE(sample(source).empty()) << "the list still has it";
  source.watch({});
  sample(source);
  source.watch({7});
  EXPECT_EQ(sample(source).size(), 2u) << "another process with that number";
}

// As one that executes a static program: the list of recording processes loses it before a scan of /proc finds it.
TEST_F(ProcessTest, AProcessThatIsBrieflyMissingInTheListIsNotCountedTwice) {
  put_process('R', 40, 11, 6);
  ProcessSource source(places_);
  source.watch({7});
  sample(source);
  source.watch({});
  sample(source);
  put_process('R', 50, 11, 7);
  source.watch({7});
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 2u);
  for (const mlrun_process_sample& row : rows) {
    EXPECT_EQ(row.is_first, 0u);
    EXPECT_EQ(row.interval_ns, 1'000'000'000u);
    EXPECT_EQ(row.values[MLRUN_PROCESS_USER_NS], 10 * kOneTickNs);
  }
  source.watch({});
  for (int i = 0; i < 6; ++i) sample(source);
  EXPECT_TRUE(sample(source).empty()) << "it is not of the command any more";
}

TEST_F(ProcessTest, EachMissingKernelFeatureHasALine) {
  EXPECT_EQ(ProcessSource(places_).problems().size(), 3u) << "no schedstat, io and smaps_rollup";
  put("proc/thread-self/schedstat", "0 0 0\n");
  put("proc/thread-self/io", "rchar: 1\n");
  put("proc/self/smaps_rollup", "Pss: 1 kB\n");
  const auto problems = ProcessSource(places_).problems();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].starts_with("no times in /proc/PID/task/TID/schedstat")) << problems[0];
  put("proc/thread-self/schedstat", "5 0 1\n");
  EXPECT_TRUE(ProcessSource(places_).problems().empty());
}

TEST_F(ProcessTest, ProcessesThatEndBeforeTheirPssIsReadAreCounted) {
  put_process('R', 40, 11, 6);
  put("proc/7/smaps_rollup", "Pss: 12 kB\n");
  for (const int samples : {1, 4}) {
    ProcessSource source(places_);
    source.watch({7});
    for (int i = 0; i < samples; ++i) sample(source);
    Batch batch;
    source.finish(batch);
    EXPECT_EQ(source.remarks().size(), samples == 1 ? 1u : 0u);
  }
}

TEST_F(ProcessTest, ALackOfDescriptorsIsNotAnEnd) {
  put_process('R', 40, 11, 6);
  ProcessCounters process(places_, 7, 0, 0);
  ProcessCounters thread(places_, 7, 7, 0);
  Batch batch;
  process.sample(2'000'000'000, batch);
  thread.sample(2'000'000'000, batch);
  put_process('R', 50, 11, 7);
  put("proc/7/io", "rchar: 5\n");
  {
    const NoDescriptors none;
    EXPECT_EQ(process.sample(3'000'000'000, batch), ProcessCounters::Seen::kUnseen);
    EXPECT_EQ(thread.sample(3'000'000'000, batch), ProcessCounters::Seen::kUnseen);
  }
  batch = {};
  EXPECT_EQ(process.sample(4'000'000'000, batch), ProcessCounters::Seen::kRan);
  EXPECT_EQ(thread.sample(4'000'000'000, batch), ProcessCounters::Seen::kRan);
  const auto rows = rows_of<mlrun_process_sample>(batch, MLRUN_SAMPLE_PROCESS);
  ASSERT_EQ(rows.size(), 2u);
  for (const mlrun_process_sample& row : rows) {
    EXPECT_EQ(row.interval_ns, 2'000'000'000u);
    EXPECT_EQ(row.values[MLRUN_PROCESS_USER_NS], 10 * kOneTickNs);
  }
  std::filesystem::remove_all(top_ / "proc/7");
  EXPECT_EQ(process.sample(5'000'000'000, batch), ProcessCounters::Seen::kGone);
}

TEST_F(ProcessTest, ARealChildHasWhatItUsedUntilItIsReaped) {
  Places real;
  ProcessSource source(real);
  const pid_t child = child_that_computed();
  source.watch({static_cast<uint32_t>(child)});
  Batch batch;
  source.sample(util::monotonic_ns(), batch);
  int status = 0;
  rusage usage{};
  ASSERT_EQ(::wait4(child, &status, 0, &usage), child);
  const int64_t used_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000'000 +
                          (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
  int64_t seen_ns = 0, faults = 0;
  for (const mlrun_process_sample& row : rows_of<mlrun_process_sample>(batch, MLRUN_SAMPLE_PROCESS)) {
    if (row.host_tid != 0) continue;
    EXPECT_EQ(row.state, static_cast<uint32_t>('Z'));
    seen_ns += row.values[MLRUN_PROCESS_USER_NS] + row.values[MLRUN_PROCESS_SYSTEM_NS];
    faults += row.values[MLRUN_PROCESS_MINOR_FAULTS];
  }
  EXPECT_NEAR(double(seen_ns), double(used_ns), 2.0 * double(kOneTickNs));
  EXPECT_EQ(faults, usage.ru_minflt);
  batch = {};
  source.sample(util::monotonic_ns(), batch);
  EXPECT_EQ(batch.bytes(), 0u);
}

TEST_F(ProcessTest, TheEndOfACommandThatNoSampleSawHasOneRow) {
  ProcessSource source(Places{});
  const pid_t child = child_that_computed();
  Batch batch;
  source.sample_end(static_cast<uint32_t>(child), util::monotonic_ns(), batch);
  rusage usage{};
  ASSERT_EQ(::wait4(child, nullptr, 0, &usage), child);
  std::vector<mlrun_process_sample> whole;
  for (const mlrun_process_sample& row : rows_of<mlrun_process_sample>(batch, MLRUN_SAMPLE_PROCESS)) {
    if (row.host_tid == 0) whole.push_back(row);
  }
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].is_first, 1u);
  EXPECT_EQ(whole[0].state, static_cast<uint32_t>('Z'));
  EXPECT_GE(whole[0].values[MLRUN_PROCESS_USER_NS] + whole[0].values[MLRUN_PROCESS_SYSTEM_NS], 80'000'000);
  EXPECT_EQ(whole[0].values[MLRUN_PROCESS_MINOR_FAULTS], usage.ru_minflt);
  batch = {};
  source.watch({static_cast<uint32_t>(child)});  // the list may have it a little longer
  source.sample(util::monotonic_ns(), batch);
  EXPECT_EQ(batch.bytes(), 0u);
}

TEST_F(ProcessTest, TheSamplersThreadTakesTheEndBetweenTwoSamples) {
  MachineSampler sampler({.hz = 0.1, .sources = {"process"}}, {});
  const pid_t child = child_that_computed();
  sampler.ask_for_end(static_cast<uint32_t>(child));
  while (!sampler.has_answered()) ::usleep(1000);
  EXPECT_TRUE(sampler.state().has_end);
  ::waitpid(child, nullptr, 0);
  size_t rows = 0;
  for (const mlrun_process_sample& row : rows_of<mlrun_process_sample>(sampler.fetch(), MLRUN_SAMPLE_PROCESS))
    rows += row.host_pid == static_cast<uint32_t>(child) && row.host_tid == 0 ? 1 : 0;
  EXPECT_EQ(rows, 1u);
}

}  // namespace
}  // namespace mlrun::machine
