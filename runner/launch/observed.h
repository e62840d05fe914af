// SPDX-License-Identifier: Apache-2.0
// The processes or cgroup that mlrun attaches to: looked up, permitted, and held by descriptor, so that a reused pid or
// a recreated cgroup is not mistaken for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::launch {

struct ObservedProcess {
  int pid;
  util::UniqueFd pidfd;
};

struct Observed {
  std::vector<ObservedProcess> processes;
  util::UniqueFd cgroup;  // descriptor of its folder
  std::string text;       // "process 12 (python)", for a terminal
  std::string name;       // for the trace folder: pid-12
  nlohmann::json facts;   // `observed` of session.json
};

// Each fails with one line. Only root may observe another user's process.
Result<Observed> find_processes(const std::vector<int>& pids);
// A path of a folder, or one below /sys/fs/cgroup.
Result<Observed> find_cgroup(const std::string& path);
Observed whole_system();

// Adds the current descendants of `pid` to the facts: they are not observed, which coverage reports.
void note_children(Observed& observed, int pid);
bool has_ended(const ObservedProcess& process);

}  // namespace mlrun::launch
