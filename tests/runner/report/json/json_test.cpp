// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/runner/summary/small_training.h"

namespace mlrun::report {
namespace {

using Json = nlohmann::ordered_json;

void collect_keys(const Json& json, std::set<std::string>& keys) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) keys.insert(key);
  }
  for (const auto& value : json) {
    if (value.is_structured()) collect_keys(value, keys);
  }
}

// Two processes; the second rule is about mappings.
nlohmann::json run_with_rules() {
  const nlohmann::json block = {{"matches", 3}, {"bytes", 100}, {"peak_bytes", 4096}};
  const nlohmann::json mapping = {{"matches", 1}, {"bytes", 50}, {"fallbacks", 1}, {"fallback_bytes", 50}};
  const nlohmann::json page = {{"rule", 0}, {"node", 1}, {"bytes", 4096}, {"resident_bytes", 9000}};
  const nlohmann::json process = {{"rules", {block, mapping}}, {"pages", nlohmann::json::array({page})}};
  return {{"rules",
           {{{"text", "-> 3:1 node 0-1"}, {"policy", "ratio"}, {"nodes", {0, 1}}, {"shares", {3, 1}}},
            {{"text", "mmap size >= 1M -> huge"}, {"mmap", true}}}},
          {"policy", "preferred"},
          {"mem_node", "1"},
          {"pages",
           {{{"pid", 7}, {"node", 0}, {"bytes", 100}},
            {{"pid", 8}, {"node", 0}, {"bytes", 50}},
            {{"pid", 8}, {"file", "shared memory"}, {"node", 1}, {"bytes", 30}}}},
          {"sites",
           {{{"rule", 0}, {"site", "load"}, {"bytes", 20}},
            {{"rule", 0}, {"site", ""}, {"bytes", 10}},
            {{"rule", -1}, {"site", "main"}, {"bytes", 7}}}},
          {"numa_balancing", {{"before", 1}, {"after", 0}}},
          {"counted", {{"numa_pages_migrated", 5}, {"oom_kill", 0}}},
          {"processes", {process, process}}};
}

Json full_json() {
  summary::Summary summary = summary::testing::small_training();
  summary.losses.push_back({"interposer", "arena full", 1, 2, 3, 4, 5, "records", -1, "mark"});
  summary.coverage.push_back({1, "io_uring", "not hooked", -1, -1});
  summary.left_out.push_back({1, "path rules", 2, 3, 4, 5});
  summary.marks.push_back({"nvtx", "step", 3, 600, 300});
  summary.collectives.push_back({"0x12", "AllReduce", 4, 4096, 900, 300, 2, 2, 50, 70, 71, 1, 2});
  summary::GpuSummary& gpu = summary.gpus.emplace_back();
  gpu.busy_ppm = 630'000;
  summary.gpu_idle.push_back(
      {1, "file", 2, 3, 33, 4, "/data/x.npy", 700, 2, {.device_ns = 700}, "train.py:12 fetch", 500, "read", 600});
  summary.python.push_back({"main", "fetch", "/data/train.py", 1, 12, 9, 4, 800, 300, 5, 1});
  summary.gpu_work.push_back({1, "H200", "GPU-1", 900, 10, 800, 2, 4096, 0, 0, 1, 100});
  summary.gpu_kernels.push_back({"k(float*)", 10, 800, 90});
  summary.gpu_marks.push_back({"nvtx", "step", 1, 10, 4, 800, 2, 4096, 1, 0, 700, 50});
  summary.gpu_stacks.push_back({1, 1, "device", 7, 2, 2048, 1, 1024, "leak (libm.so) < main (app)"});
  summary.gpu_hosts.push_back(
      {1, 1, 0, "pinned", 3, 4096, 700, 4096, 4096, 1024, 200, 0, 7, "pin (libm.so) < main (app)"});
  summary.gpu_files.push_back({"cuFileRead", 3, 1, 3, 4096, 4096, 700});
  summary.gpu_memory.push_back({1, 1, "device", 4096, 3, 8192, 2, 0, 0, 1, 2048, 0, 0, 0});
  summary.torch_memory.push_back({1, 0, 4096, 3, 8192, 2, 0, 0, 1, 2048, 0});
  summary.gpu_calls = {14, 0, 500, 1, 50};
  summary::Answer& answer = summary.answer;
  answer.wall_ns = 1000;
  answer.without_batch_ns = 300;
  answer.time = {{summary::Activity::kCompute, summary::State::kOnCpu, 600},
                 {summary::Activity::kWait, summary::State::kDevice, 400}};
  answer.findings.push_back({"small_files", "metadata,small_requests", "many files", 400, 350'000, 450'000,
                             "9 samples, one run", "rows", "mlrun show TRACE blame", "pack them", "", 300});
  answer.waited_for.push_back({"DataLoader worker", "", 2, 101, 101, "reading", "data.py:3 read", "pipe", 400});
  nlohmann::json document = *summary.run.document;
  document["placement"] = run_with_rules();
  document["access"]["rungs"][0] = {{"rung", "cold"}, {"cost", "little"}, {"on_ns", 5}};
  document["access"]["by_rung"][0] = {{"rung", "cold"}, {"byte_s", 8.0}, {"sites", 1}};
  summary.run = model::run_of(std::move(document));
  return to_json(summary);
}

TEST(JsonTest, HasAVersionAndTheBlocksInOrder) {
  const Json json = to_json(summary::testing::small_training());
  EXPECT_EQ(json["schema"], "mlrun-summary");
  EXPECT_EQ(json["schema_version"], summary::kSchemaVersion);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  const std::vector<std::string> expected = {"schema",
                                             "schema_version",
                                             "run",
                                             "complete",
                                             "losses",
                                             "coverage",
                                             "left_out",
                                             "totals",
                                             "processes",
                                             "phases",
                                             "marks",
                                             "collectives",
                                             "gpus",
                                             "machine",
                                             "gpu_work",
                                             "gpu_files",
                                             "torch_memory",
                                             "gpu_idle",
                                             "python",
                                             "gpu_steps",
                                             "files_touched",
                                             "files_without_place",
                                             "files",
                                             "directories_touched",
                                             "directories",
                                             "file_trees",
                                             "functions",
                                             "classes",
                                             "errors",
                                             "sites",
                                             "file_access",
                                             "reread",
                                             "sizes",
                                             "timeline",
                                             "kernel_side",
                                             "splits",
                                             "devices",
                                             "syscalls",
                                             "streams",
                                             "tracing",
                                             "placement",
                                             "memory_access",
                                             "driver",
                                             "time",
                                             "without_batch_ns",
                                             "startup",
                                             "findings",
                                             "waited_for",
                                             "steps"};
  EXPECT_EQ(keys, expected);
}

TEST(JsonTest, HasTheSameFiguresAsTheSummary) {
  const Json json = full_json();
  EXPECT_EQ(json["run"]["command"], "python train.py --epochs 2");
  EXPECT_EQ(json["run"]["wall_ns"], 40'000'000);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["totals"]["files"]["calls"], 12);
  EXPECT_NEAR(json["totals"]["files"]["metadata_share_of_calls"].get<double>(), 4.0 / 12, 1e-12);
  EXPECT_EQ(json["processes"][1]["role"], "DataLoader worker");
  EXPECT_EQ(json["processes"][0]["heap"]["peak_recorded_bytes"], 5 << 20);
  EXPECT_EQ(json["processes"][0]["heap"]["live_at_peak"][0]["library"], "/usr/lib/libtorch_cpu.so");
  EXPECT_EQ(json["phases"][0]["bytes_read"], 4 << 20);
  EXPECT_EQ(json["errors"][0]["name"], "ENOENT");
  EXPECT_EQ(json["file_access"]["write"]["sequential_share_of_bytes"], 1.0);
  EXPECT_EQ(json["sizes"][0]["high_bytes"], 512);
  EXPECT_EQ(json["timeline"]["bytes_read"].size(), 38u);
  EXPECT_EQ(json["tracing"]["calls_cost_ns"], 10 * 30 + 45.5 + 2 * 500 + 80'000);
  EXPECT_EQ(json["losses"][0]["count"], 5);
  EXPECT_EQ(json["marks"][0]["time_ns"], 600);
  EXPECT_EQ(json["collectives"][0]["start_skew_ns"]["p99"], 70);
  EXPECT_EQ(json["collectives"][0]["last_proc_id"], 1);
  EXPECT_EQ(json["gpus"][0]["busy"], 0.63);
  EXPECT_EQ(json["gpu_work"]["devices"][0]["bytes_in"], 4096);
  EXPECT_EQ(json["gpu_work"]["kernels"][0]["time_ns"], 800);
  EXPECT_EQ(json["gpu_work"]["sync_time_ns"], 50);
  EXPECT_EQ(json["gpu_work"]["marks"][0]["own_kernels"], 4);
  EXPECT_EQ(json["gpu_work"]["marks"][0]["idle_ns"], 50);
  EXPECT_EQ(json["gpu_work"]["stacks"][0]["blocks"], 2);
  EXPECT_EQ(json["gpu_work"]["stacks"][0]["frames"], "leak (libm.so) < main (app)");
  EXPECT_EQ(json["gpu_work"]["memory"][0]["kept_bytes"], 2048);
  EXPECT_EQ(json["gpu_idle"][0]["path"], "/data/x.npy");
  EXPECT_EQ(json["gpu_idle"][0]["device_ns"], 700);
  EXPECT_EQ(json["gpu_idle"][0]["tid"], 33);
  EXPECT_EQ(json["gpu_idle"][0]["python_line"], "train.py:12 fetch");
  EXPECT_EQ(json["gpu_idle"][0]["python_ns"], 500);
  EXPECT_EQ(json["gpu_idle"][0]["func"], "read");
  EXPECT_EQ(json["gpu_idle"][0]["func_ns"], 600);
  EXPECT_EQ(json["python"][0]["line"], 12);
  EXPECT_EQ(json["python"][0]["running"], 4);
  EXPECT_EQ(json["python"][0]["waiting"], 5);
  EXPECT_EQ(json["python"][0]["driver"], true);
  EXPECT_EQ(json["file_trees"][0]["path"], "/data/kits");
  EXPECT_EQ(json["time"][1]["activity"], "wait");
  EXPECT_EQ(json["time"][1]["share"], 0.4);
  EXPECT_EQ(json["findings"][0]["also"], Json({"metadata", "small_requests"}));
  EXPECT_EQ(json["findings"][0]["low"], 0.35);
  EXPECT_TRUE(json["findings"][0]["against"].is_null());
  EXPECT_TRUE(json["waited_for"][0]["thread"].is_null());
  EXPECT_TRUE(json["gpus"][0]["tensor"].is_null());
}

TEST(JsonTest, AddsFunctionsUpToClasses) {
  const Json json = full_json();
  for (const auto& one : json["classes"]) {
    if (one["class"] != "read" || one["group"] != "files") continue;
    EXPECT_EQ(one["calls"], 7);
    EXPECT_EQ(one["latency_ns"]["max"], 3'000'000);
    return;
  }
  FAIL() << "no class read";
}

TEST(JsonTest, HasNullForWhatIsNotKnown) {
  const Json json = to_json(summary::Builder().finish({}));
  EXPECT_TRUE(json["run"]["wall_ns"].is_null());
  EXPECT_TRUE(json["reread"]["ratio"].is_null());
  EXPECT_TRUE(json["totals"]["files"]["metadata_share_of_calls"].is_null());
  EXPECT_TRUE(json["processes"].is_array());
  EXPECT_TRUE(json["processes"].empty());
  EXPECT_EQ(json["complete"], true);
}

TEST(JsonTest, IsDocumentedKeyByKey) {
  std::stringstream page;
  page << std::ifstream(MLRUN_SUMMARY_JSON_PAGE).rdbuf();
  std::set<std::string> keys;
  collect_keys(full_json(), keys);
  for (const std::string& key : keys) EXPECT_NE(page.str().find("`" + key + "`"), std::string::npos) << key;
}

TEST(JsonTest, RulesAreAddedUpOverProcessesAndUnknownCountsAreNull) {
  Json rules = full_json()["placement"]["rules"];
  EXPECT_EQ(rules[0]["matches"], 6);
  EXPECT_EQ(rules[0]["peak_bytes"], 4096);
  EXPECT_EQ(rules[0]["nodes"], Json::parse(R"([{"node": 1, "bytes": 8192}])"));
  EXPECT_EQ(rules[0]["resident_bytes"], 18000);
  EXPECT_EQ(rules[0]["asked"], Json::parse(R"({"policy": "ratio", "nodes": [0, 1], "shares": [3, 1]})"));
  EXPECT_TRUE(rules[1]["asked"].is_null());
  EXPECT_EQ(rules[1]["fallback_bytes"], 100);
  EXPECT_TRUE(rules[1]["peak_bytes"].is_null() && rules[1]["resident_bytes"].is_null());
  EXPECT_EQ(full_json()["placement"]["policy"]["nodes"], Json::parse(R"([{"node": 0, "bytes": 150}])"));
  summary::Summary summary = summary::testing::small_training();
  EXPECT_EQ(full_json()["placement"]["policy"]["shared_nodes"], Json::parse(R"([{"node": 1, "bytes": 30}])"));
  EXPECT_EQ(full_json()["placement"]["numa_balancing"]["before"], 1);
  EXPECT_EQ(full_json()["placement"]["numa_balancing"]["after"], 0);
  EXPECT_EQ(full_json()["placement"]["counted"]["numa_pages_migrated"], 5);
  EXPECT_EQ(rules[0]["lacks_mappings"], false);
  EXPECT_EQ(rules[0]["sites"], Json::parse(R"([{"site": "load", "bytes": 20}, {"site": null, "bytes": 10}])"));
  EXPECT_TRUE(rules[1]["sites"].empty());
  EXPECT_EQ(full_json()["placement"]["policy"]["sites"], Json::parse(R"([{"site": "main", "bytes": 7}])"));
  nlohmann::json unlisted = run_with_rules();
  unlisted["processes"][1]["mappings_left_out"] = {0};
  summary.run = model::run_of({{"placement", unlisted}});
  rules = to_json(summary)["placement"]["rules"];
  EXPECT_TRUE(rules[0]["lacks_mappings"] == true && rules[0]["resident_bytes"].is_null());
  summary.run = model::run_of({{"placement", run_with_rules()}});
  summary.run.placement.processes.reset();
  rules = to_json(summary)["placement"]["rules"];
  EXPECT_TRUE(rules[0]["matches"].is_null() && rules[0]["peak_bytes"].is_null());
  EXPECT_TRUE(to_json(summary::testing::small_training())["placement"].is_null());
}

TEST(JsonTest, MemoryThatWasAccessedIsByRung) {
  const Json rung = full_json()["memory_access"][0];
  EXPECT_EQ(rung["rung"], "cold");
  EXPECT_EQ(rung["on_ns"], 5);
  EXPECT_EQ(rung["byte_s"], 8.0);
  EXPECT_TRUE(rung["problem"].is_null());
}

}  // namespace
}  // namespace mlrun::report
