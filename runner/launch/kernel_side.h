// SPDX-License-Identifier: Apache-2.0
// Controls mlrun-probes: starts it before the command, sends it the processes to observe, gets its report at the end
// (runner/events/probe_protocol.h). The program exits within milliseconds of this object's destruction.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/events/probe_protocol.h"
#include "runner/util/probe_messages.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::launch {

class KernelSide {
 public:
  // Starts it and waits until its BPF programs are attached. `streams`: comma-separated. `required`: signals
  // (kprobes/signals.h) that must work. Fails with one line that says why the kernel side cannot be recorded, and
  // leaves nothing behind.
  static Result<std::unique_ptr<KernelSide>> start(const std::string& program, const std::string& trace_folder,
                                                   const std::string& streams,
                                                   const std::vector<std::string_view>& required);
  ~KernelSide();
  KernelSide(const KernelSide&) = delete;
  KernelSide& operator=(const KernelSide&) = delete;

  // Observes this process and its future descendants.
  Status observe(pid_t pid);
  Status observe_process(int pidfd);
  // Observes all tasks in this cgroup's folder and below. Requires: started with that stream; the same for
  // observe_system().
  Status observe_cgroup(int folder);
  Status observe_system();

  // All observed processes have ended, or mlrun-probes has. Does not wait.
  bool has_ended();

  // The session's entry until the end, and permanently if mlrun is killed: `programs` and `signals` as of the start,
  // `state` "unfinished" and the `reason`.
  [[nodiscard]] const nlohmann::json& begun() const { return begun_; }

  // Tells it to end without waiting, as the kernel takes seconds to remove function probes. Returns its report with
  // `state` "recorded"; or begun() with `state` "broken" and the `reason`.
  nlohmann::json finish();

 private:
  KernelSide(util::UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}
  // The next message of mlrun-probes. Skips ENDED: it is about the processes of an earlier FOLLOW.
  Result<util::ProbeMessage> receive();
  Status ask(mlrun_probe_message_type type, int passed_fd, const char* what);
  // begun() with `state` "broken".
  nlohmann::json broken(const std::string& reason) const;
  void reap();
  // Waits for its first message. False: mlrun was stopped meanwhile, and mlrun-probes is ended.
  [[nodiscard]] bool wait_for_start();

  util::UniqueFd socket_;
  pid_t pid_;
  nlohmann::json begun_;
  bool ended_ = false;
};

}  // namespace mlrun::launch
