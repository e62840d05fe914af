// SPDX-License-Identifier: Apache-2.0
// Whom mlrun attaches to: looked up, allowed, and held on to, so that a process number that is used again or a cgroup that
// is made anew is not taken for it.
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
  util::UniqueFd cgroup;  // its folder
  std::string text;       // "process 12 (python)", for a terminal
  std::string name;       // for a folder: pid-12
  nlohmann::json facts;   // session.json, observed
};

// Each fails with one line for a person. A process of another user is root's alone to look at.
Result<Observed> find_processes(const std::vector<int>& pids);
// A path of a folder, or one below /sys/fs/cgroup.
Result<Observed> find_cgroup(const std::string& path);
Observed whole_system();

// Puts those that `pid` has started so far, with theirs, into the facts: nobody follows them, and coverage says so.
void note_children(Observed& observed, int pid);
bool has_ended(const ObservedProcess& process);

}  // namespace mlrun::launch
