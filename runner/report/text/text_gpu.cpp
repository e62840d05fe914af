// SPDX-License-Identifier: Apache-2.0
// GPU utilisation, memory and power, from the samples.
#include <string>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {

constexpr int64_t kUnknown = -1;

std::string share(int64_t ppm) { return util::percent_text(ppm, 1'000'000); }
std::string watts(int64_t mw) { return mw == kUnknown ? "-" : fmt::format("{:.0f} W", double(mw) / 1000); }
std::string name_of(const summary::GpuSummary& gpu) {
  return fmt::format("{}{} {}", gpu.kind == "mig" ? "  MIG of " : "", gpu.index, printable(gpu.name));
}

std::string energy_text(int64_t mj) {
  constexpr int64_t kMjInKj = 1'000'000;
  if (mj == kUnknown) return "-";
  return mj < kMjInKj ? fmt::format("{:.0f} J", double(mj) / 1e3) : fmt::format("{:.1f} kJ", double(mj) / 1e6);
}

}  // namespace

std::string gpu_number_text(const Summary& summary, int32_t gpu_id) {
  for (const summary::GpuSummary& gpu : summary.gpus) {
    if (gpu.gpu_id == gpu_id && gpu.index >= 0 && gpu.kind != "mig") return fmt::format("{}", gpu.index);
  }
  return gpu_id == 0 ? "?" : fmt::format("#{}", gpu_id);
}

std::string gpus_text(const Summary& summary, const TextStyle& style) {
  if (summary.gpus.empty()) return "";
  TextTable table({"GPUS (sampled)", "busy", "SMs", "memory peak", "power", "peak", "energy", "temp", "throttled",
                   "PCIe in", "out"});
  for (const summary::GpuSummary& gpu : summary.gpus) {
    table.add({name_of(gpu), share(gpu.busy_ppm), share(gpu.sm_active_ppm), util::bytes_text(gpu.fb_peak_bytes),
               watts(gpu.power_mean_mw), watts(gpu.power_peak_mw), energy_text(gpu.energy_mj),
               gpu.temperature_peak_c == kUnknown ? "-" : fmt::format("{} C", gpu.temperature_peak_c),
               util::time_text(gpu.throttled_ns, style.glyphs), util::bytes_text(gpu.pcie_rx_bytes),
               util::bytes_text(gpu.pcie_tx_bytes)});
  }
  return table.text(style);
}

}  // namespace mlrun::report
