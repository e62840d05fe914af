// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/samples/gpu_samples.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/parquet/row_columns.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/samples/sample_rows.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/util/json_at.h"
#include "runner/util/time_units.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;

constexpr int64_t kExitSlackNs = 2'000'000'000;  // the driver may list a process for this long after its last record

// In the order of enum mlrun_gpu_field; "throttle" is shown as words.
constexpr const char* kFieldNames[MLRUN_GPU_FIELDS] = {"sm_percent",
                                                       "mem_percent",
                                                       "enc_percent",
                                                       "dec_percent",
                                                       "jpg_percent",
                                                       "ofa_percent",
                                                       "power_mw",
                                                       "energy_mj",
                                                       "temperature_c",
                                                       "memory_temperature_c",
                                                       "memory_clock_mhz",
                                                       "sm_clock_mhz",
                                                       "throttle",
                                                       "power_violation_ns",
                                                       "thermal_violation_ns",
                                                       "fb_used_bytes",
                                                       "bar1_used_bytes",
                                                       "ecc_corrected",
                                                       "ecc_uncorrected",
                                                       "pcie_replays",
                                                       "pcie_rx_bytes",
                                                       "pcie_tx_bytes",
                                                       "nvlink_rx_bytes",
                                                       "nvlink_tx_bytes",
                                                       "fan_percent",
                                                       "performance_state",
                                                       "graphics_ppm",
                                                       "sm_active_ppm",
                                                       "sm_occupancy_ppm",
                                                       "tensor_ppm",
                                                       "dram_ppm",
                                                       "fb_free_bytes",
                                                       "protected_used_bytes"};

std::optional<std::string> known_throttle(int64_t reasons) {
  return reasons == MLRUN_NOT_KNOWN ? std::nullopt : std::optional(throttle_text(reasons));
}

struct GpuColumns {
  static constexpr const char* kTable = "sample_gpu";
  static void visit(auto& visitor, const mlrun_gpu_sample& row) {
    visitor("ts", TraceClock::from_monotonic(row.monotonic_ns), kDelta);
    visitor.optional("dur", TraceClock::from_monotonic(row.interval_ns), 0);
    visitor("gpu_id", static_cast<int32_t>(row.device));
    for (size_t field = 0; field < MLRUN_GPU_FIELDS; ++field) {
      const int64_t value = row.values[field];
      field == MLRUN_GPU_THROTTLE ? visitor.optional(kFieldNames[field], known_throttle(value))
                                  : visitor.optional(kFieldNames[field], value, MLRUN_NOT_KNOWN);
    }
  }
};

constexpr std::array kPidSources = {"unknown", "same", "namespace", "only"};
constexpr std::array kUses = {"", "C", "G", "C+G", "M", "M+C", "M+G", "M+C+G"};

struct GpuProcessColumns {
  static constexpr const char* kTable = "sample_gpu_process";
  static void visit(auto& visitor, const mlrun_gpu_process_sample& row, const ThreadFinder& finder) {
    const int64_t ts_ns = TraceClock::from_monotonic(row.monotonic_ns);
    const auto pid = static_cast<int32_t>(row.pid);
    const auto use = row.use & (MLRUN_GPU_USE_COMPUTE | MLRUN_GPU_USE_GRAPHICS | MLRUN_GPU_USE_MPS);
    visitor("ts", ts_ns, kDelta);
    visitor.optional("dur", TraceClock::from_monotonic(row.interval_ns), 0);
    visitor("gpu_id", static_cast<int32_t>(row.device));
    visitor.optional("proc_id", pid == 0 ? 0 : finder.process_at(ts_ns, pid, kExitSlackNs), 0);
    visitor.optional("pid", pid, 0);
    visitor("driver_pid", static_cast<int32_t>(row.driver_pid));
    visitor.label("pid_source", std::min<size_t>(row.pid_source, MLRUN_PID_ONLY), kPidSources);
    visitor.label("type", use, kUses);
    visitor.optional("gpu_instance", row.gpu_instance, -1);
    visitor.optional("compute_instance", row.compute_instance, -1);
    visitor.optional("sm_percent", row.sm, -1);
    visitor.optional("mem_percent", row.mem, -1);
    visitor.optional("enc_percent", row.enc, -1);
    visitor.optional("dec_percent", row.dec, -1);
    visitor.optional("jpg_percent", row.jpg, -1);
    visitor.optional("ofa_percent", row.ofa, -1);
    visitor.optional("fb_used_bytes", row.fb_used, MLRUN_NOT_KNOWN);
    visitor.optional("fb_protected_bytes", row.fb_protected, MLRUN_NOT_KNOWN);
    visitor("driver_samples", static_cast<int32_t>(row.driver_samples));
  }
};

constexpr std::array kDriverFields = {"power_mw", "sm_percent", "mem_percent", "sm_clock_mhz"};

struct GpuDriverColumns {
  static constexpr const char* kTable = "sample_gpu_driver";
  static void visit(auto& visitor, const mlrun_gpu_driver_sample& row) {
    visitor("ts", TraceClock::from_monotonic(row.monotonic_ns), kDelta);
    visitor("gpu_id", static_cast<int32_t>(row.device));
    visitor.label("what", row.field, kDriverFields);
    visitor("value", row.value);
  }
};

using GpuTable = tables::RowTable<GpuColumns, mlrun_gpu_sample>;
using GpuProcessTable = tables::RowTable<GpuProcessColumns, mlrun_gpu_process_sample, ThreadFinder>;
using GpuDriverTable = tables::RowTable<GpuDriverColumns, mlrun_gpu_driver_sample>;

mlrun_gpu_sample blank_gpu_sample() {
  mlrun_gpu_sample row{};
  std::fill(std::begin(row.values), std::end(row.values), MLRUN_NOT_KNOWN);
  return row;
}

// Reads the sample frames of the spool and fills the tables of GPU samples.
class SampleReader {
 public:
  SampleReader(const SpoolIndex& index, const model::TraceInfo& info, summary::GpuMeter& meter)
      : index_(index), meter_(meter), finder_(info) {
    for (const model::GpuRow& gpu : info.gpus) known_gpus_.insert(static_cast<uint32_t>(gpu.gpu_id));
  }

  Result<GpuSampleTotals> write(const std::string& folder) {
    for (tables::ParquetTable* table : {&gpus_.parquet(), &processes_.parquet(), &driver_.parquet()}) {
      if (auto opened = table->open_in(folder); !opened) return tl::make_unexpected(opened.error());
    }
    for (const uint64_t offset : index_.sample_frames()) {
      const Status read =
          visit_samples(index_, offset, [&](const auto& frame, const auto& head) { return add(frame, head); });
      if (!read) return tl::make_unexpected(read.error());
      for (tables::ParquetTable* table : {&gpus_.parquet(), &processes_.parquet(), &driver_.parquet()}) {
        if (!table->full()) continue;
        if (auto ended = table->end_row_group(); !ended) return tl::make_unexpected(ended.error());
      }
    }
    for (tables::ParquetTable* table : {&gpus_.parquet(), &processes_.parquet(), &driver_.parquet()}) {
      if (auto closed = table->close(); !closed) return tl::make_unexpected(closed.error());
    }
    return totals_;
  }

 private:
  Status add(const SpoolFrame& frame, const mlrun_frame_samples& head) {
    switch (static_cast<mlrun_sample_table>(head.table)) {
      case MLRUN_SAMPLE_GPU:
        totals_.damaged_rows += for_each_row(frame, head, blank_gpu_sample(), [&](const mlrun_gpu_sample& row) {
          if (!is_known(row.device)) return;
          gpus_.add(row);
          meter_.add(row);
          ++totals_.gpu_rows;
        });
        break;
      case MLRUN_SAMPLE_GPU_PROCESS:
        totals_.damaged_rows +=
            for_each_row(frame, head, mlrun_gpu_process_sample{}, [&](const mlrun_gpu_process_sample& row) {
              if (!is_known(row.device)) return;
              processes_.add(row, finder_);
              ++totals_.process_rows;
            });
        break;
      case MLRUN_SAMPLE_GPU_DRIVER:
        totals_.damaged_rows +=
            for_each_row(frame, head, mlrun_gpu_driver_sample{}, [&](const mlrun_gpu_driver_sample& row) {
              if (!is_known(row.device)) return;
              if (row.field >= MLRUN_GPU_DRIVER_FIELDS) return;  // written by a later version
              driver_.add(row);
              ++totals_.driver_rows;
            });
        break;
      case MLRUN_SAMPLE_THREAD:
      case MLRUN_SAMPLE_MACHINE:
      case MLRUN_SAMPLE_CPU:
      case MLRUN_SAMPLE_DISK:
      case MLRUN_SAMPLE_NET:
      case MLRUN_SAMPLE_MEMORY:
      case MLRUN_SAMPLE_PROCESS:
      case MLRUN_SAMPLE_BANDWIDTH:
      case MLRUN_SAMPLE_ACCESS:
      case MLRUN_SAMPLE_PAGE: break;  // read in host_samples.h, counter_samples.h, trace/access
    }
    return {};
  }

  // False: the spool does not describe the device; the row is counted as damaged.
  bool is_known(uint32_t device) {
    const bool known = known_gpus_.contains(device);
    totals_.damaged_rows += known ? 0 : 1;
    return known;
  }

  const SpoolIndex& index_;
  summary::GpuMeter& meter_;
  std::set<uint32_t> known_gpus_;
  ThreadFinder finder_;
  GpuTable gpus_;
  GpuProcessTable processes_;
  GpuDriverTable driver_;
  GpuSampleTotals totals_;
};

}  // namespace

std::string throttle_text(int64_t reasons) {
  static constexpr const char* kNames[] = {"idle",        "application_clocks", "sw_power_cap",
                                           "hw_slowdown", "sync_boost",         "sw_thermal",
                                           "hw_thermal",  "hw_power_brake",     "display_clocks"};
  std::string text;
  for (size_t bit = 0; bit < 63; ++bit) {
    if ((reasons >> bit & 1) == 0) continue;
    if (!text.empty()) text += ' ';
    text += bit < std::size(kNames) ? std::string(kNames[bit]) : fmt::format("bit_{}", bit);
  }
  return text;
}

std::vector<model::GpuRow> read_gpus(const std::vector<std::string>& texts) {
  std::vector<model::GpuRow> gpus;
  for (const std::string& text : texts) {
    const auto about = util::parse_json(text);
    const auto number = [&](const char* where, int32_t otherwise) {
      return static_cast<int32_t>(util::integer_at(about, where, otherwise));
    };
    model::GpuRow row;
    row.gpu_id = number("/number", 0);
    if (row.gpu_id <= 0) continue;
    row.kind = util::text_at(about, "/kind");
    row.name = util::text_at(about, "/name");
    row.uuid = util::text_at(about, "/uuid");
    row.pci = util::text_at(about, "/pci");
    row.driver = util::text_at(about, "/driver");
    row.index = number("/index", -1);
    row.parent_id = number("/parent", 0);
    row.gpu_instance = number("/gpu_instance", -1);
    row.compute_instance = number("/compute_instance", -1);
    row.memory_bytes = util::integer_at(about, "/memory_bytes", -1);
    row.numa_node = number("/numa_node", -1);
    gpus.push_back(std::move(row));
  }
  return gpus;
}

Result<GpuSampleTotals> write_gpu_samples(const SpoolIndex& index, const model::TraceInfo& info,
                                          const std::string& tables_folder, summary::GpuMeter& meter) {
  return SampleReader(index, info, meter).write(tables_folder);
}

Status visit_gpu_sample_tables(const tables::TableVisit& visit) {
  return tables::visit_empty<GpuTable, GpuProcessTable, GpuDriverTable>(visit);
}

namespace {

// Index of a GPU as nvidia-smi prints it; -1: unknown.
int32_t index_of(const model::TraceInfo& info, int64_t gpu_id) {
  for (const model::GpuRow& gpu : info.gpus) {
    if (gpu.gpu_id == gpu_id) return gpu.index;
  }
  return -1;
}

std::vector<model::CoverageRow> unsampled(const model::Run& session, const model::TraceInfo& info) {
  std::vector<model::CoverageRow> rows;
  for (const auto& gpu : session.gpu_sampler.not_sampled) {
    rows.push_back({.subject = "samples of the driver's own",
                    .detail = fmt::format("the driver does not sample these of GPU {}: {}", index_of(info, gpu.gpu_id),
                                          fmt::join(gpu.what, ", "))});
  }
  return rows;
}

}  // namespace

// Skipped samples are reported if they are a tenth or more; fewer show as larger distances between the rows' times.
std::vector<model::CoverageRow> gpu_sample_coverage(const model::Run& session, const model::TraceInfo& info) {
  constexpr int64_t kShare = 10;
  std::vector<model::CoverageRow> rows = unsampled(session, info);
  const int64_t samples = session.gpu_sampler.samples, late = session.gpu_sampler.late_samples;
  if (samples <= 0 || late <= 0 || late < (samples + late) / kShare) return rows;
  const double sample_ms =
      static_cast<double>(session.gpu_sampler.sample_ns) / util::kNsPerMs / static_cast<double>(samples);
  rows.push_back(
      {.subject = "samples of the GPUs",
       .detail = fmt::format("{} of {} were skipped: the driver took {:.1f} ms for a sample, on average; a lower "
                             "--sample-hz avoids this",
                             late, samples + late, sample_ms),
       .seen = samples,
       .kernel = samples + late});
  return rows;
}

}  // namespace mlrun::trace
