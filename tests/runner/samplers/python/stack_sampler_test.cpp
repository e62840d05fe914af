// SPDX-License-Identifier: Apache-2.0
// Which threads drive, with Pythons that this test starts.
#include "runner/samplers/python/stack_sampler.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace mlrun::python {
namespace {

// Starts a Python for each argument, with this rank ("-": none), prints its own pid and theirs, and ends with its input.
constexpr const char* kLauncher = R"python(
import os, subprocess, sys
child = "import sys, threading; print(flush=True); sys.stdin.read()"
environment = {key: value for key, value in os.environ.items() if key not in ("RANK", "LOCAL_RANK")}
children = [subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env=environment if rank == "-" else {**environment, "RANK": rank}) for rank in sys.argv[1:]]
for one in children:
    one.stdout.readline()
print(os.getpid(), *[one.pid for one in children], flush=True)
sys.stdin.read()
for one in children:
    one.stdin.close()
    one.wait()
)python";

class Pythons {
 public:
  explicit Pythons(const std::vector<std::string>& ranks) {
    std::array<int, 2> in{}, out{};
    if (::pipe(in.data()) != 0 || ::pipe(out.data()) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      ::unsetenv("RANK");
      ::unsetenv("LOCAL_RANK");
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      for (const int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
      std::vector<const char*> words = {MLRUN_PYTHON, "-c", kLauncher};
      for (const std::string& rank : ranks) words.push_back(rank.c_str());
      words.push_back(nullptr);
      ::execv(MLRUN_PYTHON, const_cast<char**>(words.data()));
      _exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    FILE* said = ::fdopen(out[0], "r");
    std::array<char, 1024> line{};
    if (std::fgets(line.data(), line.size(), said) != nullptr) {
      std::istringstream words(line.data());
      for (uint32_t pid = 0; words >> pid;) pids.push_back(pid);
    }
    std::fclose(said);
  }
  ~Pythons() {
    ::close(input_);
    ::waitpid(child_, nullptr, 0);
  }
  Pythons(const Pythons&) = delete;
  Pythons& operator=(const Pythons&) = delete;
  std::vector<uint32_t> pids;  // the launcher's first

 private:
  pid_t child_ = -1;
  int input_ = -1;
};

std::vector<mlrun_python_sample> take_samples(StackSampler& sampler) {
  const std::string payload = sampler.batch().take();
  mlrun_frame_python head{};
  std::memcpy(&head, payload.data(), sizeof head);
  std::vector<mlrun_python_sample> samples(head.samples);
  if (!samples.empty()) std::memcpy(samples.data(), payload.data() + sizeof head, samples.size() * sizeof samples[0]);
  return samples;
}

// The indexes of those whose main threads are sampled when nothing else may be.
std::set<size_t> drivers_of(const std::vector<uint32_t>& pids) {
  std::vector<collect::WatchedProcess> processes;
  std::vector<proc::TaskTable::Owner> owners;
  for (uint32_t i = 0; i < pids.size(); ++i) {
    processes.push_back({i + 1, 0, pids[i], pids[i]});
    owners.push_back({i + 1, pids[i], pids[i]});
  }
  proc::TaskTable tasks;
  tasks.set(owners);
  StackSampler sampler({}, tasks);
  sampler.take(processes);
  const auto yes = [] { return true; };
  const auto no = [] { return false; };
  for (int round = 0; round < 3; ++round) {
    sampler.sample(yes, yes, [] {});
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  take_samples(sampler);
  sampler.sample(yes, no, [] {});
  std::set<size_t> found;
  for (const mlrun_python_sample& sample : take_samples(sampler)) {
    EXPECT_EQ(sample.tid, pids[sample.process - 1]) << "a main thread";
    found.insert(sample.process - 1);
  }
  return found;
}

TEST(StackSampler, TheFirstPythonDrivesAndItsWorkersDoNot) {
  const Pythons pythons({"-", "-"});
  ASSERT_EQ(pythons.pids.size(), 3u);
  EXPECT_EQ(drivers_of(pythons.pids), (std::set<size_t>{0}));
  EXPECT_EQ(drivers_of({pythons.pids[1], pythons.pids[2]}), (std::set<size_t>{0, 1}))
      << "no other Python is above them";
}

TEST(StackSampler, RanksDriveAndTheirLauncherDoesNot) {
  const Pythons pythons({"0", "1", "-"});
  ASSERT_EQ(pythons.pids.size(), 4u);
  EXPECT_EQ(drivers_of(pythons.pids), (std::set<size_t>{1, 2}));
}

TEST(StackSampler, NoSampleAndNoPeriodIsWithinAPause) {
  const Pythons pythons({});
  ASSERT_EQ(pythons.pids.size(), 1u);
  const uint32_t pid = pythons.pids[0];
  const StackSamplerOptions options;
  proc::TaskTable tasks;
  tasks.set({{1, pid, pid}});
  StackSampler sampler(options, tasks);
  sampler.take({{1, 0, pid, pid}});
  int others = 0;
  const auto round = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    sampler.sample([] { return true; }, [] { return true; }, [&] { ++others; });
  };
  for (int i = 0; i < 3; ++i) round();
  sampler.pause(true);
  const size_t before = sampler.batch().samples();
  for (int i = 0; i < 3; ++i) round();
  sampler.leave_out(1);
  EXPECT_NE(before, 0u);
  EXPECT_EQ(sampler.batch().samples(), before);
  EXPECT_EQ(sampler.state().rounds, 3);
  EXPECT_EQ(sampler.due_ns(1), UINT64_MAX);
  EXPECT_EQ(others, 6) << "what the caller does between goes on";
  sampler.pause(false);
  round();
  const auto samples = take_samples(sampler);
  ASSERT_EQ(samples.size(), before + 1) << "a row from before the pause was extended";
  EXPECT_EQ(samples.back().period_ns, options.pause_ns);
}

}  // namespace
}  // namespace mlrun::python
