// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/index/gpu_facts.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/decode/limits.h"
#include "runner/events/cupti_answer.h"
#include "runner/events/session.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

constexpr size_t kOverheadKindsMax = 64, kTakenMax = 1024, kRefusedMax = 64;
constexpr const char* kChannel = "cupti";

std::string uuid_text(const char* prefix, const uint64_t (&words)[2]) {
  std::array<unsigned char, 16> bytes{};
  std::memcpy(bytes.data(), words, sizeof words);
  std::string text = prefix;
  for (size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
  }
  return text;
}

std::string uuid_of(const decode::GpuDeviceEvent& device) {
  return device.is_mig ? uuid_text("MIG-", device.mig_uuid) : uuid_text("GPU-", device.uuid);
}

std::string overhead_name(uint64_t kind) {
  static constexpr std::array<const char*, 9> kNames = {"of an unknown kind",
                                                        "buffer flush",
                                                        "instrumentation",
                                                        "resources",
                                                        "loading of modules at run time",
                                                        "lazy loading of functions",
                                                        "command buffer full",
                                                        "buffer requests",
                                                        "unified memory set-up"};
  if (kind == 1) return "driver's compiler";
  const uint64_t index = kind >> 16;
  return index < kNames.size() && (kind & 0xffff) == 0 ? kNames[index] : kNames[0];
}

// Explains CUPTI's answer, and what the user can do about it.
std::string answer_text(uint64_t answer) {
  switch (answer) {
    case CUPTI_NOT_COMPATIBLE:
      return "the program uses CUPTI's functions of version 2, which cannot be mixed with those that mlrun uses";
    case CUPTI_NOT_INITIALIZED:
      return "this libcupti does not work with the driver, which may be too old for it: update the driver, or set "
             "MLRUN_CUPTI=FILE to the libcupti of an older CUDA";
    case CUPTI_NOT_SUPPORTED: return "CUPTI does not support this GPU on this system";
    case CUPTI_VIRTUAL_GPU: return "CUPTI does not support virtualised GPUs";
    case CUPTI_INSUFFICIENT_PRIVILEGES:
      return "no permission: run as root, give the container CAP_SYS_ADMIN, or load the driver's module with "
             "NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_MULTIPLE_SUBSCRIBERS:
      return "another tool (a debugger, Nsight, or a profiler) uses CUPTI: run without that tool";
    case CUPTI_VIRTUAL_GPU_PRIVILEGES: return "no permission: the host of this virtual GPU must allow profiling";
    case CUPTI_CONFIDENTIAL_COMPUTING: return "CUPTI does not support GPUs in confidential computing";
    case CUPTI_MINING_PROCESSOR: return "CUPTI does not support NVIDIA's mining processors";
    case CUPTI_MIG: return "CUPTI does not support MIG";
    case CUPTI_SLI: return "CUPTI does not support SLI";
    case CUPTI_WSL: return "CUPTI does not support this GPU in WSL";
    case CUPTI_UNKNOWN:
      return "the driver of the GPU does not answer, or is too old for this libcupti; nvidia-smi may show why";
    default: return "CUPTI returned an error";
  }
}

std::string reason_text(const std::string& what, uint64_t answer) {
  return fmt::format("{} ({}: {})", answer_text(answer), what, answer);
}

model::LossRow loss(const std::string& reason, uint64_t count, const char* unit) {
  model::LossRow row;
  row.channel = kChannel;
  row.reason = reason;
  row.count = static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX));
  row.unit = unit;
  return row;
}

}  // namespace

void GpuFacts::add(uint32_t process, const decode::GpuDeviceEvent& device) {
  if (devices_.size() < decode::kGpusMax) devices_[{process, device.number}] = device;
}

void GpuFacts::add(uint32_t number, uint64_t channel, const decode::GpuNoteEvent& note) {
  if (!processes_.contains(number) && processes_.size() >= decode::kChannelsMax) return;
  Process& process = processes_[number];
  process.channel = channel;
  const int64_t first_ns = TraceClock::from_monotonic(note.first_ns);
  const int64_t last_ns = TraceClock::from_monotonic(note.last_ns);
  switch (static_cast<mlrun_gpu_note>(note.note)) {
    case MLRUN_GPU_STARTED:
      process.version = note.code;
      process.library = note.text;
      process.flushed_ns = std::max(process.flushed_ns, last_ns);
      return;
    case MLRUN_GPU_OFF:
      process.is_off = true;
      process.answer = note.code;
      process.tried = note.text;
      return;
    case MLRUN_GPU_FLUSHED:
    case MLRUN_GPU_ENDED:
      if (last_ns < process.flushed_ns) return;
      process.flushed_ns = last_ns;
      process.ended = note.note == MLRUN_GPU_ENDED;
      return;
    case MLRUN_GPU_DROPPED: process.dropped += std::min<uint64_t>(note.count, UINT32_MAX); return;
    case MLRUN_GPU_UNREAD: process.unread_bytes += std::min<uint64_t>(note.count, UINT32_MAX); return;
    case MLRUN_GPU_OVERHEAD: {
      if (!process.overhead.contains(note.code) && process.overhead.size() >= kOverheadKindsMax) return;
      Overhead& overhead = process.overhead[note.code];
      ++overhead.times;
      overhead.ns += std::clamp<int64_t>(last_ns - first_ns, 0, kLatestNs / 1000000);
      return;
    }
    case MLRUN_GPU_TAKEN:
      if (process.taken.size() < kTakenMax || process.taken.contains(first_ns)) {
        Taken& taken = process.taken[first_ns];
        taken.last_ns = std::max(taken.last_ns, note.last_ns == 0 ? 0 : last_ns);
        taken.is_unseen = note.code == MLRUN_TAKEN_UNSEEN;
      }
      return;
    // A process records its refused kinds again each time it gets CUPTI back from another tool.
    case MLRUN_GPU_REFUSED:
      if (process.refused.size() < kRefusedMax) process.refused.emplace(note.text, note.code);
      return;
    case MLRUN_GPU_FOREIGN: process.foreign = note.text; return;
  }
}

void GpuFacts::place_devices(model::TraceInfo& info, StringTable& strings) {
  std::map<std::string, int32_t> by_uuid;
  int32_t last_id = 0;
  for (const model::GpuRow& row : info.gpus) {
    by_uuid.emplace(row.uuid, row.gpu_id);
    last_id = std::max(last_id, row.gpu_id);
  }
  for (const auto& [key, device] : devices_) {
    const std::string uuid = uuid_of(device);
    const auto [known, is_new] = by_uuid.emplace(uuid, last_id + 1);
    gpu_ids_[key] = known->second;
    if (!is_new) continue;
    model::GpuRow row;
    row.gpu_id = ++last_id;
    row.kind = device.is_mig ? "mig" : "gpu";
    row.name = util::escaped_utf8(strings.text(device.name));
    row.uuid = uuid;
    row.memory_bytes = static_cast<int64_t>(std::min<uint64_t>(device.memory_bytes, INT64_MAX));
    info.gpus.push_back(std::move(row));
  }
}

int32_t GpuFacts::gpu_id(uint32_t process, uint32_t device) const {
  const auto found = gpu_ids_.find({process, device});
  return found == gpu_ids_.end() ? 0 : found->second;
}

int64_t GpuFacts::started() const {
  return std::count_if(processes_.begin(), processes_.end(),
                       [](const auto& entry) { return entry.second.version != 0 && !entry.second.is_off; });
}

void GpuFacts::add_process_losses(const Process& process, SpoolChannels& channels, const model::TraceInfo& info,
                                  std::vector<model::LossRow>& rows) const {
  const size_t first = rows.size();
  if (process.dropped != 0) rows.push_back(loss("dropped by CUPTI for want of room", process.dropped, "records"));
  if (process.unread_bytes != 0) {
    rows.push_back(loss("in buffers that could not be read", process.unread_bytes, "bytes"));
  }
  for (const auto& [kind, overhead] : process.overhead) {
    rows.push_back(loss("CUPTI's own work: " + overhead_name(kind), static_cast<uint64_t>(overhead.ns), "ns"));
  }
  const Channel* channel = channels.find(process.channel);
  const int32_t proc_id = channel ? channel->origin.proc_id : 0;
  const auto add_stretch = [&](const char* reason, int64_t first_ns, int64_t last_ns) {
    rows.push_back(loss(reason, 1, "stretches"));
    rows.back().first_ns = first_ns;
    rows.back().last_ns = last_ns;
  };
  const auto row = std::find_if(info.processes.begin(), info.processes.end(),
                                [&](const model::ProcessRow& of) { return of.proc_id == proc_id; });
  const int64_t last_ns = row == info.processes.end() ? process.flushed_ns : row->last_ns;
  if (process.version != 0 && !process.is_off && !process.ended) {
    add_stretch("what CUPTI held when the process was killed or CUPTI did not answer at the end", process.flushed_ns,
                std::max(process.flushed_ns, last_ns));
  }
  for (const auto& [taken_ns, taken] : process.taken) {
    add_stretch(taken.is_unseen ? "a client that bypassed mlrun's functions had CUPTI" : "another client had CUPTI",
                taken_ns, taken.last_ns != 0 ? taken.last_ns : std::max(taken_ns, last_ns));
  }
  for (size_t i = first; i < rows.size(); ++i) rows[i].proc_id = proc_id;
}

std::vector<model::LossRow> GpuFacts::losses(SpoolChannels& channels, const model::TraceInfo& info) const {
  std::vector<model::LossRow> rows;
  for (const auto& [number, process] : processes_) add_process_losses(process, channels, info, rows);
  return rows;
}

std::vector<model::CoverageRow> GpuFacts::coverage(SpoolChannels& channels, StringTable& strings) const {
  std::vector<model::CoverageRow> rows;
  for (const auto& [number, process] : processes_) {
    const Channel* channel = channels.find(process.channel);
    const auto add = [&](const char* subject, std::string detail) {
      model::CoverageRow& row = rows.emplace_back();
      row.proc_id = channel ? channel->origin.proc_id : 0;
      row.subject = subject;
      row.detail = std::move(detail);
    };
    if (process.foreign != 0 && process.version == 0) {
      add("GPU work", fmt::format("CUDA in this process would load {} instead of mlrun's library: unset {}",
                                  util::escaped_utf8(strings.text(process.foreign)), MLRUN_CUDA_INJECTION));
    }
    if (process.is_off) {
      const std::string tried = util::escaped_utf8(strings.text(process.tried));
      add("GPU work", process.answer == 0 ? tried : reason_text(tried, process.answer));
      continue;
    }
    for (const auto& [name, answer] : process.refused) {
      add("part of the GPU work", reason_text(util::escaped_utf8(strings.text(name)), answer));
    }
  }
  return rows;
}

nlohmann::json GpuFacts::describe(StringTable& strings) const {
  std::map<std::pair<std::string, uint64_t>, int64_t> libraries;
  for (const auto& [number, process] : processes_) {
    if (process.version != 0) ++libraries[{util::escaped_utf8(strings.text(process.library)), process.version}];
  }
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [library, processes] : libraries) {
    list.push_back({{"file", library.first}, {"api_version", library.second}, {"processes", processes}});
  }
  return list;
}

}  // namespace mlrun::trace
