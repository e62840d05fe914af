// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/metrics.h"

#include <set>

#include <fmt/format.h>

#include "runner/util/text.h"

namespace mlrun::monitor {

namespace {

using enum MetricType;

// Divides instead of multiplying by 0.01: a quotient of integers is correctly rounded, such a product is not.
struct Scale {
  double times = 1, over = 1;
  [[nodiscard]] double of(int64_t value) const { return static_cast<double>(value) * times / over; }
};
constexpr Scale kOne, kMega{1e6, 1}, kPercent{1, 100}, kPpm{1, 1e6}, kMilli{1, 1e3}, kNano{1, 1e9};

// Where a metric's value comes from: the newest sample, or the total of all samples.
enum class From { kNewest, kSum };

struct GpuMetric {
  mlrun_gpu_field field;
  From from;
  Scale scale;
  const char *label, *value;  // an additional label and its value, or null
  MetricFamily family;        // metrics of one family are adjacent in the table
};

constexpr MetricFamily kEngines{"mlrun_gpu_engine_utilization_ratio", kGauge, "ratio",
                                "Share of time in which the engine was busy, measured by the driver."};
constexpr MetricFamily kTemperature{"mlrun_gpu_temperature_celsius", kGauge, "celsius",
                                    "Temperature of the GPU and of its memory."};
constexpr MetricFamily kClock{"mlrun_gpu_clock_hertz", kGauge, "hertz", "Clock of the multiprocessors and of memory."};
constexpr MetricFamily kHeldBack{"mlrun_gpu_held_back_seconds", kCounter, "seconds",
                                 "Time in which the power limit or the temperature held the GPU back."};
constexpr MetricFamily kEcc{"mlrun_gpu_ecc_errors", kCounter, "",
                            "ECC errors of device memory since the driver was loaded."};

constexpr GpuMetric now(mlrun_gpu_field field, Scale scale, const MetricFamily& family, const char* label = nullptr,
                        const char* value = nullptr) {
  return {field, From::kNewest, scale, label, value, family};
}
constexpr GpuMetric sum(mlrun_gpu_field field, Scale scale, const MetricFamily& family, const char* label = nullptr,
                        const char* value = nullptr) {
  return {field, From::kSum, scale, label, value, family};
}

constexpr GpuMetric kGpuMetrics[] = {
    now(MLRUN_GPU_FB_USED, kOne,
        {"mlrun_gpu_memory_used_bytes", kGauge, "bytes", "Device memory in use, without the driver's reserve."}),
    now(MLRUN_GPU_FB_FREE, kOne, {"mlrun_gpu_memory_free_bytes", kGauge, "bytes", "Device memory that is free."}),
    now(MLRUN_GPU_PROTECTED_USED, kOne,
        {"mlrun_gpu_memory_protected_bytes", kGauge, "bytes",
         "Device memory in use that confidential computing protects."}),
    now(MLRUN_GPU_BAR1_USED, kOne,
        {"mlrun_gpu_bar1_used_bytes", kGauge, "bytes", "Device memory that is mapped for the host (BAR1)."}),
    now(MLRUN_GPU_SM_PERCENT, kPercent,
        {"mlrun_gpu_utilization_ratio", kGauge, "ratio",
         "Share of time in which a kernel ran, measured by the driver."}),
    now(MLRUN_GPU_MEM_PERCENT, kPercent,
        {"mlrun_gpu_memory_utilization_ratio", kGauge, "ratio",
         "Share of time in which device memory was read or written."}),
    now(MLRUN_GPU_ENC_PERCENT, kPercent, kEngines, "engine", "encoder"),
    now(MLRUN_GPU_DEC_PERCENT, kPercent, kEngines, "engine", "decoder"),
    now(MLRUN_GPU_JPG_PERCENT, kPercent, kEngines, "engine", "jpeg"),
    now(MLRUN_GPU_OFA_PERCENT, kPercent, kEngines, "engine", "optical_flow"),
    now(MLRUN_GPU_TEMPERATURE_C, kOne, kTemperature, "sensor", "gpu"),
    now(MLRUN_GPU_MEMORY_TEMPERATURE_C, kOne, kTemperature, "sensor", "memory"),
    now(MLRUN_GPU_POWER_MW, kMilli, {"mlrun_gpu_power_watts", kGauge, "watts", "Power that the GPU draws."}),
    sum(MLRUN_GPU_ENERGY_MJ, kMilli,
        {"mlrun_gpu_energy_joules", kCounter, "joules", "Energy used since the monitor began."}),
    now(MLRUN_GPU_SM_CLOCK_MHZ, kMega, kClock, "clock", "sm"),
    now(MLRUN_GPU_MEMORY_CLOCK_MHZ, kMega, kClock, "clock", "memory"),
    now(MLRUN_GPU_FAN_PERCENT, kPercent, {"mlrun_gpu_fan_ratio", kGauge, "ratio", "Speed of the fan."}),
    now(MLRUN_GPU_PERFORMANCE_STATE, kOne,
        {"mlrun_gpu_performance_state", kGauge, "", "Performance state, 0 (fastest) to 15 (slowest)."}),
    now(MLRUN_GPU_THROTTLE, kOne,
        {"mlrun_gpu_throttle_reasons", kGauge, "",
         "Why clocks are lower than possible: NVML's bits of throttle reasons."}),
    sum(MLRUN_GPU_POWER_VIOLATION_NS, kNano, kHeldBack, "by", "power"),
    sum(MLRUN_GPU_THERMAL_VIOLATION_NS, kNano, kHeldBack, "by", "temperature"),
    sum(MLRUN_GPU_PCIE_RX_BYTES, kOne,
        {"mlrun_gpu_pcie_received_bytes", kCounter, "bytes",
         "Bytes received by the GPU over PCIe since the monitor began."}),
    sum(MLRUN_GPU_PCIE_TX_BYTES, kOne,
        {"mlrun_gpu_pcie_sent_bytes", kCounter, "bytes", "Bytes sent by the GPU over PCIe since the monitor began."}),
    now(MLRUN_GPU_PCIE_REPLAYS, kOne,
        {"mlrun_gpu_pcie_replays", kCounter, "", "PCIe transfers that were repeated since the driver was loaded."}),
    sum(MLRUN_GPU_NVLINK_RX_BYTES, kOne,
        {"mlrun_gpu_nvlink_received_bytes", kCounter, "bytes",
         "Bytes received on all NVLinks since the monitor began."}),
    sum(MLRUN_GPU_NVLINK_TX_BYTES, kOne,
        {"mlrun_gpu_nvlink_sent_bytes", kCounter, "bytes", "Bytes sent on all NVLinks since the monitor began."}),
    now(MLRUN_GPU_ECC_CORRECTED, kOne, kEcc, "kind", "corrected"),
    now(MLRUN_GPU_ECC_UNCORRECTED, kOne, kEcc, "kind", "uncorrected"),
    now(MLRUN_GPU_GRAPHICS_PPM, kPpm,
        {"mlrun_gpu_graphics_active_ratio", kGauge, "ratio",
         "Share of time in which any compute or graphics engine was busy."}),
    now(MLRUN_GPU_SM_ACTIVE_PPM, kPpm,
        {"mlrun_gpu_sm_active_ratio", kGauge, "ratio",
         "Share of multiprocessors with at least one warp, mean over time."}),
    now(MLRUN_GPU_SM_OCCUPANCY_PPM, kPpm,
        {"mlrun_gpu_sm_occupancy_ratio", kGauge, "ratio", "Resident warps divided by the largest possible number."}),
    now(MLRUN_GPU_TENSOR_PPM, kPpm,
        {"mlrun_gpu_tensor_active_ratio", kGauge, "ratio", "Share of time in which the tensor cores were busy."}),
    now(MLRUN_GPU_DRAM_PPM, kPpm,
        {"mlrun_gpu_dram_active_ratio", kGauge, "ratio", "Used share of the bandwidth of device memory."}),
};

Labels labels_of(const GpuNow& gpu, const MetricsInput& input) {
  return {{"gpu", gpu.about.uuid}, {"index", gpu.about.index_text()}, {"hostname", input.hostname}};
}

Labels with(Labels labels, const char* name, std::string value) {
  labels.emplace_back(name, std::move(value));
  return labels;
}

// Adds a family with one value per GPU.
template <typename Value>
void add_each(Exposition& out, const MetricsInput& input, const MetricFamily& family, Value value) {
  out.begin(family);
  for (const GpuNow& gpu : input.board.gpus()) out.add(labels_of(gpu, input), value(gpu));
}

void add_presence(Exposition& out, const MetricsInput& input) {
  out.begin({"mlrun_gpu", kInfo, "", "GPUs and MIG instances (kind mig, index GPU:INSTANCE.COMPUTE)."});
  for (const GpuNow& gpu : input.board.gpus()) {
    Labels labels = labels_of(gpu, input);
    labels.emplace_back("name", gpu.about.name);
    labels.emplace_back("kind", gpu.about.is_mig ? "mig" : "gpu");
    labels.emplace_back("pci", gpu.about.pci);
    labels.emplace_back("driver", gpu.about.driver);
    out.add(labels, 1);
  }
  add_each(out, input, {"mlrun_gpu_up", kGauge, "", "1: the GPU answered the newest sample."},
           [](const GpuNow& gpu) { return gpu.answered ? 1 : 0; });
  out.begin({"mlrun_gpu_last_seen_timestamp_seconds", kGauge, "seconds", "When the GPU last answered a sample."});
  for (const GpuNow& gpu : input.board.gpus()) {
    const auto seen_ns = static_cast<int64_t>(gpu.history.last_seen_ns);
    if (seen_ns != 0) out.add(labels_of(gpu, input), kNano.of(seen_ns));
  }
  add_each(out, input, {"mlrun_gpu_unanswered_samples", kCounter, "", "Samples that the GPU did not answer."},
           [](const GpuNow& gpu) { return static_cast<double>(gpu.history.unanswered); });
  out.begin({"mlrun_gpu_memory_total_bytes", kGauge, "bytes", "Total device memory."});
  for (const GpuNow& gpu : input.board.gpus()) {
    const auto bytes = static_cast<double>(gpu.about.memory_bytes);
    if (gpu.about.memory_bytes >= 0) out.add(labels_of(gpu, input), bytes);
  }
}

void add_gpu_values(Exposition& out, const MetricsInput& input) {
  const char* family = nullptr;
  for (const GpuMetric& metric : kGpuMetrics) {
    if (metric.family.name != family) out.begin(metric.family);
    family = metric.family.name;
    for (const GpuNow& gpu : input.board.gpus()) {
      const bool is_sum = metric.from == From::kSum;
      const int64_t value = is_sum ? gpu.history.added[metric.field] : gpu.row.values[metric.field];
      const bool known = is_sum ? gpu.history.counts[metric.field] : value != MLRUN_NOT_KNOWN;
      if (!known || gpu.row.monotonic_ns == 0) continue;
      Labels labels = labels_of(gpu, input);
      if (metric.label) labels.emplace_back(metric.label, metric.value);
      out.add(labels, metric.scale.of(value));
    }
  }
}

// The driver's number of a process is a label only if the process was not found; otherwise `pid` is enough.
Labels labels_of(const ProcessNow& process, const MetricsInput& input) {
  Labels labels = labels_of(input.board.gpus()[process.gpu], input);
  const mlrun_gpu_process_sample& row = process.row;
  labels.emplace_back("pid", row.pid != 0 ? fmt::format("{}", row.pid) : "");
  labels.emplace_back("driver_pid", row.pid != 0 ? "" : fmt::format("{}", row.driver_pid));
  labels.emplace_back("comm", process.comm);
  if (input.label_args) labels.emplace_back("args", process.args);
  return labels;
}

// Processes with their labels, each set of labels once: duplicates would make the whole answer invalid.
struct Listed {
  const ProcessNow* process;
  Labels labels;
};
std::vector<Listed> listed(const MetricsInput& input) {
  std::vector<Listed> result;
  std::set<Labels> seen;
  for (const ProcessNow& process : input.board.processes()) {
    if (process.gpu >= input.board.gpus().size()) continue;
    Labels labels = labels_of(process, input);
    if (seen.insert(labels).second) result.push_back({&process, std::move(labels)});
  }
  return result;
}

void add_processes(Exposition& out, const MetricsInput& input) {
  const std::vector<Listed> all = listed(input);
  const auto add = [&](const MetricFamily& family, auto value, const Scale& scale) {
    out.begin(family);
    for (const Listed& one : all) {
      const int64_t number = value(one.process->row);
      if (number >= 0) out.add(one.labels, scale.of(number));
    }
  };
  add(
      {"mlrun_gpu_process_active", kGauge, "", "1: the process is on the GPU."}, [](const auto&) { return 1; }, kOne);
  add(
      {"mlrun_gpu_process_memory_used_bytes", kGauge, "bytes", "Device memory of the process."},
      [](const auto& row) { return row.fb_used; }, kOne);
  add(
      {"mlrun_gpu_process_memory_protected_bytes", kGauge, "bytes",
       "Device memory of the process that confidential computing protects."},
      [](const auto& row) { return row.fb_protected; }, kOne);
  add(
      {"mlrun_gpu_process_sm_utilization_ratio", kGauge, "ratio",
       "Share of time in which a kernel of the process ran: mean of the driver's samples since mlrun's previous "
       "sample."},
      [](const auto& row) { return row.sm; }, kPercent);
  add(
      {"mlrun_gpu_process_memory_utilization_ratio", kGauge, "ratio",
       "Share of time in which the process used device memory: mean of the driver's samples since mlrun's previous "
       "one."},
      [](const auto& row) { return row.mem; }, kPercent);
  const std::pair<const char*, int32_t mlrun_gpu_process_sample::*> engines[] = {
      {"encoder", &mlrun_gpu_process_sample::enc},
      {"decoder", &mlrun_gpu_process_sample::dec},
      {"jpeg", &mlrun_gpu_process_sample::jpg},
      {"optical_flow", &mlrun_gpu_process_sample::ofa}};
  out.begin({"mlrun_gpu_process_engine_utilization_ratio", kGauge, "ratio",
             "Share of time in which the engine worked for the process: mean of the driver's samples since mlrun's "
             "previous one."});
  for (const auto& [name, field] : engines) {
    for (const Listed& one : all) {
      const int32_t percent = one.process->row.*field;
      if (percent >= 0) out.add(with(one.labels, "engine", name), kPercent.of(percent));
    }
  }
}

// Metrics of the monitor itself.
void add_own(Exposition& out, const MetricsInput& input) {
  const auto add = [&](const MetricFamily& family, double value) {
    out.begin(family);
    out.add({}, value);
  };
  out.begin({"mlrun_build", kInfo, "", "Version of the mlrun that serves these metrics."});
  out.add({{"version", MLRUN_VERSION}}, 1);
  out.begin({"mlrun_monitor_driver_up", kGauge, "", "1: NVIDIA's driver answers."});
  if (input.feed.tried) out.add({}, input.feed.problem.empty() ? 1 : 0);
  out.begin({"mlrun_monitor_sample_duration_seconds", kSummary, "seconds", "Duration of samples of all GPUs."});
  out.add({}, input.feed.samples, kNano.of(static_cast<int64_t>(input.feed.sample_ns)));
  add({"mlrun_monitor_late_samples", kCounter, "",
       "Samples skipped because the driver was still answering the previous sample."},
      static_cast<double>(input.feed.late_samples));
  out.begin({"mlrun_monitor_scrape_duration_seconds", kSummary, "seconds",
             "Time to make each answer, without the current one."});
  out.add({}, input.served.scrapes, kNano.of(static_cast<int64_t>(input.served.scrape_ns)));
  add({"mlrun_monitor_cut_connections", kCounter, "", "Connections closed because they were too slow or too many."},
      static_cast<double>(input.served.cut_connections));
  add({"process_cpu_seconds", kCounter, "seconds", "Processor time of mlrun itself."}, input.self.cpu_s);
  add({"process_resident_memory_bytes", kGauge, "bytes", "Memory of mlrun itself."}, input.self.resident_bytes);
  add({"process_open_fds", kGauge, "", "Open files of mlrun itself."}, input.self.open_fds);
  add({"process_start_time_seconds", kGauge, "seconds", "When mlrun itself began."}, input.self.start_s);
}

}  // namespace

std::string metrics_text(const MetricsInput& input, Format format) {
  Exposition out(format);
  add_presence(out, input);
  add_gpu_values(out, input);
  add_processes(out, input);
  add_own(out, input);
  return std::move(out).finish();
}

}  // namespace mlrun::monitor
