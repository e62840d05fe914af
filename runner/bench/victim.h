// SPDX-License-Identifier: Apache-2.0
// A running victim program (victim/main.c); its environment decides whether it is traced.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::bench {

struct VictimOptions {
  std::string program;
  std::string data;  // file for the file loops
  int cpu = 0;       // it is pinned to this one
  std::vector<std::string> environment;
};

class Victim {
 public:
  static Result<Victim> start(const VictimOptions& options);
  Victim(Victim&& other) noexcept;
  Victim& operator=(Victim&&) = delete;
  ~Victim();  // ends it and waits for it

  // CPU nanoseconds of `iterations` of the loop, after a warm-up. Fails when the victim does, or does not answer for
  // 20 s.
  Result<double> run(const std::string& loop, long iterations);

 private:
  Victim(pid_t pid, util::UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;  // 0: moved from
  util::UniqueFd socket_;
};

}  // namespace mlrun::bench
