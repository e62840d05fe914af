// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json_gpu.h"

#include <nlohmann/json.hpp>

#include "runner/report/json/json_values.h"

namespace mlrun::summary {
namespace {

using Json = nlohmann::ordered_json;

Json gpu_memory_json(const GpuMemorySummary& of) {
  return {{"proc_id", of.proc_id},
          {"gpu_id", known(of.gpu_id, 0)},
          {"memory", of.memory},
          {"peak_bytes", of.peak_bytes},
          {"allocations", of.allocations},
          {"allocated_bytes", of.allocated_bytes},
          {"releases", of.releases},
          {"unmatched_releases", of.unmatched_releases},
          {"unseen_releases", of.unseen_releases},
          {"kept", of.kept},
          {"kept_bytes", of.kept_bytes},
          {"kept_late", of.kept_late},
          {"kept_late_bytes", of.kept_late_bytes},
          {"not_followed", of.not_followed},
          {"context", known(of.context, 0)},
          {"with_context", of.with_context},
          {"with_context_bytes", of.with_context_bytes},
          {"at_exit", of.at_exit},
          {"at_exit_bytes", of.at_exit_bytes}};
}

Json gpu_mark_json(const GpuMarkSummary& of) {
  return {{"domain", of.domain},           {"name", of.name},
          {"gpu_id", known(of.gpu_id, 0)}, {"kernels", of.kernels},
          {"own_kernels", of.own_kernels}, {"kernel_ns", of.kernel_ns},
          {"copies", of.copies},           {"copied_bytes", of.copied_bytes},
          {"memsets", of.memsets},         {"graphs", of.graphs},
          {"busy_ns", of.busy_ns},         {"idle_ns", of.idle_ns}};
}

Json gpu_stack_json(const GpuStackSummary& of) {
  return {{"proc_id", of.proc_id},
          {"gpu_id", known(of.gpu_id, 0)},
          {"memory", of.memory},
          {"stack_id", known(of.stack_id, 0)},
          {"blocks", of.blocks},
          {"bytes", of.bytes},
          {"late", of.late},
          {"late_bytes", of.late_bytes},
          {"frames", of.frames.empty() ? Json() : Json(of.frames)}};
}

}  // namespace

Json gpu_work_json(const Summary& summary) {
  const auto device = [](const GpuWorkSummary& of) {
    return Json{{"gpu_id", known(of.gpu_id, 0)},
                {"name", of.name},
                {"uuid", of.uuid.empty() ? Json() : Json(of.uuid)},
                {"busy_ns", of.busy_ns},
                {"kernels", of.kernels},
                {"kernel_ns", of.kernel_ns},
                {"copies", of.copies},
                {"bytes_in", of.bytes_in},
                {"bytes_out", of.bytes_out},
                {"bytes_within", of.bytes_within},
                {"memsets", of.memsets},
                {"copy_ns", of.copy_ns},
                {"graphs", of.graphs},
                {"graph_ns", of.graph_ns}};
  };
  const auto kernel = [](const GpuKernelSummary& of) {
    return Json{{"name", of.name}, {"count", of.count}, {"time_ns", of.time_ns}, {"max_ns", of.max_ns}};
  };
  const GpuCallSummary& calls = summary.gpu_calls;
  return {{"devices", array(summary.gpu_work, device)},
          {"kernels", array(summary.gpu_kernels, kernel)},
          {"marks", array(summary.gpu_marks, gpu_mark_json)},
          {"memory", array(summary.gpu_memory, gpu_memory_json)},
          {"stacks", array(summary.gpu_stacks, gpu_stack_json)},
          {"calls", calls.calls},
          {"call_errors", calls.errors},
          {"call_time_ns", calls.time_ns},
          {"syncs", calls.syncs},
          {"sync_time_ns", calls.sync_ns}};
}

}  // namespace mlrun::summary
