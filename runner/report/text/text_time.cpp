// SPDX-License-Identifier: Apache-2.0
// Figures over time: bytes, and the peak of the heap.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using summary::ProcessSummary;
using util::bytes_text;

constexpr size_t kLibrariesShown = 5;
constexpr const char* kReadings = "readings 0.1 to 1.6 s apart";  // runner/collect/counter_watch.cpp

// One character per column: its mean rate relative to the highest one. Blank only if exactly zero.
std::string sparkline(const std::vector<double>& columns, const util::Glyphs& glyphs) {
  static constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<const char*, 8> kAscii = {".", ":", "-", "=", "+", "*", "#", "@"};
  const double top = *std::max_element(columns.begin(), columns.end());
  std::string out;
  for (const double value : columns) {
    const auto level = size_t(std::clamp(value / top * 8, 0.0, 7.0));
    out += value <= 0 ? " " : glyphs.unicode ? kBlocks[level] : kAscii[level];
  }
  return out;
}

struct Series {
  std::vector<double> columns;  // bytes
  int64_t bytes = 0;
  int64_t peak_bin_bytes = 0;
};

// The bins distributed over `width` columns; a bin across a border is split.
Series series(const Summary& summary, int64_t summary::TimeBin::*bytes, size_t bins, size_t width) {
  Series out;
  out.columns.resize(width);
  for (size_t i = 0; i < summary.timeline.size(); ++i) {
    const int64_t n = summary.timeline[i].*bytes;
    util::add_to(out.bytes, n);
    out.peak_bin_bytes = std::max(out.peak_bin_bytes, n);
    const double scale = double(width) / double(bins);
    const double begin = double(i) * scale, end = double(i + 1) * scale;
    for (auto column = size_t(begin); column < width && double(column) < end; ++column) {
      const double part = std::min(end, double(column + 1)) - std::max(begin, double(column));
      out.columns[column] += double(n) * part / scale;
    }
  }
  return out;
}

std::string series_line(const Summary& summary, const std::string& name, int64_t summary::TimeBin::*bytes,
                        int64_t wall_ns, const TextStyle& style) {
  constexpr size_t kBehind = 40, kLeast = 10;
  const bool beside = style.width >= kLead + kBehind + kLeast;
  const size_t width = std::max(kLeast, style.width - std::min(style.width, beside ? kLead + kBehind : kLead));
  const auto bins = std::max(summary.timeline.size(), size_t((wall_ns + summary.bin_ns - 1) / summary.bin_ns));
  const Series of = series(summary, bytes, bins, std::min(width, bins));
  if (of.bytes == 0) return "";
  const std::string behind = fmt::format("{} mean, {} peak", util::rate_text(of.bytes, wall_ns),
                                         util::rate_text(of.peak_bin_bytes, summary.bin_ns));
  const std::string line = pad_right(name, kLead) + sparkline(of.columns, style.glyphs);
  return line + (beside ? "  " : "\n" + std::string(kLead, ' ')) + behind + "\n";
}

int64_t wall_ns(const Summary& summary) {
  const auto bins_ns = int64_t(summary.timeline.size()) * summary.bin_ns;
  return std::max<int64_t>(1, summary.run.duration_ns().value_or(bins_ns));
}

const ProcessSummary* largest_heap(const Summary& summary) {
  const ProcessSummary* largest = nullptr;
  for (const ProcessSummary& process : summary.processes) {
    if (process.heap_peak.bytes() > (largest ? largest->heap_peak.bytes() : 0)) largest = &process;
  }
  return largest;
}

std::string libraries_text(const ProcessSummary& process, const TextStyle& style) {
  std::vector<std::string> items;
  int64_t rest = 0;
  for (size_t i = 0; i < process.heap_libraries.size(); ++i) {
    const summary::HeapLibrary& library = process.heap_libraries[i];
    const std::string name = printable(library.name.substr(library.name.rfind('/') + 1));
    i < kLibrariesShown ? items.push_back(name + " " + bytes_text(library.live_bytes))
                        : util::add_to(rest, library.live_bytes);
  }
  if (rest > 0) items.push_back("others " + bytes_text(rest));
  return items.empty() ? "" : wrap(style.dim("  allocated by"), kLead + 1, items, style);
}

std::string since_start(const Summary& summary, int64_t ts_ns, const TextStyle& style) {
  const int64_t start = summary.run.begin_ns().value_or(summary.start_ns);
  return util::time_text(std::max<int64_t>(0, ts_ns - start), style.glyphs);
}

// Memory mapped without malloc, as Python does for its objects, is in no heap.
std::string mapped_text(const Summary& summary, const TextStyle& style) {
  const ProcessSummary* largest = nullptr;
  for (const ProcessSummary& process : summary.processes) {
    if (process.mapped_peak.bytes > (largest ? largest->mapped_peak.bytes : 0)) largest = &process;
  }
  if (!largest) return "";
  std::vector<std::string> items;
  items.push_back(fmt::format("{} at once in {} ({}) at {}", bytes_text(largest->mapped_peak.bytes), largest->role,
                              largest->pid, since_start(summary, largest->mapped_peak.ts_ns, style)));
  if (summary.run.events_from_ns) items.emplace_back("only mappings made since the first kept event");
  const std::string& exe = largest->mapped_peak.exe;
  const bool is_python = exe.compare(exe.rfind('/') + 1, 6, "python") == 0;
  items.push_back(
      fmt::format("anonymous mappings that the program made by mmap{}, not by malloc; they need not all be in memory",
                  is_python ? " (Python's objects)" : ""));
  if (largest->mapped_peak.noreserve_bytes > 0) {
    items.push_back(bytes_text(largest->mapped_peak.noreserve_bytes) + " more reserved with MAP_NORESERVE");
  }
  if (summary.mapped_bytes_left_out > 0) {
    items.push_back(bytes_text(summary.mapped_bytes_left_out) + " in mappings beyond the tracking limit");
  }
  return wrap(style.bold("MAPPED"), kLead, items, style);
}

}  // namespace

std::string timeline_text(const Summary& summary, const TextStyle& style) {
  if (summary.timeline.empty() || summary.bin_ns <= 0) return "";
  const int64_t wall = wall_ns(summary);
  return series_line(summary, style.bold("READ"), &summary::TimeBin::bytes_read, wall, style) +
         series_line(summary, style.bold("WRITTEN"), &summary::TimeBin::bytes_written, wall, style);
}

std::string heap_text(const Summary& summary, const TextStyle& style) {
  const ProcessSummary* process = largest_heap(summary);
  if (!process) return mapped_text(summary, style);
  const summary::HeapPeak& peak = process->heap_peak;
  const model::Run& run = summary.run;
  // Blocks from before the first kept event are unknown.
  const bool of_window = run.events_from_ns.has_value();
  std::vector<std::string> items;
  items.push_back(fmt::format("{} peak in {} ({}) at {}", bytes_text(peak.bytes()), process->role, process->pid,
                              since_start(summary, peak.ts_ns, style)));
  if (of_window) items.emplace_back("only blocks allocated since the first kept event");
  if (summary.alloc_sample_bytes > 0) {
    items.push_back(fmt::format("{} in listed blocks, {} in counted ones, by {}", bytes_text(peak.recorded_bytes),
                                bytes_text(peak.counted_bytes), kReadings));
  } else {
    items.push_back(fmt::format("{}{}, in blocks of {} or more", bytes_text(peak.recorded_bytes),
                                of_window ? "" : " exact", util::bound_text(summary.alloc_min_bytes)));
    items.push_back(fmt::format("{} in smaller ones, by {}", bytes_text(peak.counted_bytes), kReadings));
  }
  items.push_back(fmt::format("{} allocations and frees {}, {} allocations counted",
                              util::count_text(summary.allocations), run.options.summary_only ? "added up" : "listed",
                              util::count_text(summary.counted_allocations)));
  if (summary.heap_blocks_left_out > 0) {
    items.push_back(fmt::format("{} blocks of {} were beyond the tracking limit",
                                util::count_text(summary.heap_blocks_left_out),
                                bytes_text(summary.heap_bytes_left_out)));
  }
  return wrap(style.bold("HEAP"), kLead, items, style) + libraries_text(*process, style) + mapped_text(summary, style);
}

}  // namespace mlrun::report
