// SPDX-License-Identifier: Apache-2.0
// Reports what the BPF programs record as signals with names for users: "waits", not "sched_switch".
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kprobes/attach/file_functions.h"
#include "kprobes/attach/probes.h"

namespace mlrun::probes {

struct Signal {
  std::string name;
  std::string mechanism;  // tracepoint, fentry, kprobe; empty: not recorded
  std::string missing;    // which part is missing, and why; empty: no part
  std::string note = {};  // a remark on what is recorded; empty: none
};

// `served`: types of file systems that are mounted from a device or a server.
std::vector<Signal> signals_of(const Probes& probes, const FileSystemTypes& served);

// Objects with `signal`, `mechanism` (null: not recorded) and, if there is one, `missing` and `note`.
nlohmann::json signals_json(const Probes& probes, const FileSystemTypes& served);

}  // namespace mlrun::probes
