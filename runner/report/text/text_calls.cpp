// SPDX-License-Identifier: Apache-2.0
// Calls by function, with latency and errors; and how files were accessed: order, repetition, sizes.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/decode/func_names.h"
#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/summary/names.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using summary::Direction;
using util::bytes_text;
using util::percent_text;

constexpr size_t kFuncsShown = 6, kErrorsShown = 6, kSizeColumn = 10;

// Sum over several functions, shown as one line.
struct Sum {
  size_t funcs = 0;
  int64_t calls = 0, errors = 0, bytes = 0, time_ns = 0;
  util::LogHistogram latency;

  void add(const summary::FuncSummary& func) {
    ++funcs;
    util::add_to(calls, func.calls);
    util::add_to(errors, func.errors);
    util::add_to(bytes, func.bytes);
    util::add_to(time_ns, func.time_ns);
    latency.add(func.latency);
  }
};

// Narrow terminals have no column p95.
constexpr size_t kP95Column = 5, kWidthForP95 = 96;

std::vector<std::string> titles(const TextStyle& style) {
  std::vector<std::string> out = {"CALLS", "calls", "bytes", "time", "p50", "p95", "p99", "max", "errors"};
  if (style.width < kWidthForP95) out.erase(out.begin() + kP95Column);
  return out;
}

std::vector<std::string> cells(std::string name, const Sum& sum, const TextStyle& style) {
  const auto at = [&](double q) { return util::time_text(sum.latency.quantile(q), style.glyphs); };
  std::vector<std::string> out = {std::move(name),
                                  util::count_text(sum.calls),
                                  bytes_text(sum.bytes),
                                  util::time_text(sum.time_ns, style.glyphs),
                                  at(0.5),
                                  at(0.95),
                                  at(0.99),
                                  util::time_text(sum.latency.max(), style.glyphs),
                                  util::count_text(sum.errors)};
  if (style.width < kWidthForP95) out.erase(out.begin() + kP95Column);
  return out;
}

// stdio counts the refills and flushes that reach the file, not the calls they serve.
std::string label(const summary::FuncSummary& func) {
  static constexpr std::array<const char*, 3> kRefills = {"fread", "fgets", "getline"};
  static constexpr std::array<const char*, 4> kFlushes = {"fwrite", "fputs", "fprintf", "fflush"};
  const auto is = [&](const char* name) { return func.name == name; };
  if (std::any_of(kRefills.begin(), kRefills.end(), is)) return func.name + " (refills)";
  if (std::any_of(kFlushes.begin(), kFlushes.end(), is)) return func.name + " (flushes)";
  return func.name;
}

std::string errors_text(const Summary& summary, const TextStyle& style) {
  std::vector<std::string> items;
  size_t more = 0;
  for (const summary::ErrorSummary& error : summary.errors) {
    const decode::FuncInfo* info = decode::find_func(error.func);
    if (info && info->call_class == MLRUN_CLASS_WAIT) continue;  // a timeout is no error
    if (items.size() == kErrorsShown) {
      ++more;
      continue;
    }
    items.push_back(fmt::format("{} {} {}", error.name, summary::errno_name(error.err), util::count_text(error.calls)));
  }
  if (more > 0) items.push_back(counted(int64_t(more), "more kind"));
  return items.empty() ? "" : wrap(style.bold("ERRORS"), kLead, items, style);
}

std::string pattern_text(const char* name, const summary::FileAccessPattern& pattern) {
  const int64_t bytes = pattern.known_bytes();
  std::string out = fmt::format("{} {} sequential, {} random", name, percent_text(pattern.sequential.bytes, bytes),
                                percent_text(bytes - pattern.sequential.bytes, bytes));
  if (pattern.unknown.bytes > 0) out += fmt::format(", {} unknown", bytes_text(pattern.unknown.bytes));
  return out;
}

std::string reread_text(const summary::Reread& reread) {
  std::string out = fmt::format("re-read ratio {:.2f} ({} of {} distinct{})",
                                double(reread.bytes_read) / double(reread.distinct_bytes),
                                bytes_text(reread.bytes_read), bytes_text(reread.distinct_bytes),
                                reread.page_counted_files > 0 ? ", scattered ones in 4 KiB pages" : "");
  if (reread.bytes_left_out > 0) out += fmt::format(", {} not tracked", bytes_text(reread.bytes_left_out));
  return out;
}

// Access figures without imports, which are most of what a short run reads. Empty: no imports, or no figures of other files.
std::string without_imports_text(const Summary& summary) {
  summary::FileTree own;
  bool has_imports = false;
  for (const summary::FileTree& tree : summary.trees) tree.kind == "imports" ? void(has_imports = true) : own.add(tree);
  const int64_t known = util::sum_of(own.sequential_bytes, own.random_bytes);
  if (!has_imports || known == 0) return "";
  std::string out = fmt::format("without imports: {} read, {} sequential", bytes_text(own.totals.bytes_read),
                                percent_text(own.sequential_bytes, known));
  if (own.distinct_bytes > 0) {
    out += fmt::format(", re-read ratio {:.2f}", double(own.followed_bytes) / double(own.distinct_bytes));
  }
  return out;
}

// Bounds of the table's buckets, eight times as wide each; the last bucket is open.
constexpr std::array<int64_t, 7> kSizeBounds = {512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20, 128 << 20};

std::string bound_name(size_t bucket) {
  return bucket < kSizeBounds.size() ? "<" + util::bound_text(kSizeBounds[bucket])
                                     : ">=" + util::bound_text(kSizeBounds.back());
}

using Sizes = std::array<int64_t, kSizeBounds.size() + 1>;  // calls

Sizes sizes_of(const Summary& summary, Direction direction) {
  Sizes calls{};
  for (const summary::SizeBucket& bucket : summary.sizes) {
    if (bucket.direction != direction) continue;
    const auto at = std::upper_bound(kSizeBounds.begin(), kSizeBounds.end(), bucket.low_bytes) - kSizeBounds.begin();
    calls[size_t(at)] += bucket.calls;
  }
  return calls;
}

std::string sizes_line(const char* name, const Sizes& calls, const std::vector<size_t>& columns) {
  const int64_t all = std::accumulate(calls.begin(), calls.end(), int64_t{0});
  if (all == 0) return "";
  std::string out = pad_right(name, kLead);
  for (const size_t i : columns) out += pad_left(calls[i] == 0 ? "-" : percent_text(calls[i], all), kSizeColumn);
  return out + "\n";
}

// For a terminal that is too narrow for the columns.
std::string narrow_sizes_text(const Sizes& reads, const Sizes& writes, const TextStyle& style) {
  std::string out;
  for (const auto& [name, calls] : {std::pair("SIZES READ", &reads), std::pair("WRITTEN", &writes)}) {
    const int64_t all = std::accumulate(calls->begin(), calls->end(), int64_t{0});
    std::vector<std::string> items;
    for (size_t i = 0; i < calls->size(); ++i) {
      const std::string bound = bound_name(i);
      if ((*calls)[i] != 0) items.push_back(bound + " " + percent_text((*calls)[i], all));
    }
    out += wrap(style.bold(name), kLead, items, style);
  }
  return out;
}

// How many reads returned nothing: Python reads again after the last byte of each file.
std::string end_checks_text(const Summary& summary, const TextStyle& style) {
  int64_t checks = 0, reads = 0;
  for (const summary::FileTree& tree : summary.trees) {
    util::add_to(checks, tree.end_checks);
    util::add_to(reads, tree.totals.read_calls);
  }
  if (checks == 0) return "";
  return wrap("", kLead,
              {fmt::format("of the {} {} returned nothing: checks for the end of a file", counted(reads, "read"),
                           util::count_text(checks))},
              style);
}

// Leaves out columns without a call.
std::string sizes_text(const Summary& summary, const TextStyle& style) {
  const Sizes reads = sizes_of(summary, Direction::kRead), writes = sizes_of(summary, Direction::kWrite);
  std::vector<size_t> columns;
  std::string head = pad_right(style.bold("SIZES ASKED"), kLead);
  for (size_t i = 0; i < reads.size(); ++i) {
    if (reads[i] + writes[i] == 0) continue;
    columns.push_back(i);
    head += style.dim(pad_left(bound_name(i), kSizeColumn));
  }
  if (columns.empty()) return "";
  if (kLead + columns.size() * kSizeColumn > style.width) return narrow_sizes_text(reads, writes, style);
  return head + "\n" + sizes_line("  reads", reads, columns) + sizes_line("  writes", writes, columns) +
         end_checks_text(summary, style);
}

}  // namespace

std::string calls_text(const Summary& summary, const TextStyle& style) {
  TextTable table(titles(style));
  Sum others, channels;
  size_t shown = 0;
  const auto on_files = std::count_if(summary.funcs.begin(), summary.funcs.end(),
                                      [](const auto& f) { return f.group == summary::Group::kFiles; });
  for (const summary::FuncSummary& func : summary.funcs) {
    if (func.group == summary::Group::kChannels) channels.add(func);
    if (func.group != summary::Group::kFiles) continue;
    const bool fits = shown < kFuncsShown || on_files == kFuncsShown + 1;
    Sum sum;
    sum.add(func);
    fits ? (++shown, table.add(cells(label(func), sum, style))) : others.add(func);
  }
  if (others.calls > 0)
    table.add(cells(fmt::format("{} {} more", style.glyphs.pick("…", "..."), others.funcs), others, style));
  if (channels.calls > 0) table.add(cells("on pipes, sockets, tty", channels, style));
  return table.empty() ? "" : table.text(style) + errors_text(summary, style);
}

std::string access_text(const Summary& summary, const TextStyle& style) {
  std::vector<std::string> items;
  const auto pattern = [&](Direction direction, const char* name) {
    const summary::FileAccessPattern& of = summary.file_access[size_t(direction)];
    if (of.sequential.calls + of.forward.calls + of.backward.calls > 0) items.push_back(pattern_text(name, of));
  };
  pattern(Direction::kRead, "bytes read");
  pattern(Direction::kWrite, "written");
  if (summary.reread.distinct_bytes > 0) items.push_back(reread_text(summary.reread));
  if (const std::string own = without_imports_text(summary); !own.empty()) items.push_back(own);
  const summary::Totals files = summary.totals(summary::Group::kFiles);
  if (files.calls > 0) items.push_back("metadata " + percent_text(files.metadata_calls, files.calls) + " of calls");
  return (items.empty() ? "" : wrap(style.bold("FILE ACCESS"), kLead, items, style)) + sizes_text(summary, style);
}

}  // namespace mlrun::report
