// SPDX-License-Identifier: Apache-2.0
// The summary as a screenful of text. One function per block; a block without content is empty text. Each ends with a
// newline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runner/report/text/text_style.h"
#include "runner/summary/summary.h"

namespace mlrun::report {

using summary::Summary;

// kShort: the result of the command and what the trace lacks. kAnswer: where the time went and what to change, in
// kLinesMost lines of 100 columns. kFull: every block.
enum class Extent : uint8_t { kShort, kAnswer, kFull };
inline constexpr size_t kLinesMost = 45, kRowsMost = 12;

// `trace`: the trace's folder as the user can write it; empty: not shown.
[[nodiscard]] std::string text(const Summary& summary, const std::string& trace, const TextStyle& style,
                               Extent extent = Extent::kAnswer);
// How much to print at the end of a run: little if the command failed at once, so that its own error message stays visible.
[[nodiscard]] Extent extent_at_end(const Summary& summary);

// Blocks of the answer. `rows`: most rows of a block.
[[nodiscard]] std::string where_time_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string findings_text(const Summary& summary, const TextStyle& style, size_t rows = kRowsMost);
[[nodiscard]] std::string waited_for_text(const Summary& summary, const TextStyle& style, size_t rows = kRowsMost);
[[nodiscard]] std::string steps_text(const Summary& summary, const TextStyle& style, size_t rows = kRowsMost);
[[nodiscard]] std::string python_text(const Summary& summary, const TextStyle& style, size_t rows = kRowsMost);
[[nodiscard]] std::string trees_text(const Summary& summary, const TextStyle& style, size_t rows = kRowsMost);
[[nodiscard]] std::string process_times_text(const Summary& summary, const TextStyle& style, size_t rows = kRowsMost);
[[nodiscard]] std::string phases_text(const Summary& summary, const TextStyle& style, size_t rows = kRowsMost);
[[nodiscard]] std::string driver_name(const Summary& summary);  // "main (1234)"

[[nodiscard]] std::string head_text(const Summary& summary, const std::string& trace, const TextStyle& style);
[[nodiscard]] std::string completeness_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string unseen_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string ended_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string remarks_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string placement_text(const Summary& summary, const TextStyle& style);
// "memory of node 1 first". Requires: the command had a policy.
[[nodiscard]] std::string policy_text(const model::Placement& placement);
// A text that names the limit, the first strict rule of --place that matched or the policy, if the kernel killed the command, or a process of
// it, for lack of memory; else empty.
[[nodiscard]] std::string killed_for_memory(const Summary& summary);
[[nodiscard]] std::string rules_text(const Summary& summary, const TextStyle& style);
// nullptr: the summary has no such process.
[[nodiscard]] const summary::ProcessSummary* find_process(const Summary& summary, int32_t proc_id);
// "rank 1234", without a role "process 1234"; "unknown" for nullptr.
[[nodiscard]] std::string process_text(const summary::ProcessSummary* process);
[[nodiscard]] std::string processes_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string files_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string calls_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string sites_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string memory_rungs_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string memory_sites_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string timeline_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string waits_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string heap_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string devices_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string syscalls_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string marks_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string collectives_text(const Summary& summary, const TextStyle& style);
// A device's number in all tables: its nvidia-smi index if the driver was queried and it is no MIG instance; else "#" and its number in table gpu;
// "?" for gpu_id 0.
[[nodiscard]] std::string gpu_number_text(const Summary& summary, int32_t gpu_id);
[[nodiscard]] std::string machine_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string access_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string gpus_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string kernel_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string splits_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string gpu_work_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string gpu_files_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string gpu_memory_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string torch_memory_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string gpu_idle_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string cost_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string streams_text(const Summary& summary, const TextStyle& style);

}  // namespace mlrun::report
