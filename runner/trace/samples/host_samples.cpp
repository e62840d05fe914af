// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/samples/host_samples.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/events/host_sample.h"
#include "runner/parquet/row_columns.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/samples/sample_rows.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;

// A sampled thread and a recording thread with the same tid are taken as one if their times are at most this far apart:
// records may begin before the first sample and continue after the last one.
constexpr int64_t kSlackNs = 2'000'000'000;

// In the order of enum mlrun_machine_field.
constexpr const char* kMachineNames[MLRUN_MACHINE_FIELDS] = {"cpus_online",
                                                             "cpus_allowed",
                                                             "cpu_quota_thousandths",
                                                             "user_ns",
                                                             "system_ns",
                                                             "idle_ns",
                                                             "iowait_ns",
                                                             "steal_ns",
                                                             "running",
                                                             "cpu_some_ns",
                                                             "io_some_ns",
                                                             "io_full_ns",
                                                             "memory_some_ns",
                                                             "memory_full_ns",
                                                             "cgroup_cpu_some_ns",
                                                             "cgroup_cpu_full_ns",
                                                             "cgroup_io_some_ns",
                                                             "cgroup_io_full_ns",
                                                             "cgroup_memory_some_ns",
                                                             "cgroup_memory_full_ns",
                                                             "throttled",
                                                             "throttled_ns"};

struct Span {
  int64_t begin_ns = 0, end_ns = 0;
};

Span span_of(uint64_t end, uint64_t interval) {
  const int64_t end_ns = TraceClock::from_monotonic(end);
  return {end_ns - std::min(end_ns, TraceClock::from_monotonic(interval)), end_ns};
}

struct ThreadSampleRow {
  mlrun_thread_sample sample{};
  model::Origin who;
  char state = 0;  // 0: unknown
};

struct ThreadSampleColumns {
  static constexpr const char* kTable = "sample_thread";
  static void visit(auto& visitor, const ThreadSampleRow& row) {
    const mlrun_thread_sample& sample = row.sample;
    const Span span = span_of(sample.monotonic_ns, sample.interval_ns);
    visitor("ts", span.begin_ns, kDelta);
    visitor("dur", span.end_ns - span.begin_ns);
    visitor.optional("proc_id", row.who.proc_id, 0);
    visitor.optional("thread_id", row.who.thread_id, 0);
    visitor.optional("pid", row.who.pid, 0);
    visitor.optional("tid", row.who.tid, 0);
    visitor.optional("utime_ns", int64_t{sample.utime_ns}, MLRUN_NOT_KNOWN);
    visitor.optional("stime_ns", int64_t{sample.stime_ns}, MLRUN_NOT_KNOWN);
    visitor.optional("run_ns", int64_t{sample.run_ns}, MLRUN_NOT_KNOWN);
    visitor.optional("runq_ns", int64_t{sample.runq_ns}, MLRUN_NOT_KNOWN);
    visitor.optional("majflt", int64_t{sample.majflt}, MLRUN_NOT_KNOWN);
    visitor.optional("state", std::string_view(&row.state, row.state == 0 ? 0 : 1));
  }
};

// Busy time of all processors: user and system time, without idle time and time stolen by other guests.
int64_t busy_ns(const mlrun_machine_sample& row) {
  const __s64 user = row.values[MLRUN_MACHINE_USER_NS], system = row.values[MLRUN_MACHINE_SYSTEM_NS];
  return user == MLRUN_NOT_KNOWN || system == MLRUN_NOT_KNOWN ? MLRUN_NOT_KNOWN : user + system;
}

struct MachineColumns {
  static constexpr const char* kTable = "sample_machine";
  static void visit(auto& visitor, const mlrun_machine_sample& row) {
    const Span span = span_of(row.monotonic_ns, row.interval_ns);
    visitor("ts", span.begin_ns, kDelta);
    visitor("dur", span.end_ns - span.begin_ns);
    visitor.optional("busy_ns", busy_ns(row), MLRUN_NOT_KNOWN);
    for (size_t field = 0; field < MLRUN_MACHINE_FIELDS; ++field) {
      visitor.optional(kMachineNames[field], int64_t{row.values[field]}, MLRUN_NOT_KNOWN);
    }
  }
};

using ThreadSampleTable = tables::RowTable<ThreadSampleColumns, ThreadSampleRow>;
using MachineTable = tables::RowTable<MachineColumns, mlrun_machine_sample>;

// Calls `thread` and `machine` for all rows of their kind. Returns the number of malformed rows.
template <typename OfThread, typename OfMachine>
Result<uint64_t> read_all(const SpoolIndex& index, OfThread thread, OfMachine machine) {
  uint64_t damaged = 0;
  mlrun_thread_sample no_thread{};
  no_thread.run_ns = no_thread.runq_ns = MLRUN_NOT_KNOWN;
  mlrun_machine_sample no_machine{};
  std::fill(std::begin(no_machine.values), std::end(no_machine.values), MLRUN_NOT_KNOWN);
  for (const uint64_t offset : index.sample_frames()) {
    const Status read = visit_samples(index, offset, [&](const auto& frame, const auto& head) -> Status {
      if (head.table == MLRUN_SAMPLE_THREAD) damaged += for_each_row(frame, head, no_thread, thread);
      if (head.table == MLRUN_SAMPLE_MACHINE) damaged += for_each_row(frame, head, no_machine, machine);
      return {};
    });
    if (!read) return tl::make_unexpected(read.error());
  }
  return damaged;
}

// A thread as its samples from /proc show it.
struct Seen {
  int64_t first_ns = 0, last_ns = 0;
  std::string comm;
};

// Id of the image that the process ran at `ts_ns`; before its first image, that one. 0: it has none.
int32_t image_at(const model::TraceInfo& info, int32_t proc_id, int64_t ts_ns) {
  const model::ImageRow* best = nullptr;
  for (const model::ImageRow& row : info.images) {
    if (row.proc_id != proc_id) continue;
    if (best == nullptr || row.start_ns <= ts_ns) best = &row;
  }
  return best == nullptr ? 0 : best->image_id;
}

}  // namespace

Status add_seen_threads(const SpoolIndex& index, model::TraceInfo& info) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Seen>> threads;  // host pid, host tid
  const auto note = [&](const mlrun_thread_sample& row) {
    std::vector<Seen>& seen = threads[{row.host_pid, row.host_tid}];
    const Span span = span_of(row.monotonic_ns, row.interval_ns);
    if (row.is_first != 0 || seen.empty()) seen.push_back({span.begin_ns, span.end_ns, {}});
    seen.back().last_ns = std::max(seen.back().last_ns, span.end_ns);
    seen.back().comm = util::field_text(row.comm);
  };
  if (const auto read = read_all(index, note, [](const auto&) {}); !read) return tl::make_unexpected(read.error());
  const ThreadFinder finder(info);
  std::vector<model::ThreadRow> added;
  for (const auto& [ids, sightings] : threads) {
    for (const Seen& seen : sightings) {
      const model::Origin who = finder.find(seen.last_ns, ids.first, ids.second);
      if (who.proc_id == 0) continue;
      if (who.thread_id != 0) {
        model::ThreadRow& row = info.threads[static_cast<size_t>(who.thread_id) - 1];
        const bool is_timeless = row.first_ns >= kLatestNs;  // it claimed a channel, but recorded nothing
        if (is_timeless || (row.first_ns <= seen.last_ns + kSlackNs && row.last_ns >= seen.first_ns - kSlackNs)) {
          if (row.comm.empty()) row.comm = seen.comm;
          // Equal if only the thread's creation was recorded: the samples then know its end better.
          if (row.last_ns == row.first_ns) row.last_ns = std::max(row.last_ns, seen.last_ns);
          continue;
        }
      }
      model::ThreadRow row;
      row.proc_id = who.proc_id;
      row.image_id = image_at(info, who.proc_id, seen.last_ns);
      row.tid = static_cast<int32_t>(ids.second);
      row.first_ns = seen.first_ns;
      row.last_ns = seen.last_ns;
      row.comm = seen.comm;
      added.push_back(std::move(row));
    }
  }
  std::sort(added.begin(), added.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first_ns, a.proc_id, a.tid) < std::tie(b.first_ns, b.proc_id, b.tid);
  });
  for (model::ThreadRow& row : added) {
    row.thread_id = static_cast<int32_t>(info.threads.size()) + 1;
    info.threads.push_back(std::move(row));
  }
  return {};
}

Status write_host_samples(const SpoolIndex& index, const model::TraceInfo& info, const std::string& tables_folder,
                          HostSampleTotals& totals) {
  ThreadSampleTable threads;
  MachineTable machine;
  for (tables::ParquetTable* table : {&threads.parquet(), &machine.parquet()}) {
    if (auto opened = table->open_in(tables_folder); !opened) return tl::make_unexpected(opened.error());
  }
  const ThreadFinder finder(info);
  Status ended;
  const auto add_thread = [&](const mlrun_thread_sample& row) {
    const bool is_letter = row.state > ' ' && row.state < 0x7f;
    const int64_t end_ns = TraceClock::from_monotonic(row.monotonic_ns);
    threads.add(
        {row, finder.find(end_ns, row.host_pid, row.host_tid), is_letter ? static_cast<char>(row.state) : '\0'});
    ++totals.thread_rows;
    if (ended) ended = threads.end_full_group();
  };
  const auto add_machine = [&](const mlrun_machine_sample& row) {
    machine.add(row);
    ++totals.machine_rows;
    if (ended) ended = machine.end_full_group();
  };
  const auto damaged = read_all(index, add_thread, add_machine);
  if (!damaged) return tl::make_unexpected(damaged.error());
  if (!ended) return ended;
  totals.damaged_rows = *damaged;
  for (tables::ParquetTable* table : {&threads.parquet(), &machine.parquet()}) {
    if (auto closed = table->close(); !closed) return tl::make_unexpected(closed.error());
  }
  auto counters = write_counter_samples(index, info, tables_folder);
  if (!counters) return tl::make_unexpected(counters.error());
  totals.damaged_rows += counters->damaged_rows;
  totals.counters = *std::move(counters);
  return {};
}

Status visit_host_sample_tables(const tables::TableVisit& visit) {
  const Status visited = tables::visit_empty<ThreadSampleTable, MachineTable>(visit);
  return visited ? visit_counter_tables(visit) : visited;
}

}  // namespace mlrun::trace
