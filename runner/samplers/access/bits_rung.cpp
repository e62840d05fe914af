// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/bits_rung.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "runner/samplers/access/page_bits.h"
#include "runner/util/clock.h"

namespace mlrun::access {

namespace {

constexpr uint64_t kTooEarlyNs = 20'000'000;

mlrun_access_rung rung_of(PageBits bits) {
  switch (bits) {
    case PageBits::kCold: return MLRUN_ACCESS_COLD;
    case PageBits::kClearRefs: return MLRUN_ACCESS_CLEAR_REFS;
    case PageBits::kSoftDirty: return MLRUN_ACCESS_SOFT_DIRTY;
  }
  return MLRUN_ACCESS_CLEAR_REFS;
}

class BitsRung : public Rung {
 public:
  explicit BitsRung(const BitsOptions& options) : options_(options) {
    facts_.page_clear_ps = options.cost.clear_ps;
    facts_.page_touch_ps = options.cost.touch_ps;
    facts_.cost =
        fmt::format("of each 4 KiB page {:.1f} ns to clear, {:.1f} ns to read, {} ns more at the first {} of a window",
                    static_cast<double>(options.cost.clear_ps) / 1000, static_cast<double>(options.cost.read_ps) / 1000,
                    options.cost.touch_ps / 1000, options.bits == PageBits::kSoftDirty ? "write" : "access");
  }

  void watch(const std::vector<uint32_t>& host_pids) override {
    std::map<uint32_t, Process> now;
    for (const uint32_t pid : host_pids) now[pid] = std::move(processes_[pid]);
    processes_ = std::move(now);
  }

  uint64_t look(uint64_t now_ns, Rows& rows) override { return round(now_ns, rows, false); }

  // The last window ends early. After the command's own end there is nothing to read any more.
  void finish(uint64_t now_ns, Rows& rows) override { round(now_ns, rows, true); }

  [[nodiscard]] RungFacts facts() const override { return facts_; }

 private:
  struct Process {
    uint64_t cleared_ns = 0;  // 0: no window is open
    int windows = 0;
    std::map<uint64_t, uint64_t> resident;  // by start of mapping, at the end of the previous window
  };

  uint64_t round(uint64_t now_ns, Rows& rows, bool is_last) {
    uint64_t pages = 0;
    // CPU time: waiting for a processor costs the program nothing.
    const uint64_t began_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (auto& [pid, process] : processes_) {
      if (process.cleared_ns != 0 && (!is_last || now_ns >= process.cleared_ns + options_.window_ns / 2))
        read(pid, process, rows);
      process.cleared_ns = 0;
      if (!is_last) pages += clear(pid, process);
    }
    if (facts_.all_ns == 0) first_ns_ = now_ns;
    facts_.all_ns = std::max<uint64_t>(now_ns - first_ns_, 1);
    facts_.looks += processes_.empty() ? 0 : 1;
    // All of these pages may be touched in the window.
    const uint64_t cost_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns + pages * options_.cost.touch_ps / 1000;
    const auto pause_ns = static_cast<uint64_t>(static_cast<double>(cost_ns) / kProgramShare);
    const uint64_t cleared_ns = util::monotonic_ns();
    return cleared_ns + (processes_.empty() ? kTooEarlyNs : std::max(options_.window_ns, pause_ns));
  }

  // Returns how many pages were cleared.
  uint64_t clear(uint32_t pid, Process& process) {
    const auto host_pid = static_cast<pid_t>(pid);
    const uint64_t pages = resident_pages(host_pid);
    const uint64_t predicted_ns = options_.bits == PageBits::kCold ? 0 : stall_ns(options_.cost, pages);
    if (predicted_ns > options_.stall_max_ns) {
      facts_.left_out++;
      return 0;
    }
    uint64_t longest_ns = 0;
    const int error =
        options_.bits == PageBits::kCold
            ? make_cold(host_pid, read_maps(host_pid), longest_ns)
            : clear_refs(host_pid, options_.bits == PageBits::kSoftDirty ? Refs::kSoftDirty : Refs::kAccessed,
                         longest_ns);
    if (longest_ns > facts_.worst_stall_ns) {
      facts_.worst_stall_ns = longest_ns;
      facts_.predicted_stall_ns = predicted_ns;
    }
    if (error != 0 && error != ESRCH && error != ENOENT)
      facts_.problem = fmt::format("the bits of process {} cannot be cleared: {}", pid, std::strerror(error));
    if (error != 0) return 0;
    process.cleared_ns = util::monotonic_ns();
    return pages;
  }

  void read(uint32_t pid, Process& process, Rows& rows) {
    const std::vector<Mapping> mappings = read_smaps(static_cast<pid_t>(pid));
    const uint64_t end_ns = util::monotonic_ns();
    std::map<uint64_t, uint64_t> resident;
    // What was filled before the first window may still count as touched in it.
    const bool is_first = process.windows++ == 0 && options_.bits != PageBits::kSoftDirty;
    for (const Mapping& mapping : mappings) {
      resident[mapping.start] = mapping.resident_bytes;
      if (is_first || mapping.resident_bytes == 0) continue;
      mlrun_access_sample row{};
      row.monotonic_ns = end_ns;
      row.interval_ns = end_ns - process.cleared_ns;
      row.host_pid = pid;
      row.resident_bytes = mapping.resident_bytes;
      row.huge_bytes = mapping.huge_bytes;
      row.cpu = -1;
      row.rung = static_cast<uint16_t>(rung_of(options_.bits));
      row.kind = MLRUN_ACCESS_TOUCHED;
      const auto before = process.resident.find(mapping.start);
      const bool is_filling =
          before == process.resident.end() || before->second + before->second / 100 < mapping.resident_bytes;
      if (is_filling) row.flags |= MLRUN_ACCESS_FILLING;
      add(pid, mapping, row, rows);
    }
    process.resident = std::move(resident);
    facts_.on_ns += is_first || mappings.empty() ? 0 : end_ns - process.cleared_ns;
  }

  void add(uint32_t pid, const Mapping& mapping, mlrun_access_sample row, Rows& rows) const {
    if (options_.bits != PageBits::kSoftDirty) {
      row.address = mapping.start;
      row.bytes = mapping.bytes();
      row.touched_bytes = mapping.referenced_bytes;
      rows.push_back(row);
      return;
    }
    row.kind = MLRUN_ACCESS_WRITTEN;
    row.flags = 0;  // pages that were added were written
    uint64_t at = mapping.start;
    const auto range = [&](uint64_t end, bool is_written) {
      if (end <= at) return;
      row.address = at;
      row.bytes = row.resident_bytes = end - at;
      row.touched_bytes = is_written ? row.bytes : 0;
      row.huge_bytes = 0;
      rows.push_back(row);
      at = end;
    };
    for (const Run& run : written_runs(static_cast<pid_t>(pid), mapping)) {
      range(run.start, false);
      range(run.start + run.bytes, true);
    }
    range(mapping.end, false);
  }

  BitsOptions options_;
  std::map<uint32_t, Process> processes_;
  uint64_t first_ns_ = 0;
  RungFacts facts_;
};

}  // namespace

std::unique_ptr<Rung> make_bits_rung(const BitsOptions& options) { return std::make_unique<BitsRung>(options); }

}  // namespace mlrun::access
