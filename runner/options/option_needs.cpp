// SPDX-License-Identifier: Apache-2.0
#include "runner/options/option_needs.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/options/stream_options.h"

namespace mlrun {

namespace {

// What an option applies to: a command that mlrun starts, events that have rows, all events of the run, processes that record, a stream
// or a part of one, or that another option is not given. kNothing: is always there.
enum class About : uint8_t {
  kNothing,
  kCommand,
  kEvents,
  kAllEvents,
  kRecording,
  kLibrary,
  kAllocs,
  kFiles,
  kStacks,
  kSums,
  kCupti,
  kNodes,
  kSamples,
  kRatedSamples,
  kAccess,
  kPrecise,
  kNoCpus
};

struct Option {
  const char* name;
  bool is_given;
  std::vector<About> needs;
};

std::vector<Option> table(const RunTexts& texts, const RunOptions& options) {
  using enum About;
  const auto is_named = [](const std::string& text) { return !text.empty() && text != "off"; };
  const auto only_if = [](bool applies, About subject) { return applies ? subject : kNothing; };
  const bool is_cupti_named = options.cupti == Wish::kOn || options.cupti == Wish::kRequire;
  const bool is_rate_named = texts.python_stacks != "auto";
  const bool has_cupti = options.cupti != Wish::kOff;
  return {
      {"--preload", is_named(texts.preload), {kCommand}},
      {"--cupti", is_named(texts.cupti), {kCommand, only_if(is_cupti_named, kEvents)}},
      {"--sample", is_named(texts.sample), {kCommand}},
      {"--sample-hz", texts.sample_hz.has_value(), {kCommand, kSamples, kRatedSamples}},
      {"--stacks",
       !texts.stacks.empty(),
       {only_if(!options.kernel_streams.cuda, kCommand), only_if(!has_cupti, kLibrary), only_if(!has_cupti, kStacks)}},
      {"--python-stacks",
       is_named(texts.python_stacks),
       {kCommand, only_if(is_rate_named, kEvents), only_if(is_rate_named, kRecording)}},
      {"--alloc-min", texts.alloc_min.has_value(), {kCommand, kLibrary, kAllocs}},
      {"--last", texts.last.has_value(), {kCommand, kEvents, kAllEvents}},
      {"--fold", texts.fold.has_value(), {kCommand, kLibrary, kFiles, kEvents}},
      {"--alloc-sample", texts.alloc_sample.has_value(), {kCommand, kLibrary, kAllocs, kEvents}},
      {"--kprobes", options.kprobes != Wish::kOff, {kEvents}},
      {"--access", is_named(texts.access), {kCommand, kEvents}},
      {"--access-read-event", texts.access_read_event.has_value(), {kCommand, kAccess, kPrecise}},
      {"--access-write-event", texts.access_write_event.has_value(), {kCommand, kAccess, kPrecise}},
      {"--alloc-dur", options.alloc_times, {kCommand, kLibrary, kAllocs}},
      {"--buffer", texts.buffer.has_value(), {kCommand}},
      {"--max-spool", texts.max_spool.has_value(), {kCommand}},
      {"--include", !options.path_rules.include.empty(), {kCommand, kLibrary, kFiles}},
      {"--exclude", !options.path_rules.exclude.empty(), {kCommand, kLibrary, kFiles}},
      {"--cpus", !options.cpus.empty(), {kCommand}},
      {"--cpu-node", !options.cpu_node.empty(), {kCommand, kNoCpus}},
      {"--mem-node", !options.mem_node.empty(), {kCommand}},
      {"--preferred", !options.preferred.empty(), {kCommand}},
      {"--interleave", !options.interleave.empty(), {kCommand}},
      {"--weighted-interleave", !options.weighted_interleave.empty(), {kCommand}},
      {"--place", !options.place.empty(), {kCommand}},
      {"--mem-kind", !options.mem_kind.empty(), {kCommand}},
      {"--pmem", !options.pmem.empty(), {kCommand}},
      {"--lossless", options.lossless, {kCommand}},
      {"--wait-all", options.wait_all, {kCommand}},
      {"--summary-only", options.summary_only, {kCommand, kLibrary, kSums}},
      {"--cupti-whole-graphs", options.whole_graphs, {kCommand, kCupti}},
      {"--cupti-graph-nodes", options.graph_nodes_per_s.has_value(), {kCommand, kCupti, kNodes}}};
}

// The first given option that applies to `subject`; empty: none is given.
std::string option_about(About subject, const std::vector<Option>& all) {
  const auto found = std::ranges::find_if(all, [&](const Option& option) {
    return option.is_given && std::ranges::find(option.needs, subject) != option.needs.end();
  });
  return found == all.end() ? std::string() : found->name;
}

}  // namespace

std::string option_of_commands(const RunTexts& texts, const RunOptions& options) {
  return option_about(About::kCommand, table(texts, options));
}

Status check_needs(const RunTexts& texts, const RunOptions& options) {
  using enum About;
  const bool has_preload = options.preload != Wish::kOff, has_cupti = options.cupti != Wish::kOff;
  const auto& rungs = options.access.rungs;
  // {0}: the option; {1} to {3}: what --preload, --access and --sample are; {4}: the counters that can be sampled.
  const struct {
    About subject;
    bool is_met;
    const char* error;
  } needs[] = {
      {kSamples, options.sample != Wish::kOff,
       "{0} is about samples, and --sample=off leaves them out: remove one of the two"},
      {kRatedSamples, options.sample_gpu || !options.sample_counters.empty(),
       "{0} is about samples of gpu, {4}, and --sample={3} leaves them out: add one to it"},
      {kAccess, options.access.wish != Wish::kOff, "{0} is about --access=precise: add it"},
      {kPrecise, rungs.empty() || std::ranges::find(rungs, "precise") != rungs.end(),
       "--access={2}: {0} is about precise events: add precise"},
      {kNoCpus, options.cpus.empty(), "--cpus and {0} both choose CPUs: give one of them"},
      {kCupti, has_cupti, "{0} says how --cupti records; add --cupti, or leave it out"},
      {kNodes, !options.whole_graphs,
       "{0} is about nodes of CUDA graphs, which --cupti-whole-graphs does not record: remove one of the two"},
      {kLibrary, has_preload,
       "{0} is about what the library records, and --preload=off records nothing there: remove one of the two"},
      {kAllocs, options.allocs, "{0}: --preload={1} records no allocations; add allocs to it"},
      {kFiles, options.files, "{0}: --preload={1} records no file calls; add files to it"},
      {kStacks, options.files || options.allocs,
       "{0}: --preload={1} records no file calls and no allocations; add files or allocs to it"},
      {kEvents, !options.summary_only,
       "--summary-only lists no events, and {0} is about listed events: remove one of the two"},
      // --last would drop the reads and writes below cuFile calls, and their bytes would be attributed to the driver.
      {kAllEvents, !options.kernel_streams.cufile,
       "{0} drops events, and --kprobes=cufile needs all of them to count bytes once: remove one of the two"},
      {kRecording, has_preload || has_cupti, "{0} samples only processes that record: add --preload or --cupti"},
      {kSums, options.files || options.allocs,
       "{0} leaves marks out, and --preload={1} records nothing else: remove one of the two"}};
  const std::vector<Option> all = table(texts, options);
  for (const auto& need : needs) {
    const std::string name = need.is_met ? std::string() : option_about(need.subject, all);
    if (name.empty()) continue;
    return fail(fmt::format(fmt::runtime(need.error), name, texts.preload, texts.access, texts.sample,
                            fmt::join(words_of("--sample").named, ", ")));
  }
  return {};
}

}  // namespace mlrun
