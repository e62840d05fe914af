// SPDX-License-Identifier: Apache-2.0
// The values of session.json that the merger uses (runner/launch/README.md). Each key may be missing or of another
// type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/events/spool.h"
#include "runner/util/json_value.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// A file that was open when the run began, with its name from the kernel.
struct NamedInode {
  uint32_t device = 0;
  uint64_t inode = 0;
  std::string path;
};

struct SessionInfo {
  util::JsonValue all;
  mlrun_clock_kind clock_kind = MLRUN_CLOCK_TSC;
  std::vector<mlrun_frame_anchor> anchors;  // clock readings at start and end
  std::vector<std::string> mllog;           // paths, absolute
  std::vector<NamedInode> standard_files;   // of the command's first three descriptors
  int64_t alloc_min_bytes = 1024;
  int64_t alloc_sample_bytes = 0;
  bool summary_only = false;         // the trace has no event rows
  int64_t fold_ns = 0;               // calls shorter than this have no row; 0: all have one
  int64_t start_ns = 0, end_ns = 0;  // of the command; 0: unknown
  int64_t wait_status = -1;

  // The number at a JSON pointer; `otherwise` if there is none.
  [[nodiscard]] int64_t number(const char* pointer, int64_t otherwise) const;
  [[nodiscard]] std::string text(const char* pointer) const;
  [[nodiscard]] const nlohmann::json& list(const char* pointer) const;
  // Whether the stream was requested.
  [[nodiscard]] bool has_stream(std::string_view name) const;
  // Whether the stream was requested by name, not by default.
  [[nodiscard]] bool asked_for(std::string_view name) const;
  // Whether the kernel side recorded until the end.
  [[nodiscard]] bool has_kernel_side() const;
  // The mechanism by which the kernel side records a signal; empty: none works.
  [[nodiscard]] std::string attached_by(std::string_view signal) const;
  // Whether the kernel side attached a BPF program to the event.
  [[nodiscard]] bool has_program(std::string_view event) const;

  // Whether mlrun observes processes that it did not start (--pid, --cgroup, --system).
  [[nodiscard]] bool observes() const;

  // Fails if the folder has no session.json, or it is not a JSON object.
  static Result<SessionInfo> read(const std::string& trace_folder);
};

}  // namespace mlrun::trace
