// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/gpu_board.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/util/clock.h"
#include "runner/util/json_at.h"

namespace mlrun::monitor {

namespace {

GpuAbout about_of(const std::string& text) {
  const auto json = util::parse_json(text);
  GpuAbout about;
  about.number = json.at("number");
  about.parent = json.value("parent", 0u);
  about.uuid = json.at("uuid");
  about.name = json.at("name");
  about.pci = json.at("pci");
  about.driver = json.at("driver");
  about.index = json.at("index");
  about.memory_bytes = json.at("memory_bytes");
  about.is_mig = json.at("kind") == "mig";
  about.gpu_instance = json.value("gpu_instance", -1);
  about.compute_instance = json.value("compute_instance", -1);
  return about;
}

bool has_values(const mlrun_gpu_sample& row) {
  return std::any_of(std::begin(row.values), std::end(row.values), [](auto value) { return value != MLRUN_NOT_KNOWN; });
}

void keep(const mlrun_gpu_sample& row, GpuNow& gpu) {
  GpuHistory& history = gpu.history;
  gpu.row = row;
  gpu.answered = has_values(row);
  ++history.samples;
  if (!gpu.answered) ++history.unanswered;
  // Converts by the row's age, which is short: CLOCK_MONOTONIC stops while the machine is suspended.
  if (gpu.answered) history.last_seen_ns = util::realtime_ns() - (util::monotonic_ns() - row.monotonic_ns);
  for (size_t field = 0; field < MLRUN_GPU_FIELDS; ++field) {
    if (row.values[field] == MLRUN_NOT_KNOWN) continue;
    history.counts[field] = true;
    history.added[field] += row.values[field];
  }
}

}  // namespace

std::string GpuAbout::index_text() const {
  return is_mig ? fmt::format("{}:{}.{}", index, gpu_instance, compute_instance) : fmt::format("{}", index);
}

void GpuBoard::set_gpus(const std::vector<std::string>& texts) {
  for (const GpuNow& gpu : gpus_) gone_[gpu.about.uuid] = gpu.history;
  gpus_.clear();
  processes_.clear();
  for (const std::string& text : texts) {
    GpuNow gpu{.about = about_of(text)};
    if (const auto known = gone_.extract(gpu.about.uuid)) gpu.history = known.mapped();
    gpus_.push_back(std::move(gpu));
  }
}

// Index of the device of a process. NVML lists processes of a MIG instance with the GPU; here they belong to the instance.
size_t GpuBoard::place_of(const mlrun_gpu_process_sample& row) const {
  size_t place = gpus_.size();
  for (size_t i = 0; i < gpus_.size(); ++i) {
    const GpuAbout& about = gpus_[i].about;
    if (about.number == row.device) place = i;
    const bool is_its_instance = about.is_mig && about.parent == row.device && row.gpu_instance >= 0 &&
                                 about.gpu_instance == row.gpu_instance &&
                                 about.compute_instance == row.compute_instance;
    if (is_its_instance) return i;
  }
  return place;
}

bool GpuBoard::add(const gpu::GpuRows& rows) {
  for (const mlrun_gpu_sample& row : rows.gpus) {
    for (GpuNow& gpu : gpus_) {
      if (gpu.about.number == row.device) keep(row, gpu);
    }
  }
  if (rows.gpus.empty()) return false;
  processes_.clear();
  for (const mlrun_gpu_process_sample& row : rows.processes) {
    const bool is_newest = std::any_of(gpus_.begin(), gpus_.end(), [&](const GpuNow& gpu) {
      return gpu.about.number == row.device && gpu.row.monotonic_ns == row.monotonic_ns;
    });
    if (is_newest) processes_.push_back({.row = row, .gpu = place_of(row), .user = {}, .comm = {}, .args = {}});
  }
  return true;
}

void GpuBoard::forget_values() {
  processes_.clear();
  for (GpuNow& gpu : gpus_) {
    gpu.answered = false;
    std::fill(std::begin(gpu.row.values), std::end(gpu.row.values), MLRUN_NOT_KNOWN);
  }
}

}  // namespace mlrun::monitor
