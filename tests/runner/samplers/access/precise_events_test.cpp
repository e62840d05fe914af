// SPDX-License-Identifier: Apache-2.0
// The processor's events, from texts of sysfs by their documented forms: none of them was seen on hardware.
#include "runner/samplers/access/precise_events.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace mlrun::access {
namespace {

class Devices : public ::testing::Test {
 protected:
  Devices() : top_(::testing::TempDir() + "devices_" + std::to_string(::getpid())) {}
  ~Devices() override { std::filesystem::remove_all(top_); }

  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((top_ / name).parent_path());
    std::ofstream(top_ / name) << text << "\n";
  }
  void put_unit(const std::string& unit) const {
    put(unit + "/type", "4");
    put(unit + "/format/event", "config:0-7");
    put(unit + "/format/umask", "config:8-15");
    put(unit + "/format/ldlat", "config1:0-15");
    put(unit + "/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3");
    put(unit + "/events/mem-stores", "event=0xd0,umask=0x82");
  }
  [[nodiscard]] std::vector<AccessEvent> find() { return find_precise_events(top_, {}, why_); }

  std::filesystem::path top_;
  std::string why_;
};

TEST_F(Devices, LoadsAndStoresAreOnAllProcessors) {
  put_unit("cpu");
  const std::vector<AccessEvent> events = find();
  ASSERT_EQ(events.size(), 2u) << why_;
  EXPECT_EQ(events[0].attr.config, 0x1cdu);
  EXPECT_EQ(events[0].attr.config1, 30u);
  EXPECT_EQ(events[1].attr.config, 0x82d0u);
  EXPECT_FALSE(events[0].leader || events[1].leader);
  EXPECT_TRUE(events[0].cpus.empty());
  EXPECT_EQ(unseen_processors(events, {0, 1, 2}), "");
}

TEST_F(Devices, OfAHybridOnlyTheProcessorsThatHaveTheEventsAreSeen) {
  put_unit("cpu_core");
  put("cpu_core/cpus", "0-3");
  const std::vector<AccessEvent> events = find();
  ASSERT_EQ(events.size(), 2u) << why_;
  EXPECT_EQ(events[0].cpus, (util::IdList{0, 1, 2, 3}));
  EXPECT_EQ(events[1].cpus, (util::IdList{0, 1, 2, 3}));
  EXPECT_EQ(unseen_processors(events, {0, 1, 2, 3, 4, 5}),
            "accesses on processors 4-5 are not seen: they have other events");
  EXPECT_EQ(unseen_processors(events, {0, 1}), "");
}

TEST_F(Devices, LoadsHaveTheirAuxiliaryEventAsLeader) {
  put_unit("cpu");
  put("cpu/events/mem-loads-aux", "event=0x03,umask=0x82");
  const std::vector<AccessEvent> events = find();
  ASSERT_EQ(events.size(), 2u) << why_;
  ASSERT_TRUE(events[0].leader);
  EXPECT_EQ(events[0].leader->type, 4u);
  EXPECT_EQ(events[0].leader->config, 0x8203u);
  EXPECT_EQ(events[0].leader->sample_freq, 0u);
  EXPECT_EQ(events[0].leader->precise_ip, 0u);
  EXPECT_EQ(events[0].leader->clockid, events[0].attr.clockid) << "the kernel groups only events of one clock";
  EXPECT_FALSE(events[1].leader);
}

// The kernel's arch/x86/events/amd/ibs.c.
TEST_F(Devices, IbsCountsOperationsWhereItCan) {
  put("ibs_op/type", "9");
  std::vector<AccessEvent> events = find();
  ASSERT_EQ(events.size(), 1u) << why_;
  const decode::PerfSample sample{.address = 0x7f0000001000, .period = 250'000};
  EXPECT_EQ(events[0].attr.config, 0u);
  EXPECT_EQ(row_of(MLRUN_ACCESS_PRECISE, events[0], sample).count, 1u) << "250,000 cycles";
  EXPECT_EQ(unscaled_events(events),
            "each sample of ibs_op counts as one access: here it counts cycles, not operations");
  put("ibs_op/format/cnt_ctl", "config:19");
  events = find();
  ASSERT_EQ(events.size(), 1u) << why_;
  EXPECT_EQ(events[0].attr.config, 1u << 19);
  EXPECT_EQ(row_of(MLRUN_ACCESS_PRECISE, events[0], sample).count, 250'000u);
  EXPECT_EQ(unscaled_events(events), "");
}

TEST_F(Devices, WithoutANumberTheRateIsOneThatTheKernelTakes) {
  EXPECT_EQ(default_rate(0), 1000);
  EXPECT_EQ(default_rate(100'000), 1000);
  EXPECT_EQ(default_rate(250), 250);
}

// Events of the running kernel represent those of the processor: one that it refuses, and a leader.
TEST_F(Devices, AnEventThatFailsLeavesTheOthers) {
  AccessEvent good = page_fault_event(), bad = page_fault_event();
  bad.name = "bad";
  bad.attr.config = 0xffff;
  PerfEvents events;
  const auto problems = events.open({bad, good}, 0, false);
  if (problems.size() == 2) GTEST_SKIP() << problems.back();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].starts_with("bad: processor ")) << problems[0];
  EXPECT_TRUE(events.is_open());
}

// Before Linux 6.2 IBS has no events of a process. The kernel refuses a field of a sample that it does not know in the same way.
TEST_F(Devices, ForAnInvalidEventTheReasonNamesTheKernelThatItNeeds) {
  put("ibs_op/type", "9");
  const std::vector<AccessEvent> ibs = find();
  ASSERT_EQ(ibs.size(), 1u) << why_;
  AccessEvent event = page_fault_event();
  event.if_invalid = ibs[0].if_invalid;
  event.attr.sample_type |= uint64_t{1} << 40;
  const auto problems = PerfEvents().open({event}, 0, false);
  ASSERT_EQ(problems.size(), 1u);
  if (problems[0].find("Invalid argument") == std::string::npos) GTEST_SKIP() << problems[0];
  EXPECT_TRUE(problems[0].ends_with("Invalid argument; events of a process by IBS need Linux 6.2")) << problems[0];
}

TEST_F(Devices, EventsWithALeaderTakeSamplesWhileTheyAreOn) {
  AccessEvent event = page_fault_event();
  event.leader = sampled_event();
  event.leader->type = PERF_TYPE_SOFTWARE;
  event.leader->config = PERF_COUNT_SW_TASK_CLOCK;
  event.leader->sample_type = 0;
  PerfEvents events;
  const auto problems = events.open({event}, 0, false);
  if (!problems.empty()) GTEST_SKIP() << problems.front();
  const auto samples = [&] {
    const std::vector<char> fresh(64 << 20, 1);
    size_t count = 0;
    events.drain([&](const AccessEvent&, const decode::PerfSample&) { count++; });
    return count;
  };
  EXPECT_GT(samples(), 0u);
  events.enable(false);
  samples();
  EXPECT_EQ(samples(), 0u);
  events.enable(true);
  EXPECT_GT(samples(), 0u);
}

TEST_F(Devices, EventsAreOpenedOnlyOnTheirProcessors) {
  AccessEvent event = page_fault_event();
  event.cpus = {util::kIdsMax - 1};
  PerfEvents events;
  const auto problems = events.open({event}, 0, false);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], "page-faults: none of its processors is online");
  EXPECT_FALSE(events.is_open());
}

}  // namespace
}  // namespace mlrun::access
