// SPDX-License-Identifier: Apache-2.0
#include "runner/options/options.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::launch {
namespace {

RunOptions options_of(const Arguments& arguments) {
  const auto parsed = parse_run(arguments);
  if (!parsed) ADD_FAILURE() << parsed.error().text;
  return parsed ? **parsed : RunOptions{};
}

std::string error_of(const Arguments& arguments) {
  const auto parsed = parse_run(arguments);
  return parsed ? "" : parsed.error().text;
}

TEST(RunOptions, WordsAfterTheCommandBelongToIt) {
  const RunOptions options = options_of({"--preload", "-o", "t", "python", "-o", "x", "--preload=off"});
  EXPECT_EQ(options.command, (Arguments{"python", "-o", "x", "--preload=off"}));
  EXPECT_EQ(options.preload, Wish::kOn);
  EXPECT_EQ(*options.output, "t");
  EXPECT_EQ(options_of({"--", "--odd", "--", "x"}).command, (Arguments{"--odd", "--", "x"}));
}

TEST(RunOptions, AllStreamsOfPreloadAreOnUnlessOneIsNamed) {
  const RunOptions all = options_of({"x"});
  EXPECT_TRUE(all.files && all.allocs && all.marks);
  EXPECT_EQ(all.preload, Wish::kAuto);
  const RunOptions files = options_of({"--preload=files,require", "x"});
  EXPECT_TRUE(files.files && !files.allocs && !files.marks);
  EXPECT_EQ(files.preload, Wish::kRequire);
  EXPECT_NE(error_of({"--preload=fils", "x"}).find("'fils'"), std::string::npos);
  EXPECT_NE(error_of({"--preload=off", "--sample=off", "x"}), "");
}

TEST(RunOptions, SamplesAreThereByDefaultAndLessIfNamed) {
  const auto streams = [](const RunOptions& options) {
    const bool on = options.sample != Wish::kOff;
    return std::tuple(options.samples_gpus(), on && options.sample_threads, on && options.sample_machine);
  };
  const std::pair<Arguments, std::tuple<bool, bool, bool>> cases[] = {
      {{"--quiet"}, {true, true, true}},
      {{"--sample"}, {true, true, true}},
      {{"--sample=gpu"}, {true, false, false}},
      {{"--sample=threads,machine"}, {false, true, true}},
      {{"--sample=off"}, {false, false, false}},
      {{"--summary-only"}, {true, false, false}},
      {{"--summary-only", "--sample"}, {true, true, true}},
      {{"--preload=off", "--sample"}, {true, false, true}},
  };
  for (auto [arguments, wanted] : cases) {
    const std::string shown = arguments.back();
    arguments.emplace_back("x");
    EXPECT_EQ(streams(options_of(arguments)), wanted) << shown;
  }
  EXPECT_NE(error_of({"--sample=threads", "--sample-hz", "5", "x"}).find("--sample-hz"), std::string::npos);
}

TEST(RunOptions, PythonStacksAreThereByDefaultAndMoreIfNamed) {
  const std::tuple<Arguments, Wish, double> cases[] = {
      {{"--quiet"}, Wish::kAuto, 20},
      {{"--python-stacks"}, Wish::kOn, 20},
      {{"--python-stacks=50"}, Wish::kOn, 50},
      {{"--python-stacks=auto"}, Wish::kAuto, 20},
      {{"--python-stacks=off"}, Wish::kOff, 20},
      {{"--summary-only"}, Wish::kOff, 20},
      {{"--summary-only", "--python-stacks=off"}, Wish::kOff, 20},
      {{"--preload=off", "--sample=machine"}, Wish::kOff, 20},
  };
  for (auto [arguments, wish, rate] : cases) {
    const std::string shown = arguments.back();
    arguments.emplace_back("x");
    const RunOptions options = options_of(arguments);
    EXPECT_EQ(options.python_stacks, wish) << shown;
    EXPECT_EQ(options.python_stacks_hz, rate) << shown;
  }
}

TEST(RunOptions, NamingAStreamKeepsTheOthersOn) {
  const auto streams = [](const RunOptions& options) {
    return std::tuple(options.preload != Wish::kOff, options.sample != Wish::kOff, options.cupti != Wish::kOff,
                      options.kprobes != Wish::kOff, options.python_stacks == Wish::kOn);
  };
  const std::pair<const char*, std::tuple<bool, bool, bool, bool, bool>> cases[] = {
      {"--quiet", {true, true, false, false, false}},         {"--preload", {true, true, false, false, false}},
      {"--preload=files", {true, true, false, false, false}}, {"--sample", {true, true, false, false, false}},
      {"--sample=gpu", {true, true, false, false, false}},    {"--sample=require", {true, true, false, false, false}},
      {"--sample=all", {true, true, false, false, false}},    {"--cupti", {true, true, true, false, false}},
      {"--kprobes=block", {true, true, false, true, false}},  {"--python-stacks", {true, true, false, false, true}},
      {"--stacks", {true, true, false, false, false}},        {"--sample-hz=5", {true, true, false, false, false}},
      {"--preload=off", {false, true, false, false, false}},  {"--sample=off", {true, false, false, false, false}},
      {"--preload=all", {true, true, false, false, false}},   {"--preload=auto", {true, true, false, false, false}},
  };
  for (const auto& [word, wanted] : cases) EXPECT_EQ(streams(options_of({word, "x"})), wanted) << word;
  const RunOptions files = options_of({"--preload=files", "x"});
  EXPECT_TRUE(files.files && !files.allocs && !files.marks);
  const RunOptions all = options_of({"--preload=all", "x"});
  EXPECT_TRUE(all.files && all.allocs && all.marks);
}

TEST(RunOptions, AWordThatContradictsAnotherIsAnError) {
  EXPECT_NE(error_of({"--preload=auto,require", "x"}).find("'auto' and 'require'"), std::string::npos);
  EXPECT_NE(error_of({"--kprobes=block,", "x"}).find("beside a comma"), std::string::npos);
  EXPECT_NE(error_of({"--pid", "1,", "--kprobes"}).find("beside a comma"), std::string::npos);
}

TEST(RunOptions, AnOptionWithoutEffectIsAnError) {
  const std::pair<Arguments, const char*> cases[] = {
      {{"--preload=files", "--alloc-min", "4"}, "--alloc-min"},
      {{"--preload=files", "--alloc-dur"}, "--alloc-dur"},
      {{"--preload=allocs", "--fold", "10us"}, "--fold"},
      {{"--preload=marks", "--exclude", "/x"}, "--exclude: --preload=marks"},
      {{"--preload=off", "--sample", "--python-stacks=on"}, "add --preload or --cupti"},
      {{"--access-write-event", "1cd"}, "--access-write-event is about --access=precise"},
      {{"--access=cold", "--access-write-event", "1cd"}, "--access=cold: --access-write-event is about precise"},
      {{"--cpus", "0", "--cpu-node", "0"}, "--cpus and --cpu-node both choose CPUs"},
      {{"--cupti", "--cupti-whole-graphs", "--cupti-graph-nodes", "1"}, "--cupti-graph-nodes is about"},
      {{"--preload=marks", "--stacks"}, "--stacks"},
      {{"--preload=off", "--sample", "--summary-only"}, "--summary-only"},
      {{"--preload=marks", "--summary-only"}, "--summary-only"},
      {{"--sample=off", "--sample-hz", "5"}, "--sample-hz"},
      {{"--kprobes", "--pid", "1", "--sample-hz", "5"}, "--sample-hz"},
  };
  for (auto [arguments, named] : cases) {
    const bool observes = arguments.size() > 1 && arguments[1] == "--pid";
    if (!observes) arguments.emplace_back("x");
    EXPECT_NE(error_of(arguments).find(named), std::string::npos) << named << ": " << error_of(arguments);
  }
}

TEST(RunOptions, NoValueIsEmptyAndNoneIsGivenTwice) {
  for (const char* word : {"--stacks=", "--preload=", "--kprobes=", "--sample=", "--cupti=", "--python-stacks=",
                           "--buffer=", "--mllog=", "--output="}) {
    EXPECT_NE(error_of({word, "x"}).find(std::string(word) + ": the value is empty"), std::string::npos) << word;
  }
  for (const char* option : {"-o", "--mllog", "--exclude", "--buffer", "--pid", "--live"}) {
    EXPECT_NE(error_of({option, "", "x"}).find(std::string(option) + " '': the value is empty"), std::string::npos);
  }
  EXPECT_NE(error_of({"--buffer", "64M", "--buffer", "64M", "x"}).find("--buffer is given more than once"),
            std::string::npos);
  EXPECT_EQ(error_of({"--exclude", "a", "--exclude", "b", "--preload", "--preload=files", "x"}), "");
  EXPECT_EQ(options_of({"x", "--buffer=", "", "--buffer="}).command.size(), 4u) << "the command's own words";
  EXPECT_NE(error_of({""}), "");
}

TEST(RunOptions, AMistypedOptionIsNamed) {
  EXPECT_NE(error_of({"--prelod=files", "x"}).find("did you mean --preload?"), std::string::npos);
  EXPECT_EQ(error_of({"--frobnicate", "x"}).find("did you mean"), std::string::npos);
}

TEST(RunOptions, TheKernelSideIsOffUnlessItIsAskedFor) {
  EXPECT_EQ(options_of({"x"}).kprobes, Wish::kOff);
  const RunOptions all = options_of({"--kprobes", "x"});
  EXPECT_TRUE(all.kprobes == Wish::kOn && all.kernel_streams.wait);
  const RunOptions block = options_of({"--kprobes=block,require", "x"});
  EXPECT_TRUE(block.kprobes == Wish::kRequire && !block.kernel_streams.wait);
  EXPECT_NE(error_of({"--kprobes=blok", "x"}).find("'blok'"), std::string::npos);
}

TEST(RunOptions, GpuWorkIsRecordedWhenItIsNamed) {
  EXPECT_EQ(options_of({"x"}).cupti, Wish::kOff);
  EXPECT_EQ(options_of({"--cupti", "x"}).cupti, Wish::kOn);
  EXPECT_EQ(options_of({"--cupti", "x"}).preload, Wish::kAuto) << "beside the rest";
  EXPECT_EQ(options_of({"--cupti=require", "--preload=off", "x"}).cupti, Wish::kRequire);
  EXPECT_NE(error_of({"--cupti=kernels", "x"}).find("'kernels'"), std::string::npos);
}

TEST(RunOptions, CountersOfTheMachineAreSampledWhenTheyAreNamed) {
  EXPECT_TRUE(options_of({"x"}).sample_counters.empty());
  EXPECT_TRUE(options_of({"--sample", "x"}).sample_counters.empty());
  const RunOptions named = options_of({"--sample=process,cpu,gpu", "--sample-hz=20", "x"});
  EXPECT_EQ(named.sample_counters, (std::vector<std::string>{"cpu", "process"}));
  EXPECT_TRUE(named.sample_gpu && !named.sample_machine);
  EXPECT_EQ(options_of({"--sample=disk", "--sample-hz=20", "x"}).sample_hz, 20);
  EXPECT_NE(error_of({"--sample=threads", "--sample-hz=20", "x"}).find("add one"), std::string::npos);
  EXPECT_NE(error_of({"--sample=disks", "x"}).find("'disks'"), std::string::npos);
}

TEST(RunOptions, AccessMayBeSwitchedOff) { EXPECT_EQ(error_of({"--access=off", "x"}), ""); }

TEST(RunOptions, AStreamOfTheKernelSideCanBeNamedByItself) {
  for (const auto& [words, wait, vfs] : {std::tuple{"--kprobes", true, true},
                                         {"--kprobes=block", false, false},
                                         {"--kprobes=vfs", false, true},
                                         {"--kprobes=require,block,wait", true, false},
                                         {"--kprobes=require", true, true}}) {
    EXPECT_EQ(options_of({words, "x"}).kernel_streams.wait, wait) << words;
    EXPECT_EQ(options_of({words, "x"}).kernel_streams.vfs, vfs) << words;
    EXPECT_FALSE(options_of({words, "x"}).kernel_streams.syscalls) << "they slow the whole machine: " << words;
  }
  const std::vector<std::string_view> required = {"block I/O", "file operations"};
  EXPECT_EQ(options_of({"--kprobes=require,vfs", "x"}).kprobes_required, required);
  EXPECT_TRUE(options_of({"--kprobes=require", "x"}).kprobes_required.empty()) << "what there is will do";
  EXPECT_TRUE(options_of({"--kprobes=vfs", "x"}).kprobes_required.empty());
  const RunOptions counts = options_of({"--preload=off", "--kprobes=syscalls", "x"});
  EXPECT_TRUE(counts.kernel_streams.syscalls);
  EXPECT_FALSE(counts.kernel_streams.wait || counts.kernel_streams.vfs);
}

TEST(RunOptions, OffCannotBeCombined) {
  for (const char* words : {"--preload=off,files", "--kprobes=block,off", "--sample=off,gpu"}) {
    EXPECT_NE(error_of({words, "x"}).find("'off' cannot be joined"), std::string::npos) << words;
  }
  EXPECT_EQ(options_of({"--kprobes=off", "x"}).kprobes, Wish::kOff);
}

TEST(RunOptions, RatesOutsideOfTheirBoundsAreRefused) {
  EXPECT_EQ(options_of({"--sample-hz=0.5", "x"}).sample_hz, 0.5);
  for (const char* bad : {"nan", "-nan", "inf", "0", "-1", "100.1", "ten", ""}) {
    EXPECT_NE(error_of({"--sample-hz", bad, "x"}).find("--sample-hz"), std::string::npos) << bad;
  }
}

TEST(RunOptions, SizesOutsideOfTheirBoundsAreRefused) {
  EXPECT_EQ(*options_of({"--buffer", "64M", "x"}).buffer_bytes, 64u << 20);
  EXPECT_EQ(options_of({"--alloc-min", "0", "x"}).alloc_min_bytes, 0u);
  EXPECT_EQ(*options_of({"--max-spool", "1GiB", "x"}).max_spool_bytes, 1u << 30);
  for (const char* bad : {"x", "-1", "1Q", "99999999999999999999", "1K", "8G", ""}) {
    EXPECT_NE(error_of({"--buffer", bad, "x"}), "") << bad;
  }
}

TEST(RunOptions, UnknownOptionsAndAMissingCommandAreErrors) {
  EXPECT_NE(error_of({"--nonsense", "x"}).find("--nonsense"), std::string::npos);
  EXPECT_NE(error_of({}), "");
  EXPECT_NE(error_of({"-o"}), "");
  EXPECT_NE(error_of({"--"}), "");
}

}  // namespace
}  // namespace mlrun::launch
