// SPDX-License-Identifier: Apache-2.0
#include "runner/options/option_needs.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace mlrun {

namespace {

// What an option applies to: a command that mlrun starts, events that have rows, all events of the run, or a stream.
enum class About : uint8_t { kCommand, kEvents, kAllEvents, kAllocs, kFiles, kStacks, kLibrary, kCupti };

// The first given option that applies to `subject`; empty: none is given.
std::string option_about(About subject, const RunTexts& texts, const RunOptions& options) {
  using enum About;
  struct Option {
    bool is_given;
    const char* name;
    std::vector<About> subjects;
  };
  const auto is_named = [](const std::string& text) { return !text.empty() && text != "off"; };
  const Option all[] = {{is_named(texts.preload), "--preload", {kCommand}},
                        {is_named(texts.cupti), "--cupti", {kCommand}},
                        {is_named(texts.sample), "--sample", {kCommand}},
                        {texts.sample_hz.has_value(), "--sample-hz", {kCommand}},
                        {!texts.stacks.empty() && !options.kernel_streams.cuda, "--stacks", {kCommand}},
                        {is_named(texts.python_stacks), "--python-stacks", {kCommand}},
                        {texts.alloc_min.has_value(), "--alloc-min", {kCommand, kLibrary, kAllocs}},
                        {texts.last.has_value(), "--last", {kCommand, kEvents, kAllEvents}},
                        {texts.fold.has_value(), "--fold", {kCommand, kLibrary, kFiles, kEvents}},
                        {texts.alloc_sample.has_value(), "--alloc-sample", {kCommand, kLibrary, kAllocs, kEvents}},
                        {is_named(texts.python_stacks) && texts.python_stacks != "auto", "--python-stacks", {kEvents}},
                        {options.cupti == Wish::kOn || options.cupti == Wish::kRequire, "--cupti", {kEvents}},
                        {options.kprobes != Wish::kOff, "--kprobes", {kEvents}},
                        {is_named(texts.access), "--access", {kCommand, kEvents}},
                        {texts.access_read_event.has_value(), "--access-read-event", {kCommand}},
                        {texts.access_write_event.has_value(), "--access-write-event", {kCommand}},
                        {options.alloc_times, "--alloc-dur", {kCommand, kLibrary, kAllocs}},
                        {texts.buffer.has_value(), "--buffer", {kCommand}},
                        {texts.max_spool.has_value(), "--max-spool", {kCommand}},
                        {!options.path_rules.include.empty(), "--include", {kCommand}},
                        {!options.path_rules.exclude.empty(), "--exclude", {kCommand}},
                        {!options.path_rules.empty(), "--include or --exclude", {kLibrary, kFiles}},
                        {!texts.stacks.empty() && options.cupti == Wish::kOff, "--stacks", {kLibrary, kStacks}},
                        {!options.cpus.empty(), "--cpus", {kCommand}},
                        {!options.cpu_node.empty(), "--cpu-node", {kCommand}},
                        {!options.mem_node.empty(), "--mem-node", {kCommand}},
                        {!options.preferred.empty(), "--preferred", {kCommand}},
                        {!options.interleave.empty(), "--interleave", {kCommand}},
                        {!options.weighted_interleave.empty(), "--weighted-interleave", {kCommand}},
                        {!options.place.empty(), "--place", {kCommand}},
                        {!options.mem_kind.empty(), "--mem-kind", {kCommand}},
                        {!options.pmem.empty(), "--pmem", {kCommand}},
                        {options.lossless, "--lossless", {kCommand}},
                        {options.wait_all, "--wait-all", {kCommand}},
                        {options.summary_only, "--summary-only", {kCommand, kLibrary}},
                        {options.whole_graphs, "--cupti-whole-graphs", {kCommand, kCupti}},
                        {options.graph_nodes_per_s.has_value(), "--cupti-graph-nodes", {kCommand, kCupti}}};
  const auto found = std::find_if(std::begin(all), std::end(all), [&](const Option& option) {
    return option.is_given &&
           std::find(option.subjects.begin(), option.subjects.end(), subject) != option.subjects.end();
  });
  return found == std::end(all) ? std::string() : found->name;
}

}  // namespace

std::string option_of_commands(const RunTexts& texts, const RunOptions& options) {
  return option_about(About::kCommand, texts, options);
}

Status check_needs(const RunTexts& texts, const RunOptions& options) {
  const bool records = options.preload != Wish::kOff;
  const struct {
    About subject;
    bool is_met;
    const char* error;
  } needs[] = {
      {About::kCupti, options.cupti != Wish::kOff, "{0} says how --cupti records; add --cupti, or leave it out"},
      {About::kLibrary, records,
       "{0} is about what the library records, and --preload=off records nothing there: remove one of the two"},
      {About::kAllocs, options.allocs, "{0}: --preload={1} records no allocations; add allocs to it"},
      {About::kFiles, options.files, "{0}: --preload={1} records no file calls; add files to it"},
      {About::kStacks, options.files || options.allocs,
       "{0}: --preload={1} records no file calls and no allocations; add files or allocs to it"},
      {About::kEvents, !options.summary_only,
       "--summary-only lists no events, and {0} is about listed events: remove one of the two"},
      // --last would drop the reads and writes below cuFile calls, and their bytes would be attributed to the driver.
      {About::kAllEvents, !options.kernel_streams.cufile,
       "{0} drops events, and --kprobes=cufile needs all of them to count bytes once: remove one of the two"}};
  for (const auto& need : needs) {
    const std::string name = need.is_met ? std::string() : option_about(need.subject, texts, options);
    if (!name.empty()) return fail(fmt::format(fmt::runtime(need.error), name, texts.preload));
  }
  return {};
}

}  // namespace mlrun
