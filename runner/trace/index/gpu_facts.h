// SPDX-License-Identifier: Apache-2.0
// What traced processes recorded about their GPUs and CUPTI: the identity of each device, losses, and reasons why GPU
// work may be missing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/decode/gpu_event_view.h"
#include "runner/model/trace_info.h"
#include "runner/trace/spool/spool_channels.h"
#include "runner/trace/spool/string_table.h"

namespace mlrun::trace {

class GpuFacts {
 public:
  // `process`: process number (mlrun_frame_channel); `channel`: the recording one.
  void add(uint32_t process, const decode::GpuDeviceEvent& device);
  void add(uint32_t process, uint64_t channel, const decode::GpuNoteEvent& note);

  // Assigns each device its row in info.gpus: the row with the same UUID, else a new one.
  void place_devices(model::TraceInfo& info, StringTable& strings);
  // Row of a process's device; 0: unknown. Requires: devices are placed.
  [[nodiscard]] int32_t gpu_id(uint32_t process, uint32_t device) const;

  [[nodiscard]] bool empty() const { return processes_.empty(); }
  // Number of processes in which CUPTI recorded.
  [[nodiscard]] int64_t started() const;

  [[nodiscard]] std::vector<model::LossRow> losses(SpoolChannels& channels, const model::TraceInfo& info) const;
  [[nodiscard]] std::vector<model::CoverageRow> coverage(SpoolChannels& channels, StringTable& strings) const;
  // The libcupti files and versions that processes used, for run.json.
  [[nodiscard]] nlohmann::json describe(StringTable& strings) const;

 private:
  struct Overhead {
    int64_t times = 0, ns = 0;
  };
  struct Taken {
    int64_t last_ns = 0;  // 0: not returned
    bool is_unseen = false;
  };
  struct Process {
    uint64_t channel = 0;
    uint64_t version = 0, library = 0;  // 0: CUPTI was not started
    bool is_off = false;
    uint64_t answer = 0, tried = 0;  // the reason
    uint64_t foreign = 0;            // the library that CUDA loads instead of mlrun's; 0: none
    bool ended = false;              // ended normally
    int64_t flushed_ns = 0;
    uint64_t dropped = 0, unread_bytes = 0;
    std::map<uint64_t, Overhead> overhead;  // by CUPTI's kind
    std::map<int64_t, Taken> taken;         // by start
    std::map<uint64_t, uint64_t> refused;   // kind of work: CUPTI's error
  };
  void add_process_losses(const Process& process, SpoolChannels& channels, const model::TraceInfo& info,
                          std::vector<model::LossRow>& rows) const;

  std::map<std::pair<uint32_t, uint32_t>, decode::GpuDeviceEvent> devices_;  // by process and CUPTI's device number
  std::map<std::pair<uint32_t, uint32_t>, int32_t> gpu_ids_;
  std::map<uint32_t, Process> processes_;
};

}  // namespace mlrun::trace
