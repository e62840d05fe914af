// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/table.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/monitor/aligned.h"
#include "runner/util/text.h"
#include "runner/util/units.h"

namespace mlrun::monitor {

namespace {

std::string number(int64_t value, const char* unit = "") {
  return value == MLRUN_NOT_KNOWN ? "-" : fmt::format("{}{}", value, unit);
}
std::string percent(int32_t value) { return value < 0 ? "-" : fmt::format("{}", value); }
std::string text_or_dash(const std::string& text) { return text.empty() ? "-" : util::printable(text); }

std::string rate(int64_t added_bytes, uint64_t interval_ns) {
  if (added_bytes < 0 || interval_ns == 0) return "-";
  const double per_s = static_cast<double>(added_bytes) * 1e9 / static_cast<double>(interval_ns);
  return util::size_text(static_cast<uint64_t>(per_s)) + "/s";
}

std::string watts(int64_t milliwatts) {
  return milliwatts == MLRUN_NOT_KNOWN ? "-" : fmt::format("{:.0f} W", static_cast<double>(milliwatts) / 1000);
}

Cells gpu_cells(const GpuNow& gpu) {
  const auto& v = gpu.row.values;
  return {gpu.about.index_text(),
          number(v[MLRUN_GPU_SM_PERCENT]),
          number(v[MLRUN_GPU_MEM_PERCENT]),
          util::bytes_text(v[MLRUN_GPU_FB_USED]),
          util::bytes_text(gpu.about.memory_bytes),
          number(v[MLRUN_GPU_TEMPERATURE_C], " C"),
          watts(v[MLRUN_GPU_POWER_MW]),
          number(v[MLRUN_GPU_SM_CLOCK_MHZ], " MHz"),
          number(v[MLRUN_GPU_FAN_PERCENT]),
          rate(v[MLRUN_GPU_PCIE_RX_BYTES], gpu.row.interval_ns),
          rate(v[MLRUN_GPU_PCIE_TX_BYTES], gpu.row.interval_ns),
          text_or_dash(gpu.about.name)};
}

// The type of a process as nvidia-smi shows it: C compute, G graphics, M client of MPS.
std::string type_text(uint32_t use) {
  std::string text;
  for (const auto& [bit, letter] : {std::pair{MLRUN_GPU_USE_MPS, "M"}, std::pair{MLRUN_GPU_USE_COMPUTE, "C"},
                                    std::pair{MLRUN_GPU_USE_GRAPHICS, "G"}}) {
    if ((use & bit) != 0) text += (text.empty() ? "" : "+") + std::string(letter);
  }
  return text.empty() ? "-" : text;
}

Cells process_cells(const ProcessNow& process, const GpuBoard& board) {
  const mlrun_gpu_process_sample& row = process.row;
  const std::string who = process.args.empty() ? process.comm : process.args;
  return {process.gpu < board.gpus().size() ? board.gpus()[process.gpu].about.index_text() : "-",
          row.pid != 0 ? fmt::format("{}", row.pid) : fmt::format("({})", row.driver_pid),
          type_text(row.use),
          percent(row.sm),
          percent(row.mem),
          util::bytes_text(row.fb_used),
          text_or_dash(process.user),
          text_or_dash(who)};
}

}  // namespace

std::string table_text(const GpuBoard& board, std::string_view heading) {
  std::vector<Cells> gpus = {
      {"GPU", "SM%", "MEM%", "USED", "TOTAL", "TEMP", "POWER", "SM CLOCK", "FAN%", "PCIE RX", "PCIE TX", "NAME"}};
  for (const GpuNow& gpu : board.gpus()) gpus.push_back(gpu_cells(gpu));
  std::string text = fmt::format("{}\n{}", heading, aligned(gpus, 1));
  if (board.processes().empty()) return text + "no process on a GPU\n";
  std::vector<Cells> processes = {{"GPU", "PID", "TYPE", "SM%", "MEM%", "USED", "USER", "COMMAND"}};
  for (const ProcessNow& process : board.processes()) processes.push_back(process_cells(process, board));
  return text + aligned(processes, 2);
}

}  // namespace mlrun::monitor
