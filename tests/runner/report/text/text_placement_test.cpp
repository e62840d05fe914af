// SPDX-License-Identifier: Apache-2.0
// What the summary says about where memory is, and about a kill for want of it.
#include <signal.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/report/text/text.h"

namespace mlrun::report {
namespace {

summary::Summary summary_of(const nlohmann::json& placement, int exit_status = 0) {
  summary::Summary summary;
  summary.run = model::run_of({{"exit_status", exit_status}, {"placement", placement}});
  return summary;
}

const nlohmann::json kStrict = {{"rules", {{{"text", "-> node 1 strict"}, {"strict", true}}}},
                                {"images", 1},
                                {"processes", {{{"rules", {{{"matches", 3}}}}}}}};

std::string killed(nlohmann::json placement, const nlohmann::json& counted, int exit_status = 128 + SIGKILL) {
  placement["counted"] = counted;
  return killed_for_memory(summary_of(placement, exit_status));
}

TEST(KilledForMemory, NamesTheRuleOrLimitBehindTheKill) {
  const std::string want = "killed by the kernel for want of memory";
  const nlohmann::json bound = {{"policy", "mem-node"}, {"mem_node", "1"}};
  EXPECT_EQ(killed(kStrict, {{"oom_kill", 1}}), want + "; strict rule '-> node 1 strict'");
  EXPECT_EQ(killed(bound, {{"oom_kill", 1}}), want + "; --mem-node 1");
  EXPECT_EQ(killed(bound, {{"oom_kill", 1}, {"cgroup_oom_kill", 1}, {"cgroup_oom", 2}}),
            want + "; the limit of its cgroup was reached");
  EXPECT_EQ(killed({{"policy", "preferred"}, {"mem_node", "1"}}, {{"oom_kill", 1}}), "");
}

TEST(KilledForMemory, IsReportedForProcessesThatTheCommandOutlives) {
  const nlohmann::json cgroup = {{"oom_kill", 1}, {"cgroup_oom_kill", 1}};
  const std::string one = "a process in the command's cgroup was killed by the kernel for want of memory";
  EXPECT_EQ(killed(kStrict, cgroup, 0), one + "; strict rule '-> node 1 strict'");
  EXPECT_EQ(killed({{"policy", "preferred"}, {"mem_node", "1"}}, cgroup, 1), one);
  nlohmann::json placement = kStrict;
  placement["counted"] = {{"oom_kill", 1}};
  summary::Summary summary = summary_of(placement, 0);
  summary.processes.resize(2);
  summary.processes[0].role = "main";
  EXPECT_EQ(killed_for_memory(summary), "") << "no process of the command was killed";
  summary.processes[1].end = "no exit";
  EXPECT_EQ(
      killed_for_memory(summary),
      "a process of the command was killed; during the run the kernel killed a process of this machine for lack of "
      "memory; strict rule '-> node 1 strict'");
}

TEST(KilledForMemory, IsNotReportedForOtherKills) {
  EXPECT_EQ(killed(kStrict, {{"oom_kill", 0}}), "") << "kill -9";
  EXPECT_EQ(killed(kStrict, {{"oom_kill", 1}, {"cgroup_oom_kill", 0}}), "") << "something else was killed meanwhile";
  EXPECT_EQ(killed(kStrict, {{"oom_kill", 1}}, 1), "");
}

TEST(Placement, MemoryUnderAPolicyIsWhereItWasFound) {
  const nlohmann::json placement = {
      {"policy", "preferred"},
      {"mem_node", "1"},
      {"pages",
       {{{"node", 0}, {"bytes", 390}}, {{"node", 1}, {"bytes", 610}}, {{"node", 0}, {"file", "/a"}, {"bytes", 5}}}},
      {"counted", {{"pgdemote_kswapd", 3}}}};
  const summary::Summary summary = summary_of(placement);
  EXPECT_EQ(policy_text(summary.run.placement), "memory of node 1 first");
  const std::string text = placement_text(summary, {});
  for (const char* said :
       {"PLACED  --preferred 1", "39 % of its private memory on node 0", "61 % of its private memory on node 1",
        "100 % of its mapped files on node 0", "3 pages of the whole machine moved to a slower node"})
    EXPECT_NE(text.find(said), std::string::npos) << text;
}

TEST(Placement, MemoryUnderAPolicyIsShownBesideRules) {
  nlohmann::json placement = kStrict;
  placement["policy"] = "mem-node";
  placement["mem_node"] = "0";
  placement["pages"] = nlohmann::json::array({{{"node", 0}, {"bytes", 610}}});
  const std::string text = placement_text(summary_of(placement), {});
  EXPECT_NE(text.find("100 % of its other private memory on node 0"), std::string::npos) << text;
  placement["pages"] = nlohmann::json::array();
  placement["rules"][0]["mmap"] = true;
  const std::string unsampled = placement_text(summary_of(placement), {});
  EXPECT_NE(unsampled.find("--mem-node 0  pages not sampled (a rule is about mappings)"), std::string::npos)
      << unsampled;
}

TEST(Placement, OnlyNodesThatWereNotAskedForAreAWarning) {
  const nlohmann::json pages = {{{"node", 0}, {"bytes", 390}}, {{"node", 1}, {"bytes", 610}}};
  TextStyle colour;
  colour.colour = true;
  const auto text = [&](const char* asked) {
    return placement_text(summary_of({{"policy", "preferred"}, {"mem_node", asked}, {"pages", pages}}), colour);
  };
  const std::string far = colour.warning("39 % of its private memory on node 0 (390 B, not asked for)");
  EXPECT_NE(text("1").find(far), std::string::npos) << text("1");
  EXPECT_EQ(text("1").find(colour.warning("61 % of its private memory on node 1")), std::string::npos) << text("1");
  EXPECT_EQ(text("0-1").find(far), std::string::npos) << text("0-1");
}

TEST(Placement, ARuleShowsItsRequestedNodesAndTheShareElsewhere) {
  nlohmann::json placement = kStrict;
  placement["rules"][0] = {{"text", "-> hbw"}, {"policy", "preferred"}, {"nodes", {2}}};
  placement["processes"][0]["pages"] = {{{"rule", 0}, {"node", 2}, {"bytes", 610}},
                                        {{"rule", 0}, {"node", 0}, {"bytes", 390}}};
  TextStyle colour;
  colour.colour = true;
  colour.width = 400;
  const auto text = [&] { return placement_text(summary_of(placement), colour); };
  EXPECT_NE(text().find("asked for: node 2 first"), std::string::npos) << text();
  EXPECT_NE(text().find(colour.warning("39 % of its pages on node 0 (390 B, not asked for)")), std::string::npos)
      << text();
  EXPECT_NE(text().find("61 % of its pages on node 2\n"), std::string::npos) << text();
  placement["rules"][0] = {{"text", "-> 3:1 node 0,2"}, {"policy", "ratio"}, {"nodes", {0, 2}}, {"shares", {3, 1}}};
  EXPECT_NE(text().find("asked for: node 0,2 by 3:1"), std::string::npos) << text();
  EXPECT_EQ(text().find("not asked for"), std::string::npos) << text();
}

TEST(Placement, SitesOfPagesElsewhereAreNamed) {
  nlohmann::json placement = kStrict;
  placement["rules"][0] = {{"text", "-> hbw"}, {"policy", "preferred"}, {"nodes", {2}}};
  placement["processes"][0]["pages"] = {{{"rule", 0}, {"node", 0}, {"bytes", 390}}};
  placement["policy"] = "preferred";
  placement["mem_node"] = "1";
  placement["pages"] = {{{"node", 0}, {"bytes", 5000}}};
  placement["sites"] = {{{"rule", 0}, {"site", "load (app) < main"}, {"bytes", 300}},
                        {{"rule", 0}, {"site", ""}, {"bytes", 90}},
                        {{"rule", -1}, {"site", "app + 0x10"}, {"bytes", 4000}}};
  TextStyle wide;
  wide.width = 400;
  const std::string text = placement_text(summary_of(placement), wide);
  const size_t rule = text.find("not asked for: 300 B of load (app) < main");
  const size_t policy = text.find("--preferred 1");
  EXPECT_LT(rule, text.find("not asked for: 90 B of no listed block")) << text;
  EXPECT_LT(rule, policy) << text;
  EXPECT_LT(policy, text.find("of app + 0x10")) << text;
  EXPECT_NE(text.find("of app + 0x10"), std::string::npos) << text;
}

TEST(Placement, SharedMemoryElsewhereIsAWarningAsPrivateMemoryIs) {
  TextStyle colour;
  colour.colour = true;
  const nlohmann::json placement = {
      {"policy", "preferred"},
      {"mem_node", "1"},
      {"pages", {{{"node", 1}, {"bytes", 9000}}, {{"node", 0}, {"file", "shared memory"}, {"bytes", 400}}}}};
  const std::string text = placement_text(summary_of(placement), colour);
  EXPECT_NE(text.find(colour.warning("100 % of its shared memory on node 0 (400 B, not asked for)")), std::string::npos)
      << text;
  EXPECT_NE(text.find("100 % of its private memory on node 1"), std::string::npos) << text;
  EXPECT_EQ(text.find("mapped files"), std::string::npos) << text;
}

TEST(Placement, ARuleWithoutBlocksIsOneOfTheCountedProcesses) {
  nlohmann::json placement = kStrict;
  placement["processes"][0]["rules"][0]["matches"] = 0;
  const auto text = [&] { return placement_text(summary_of(placement), {}); };
  EXPECT_NE(text().find("no block fits this rule"), std::string::npos) << text();
  placement["not_counted"] = 2;
  EXPECT_NE(text().find("no block of the counted processes fits this rule"), std::string::npos) << text();
  placement["processes"][0]["rules"][0]["matches"] = 1;
  EXPECT_NE(text().find("pages not sampled (no counted process lived for a second)"), std::string::npos) << text();
}

TEST(Placement, ProcessesWithoutTheRulesAreCounted) {
  nlohmann::json placement = kStrict;
  const auto text = [&] {
    TextStyle wide;
    wide.width = 400;
    return placement_text(summary_of(placement), wide);
  };
  EXPECT_EQ(text().find("without the rules"), std::string::npos) << text();
  placement["without_rules"] = 2;
  EXPECT_NE(text().find("2 processes ran without the rules (environment cleared"), std::string::npos) << text();
  placement["processes"][0]["rules"][0]["matches"] = 0;
  EXPECT_NE(text().find("no block of the processes with rules fits this rule"), std::string::npos) << text();
}

TEST(Placement, ProgramsWithAFreeInFrontOfMlrunsAreCounted) {
  nlohmann::json placement = kStrict;
  const auto text = [&] {
    TextStyle wide;
    wide.width = 400;
    return placement_text(summary_of(placement), wide);
  };
  EXPECT_EQ(text().find("free or realloc"), std::string::npos) << text();
  placement["without_block_rules"] = 1;
  EXPECT_NE(text().find("1 program has a free or realloc in front of mlrun's: no rule places its blocks"),
            std::string::npos)
      << text();
  placement["without_block_rules"] = 2;
  EXPECT_NE(text().find("2 programs have a free or realloc in front of mlrun's"), std::string::npos) << text();
}

TEST(Placement, HugePagesWereAskedForAndNotMeasured) {
  nlohmann::json placement = kStrict;
  TextStyle wide;
  wide.width = 400;
  placement["rules"][0]["huge"] = true;
  const std::string said = placement_text(summary_of(placement), wide);
  EXPECT_NE(said.find("asked for: huge pages for blocks of 2 MiB and more; how many it got is not measured"),
            std::string::npos)
      << said;
}

TEST(Placement, ARuleWithUnlistedMappingsHasNoShare) {
  nlohmann::json placement = kStrict;
  placement["rules"][0] = {{"text", "mmap size >= 1M -> node 0"}, {"mmap", true}};
  placement["processes"][0]["pages"] = {{{"rule", 0}, {"node", 0}, {"bytes", 610}, {"resident_bytes", 1000}}};
  const auto text = [&] { return placement_text(summary_of(placement), {}); };
  EXPECT_NE(text().find("61 % of what is resident"), std::string::npos) << text();
  placement["processes"][0]["mappings_left_out"] = {0};
  EXPECT_EQ(text().find("of what is resident"), std::string::npos) << text();
  EXPECT_NE(text().find("sampled only the newest 511 mappings"), std::string::npos) << text();
}

TEST(Placement, NumaBalancingIsShownIfItIsOnOrWasChanged) {
  nlohmann::json placement = kStrict;
  const auto text = [&](int before, int after) {
    placement["numa_balancing"] = {{"before", before}, {"after", after}};
    return placement_text(summary_of(placement), {});
  };
  EXPECT_EQ(text(0, 0).find("balancing"), std::string::npos) << text(0, 0);
  EXPECT_EQ(text(-1, -1).find("balancing"), std::string::npos) << text(-1, -1);
  EXPECT_NE(text(1, 1).find("NUMA balancing is on: the kernel may move pages towards"), std::string::npos)
      << text(1, 1);
  EXPECT_NE(text(0, 2).find("was changed meanwhile (kernel.numa_balancing: 0, then 2)"), std::string::npos)
      << text(0, 2);
}

TEST(Placement, TheReasonForMissingPageSamplesIsShown) {
  nlohmann::json placement = kStrict;
  placement["processes"][0]["unsampled"] = {{{"rule", 0}, {"why", "the kernel refuses: Operation not permitted"}}};
  const std::string text = placement_text(summary_of(placement), {});
  EXPECT_NE(text.find("pages not sampled (the kernel refuses: Operation not permitted)"), std::string::npos) << text;
}

TEST(Placement, ThePolicyHasAReasonOfItsOwn) {
  nlohmann::json placement = kStrict;
  placement["policy"] = "preferred";
  placement["mem_node"] = "0";
  placement["policy_problem"] = "the kernel refuses: Permission denied";
  placement["processes"][0]["pages"] = {{{"rule", 0}, {"node", 0}, {"bytes", 610}}};
  const auto text = [&] { return placement_text(summary_of(placement), {}); };
  const std::string said = "--preferred 0  pages not sampled (the kernel refuses: Permission denied)";
  EXPECT_NE(text().find(said), std::string::npos) << text();
  placement["policy_problem"] = "";
  placement["problem"] = "mlrun was killed";
  EXPECT_NE(text().find("--preferred 0  pages not sampled (mlrun was killed)"), std::string::npos) << text();
}

}  // namespace
}  // namespace mlrun::report
