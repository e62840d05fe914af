// SPDX-License-Identifier: Apache-2.0
// A running victim, the program that is measured (victim/main.c). Its environment decides whether it is traced.
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
  std::string data;  // path of the file for the file loops
  int cpu = 0;       // the CPU to which the victim is pinned
  std::vector<std::string> environment;
};

class Victim {
 public:
  static Result<Victim> start(const VictimOptions& options);
  Victim(Victim&& other) noexcept;
  Victim& operator=(Victim&&) = delete;
  ~Victim();  // ends the process and waits for it

  // CPU nanoseconds of `iterations` of the loop, after a warm-up. Fails if the victim ends, or does not answer within 20 s.
  Result<double> run(const std::string& loop, long iterations);

 private:
  Victim(pid_t pid, util::UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;  // 0: moved from
  util::UniqueFd socket_;
};

}  // namespace mlrun::bench
