// SPDX-License-Identifier: Apache-2.0
// Lists of processes. The length of an entry differs between drivers for the same function, so the buffer is filled
// with a pattern first and the length derived from what the driver overwrote.
#include <algorithm>
#include <cstring>

#include "runner/events/gpu_sample.h"
#include "runner/samplers/gpu/nvml.h"
#include "runner/samplers/gpu/nvml_functions.h"

namespace mlrun::gpu {

namespace {

constexpr unsigned kEntriesAtFirst = 64, kEntriesMax = 4096;
constexpr unsigned kProcessPercentMax = 100;
constexpr uint8_t kPattern = 0xa5;
constexpr size_t kOldestEntry = 16, kUsualEntry = 24, kLongestEntry = sizeof(nvml::ProcessDetail);

int32_t instance(unsigned number) { return number == nvml::kNoInstance ? -1 : static_cast<int32_t>(number); }
int64_t memory(uint64_t bytes) { return bytes == nvml::kMemoryNotKnown ? -1 : static_cast<int64_t>(bytes); }

// Merges an entry of `entry_bytes` into the list: a process may have compute and graphics contexts.
void add(const uint8_t* entry, size_t entry_bytes, uint32_t use, std::vector<NvmlProcess>& processes) {
  nvml::ProcessDetail detail{0, nvml::kMemoryNotKnown, nvml::kNoInstance, nvml::kNoInstance, nvml::kMemoryNotKnown};
  std::memcpy(&detail, entry, std::min(entry_bytes, sizeof detail));
  if (detail.pid == 0) return;
  NvmlProcess process{detail.pid,
                      use,
                      instance(detail.gpu_instance),
                      instance(detail.compute_instance),
                      memory(detail.used),
                      memory(detail.used_protected)};
  const auto same = std::find_if(processes.begin(), processes.end(), [&](const NvmlProcess& known) {
    return known.pid == process.pid && known.gpu_instance == process.gpu_instance &&
           known.compute_instance == process.compute_instance;
  });
  if (same == processes.end()) {
    processes.push_back(process);
  } else {
    same->use |= use;
    same->used = std::max(same->used, process.used);
  }
}

// Length of an entry: that of the shortest form that covers all bytes that the driver overwrote.
size_t entry_bytes(const std::vector<uint8_t>& buffer, unsigned count) {
  size_t written = buffer.size();
  while (written > 0 && buffer[written - 1] == kPattern) --written;
  for (const size_t bytes : {kOldestEntry, kUsualEntry}) {
    if (bytes * count >= written) return bytes;
  }
  return kLongestEntry;
}

void list(NvmlFunctions::GetList* function, size_t known_entry_bytes, nvml::Device device, uint32_t use,
          std::vector<NvmlProcess>& processes) {
  std::vector<uint8_t> buffer;
  for (unsigned room = kEntriesAtFirst; room <= kEntriesMax; room *= 4) {
    buffer.assign(room * kLongestEntry, kPattern);
    unsigned count = room;
    const nvml::Return result = function(device, &count, buffer.data());
    if (result == nvml::kInsufficientSize) continue;
    if (result != nvml::kSuccess || count == 0 || count > room) return;
    const size_t bytes = known_entry_bytes != 0 ? known_entry_bytes : entry_bytes(buffer, count);
    for (unsigned i = 0; i < count; ++i) add(buffer.data() + i * bytes, bytes, use, processes);
    return;
  }
}

bool list_details(const NvmlFunctions& functions, nvml::Device device, unsigned mode, uint32_t use,
                  std::vector<NvmlProcess>& processes) {
  if (!functions.process_details) return false;
  std::vector<nvml::ProcessDetail> entries(kEntriesAtFirst);
  for (;;) {
    nvml::ProcessDetailList about{nvml::kProcessDetailListV1, mode, static_cast<unsigned>(entries.size()),
                                  entries.data()};
    const nvml::Return result = functions.process_details(device, &about);
    if (result == nvml::kInsufficientSize && entries.size() < kEntriesMax) {
      entries.resize(entries.size() * 4);
      continue;
    }
    if (result != nvml::kSuccess || about.count > entries.size()) return false;
    for (unsigned i = 0; i < about.count; ++i) {
      add(reinterpret_cast<const uint8_t*>(&entries[i]), sizeof entries[i], use, processes);
    }
    return true;
  }
}

// Is the entry valid? Drivers also return old entries, entries without a process, and values above 100 %.
bool is_sample(uint64_t timestamp_us, uint64_t last_seen_us, unsigned pid, unsigned sm, unsigned mem) {
  return timestamp_us > last_seen_us && pid != 0 && sm <= kProcessPercentMax && mem <= kProcessPercentMax;
}

int32_t percent(unsigned value) { return value <= kProcessPercentMax ? static_cast<int32_t>(value) : -1; }

std::optional<std::vector<NvmlUtilization>> newer_utilization(const NvmlFunctions& functions, nvml::Device device,
                                                              uint64_t last_seen_us) {
  if (!functions.processes_utilization) return std::nullopt;
  std::vector<nvml::ProcessUtilizationInfo> entries(kEntriesAtFirst);
  for (;;) {
    nvml::ProcessesUtilizationInfo about{nvml::kProcessesUtilizationV1, static_cast<unsigned>(entries.size()),
                                         last_seen_us, entries.data()};
    const nvml::Return result = functions.processes_utilization(device, &about);
    if (result == nvml::kInsufficientSize && entries.size() < kEntriesMax) {
      entries.resize(entries.size() * 4);
      continue;
    }
    if (result == nvml::kNotFound) return std::vector<NvmlUtilization>();
    if (result != nvml::kSuccess || about.count > entries.size()) return std::nullopt;
    std::vector<NvmlUtilization> samples;
    for (unsigned i = 0; i < about.count; ++i) {
      const nvml::ProcessUtilizationInfo& of = entries[i];
      if (!is_sample(of.timestamp_us, last_seen_us, of.pid, of.sm, of.mem)) continue;
      samples.push_back({of.pid, of.timestamp_us, percent(of.sm), percent(of.mem), percent(of.enc), percent(of.dec),
                         percent(of.jpg), percent(of.ofa)});
    }
    return samples;
  }
}

}  // namespace

std::vector<NvmlProcess> Nvml::processes(nvml::Device device) const {
  const NvmlFunctions& f = *functions_;
  struct Kind {
    unsigned mode;
    uint32_t use;
    NvmlFunctions::GetList *newer, *oldest;
  };
  std::vector<NvmlProcess> processes;
  for (const Kind& kind :
       {Kind{0, MLRUN_GPU_USE_COMPUTE, f.compute, f.compute_v1},
        Kind{1, MLRUN_GPU_USE_GRAPHICS, f.graphics, f.graphics_v1}, Kind{2, MLRUN_GPU_USE_MPS, f.mps, f.mps_v1}}) {
    if (list_details(f, device, kind.mode, kind.use, processes)) continue;
    if (kind.newer) {
      list(kind.newer, 0, device, kind.use, processes);
    } else if (kind.oldest) {
      list(kind.oldest, kOldestEntry, device, kind.use, processes);
    }
  }
  return processes;
}

std::vector<NvmlUtilization> Nvml::process_utilization(nvml::Device device, uint64_t last_seen_us) const {
  if (auto newer = newer_utilization(*functions_, device, last_seen_us)) return *std::move(newer);
  std::vector<NvmlUtilization> samples;
  if (!functions_->process_utilization) return samples;
  std::vector<nvml::ProcessUtilization> entries(kEntriesAtFirst);
  for (;;) {
    auto count = static_cast<unsigned>(entries.size());
    const nvml::Return result = functions_->process_utilization(device, entries.data(), &count, last_seen_us);
    if (result == nvml::kInsufficientSize && entries.size() < kEntriesMax) {
      entries.resize(entries.size() * 4);
      continue;
    }
    if (result != nvml::kSuccess || count > entries.size()) return samples;
    for (unsigned i = 0; i < count; ++i) {
      const nvml::ProcessUtilization& of = entries[i];
      if (!is_sample(of.timestamp_us, last_seen_us, of.pid, of.sm, of.mem)) continue;
      samples.push_back(
          {of.pid, of.timestamp_us, percent(of.sm), percent(of.mem), percent(of.enc), percent(of.dec), -1, -1});
    }
    return samples;
  }
}

}  // namespace mlrun::gpu
