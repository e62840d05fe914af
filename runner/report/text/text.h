// SPDX-License-Identifier: Apache-2.0
// The summary as a screenful of text. One function per block; a block without content is empty text. Each ends with a
// newline.
#pragma once

#include <string>

#include "runner/report/text/text_style.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// All blocks. `trace` is the folder as the user may write it; empty: left out.
[[nodiscard]] std::string text(const Summary& summary, const std::string& trace, const TextStyle& style);

[[nodiscard]] std::string head_text(const Summary& summary, const std::string& trace, const TextStyle& style);
[[nodiscard]] std::string completeness_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string remarks_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string rules_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string processes_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string files_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string calls_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string sites_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string access_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string timeline_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string waits_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string heap_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string phases_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string devices_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string syscalls_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string marks_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string collectives_text(const Summary& summary, const TextStyle& style);
// A device's name in all tables: its nvidia-smi index if the driver was queried; else its number in table gpu, with a
// mark. 0: "?".
[[nodiscard]] std::string gpu_number_text(const Summary& summary, int32_t gpu_id);
[[nodiscard]] std::string gpus_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string kernel_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string splits_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string gpu_work_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string gpu_files_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string gpu_memory_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string torch_memory_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string gpu_idle_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string python_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string cost_text(const Summary& summary, const TextStyle& style);
[[nodiscard]] std::string streams_text(const Summary& summary, const TextStyle& style);

}  // namespace mlrun::summary
