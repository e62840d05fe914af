// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/table_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mlrun::exchange {

namespace {

using enum Otf2Rule::What;
using enum Otf2TrackKind;

const std::vector<Otf2Rule>& rules() {
  static const std::vector<const char*> kThreadKeys = {"thread_id", "pid", "tid"};
  static const std::vector<const char*> kStreamKeys = {"proc_id", "gpu_id"};
  static const std::vector<Otf2Rule> kRules = {
      {"phase", kRegion, kRun, "name", OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER},
      {"step", kRegion, kRun, nullptr, OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER},
      {"blame", kRegion, kRun, "activity", OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_NONE},
      {"mark", kRegion, kThread, "name_id", OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER},
      {"collective", kRegion, kThread, "operation", OTF2_REGION_ROLE_COLL_OTHER, OTF2_PARADIGM_USER},
      {"slice", kRegion, kThread, "name", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER},
      {"gpu_api", kRegion, kThread, "func", OTF2_REGION_ROLE_WRAPPER, OTF2_PARADIGM_CUDA},
      {"gpu_sync", kRegion, kThread, "kind", OTF2_REGION_ROLE_BARRIER, OTF2_PARADIGM_CUDA},
      {"gpu_memory", kRegion, kThread, "operation", OTF2_REGION_ROLE_ALLOCATE, OTF2_PARADIGM_CUDA},
      {"torch_memory", kRegion, kThread, "operation", OTF2_REGION_ROLE_ALLOCATE, OTF2_PARADIGM_USER},
      {"gpu_file", kRegion, kThread, "func", OTF2_REGION_ROLE_FILE_IO},
      {"call", kRegion, kThread, "func"},
      {"alloc", kRegion, kThread, "op", OTF2_REGION_ROLE_ALLOCATE},
      {"vfs", kRegion, kThread, "op", OTF2_REGION_ROLE_FILE_IO, OTF2_PARADIGM_NONE},
      {"remote", kRegion, kThread, "op", OTF2_REGION_ROLE_FILE_IO, OTF2_PARADIGM_NONE},
      {"wait", kRegion, kThread, "state", OTF2_REGION_ROLE_BARRIER, OTF2_PARADIGM_NONE},
      {"flow", kRegion, kThread, "name", OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_USER},
      {"stack_sample", kSample, kThread, nullptr, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_SAMPLING},
      {"python_stack", kSample, kThread, nullptr, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_SAMPLING},
      {"gpu_graph", kRegion, kStream, nullptr, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_CUDA, kStreamKeys},
      {"gpu_kernel", kRegion, kStream, "name_id", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_CUDA, kStreamKeys},
      {"gpu_memcpy", kRegion, kStream, "kind", OTF2_REGION_ROLE_DATA_TRANSFER, OTF2_PARADIGM_CUDA, kStreamKeys},
      {"gpu_memset", kRegion, kStream, nullptr, OTF2_REGION_ROLE_DATA_TRANSFER, OTF2_PARADIGM_CUDA, kStreamKeys},
      {"gpu_idle", kRegion, kGpu, "label", OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_NONE, {"gpu_id"}},
      {"block", kRegion, kDevice, "op", OTF2_REGION_ROLE_DATA_TRANSFER, OTF2_PARADIGM_NONE, {"dev"}},
      {"block_part", kRegion, kDevice, "op", OTF2_REGION_ROLE_DATA_TRANSFER, OTF2_PARADIGM_NONE, {"dev"}},
      {"counter", kValues, kMetric, nullptr, {}, {}, {"proc_id", "name", "series"}},
      {"alloc_small", kValues, kMetric, nullptr, {}, {}, kThreadKeys},
      {"sample_gpu", kValues, kMetric, nullptr, {}, {}, {"gpu_id"}},
      {"sample_gpu_process", kValues, kMetric, nullptr, {}, {}, {"gpu_id", "proc_id", "driver_pid"}},
      {"sample_gpu_driver", kValues, kMetric, nullptr, {}, {}, {"gpu_id", "what"}},
      {"sample_thread", kValues, kMetric, nullptr, {}, {}, kThreadKeys},
      {"sample_process", kValues, kMetric, nullptr, {}, {}, kThreadKeys},
      {"sample_machine", kValues, kMetric, nullptr},
      {"sample_cpu", kValues, kMetric, nullptr, {}, {}, {"cpu"}},
      {"sample_disk", kValues, kMetric, nullptr, {}, {}, {"device"}},
      {"sample_net", kValues, kMetric, nullptr, {}, {}, {"interface"}},
      {"sample_memory", kValues, kMetric, nullptr, {}, {}, {"node"}},
      {"sample_bandwidth", kValues, kMetric, nullptr, {}, {}, {"socket", "channel", "source", "kind"}},
  };
  return kRules;
}

}  // namespace

std::span<const Otf2Rule> otf2_rules() { return rules(); }

bool is_of_place(const Otf2Rule& rule, const std::string& column) {
  // Bounds of row groups, which are of the file and not of the row.
  if (column == "end_min" || column == "end_max" || column == "ts" || column == "node_id") return true;
  if (rule.name != nullptr && column == rule.name && column != "name_id") return true;
  if (std::find(rule.keys.begin(), rule.keys.end(), column) != rule.keys.end()) return true;
  constexpr std::array<std::string_view, 5> kOfThread = {"proc_id", "image_id", "thread_id", "pid", "tid"};
  constexpr std::array<std::string_view, 3> kOfStream = {"context", "stream", "pid"};
  if (rule.place == Otf2TrackKind::kThread)
    return std::find(kOfThread.begin(), kOfThread.end(), column) != kOfThread.end();
  return rule.place == Otf2TrackKind::kStream &&
         std::find(kOfStream.begin(), kOfStream.end(), column) != kOfStream.end();
}

}  // namespace mlrun::exchange
