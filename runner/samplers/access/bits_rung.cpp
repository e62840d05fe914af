// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/bits_rung.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "runner/samplers/access/clear_times.h"
#include "runner/samplers/access/page_bits.h"
#include "runner/samplers/access/range_pace.h"
#include "runner/samplers/access/run_queue.h"
#include "runner/util/clock.h"

namespace mlrun::access {

namespace {

constexpr uint64_t kTooEarlyNs = 20'000'000;
constexpr uint64_t kLeastPauseNs = 1'000'000;           // small ranges are cleared until their pauses reach this
constexpr uint64_t kReservedBytes = uint64_t{1} << 40;  // larger: a sanitizer's shadow memory; a million calls
constexpr uint64_t kHugeBytes = 2 << 20, kPagesOfHuge = kHugeBytes / 4096;

mlrun_access_rung rung_of(PageBits bits) {
  switch (bits) {
    case PageBits::kCold: return MLRUN_ACCESS_COLD;
    case PageBits::kClearRefs: return MLRUN_ACCESS_CLEAR_REFS;
    case PageBits::kSoftDirty: return MLRUN_ACCESS_SOFT_DIRTY;
  }
  return MLRUN_ACCESS_CLEAR_REFS;
}

// Each process has its own windows: clear the bits range by range, wait while the program runs, read the bits.
class BitsRung : public Rung {
 public:
  explicit BitsRung(const BitsOptions& options) : options_(options) {
    facts_.page_clear_ps = options.cost.clear_ps;
    facts_.page_touch_ps = options.cost.touch_ps;
    facts_.cost = fmt::format(
        "each 4 KiB page takes {:.1f} ns to clear and {:.1f} ns to read, and {} ns more at the first {} of a window",
        static_cast<double>(options.cost.clear_ps) / 1000, static_cast<double>(options.cost.read_ps) / 1000,
        options.cost.touch_ps / 1000, options.bits == PageBits::kSoftDirty ? "write" : "access");
  }

  void watch(const std::vector<uint32_t>& host_pids) override {
    const uint64_t now_ns = util::monotonic_ns();
    std::map<uint32_t, Process> now;
    for (const uint32_t pid : host_pids) {
      const auto found = processes_.find(pid);
      Process& process = now[pid];
      if (found != processes_.end()) {
        process = std::move(found->second);
        continue;
      }
      process.counted_ns = now_ns;
      process.pace = RangePace(options_.cost.clear_ps);
    }
    for (auto& [pid, process] : processes_) {
      if (now.count(pid) == 0) count_time(process, now_ns);
    }
    processes_ = std::move(now);
  }

  uint64_t sample(uint64_t now_ns, Rows& rows) override {
    uint64_t next_ns = now_ns + kTooEarlyNs;
    bool is_first = true;
    for (auto& [pid, process] : processes_) {
      if (process.due_ns <= now_ns) step(pid, process, rows);
      count_time(process, util::monotonic_ns());
      next_ns = is_first ? process.due_ns : std::min(next_ns, process.due_ns);
      is_first = false;
    }
    return next_ns;
  }

  // Reads the last window if at least half of it has passed. Processes that have ended give no rows.
  void finish(uint64_t now_ns, Rows& rows) override {
    for (auto& [pid, process] : processes_) {
      if (process.opened_ns != 0 && now_ns >= process.opened_ns + options_.window_ns / 2) read(pid, process, rows);
      process.opened_ns = 0;
      count_time(process, util::monotonic_ns());
    }
  }

  [[nodiscard]] model::MemoryAccess::Rung facts() const override { return facts_; }

 private:
  struct Process {
    uint64_t due_ns = 0, counted_ns = 0;
    std::deque<Mapping> left;  // mappings whose bits are still to be cleared
    ClearTimes clear_times;    // cold: of the mappings' ranges
    uint64_t opened_ns = 0;    // when all bits were cleared; 0: no window is open
    uint64_t cost_ns = 0;      // what this window costs the program
    uint64_t rest_ns = 0;      // the window's shortest length, to stay within kProgramShare
    RunQueue queue;            // as it was when the window was opened
    RangePace pace;
    double stall_ratio = 1;  // measured over predicted time of the last clearing
    int windows = 0;
    uint64_t huge = 0;                      // bytes in huge pages at the last read
    std::map<uint64_t, uint64_t> resident;  // bytes by start of mapping, at the end of the previous window
    std::vector<Mapping> cleared;           // soft-dirty: mappings when the bits were cleared
  };

  void count_time(Process& process, uint64_t now_ns) {
    facts_.all_ns += now_ns - std::min(process.counted_ns, now_ns);
    process.counted_ns = std::max(process.counted_ns, now_ns);
  }

  void step(uint32_t pid, Process& process, Rows& rows) {
    if (process.opened_ns != 0) {
      if (const uint64_t missing_ns = rest_missing(pid, process); missing_ns != 0) {
        process.due_ns = util::monotonic_ns() + std::max(missing_ns, kTooEarlyNs);
        return;
      }
      // Counts CPU time: while this thread waits for a processor, it costs the program nothing.
      const uint64_t began_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
      read(pid, process, rows);
      process.opened_ns = 0;
      process.cost_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
    }
    if (process.left.empty() && !begin(pid, process)) {
      process.due_ns = util::monotonic_ns() + options_.window_ns;
      return;
    }
    uint64_t pause_ns = 0;
    int error = 0;
    do {
      error = options_.bits == PageBits::kCold ? make_range_cold(pid, process, pause_ns) : clear_all(pid, process);
    } while (error == 0 && !process.left.empty() && pause_ns < kLeastPauseNs);
    const uint64_t now_ns = util::monotonic_ns();
    if (error != 0) {  // the process may have ended
      process.left.clear();
      process.due_ns = now_ns + options_.window_ns;
      if (error != ESRCH && error != ENOENT && facts_.problem.empty())
        facts_.problem = fmt::format("the page bits of process {} cannot be cleared: {}", pid, std::strerror(error));
      return;
    }
    process.due_ns = now_ns + pause_ns;
    if (!process.left.empty()) return;
    process.opened_ns = now_ns;
    process.rest_ns = static_cast<uint64_t>(static_cast<double>(process.cost_ns) / kProgramShare);
    process.queue = run_queue_of(static_cast<pid_t>(pid));
    process.due_ns = now_ns + std::max(options_.window_ns, process.rest_ns);
  }

  // How much longer the window has to be. Time in which the process waited for a processor does not count.
  static uint64_t rest_missing(uint32_t pid, const Process& process) {
    const uint64_t elapsed_ns = util::monotonic_ns() - process.opened_ns;
    const double share = could_run(process.queue, run_queue_of(static_cast<pid_t>(pid)), elapsed_ns);
    return rest_missing_ns(process.rest_ns, elapsed_ns, share);
  }

  // Begins a window: sets what to clear (mappings, or the whole process). False: nothing, or it would take too long.
  bool begin(uint32_t pid, Process& process) {
    const auto host_pid = static_cast<pid_t>(pid);
    const uint64_t pages = resident_pages(host_pid);
    if (pages == 0) return false;
    if (process.windows == 0) process.huge = huge_bytes(host_pid);
    const uint64_t huge = std::min(process.huge / kHugeBytes, pages / kPagesOfHuge);
    const uint64_t entries = pages - huge * (kPagesOfHuge - 1);
    // Assumes that the program touches all pages in the window.
    process.cost_ns += entries * options_.cost.touch_ps / 1000;
    if (options_.bits == PageBits::kCold) {
      sort_new_pages_in();
      process.clear_times.reset();
      for (const Mapping& mapping : read_maps(host_pid)) {
        if (mapping.bytes() <= kReservedBytes) process.left.push_back(mapping);
      }
      facts_.samples += process.left.empty() ? 0 : 1;
      return !process.left.empty();
    }
    predicted_ns_ = stall_ns(options_.cost, entries);
    if (static_cast<double>(predicted_ns_) * process.stall_ratio > static_cast<double>(options_.stall_max_ns)) {
      facts_.left_out++;
      process.cost_ns = 0;
      process.stall_ratio = (process.stall_ratio + 1) / 2;  // the last call may have been slow by chance
      return false;
    }
    facts_.samples++;
    process.left.push_back({});  // represents the whole process
    return true;
  }

  // Both return errno or 0. The first one adds the pause that must follow to `pause_ns`.
  int make_range_cold(uint32_t pid, Process& process, uint64_t& pause_ns) {
    Mapping& mapping = process.left.front();
    const uint64_t start = mapping.start;
    mapping.start = process.pace.end_of_range(start, mapping.end);
    uint64_t took_ns = 0;
    const int error = make_cold(static_cast<pid_t>(pid), start, mapping.start, took_ns);
    process.clear_times.add(start, mapping.start, util::monotonic_ns());
    note_call(process, took_ns, stall_ns(options_.cost, (mapping.start - start) / 4096));
    pause_ns += process.pace.took(took_ns);
    if (mapping.start >= mapping.end) process.left.pop_front();
    return error;
  }
  int clear_all(uint32_t pid, Process& process) {
    process.left.clear();
    uint64_t took_ns = 0;
    const int error = clear_refs(static_cast<pid_t>(pid),
                                 options_.bits == PageBits::kSoftDirty ? Refs::kSoftDirty : Refs::kAccessed, took_ns);
    // Read after clearing: a mapping that was made in between is taken for an older one, so that nothing is wrongly called written.
    if (options_.bits == PageBits::kSoftDirty) process.cleared = read_maps(static_cast<pid_t>(pid));
    note_call(process, took_ns, predicted_ns_);
    process.stall_ratio =
        std::max(1.0, static_cast<double>(took_ns) / static_cast<double>(std::max<uint64_t>(predicted_ns_, 1)));
    return error;
  }

  // MADV_COLD skips pages that several processes share, and locked ones: they would seem touched in every window.
  [[nodiscard]] bool is_left_alone(const Mapping& mapping) const {
    constexpr uint64_t kFewOf = 100;
    return options_.bits == PageBits::kCold &&
           mapping.shared_bytes + mapping.locked_bytes > mapping.resident_bytes / kFewOf;
  }

  void note_call(Process& process, uint64_t took_ns, uint64_t predicted_ns) {
    process.cost_ns += took_ns;
    if (static_cast<int64_t>(took_ns) <= facts_.worst_stall_ns) return;
    facts_.worst_stall_ns = took_ns;
    facts_.predicted_stall_ns = predicted_ns;
  }

  void read(uint32_t pid, Process& process, Rows& rows) {
    auto longest_ns = static_cast<uint64_t>(facts_.worst_read_ns);
    const std::vector<Mapping> mappings = read_smaps(static_cast<pid_t>(pid), longest_ns);
    facts_.worst_read_ns = static_cast<int64_t>(longest_ns);
    const uint64_t end_ns = util::monotonic_ns();
    std::map<uint64_t, uint64_t> resident;
    // Pages that were filled before the first window may still count as touched in it, so that window is dropped, except with soft-dirty bits.
    const bool is_first = process.windows++ == 0 && options_.bits != PageBits::kSoftDirty;
    process.huge = 0;
    for (const Mapping& mapping : mappings) {
      resident[mapping.start] = mapping.resident_bytes;
      process.huge += mapping.huge_bytes;
      if (is_first || mapping.resident_bytes == 0 || mapping.bytes() > kReservedBytes || is_left_alone(mapping))
        continue;
      mlrun_access_sample row{};
      row.monotonic_ns = end_ns;
      row.interval_ns = end_ns - process.clear_times.mean_ns(mapping.start, mapping.end, process.opened_ns);
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
      add(pid, process, mapping, row, rows);
    }
    process.resident = std::move(resident);
    facts_.on_ns += is_first || mappings.empty() ? 0 : end_ns - process.opened_ns;
  }

  void add(uint32_t pid, const Process& process, const Mapping& mapping, mlrun_access_sample row, Rows& rows) {
    if (options_.bits != PageBits::kSoftDirty) {
      row.address = mapping.start;
      row.bytes = mapping.bytes();
      row.touched_bytes = mapping.referenced_bytes;
      rows.push_back(row);
      return;
    }
    row.kind = MLRUN_ACCESS_WRITTEN;
    row.huge_bytes = 0;
    for (const DirtyPart& part : dirty_parts(mapping, process.cleared)) {
      row.flags = part.is_known ? 0 : MLRUN_ACCESS_FILLING;  // new pages of a known part were written, too
      if (part.is_known) {
        add_written(pid, part.range, row, rows);
      } else {
        add_range(part.range.start, part.range.end, 0, row, rows);
      }
    }
  }

  static void add_range(uint64_t start, uint64_t end, uint64_t touched, mlrun_access_sample row, Rows& rows) {
    if (end <= start) return;
    row.address = start;
    row.bytes = row.resident_bytes = end - start;
    row.touched_bytes = touched;
    rows.push_back(row);
  }

  void add_written(uint32_t pid, const Mapping& part, const mlrun_access_sample& row, Rows& rows) {
    const WrittenRuns written = written_runs(static_cast<pid_t>(pid), part);
    uint64_t at = part.start;
    for (const Run& run : written.runs) {
      add_range(at, run.start, 0, row, rows);
      add_range(run.start, run.start + run.bytes, run.bytes, row, rows);
      at = run.start + run.bytes;
    }
    add_range(at, written.known_until, 0, row, rows);
    if (written.error != 0 && written.error != ESRCH && written.error != ENOENT && facts_.problem.empty())
      facts_.problem =
          fmt::format("the written pages of process {} cannot be read: {}", pid, std::strerror(written.error));
  }

  BitsOptions options_;
  std::map<uint32_t, Process> processes_;
  uint64_t predicted_ns_ = 0;  // predicted time to clear the process, for this window
  model::MemoryAccess::Rung facts_;
};

}  // namespace

std::unique_ptr<Rung> make_bits_rung(const BitsOptions& options) { return std::make_unique<BitsRung>(options); }

}  // namespace mlrun::access
