// SPDX-License-Identifier: Apache-2.0
// DAMON from files of a made-up sysfs and lines of its tracepoint in a pipe.
#include "runner/samplers/access/damon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runner/util/clock.h"
#include "runner/util/unique_fd.h"

namespace mlrun::access {
namespace {

constexpr uint64_t kWindowNs = 1'000'000'000;

pid_t ended_pid() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

class Damon : public ::testing::Test {
 protected:
  Damon() : top_(::testing::TempDir() + "damon_" + std::to_string(::getpid())) {
    for (const char* name :
         {"nr_kdamonds", "0/state", "0/contexts/nr_contexts", "0/contexts/0/operations",
          "0/contexts/0/avail_operations", "0/contexts/0/monitoring_attrs/intervals/sample_us",
          "0/contexts/0/monitoring_attrs/intervals/aggr_us", "0/contexts/0/monitoring_attrs/intervals/update_us",
          "0/contexts/0/monitoring_attrs/nr_regions/max", "0/contexts/0/monitoring_attrs/nr_regions/min",
          "0/contexts/0/targets/nr_targets", "0/contexts/0/targets/0/pid_target", "0/contexts/0/targets/1/pid_target"})
      put(std::string("admin/") + name, "");
    put("admin/0/pid", "77\n");
    const std::filesystem::path instance = top_ / fmt::format("tracing/instances/mlrun-{}", ::getpid());
    std::filesystem::create_directories(instance);
    EXPECT_EQ(::mkfifo((instance / "trace_pipe").c_str(), 0600), 0);
    rung_ = make_damon_rung(places(), kWindowNs);
    EXPECT_EQ(rung_->attach(0), "");
    pipe_ = util::UniqueFd(::open((instance / "trace_pipe").c_str(), O_WRONLY | O_CLOEXEC));
  }
  ~Damon() override { std::filesystem::remove_all(top_); }

  [[nodiscard]] DamonPlaces places() const { return {.admin = top_ / "admin", .tracing = top_ / "tracing"}; }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(top_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((top_ / name).parent_path());
    std::ofstream(top_ / name) << text;
  }
  // An instance of an mlrun that has ended, and a context with these values.
  [[nodiscard]] std::filesystem::path leave_behind(const std::string& sample_us) const {
    put("admin/nr_kdamonds", "1\n");
    put("admin/0/state", "off\n");
    put("admin/0/contexts/0/avail_operations", "vaddr\nfvaddr\n");
    for (const auto& [name, value] :
         {std::pair{"intervals/sample_us", sample_us.c_str()}, std::pair{"intervals/update_us", "1000000"},
          std::pair{"nr_regions/max", "1500"}, std::pair{"nr_regions/min", "500"}})
      put(std::string("admin/0/contexts/0/monitoring_attrs/") + name, std::string(value) + "\n");
    put("tracing/events/damon/damon_aggregated/enable", "0\n");
    const std::filesystem::path left = top_ / fmt::format("tracing/instances/mlrun-{}", ended_pid());
    std::filesystem::create_directories(left);
    return left;
  }
  void say(const std::string& text) const {
    ASSERT_EQ(::write(pipe_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void say_region(int target, uint64_t at_ns) const {
    say(fmt::format(
        "       kdamond.0-77      [001] ..... {}.{:06}: damon_aggregated: target_id={} nr_regions=1 4096-8192: 3 1\n",
        at_ns / 1'000'000'000, at_ns / 1000 % 1'000'000, target));
  }
  std::vector<uint32_t> pids_of_rows() {
    Rows rows;
    rung_->sample(util::monotonic_ns(), rows);
    std::vector<uint32_t> pids;
    for (const mlrun_access_sample& row : rows) pids.push_back(row.host_pid);
    return pids;
  }

  std::filesystem::path top_;
  std::unique_ptr<Rung> rung_;
  util::UniqueFd pipe_;
};

using Pids = std::vector<uint32_t>;

TEST_F(Damon, ProcessesThatHaveEndedHaveNoRowsAfterTheirEnd) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto mine = static_cast<uint32_t>(::getpid()), other = static_cast<uint32_t>(child);
  rung_->watch({mine, other});
  EXPECT_EQ(pids_of_rows(), Pids());  // starts DAMON
  ASSERT_EQ(rung_->facts().problem, "");
  ASSERT_EQ(rung_->facts().samples, 1);
  say_region(0, util::monotonic_ns());
  say_region(1, util::monotonic_ns());
  EXPECT_EQ(pids_of_rows(), (Pids{mine, other}));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const uint64_t before_ns = util::monotonic_ns();
  rung_->watch({mine});
  const uint64_t after_ns = util::monotonic_ns() + 1000;
  say_region(1, before_ns - 1000);
  say_region(0, after_ns);
  say_region(1, after_ns);
  EXPECT_EQ(pids_of_rows(), (Pids{other, mine})) << "the last window of the other one, and then no more";
}

TEST_F(Damon, AllLostEventsAreCounted) {
  rung_->watch({static_cast<uint32_t>(::getpid())});
  pids_of_rows();
  say("CPU:0 [LOST 12 EVENTS]\nCPU:1 [LOST 3 EVENTS]\nCPU:1 [LOST EVENTS]\n");
  say_region(0, util::monotonic_ns());
  EXPECT_EQ(pids_of_rows().size(), 1u);
  EXPECT_EQ(rung_->facts().lost, 16);
}

TEST_F(Damon, ALineWithoutAnEndIsLostOnce) {
  rung_->watch({static_cast<uint32_t>(::getpid())});
  pids_of_rows();
  const std::string much(32 << 10, 'x');
  for (int i = 0; i < 40; i++) {
    say(much);
    pids_of_rows();
  }
  say("\n");
  say_region(0, util::monotonic_ns());
  EXPECT_EQ(pids_of_rows().size(), 1u);
  EXPECT_EQ(rung_->facts().lost, 1);
}

TEST_F(Damon, WhatAnotherProgramHasConfiguredStays) {
  put("admin/nr_kdamonds", "1\n");
  put("admin/0/state", "off\n");
  EXPECT_NE(damon_problem(places()).find("configured by another program"), std::string::npos);
  rung_->watch({static_cast<uint32_t>(::getpid())});
  pids_of_rows();
  EXPECT_EQ(rung_->facts().samples, 0);
  EXPECT_EQ(content("admin/nr_kdamonds"), "1\n");
}

TEST_F(Damon, WhatAKilledMlrunHasLeftIsRemovedByTheNextRunAlone) {
  const std::filesystem::path left = leave_behind("20000");
  EXPECT_EQ(damon_problem(places()), "");
  EXPECT_EQ(content("admin/nr_kdamonds"), "1\n") << "only looked at";
  EXPECT_TRUE(std::filesystem::exists(left));
  const std::unique_ptr<Rung> next = make_damon_rung(places(), kWindowNs);
  EXPECT_TRUE(std::filesystem::exists(left)) << "a rung that is only made changes nothing";
  static_cast<void>(next->attach(0));
  EXPECT_EQ(content("admin/nr_kdamonds"), "0\n");
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(Damon, WhatAnotherProgramHasConfiguredAfterAnMlrunWasKilledStays) {
  const std::filesystem::path left = leave_behind("5000");
  EXPECT_NE(damon_problem(places()).find("configured by another program"), std::string::npos);
  const std::unique_ptr<Rung> next = make_damon_rung(places(), kWindowNs);
  static_cast<void>(next->attach(0));
  EXPECT_EQ(content("admin/nr_kdamonds"), "1\n");
  EXPECT_FALSE(std::filesystem::exists(left)) << "the instance was mlrun's";
}

}  // namespace
}  // namespace mlrun::access
