// SPDX-License-Identifier: Apache-2.0
// What the programs tell, by signal: a person asks for waits, not for sched_switch.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kprobes/attach/file_functions.h"
#include "kprobes/attach/probes.h"

namespace mlrun::probes {

struct Signal {
  std::string name;
  std::string way;        // tracepoint, fentry, kprobe; empty: it is not recorded
  std::string missing;    // what of it, and why; empty: nothing
  std::string note = {};  // what is to be known of what is there; empty: nothing
};

// `served`: types of file systems that are mounted from a device or a server.
std::vector<Signal> signals_of(const Probes& probes, const FileSystemTypes& served);

// Objects with `signal`, `way` (null: not recorded), where something is missing `missing`, and where there is one `note`.
nlohmann::json signals_json(const Probes& probes, const FileSystemTypes& served);

}  // namespace mlrun::probes
