// SPDX-License-Identifier: Apache-2.0
// mlrun-probes as the launcher uses it: started before the command, told whom to follow, asked for its report at the
// end (runner/events/probe_protocol.h). When this object goes, so does the program, within milliseconds.
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
  // Starts it and waits until its programs are attached. `streams`: words with commas between. `required`: signals (kprobes/signals.h)
  // without which nothing is to be recorded. Fails with the one line that says why the kernel side cannot be recorded;
  // nothing is left behind then.
  static Result<std::unique_ptr<KernelSide>> start(const std::string& program, const std::string& trace_folder,
                                                   const std::string& streams,
                                                   const std::vector<std::string_view>& required);
  ~KernelSide();
  KernelSide(const KernelSide&) = delete;
  KernelSide& operator=(const KernelSide&) = delete;

  // From now on this process and all that it will start.
  Status follow(pid_t pid);
  Status follow_process(int pidfd);
  // All tasks of the cgroup whose folder this is, and below it. Requires: started with that stream; so does the next.
  Status follow_cgroup(int folder);
  Status follow_system();

  // All processes that were asked for have ended, or mlrun-probes has. Does not wait.
  bool has_ended();

  // What a session says of it until it has ended, and for good where mlrun is killed: `programs` and `signals` as they were
  // when it began, `state` "unfinished" and the `reason`.
  [[nodiscard]] const nlohmann::json& begun() const { return begun_; }

  // Has it end; nobody waits for that, as the kernel takes seconds to let probes of functions go. What it reports, with
  // `state` "recorded"; or what it had begun with, `state` "broken" and the `reason`.
  nlohmann::json finish();

 private:
  KernelSide(util::UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}
  // What it says next, but for ENDED: of those that were asked for before.
  Result<util::ProbeMessage> receive();
  Status ask(mlrun_probe_message_type type, int passed_fd, const char* what);
  // As it had begun.
  nlohmann::json broken(const std::string& reason) const;
  void reap();
  // Until it has said something. False: mlrun was stopped meanwhile, and it is ended.
  [[nodiscard]] bool wait_for_start();

  util::UniqueFd socket_;
  pid_t pid_;
  nlohmann::json begun_;
  bool ended_ = false;
};

}  // namespace mlrun::launch
