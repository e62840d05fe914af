// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/samples/counter_samples.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/parquet/row_columns.h"
#include "runner/summary/meters/machine_meter.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/rows/memory_columns.h"
#include "runner/trace/samples/sample_rows.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/util/file_io.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;
using tables::RowTable;

// The columns of each table, in the order of the table's enum in counter_sample.h.
constexpr std::array<const char*, MLRUN_CPU_FIELDS> kCpuNames = {"user_ns",   "nice_ns",      "system_ns",  "idle_ns",
                                                                 "iowait_ns", "irq_ns",       "softirq_ns", "steal_ns",
                                                                 "guest_ns",  "guest_nice_ns"};
constexpr std::array<const char*, MLRUN_DISK_FIELDS> kDiskNames = {
    "reads",           "reads_merged",    "read_bytes", "read_ns", "writes",   "writes_merged",
    "written_bytes",   "write_ns",        "in_flight",  "busy_ns", "queue_ns", "discards",
    "discards_merged", "discarded_bytes", "discard_ns", "flushes", "flush_ns"};
constexpr std::array<const char*, MLRUN_NET_FIELDS> kNetNames = {
    "rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "rx_frame",      "rx_compressed", "rx_multicast",
    "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo", "tx_collisions", "tx_carrier",    "tx_compressed"};
constexpr std::array<const char*, MLRUN_PROCESS_FIELDS> kProcessNames = {"utime_ns",
                                                                         "stime_ns",
                                                                         "minflt",
                                                                         "majflt",
                                                                         "voluntary_switches",
                                                                         "involuntary_switches",
                                                                         "run_ns",
                                                                         "runq_ns",
                                                                         "read_chars",
                                                                         "written_chars",
                                                                         "read_calls",
                                                                         "write_calls",
                                                                         "read_bytes",
                                                                         "written_bytes",
                                                                         "cancelled_bytes",
                                                                         "threads",
                                                                         "rss_bytes",
                                                                         "shared_bytes",
                                                                         "pss_bytes",
                                                                         "cpu"};
constexpr std::array<const char*, MLRUN_BANDWIDTH_FIELDS> kBandwidthNames = {"read_bytes", "written_bytes",
                                                                             "total_bytes", "local_bytes"};
// Names of the sources of bandwidth samples, by number. A number that this version does not know is read as 0.
constexpr std::array<const char*, MLRUN_BANDWIDTH_SOURCES> kBandwidthSources = {
    "unknown", "uncore", "pcm-sensor-server", "pcm-memory", "resctrl"};
constexpr std::array<const char*, MLRUN_BANDWIDTH_KINDS> kBandwidthKinds = {"unknown", "dram", "pmem", "cxl", "all"};

static_assert(kCpuNames.back() && kDiskNames.back() && kNetNames.back() && kProcessNames.back() &&
              kBandwidthNames.back() && kBandwidthSources.back() && kBandwidthKinds.back() && kMemoryNames.back());

struct Interval {
  int64_t begin_ns, length_ns;
};

Interval interval_of(const auto& row) {
  const int64_t end_ns = TraceClock::from_monotonic(row.monotonic_ns);
  const int64_t length_ns = std::min(end_ns, TraceClock::from_monotonic(row.interval_ns));
  return {end_ns - length_ns, length_ns};
}

void visit_interval(auto& visitor, const auto& row) {
  const Interval interval = interval_of(row);
  visitor("ts", interval.begin_ns, kDelta);
  visitor("dur", interval.length_ns);
}

void visit_values(auto& visitor, const auto& row, const auto& names) {
  for (size_t field = 0; field < names.size(); ++field)
    visitor.optional(names[field], int64_t{row.values[field]}, MLRUN_NOT_KNOWN);
}

struct CpuColumns {
  static constexpr const char* kTable = "sample_cpu";
  static void visit(auto& visitor, const mlrun_cpu_sample& row) {
    visit_interval(visitor, row);
    visitor("cpu", static_cast<int32_t>(row.cpu));
    visit_values(visitor, row, kCpuNames);
  }
};

struct DiskColumns {
  static constexpr const char* kTable = "sample_disk";
  static void visit(auto& visitor, const mlrun_disk_sample& row) {
    visit_interval(visitor, row);
    visitor("device", util::field_text(row.name));
    visitor("major", static_cast<int32_t>(row.major));
    visitor("minor", static_cast<int32_t>(row.minor));
    visit_values(visitor, row, kDiskNames);
  }
};

struct NetColumns {
  static constexpr const char* kTable = "sample_net";
  static void visit(auto& visitor, const mlrun_net_sample& row) {
    visit_interval(visitor, row);
    visitor("interface", util::field_text(row.name));
    visit_values(visitor, row, kNetNames);
  }
};

struct HostMemoryColumns {
  static constexpr const char* kTable = "sample_memory";
  static void visit(auto& visitor, const mlrun_memory_sample& row) {
    const Interval interval = interval_of(row);
    visit_memory_columns(visitor, interval.begin_ns, interval.length_ns, row);
  }
};

struct ProcessSampleRow {
  mlrun_process_sample sample{};
  model::Origin who;
};

struct ProcessSampleColumns {
  static constexpr const char* kTable = "sample_process";
  static void visit(auto& visitor, const ProcessSampleRow& row) {
    const bool is_thread = row.sample.host_tid != 0;
    const bool is_letter = row.sample.state > ' ' && row.sample.state < 0x7f;
    const char state = is_letter ? static_cast<char>(row.sample.state) : '\0';
    visit_interval(visitor, row.sample);
    visitor.optional("proc_id", row.who.proc_id, 0);
    visitor.optional("thread_id", is_thread ? row.who.thread_id : 0, 0);
    visitor("pid", static_cast<int32_t>(row.sample.host_pid));
    visitor.optional("tid", static_cast<int32_t>(row.sample.host_tid), 0);
    visitor.optional("comm", std::string_view(util::field_text(row.sample.comm)));
    visitor.optional("state", std::string_view(&state, is_letter ? 1 : 0));
    visit_values(visitor, row.sample, kProcessNames);
  }
};

struct BandwidthColumns {
  static constexpr const char* kTable = "sample_bandwidth";
  static void visit(auto& visitor, const mlrun_bandwidth_sample& row) {
    visit_interval(visitor, row);
    visitor.label("source", row.source < MLRUN_BANDWIDTH_SOURCES ? row.source : 0, kBandwidthSources);
    visitor.label("kind", row.kind < MLRUN_BANDWIDTH_KINDS ? row.kind : 0, kBandwidthKinds);
    visitor.optional("socket", int32_t{row.socket}, -1);
    visitor.optional("channel", int32_t{row.channel}, -1);
    visit_values(visitor, row, kBandwidthNames);
  }
};

using CpuTable = RowTable<CpuColumns, mlrun_cpu_sample>;
using DiskTable = RowTable<DiskColumns, mlrun_disk_sample>;
using NetTable = RowTable<NetColumns, mlrun_net_sample>;
using ProcessSampleTable = RowTable<ProcessSampleColumns, ProcessSampleRow>;
using BandwidthTable = RowTable<BandwidthColumns, mlrun_bandwidth_sample>;

template <typename Row>
Row blank_row() {
  Row row{};
  std::fill(std::begin(row.values), std::end(row.values), MLRUN_NOT_KNOWN);
  return row;
}

class CounterReader {
 public:
  explicit CounterReader(const model::TraceInfo& info) : finder_(info) {}

  Status open(const std::string& tables_folder) {
    memory_path_ = tables_folder + "/" + HostMemoryColumns::kTable;
    for (tables::ParquetTable* table : tables()) {
      if (Status opened = table->open_in(tables_folder); !opened) return opened;
    }
    return {};
  }

  Status add(const SpoolFrame& frame, const mlrun_frame_samples& head) {
    switch (static_cast<mlrun_sample_table>(head.table)) {
      case MLRUN_SAMPLE_CPU:
        return each<mlrun_cpu_sample>(frame, head, cpus_, [&](const mlrun_cpu_sample& row) {
          meter_.add(row);
          cpus_.add(row);
        });
      case MLRUN_SAMPLE_DISK:
        return each<mlrun_disk_sample>(frame, head, disks_, [&](const mlrun_disk_sample& row) {
          meter_.add(row, util::field_text(row.name));
          disks_.add(row);
        });
      case MLRUN_SAMPLE_NET:
        return each<mlrun_net_sample>(frame, head, nets_, [&](const mlrun_net_sample& row) {
          meter_.add(row, util::field_text(row.name));
          nets_.add(row);
        });
      case MLRUN_SAMPLE_MEMORY:
        if (Status opened = open_memory(); !opened) return opened;
        return each<mlrun_memory_sample>(frame, head, memory_, [&](const mlrun_memory_sample& row) {
          meter_.add(row);
          memory_.add(row);
        });
      case MLRUN_SAMPLE_PROCESS:
        return each<mlrun_process_sample>(frame, head, processes_, [&](const mlrun_process_sample& row) {
          const int64_t end_ns = TraceClock::from_monotonic(row.monotonic_ns);
          processes_.add({row, finder_.find(end_ns, row.host_pid, row.host_tid == 0 ? row.host_pid : row.host_tid)});
        });
      case MLRUN_SAMPLE_BANDWIDTH:
        return each<mlrun_bandwidth_sample>(frame, head, bandwidth_,
                                            [&](const mlrun_bandwidth_sample& row) { bandwidth_.add(row); });
      case MLRUN_SAMPLE_GPU:
      case MLRUN_SAMPLE_GPU_PROCESS:
      case MLRUN_SAMPLE_GPU_DRIVER:
      case MLRUN_SAMPLE_THREAD:
      case MLRUN_SAMPLE_MACHINE:
      case MLRUN_SAMPLE_ACCESS:
      case MLRUN_SAMPLE_PAGE: break;  // read in gpu_samples.h, host_samples.h, trace/access
    }
    return {};
  }

  Result<CounterSampleTotals> close() {
    for (tables::ParquetTable* table : tables()) {
      if (auto closed = table->close(); !closed) return tl::make_unexpected(closed.error());
    }
    if (memory_is_open_) {
      if (Status closed = memory_.close(); !closed) return tl::make_unexpected(closed.error());
    }
    totals_.machine = meter_.finish();
    return totals_;
  }

 private:
  std::array<tables::ParquetTable*, 5> tables() {
    return {&cpus_.parquet(), &disks_.parquet(), &nets_.parquet(), &processes_.parquet(), &bandwidth_.parquet()};
  }

  // The file is the folder's second: the first one is the kernel side's.
  Status open_memory() {
    if (std::exchange(memory_is_open_, true)) return {};
    if (Status made = util::make_folders(memory_path_); !made) return made;
    return memory_.parquet().open(memory_path_ + "/part-00001.parquet");
  }

  template <typename Row>
  Status each(const SpoolFrame& frame, const mlrun_frame_samples& head, auto& table, auto visit) {
    Status ended;
    totals_.damaged_rows += for_each_row(frame, head, blank_row<Row>(), [&](const Row& row) {
      if (!ended) return;
      visit(row);
      ++totals_.rows;
      ended = table.end_full_group();
    });
    return ended;
  }

  const ThreadFinder finder_;
  summary::MachineMeter meter_;
  CpuTable cpus_;
  DiskTable disks_;
  NetTable nets_;
  RowTable<HostMemoryColumns, mlrun_memory_sample> memory_;
  ProcessSampleTable processes_;
  BandwidthTable bandwidth_;
  std::string memory_path_;
  bool memory_is_open_ = false;
  CounterSampleTotals totals_;
};

}  // namespace

std::vector<model::CoverageRow> counter_sample_coverage(const model::Run& session) {
  std::vector<model::CoverageRow> rows;
  for (const auto& line : session.machine_sampler.not_sampled) {
    rows.push_back({.subject = "samples of " + line.sample, .detail = line.text});
  }
  for (const auto& line : session.machine_sampler.remarks) {
    if (line.sample == "process")  // those about bandwidth name the mechanism, and are in run.json
      rows.push_back({.subject = "samples of process", .detail = line.text, .level = model::kRemark});
  }
  const model::MachineSampler& sampler = session.machine_sampler;
  const auto add = [&](const char* subject, int64_t missing, int64_t due, const char* why) {
    constexpr int64_t kShare = 10;
    if (missing <= 0 || missing < due / kShare) return;
    rows.push_back({.subject = subject,
                    .detail = fmt::format("{} of {} {}: the rows cover a longer time", missing, due, why),
                    .seen = due - missing,
                    .kernel = due});
  };
  if (sampler.samples <= 0) return rows;
  const int64_t in_time = sampler.samples + sampler.left_out;
  constexpr const char* kShareSpent =
      "were skipped, to keep mlrun within its share of a processor (a lower --sample-hz avoids this)";
  add("samples of counters", sampler.left_out, in_time, kShareSpent);
  add("samples of process", sampler.process_left_out, in_time, kShareSpent);
  add("samples of counters", sampler.late_samples, in_time + sampler.late_samples,
      "were not taken in time: mlrun was stopped or got no processor, or one of them took too long");
  return rows;
}

Result<CounterSampleTotals> write_counter_samples(const SpoolIndex& index, const model::TraceInfo& info,
                                                  const std::string& tables_folder) {
  CounterReader reader(info);
  if (Status opened = reader.open(tables_folder); !opened) return tl::make_unexpected(opened.error());
  for (const uint64_t offset : index.sample_frames()) {
    const Status added =
        visit_samples(index, offset, [&](const auto& frame, const auto& head) { return reader.add(frame, head); });
    if (!added) return tl::make_unexpected(added.error());
  }
  return reader.close();
}

Status visit_counter_tables(const tables::TableVisit& visit) {
  return tables::visit_empty<CpuTable, DiskTable, NetTable, ProcessSampleTable, BandwidthTable>(visit);
}

}  // namespace mlrun::trace
