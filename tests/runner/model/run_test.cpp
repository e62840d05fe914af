// SPDX-License-Identifier: Apache-2.0
#include "runner/model/run.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/model/run_keys.h"

namespace mlrun::model {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(RunTest, HasTheValuesOfNestedObjectsAndLists) {
  const model::Run run = run_of(json::parse(R"({
    "command": ["python", "train.py"], "exit_status": 3, "start_ns": 100, "end_ns": 400, "recovered": true, "merged": {},
    "clock": {"end": {"discipline": {"is_synchronised": true, "max_error_ns": 7}}, "realtime_offset_by_time": [[1, 2], [3, -4]]},
    "options": {"streams": ["files"], "exclude": ["/proc/*"], "python_stacks_hz": 0},
    "placement": {"rules": [{"nodes": [0, 2]}], "processes": [{"pid": 5, "pages": [{"rule": 0, "node": 2, "bytes": 9}]}]},
    "cost": {"cost_per_call_ns": {"call": 30, "open": 45.5}}, "observed": {"scope": "cgroup"},
    "totals": {"losses": 0}, "coverage": [{"level": "remark"}], "gpu_work": {"folded_nodes": 8}})"));
  EXPECT_EQ(run.command_text(), "python train.py");
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_EQ(run.duration_ns(), 300);
  EXPECT_TRUE(run.recovered && run.is_merged);
  EXPECT_EQ(run.clock.end.discipline.max_error_ns, 7);
  EXPECT_EQ(run.clock.realtime_offset_by_time.back(), (std::pair<int64_t, int64_t>(3, -4)));
  EXPECT_TRUE(run.has_stream("files"));
  EXPECT_FALSE(run.has_stream("gpu"));
  EXPECT_EQ(run.options.exclude, Texts{"/proc/*"});
  EXPECT_EQ(run.options.python_stacks_hz, 0);
  EXPECT_EQ(run.placement.rules[0].nodes, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(run.placement.processes->at(0).pages[0].bytes, 9);
  EXPECT_EQ(run.cost.cost_per_call_ns->at("open"), 45.5);
  EXPECT_EQ(run.observed->scope, "cgroup");
  EXPECT_EQ(run.total("losses"), 0);
  EXPECT_EQ(run.total("marks"), std::nullopt);
  EXPECT_EQ(run.coverage->at(0).level, "remark");
  EXPECT_EQ(run.folded_nodes, 8);
}

TEST(RunTest, OfAnotherVersionHasTheMembersOfKnownType) {
  const model::Run run = run_of(json::parse(R"({
    "command": "python train.py", "exit_status": "3", "wall_ns": null, "clock": 5, "recovered": 1,
    "options": {"streams": {"files": true}, "exclude": ["/a", 5, "/b"], "include": "/c"},
    "placement": {"rules": [7, {"text": "-> node 0"}], "processes": {}}, "cost": {"cost_per_call_ns": {"call": "30"}},
    "totals": {"losses": 1.5, "events": 4}, "observed": [], "gpu_work": 3})"));
  EXPECT_EQ(run.command, Texts{"python train.py"});
  EXPECT_FALSE(run.exit_status || run.duration_ns() || run.begin_ns() || run.recovered);
  EXPECT_FALSE(run.options.streams || run.is_preload_off() || run.placement.processes || run.coverage);
  EXPECT_EQ(run.options.exclude, (Texts{"/a", "/b"}));
  EXPECT_TRUE(run.options.include.empty());
  ASSERT_EQ(run.placement.rules.size(), 1);
  EXPECT_EQ(run.placement.rules[0].text, "-> node 0");
  EXPECT_TRUE(run.cost.cost_per_call_ns->empty());
  EXPECT_EQ(run.total("events"), 4);
  EXPECT_EQ(run.total("losses"), std::nullopt);
  EXPECT_TRUE(run_of(json(7)).command.empty());
}

TEST(RunTest, HasWhatTheKernelSideReported) {
  const model::Run run = run_of(json::parse(R"({"kernel_side": {"state": "recorded",
    "signals": [{"signal": "waits", "mechanism": null}, {"signal": "waits", "mechanism": "tracepoint"}],
    "programs": [{"event": "a", "mechanism": "fentry"}, {"event": "b", "mechanism": null, "missing": "refused"}],
    "cufile": {"put_off": 2, "libraries": [{"pid": 5}], "detached": [7, {"function": "f", "calls_per_second": 9}]},
    "torch": null, "devices": [{"device": 8, "rotational": false}]}})"));
  const KernelSide& side = run.kernel_side;
  EXPECT_EQ(run.recorded_by("waits"), "tracepoint");
  EXPECT_EQ(run.recorded_by("block I/O"), "");
  EXPECT_TRUE(side.has_program("a") && side.lacks_program("b"));
  EXPECT_FALSE(side.lacks_program("a") || side.has_program("b") || side.has_program("c") || side.lacks_program("c"));
  ASSERT_TRUE(side.cufile);
  EXPECT_EQ(side.cufile->detached.at(0).calls_per_second, 9);
  EXPECT_FALSE(side.torch || side.cuda);
  EXPECT_EQ(side.devices.at(0).rotational, false);
  EXPECT_EQ(
      run_of(json::parse(
                 R"({"kernel_side": {"state": "broken", "signals": [{"signal": "waits", "mechanism": "kprobe"}]}})"))
          .recorded_by("waits"),
      "");
}

// Traces of the commits before the keys were renamed.
TEST(RunTest, TakesKeysByTheirOldNames) {
  const model::Run run = run_of(json::parse(R"({"kernel_side": {"state": "recorded", "let_go_at_exec": 3,
    "untold_32bit_calls": 4, "signals": [{"signal": "waits", "way": "kprobe"}],
    "cuda": {"let_go": [{"function": "f", "calls_per_second": 9}]}},
    "gpu_sampler": {"looks": 5, "late_looks": 6, "look_ns": 7}, "machine_sampler": {"looks": 8, "late_looks": 9},
    "python_stacks": {"looks": 10, "looks_left_out": 11, "samples": 12}})"));
  EXPECT_EQ(run.recorded_by("waits"), "kprobe");
  EXPECT_EQ(run.gpu_sampler.samples, 5);
  EXPECT_EQ(run.gpu_sampler.late_samples, 6);
  EXPECT_EQ(run.gpu_sampler.sample_ns, 7);
  EXPECT_EQ(run.machine_sampler.samples, 8);
  EXPECT_EQ(run.machine_sampler.late_samples, 9);
  EXPECT_EQ(run.python_stacks.rounds, 10);
  EXPECT_EQ(run.python_stacks.rounds_left_out, 11);
  EXPECT_EQ(run.kernel_side.unobserved_at_exec, 3);
  EXPECT_EQ(run.kernel_side.unseen_32bit_calls, 4);
  ASSERT_TRUE(run.kernel_side.cuda);
  EXPECT_EQ(run.kernel_side.cuda->detached.at(0).calls_per_second, 9);
}

TEST(RunTest, HasWhatTheSamplersReported) {
  const model::Run run = run_of(json::parse(R"({
    "gpu_sampler": {"samples": 5, "rows_dropped": 3, "not_sampled": [{"gpu_id": 2, "what": ["power", 4]}, "all"]},
    "access": {"rows": 9, "rows_dropped": 4, "problem": ""},
    "machine_sampler": {"problem": "late", "not_sampled": [{"sample": "disk", "text": "no /proc/diskstats"}]},
    "python_stacks": {"problems": [{"text": "too old", "processes": [7, "8"]}]}, "collector": {"failures": {"walks": 4}}})"));
  EXPECT_EQ(run.gpu_sampler.samples, 5);
  EXPECT_EQ(run.gpu_sampler.rows_dropped, 3);
  EXPECT_EQ(run.access.rows_dropped, 4);
  ASSERT_EQ(run.gpu_sampler.not_sampled.size(), 1U);
  EXPECT_EQ(run.gpu_sampler.not_sampled[0].what, Texts{"power"});
  EXPECT_EQ(run.machine_sampler.problem, "late");
  EXPECT_EQ(run.machine_sampler.not_sampled.at(0).sample, "disk");
  EXPECT_TRUE(run.python_stacks.is_reported);
  EXPECT_EQ(run.python_stacks.problems.at(0).processes, std::vector<int64_t>{7});
  EXPECT_FALSE(run_of(json::parse(R"({"python_stacks": 7})")).python_stacks.is_reported);
  EXPECT_EQ(run.collector.failed("walks"), 4);
  EXPECT_EQ(run.collector.failed("abi"), 0);
}

// Gives each value of an object, of the objects in it and of the lists another one.
struct Filler {
  int64_t values = 0;

  template <class Value, class... Rest>
  void operator()(const char* /*key*/, Value& to, Rest&... rest) {
    fill(to);
    if constexpr (sizeof...(rest) != 0) (*this)(rest...);
  }
  void optional(const char* key, auto& to) { (*this)(key, to); }
  void earlier(const auto&... /*keys*/) {}

  template <class Value>
  void fill(Value& to) {
    if constexpr (requires { visit_keys(*this, to); }) {
      visit_keys(*this, to);
    } else {
      ++values;
      if constexpr (std::is_same_v<Value, std::string>)
        to = std::to_string(values);
      else
        to = static_cast<Value>(values);
    }
  }
  template <class Value>
  void fill(std::optional<Value>& to) {
    fill(to.emplace());
  }
  template <class Value>
  void fill(std::vector<Value>& to) {
    to.resize(2);
    for (Value& entry : to) fill(entry);
  }
  template <class Value>
  void fill(std::map<std::string, Value>& to) {
    fill(to["a"]);
    fill(to["b"]);
  }
  void fill(std::pair<int64_t, int64_t>& to) {
    fill(to.first);
    fill(to.second);
  }
};

TEST(RunTest, IsReadAsItIsWritten) {
  Filler filler;
  model::Run run;
  visit_keys(filler, run);
  const json document = json_of(run);
  EXPECT_EQ(document.flatten().size(), filler.values) << "a key is listed twice in an object";
  EXPECT_EQ(json_of(run_of(document)), document);
  EXPECT_EQ(json_of(run_of(json::object())), json_of(model::Run()));
}

TEST(RunTest, WritesUnknownValuesAsNullOrLeavesThemOut) {
  const std::vector<KernelSide::Syscall> calls(1);
  EXPECT_TRUE(json_of(calls).at(0).at("p50_below_ns").is_null());
  EXPECT_FALSE(json_of(ResourceUse()).contains("read_bytes"));
}

TEST(RunTest, KeepsKeysThatItDoesNotKnow) {
  const fs::path folder = fs::path(testing::TempDir()) / "run_test";
  fs::create_directories(folder);
  const json document = {{"wall_ns", 5}, {"of_a_later_version", {{"a", {1, 2}}}}};
  ASSERT_TRUE(write_run(document, folder));
  EXPECT_EQ(fs::status(folder / "run.json").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const auto run = read_run(folder);
  ASSERT_TRUE(run) << run.error().text;
  EXPECT_EQ(run->wall_ns, 5);
  EXPECT_EQ(*run->document, document);
  std::ofstream(folder / "run.json") << "[]";
  EXPECT_TRUE(read_run(folder).error().text.starts_with("the trace " + folder.string() + " is damaged: run.json"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace mlrun::model
