// SPDX-License-Identifier: Apache-2.0
// Times of this machine's processors, and how long threads waited for a processor, for memory and for I/O, from
// /proc/stat, /proc/pressure and our cgroup. Needs no rights. Values that the kernel does not report are MLRUN_NOT_KNOWN.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/events/host_sample.h"
#include "runner/samplers/proc/cgroup.h"
#include "runner/samplers/proc/proc_file.h"

namespace mlrun::proc {

// The folders that it reads; tests use others.
struct MachinePlaces {
  std::string proc = "/proc";
  Cgroup cgroup;
};

class Machine {
 public:
  // `command_cpus`: number of processors that the command may use; 0: the same as this process.
  explicit Machine(const MachinePlaces& places, size_t command_cpus = 0);
  // The folders for this process.
  static MachinePlaces places();

  // A sample of the time since the previous call; nullopt: this is the first call, or /proc/stat cannot be read.
  std::optional<mlrun_machine_sample> sample(uint64_t now_ns);

 private:
  using Values = std::array<int64_t, MLRUN_MACHINE_FIELDS>;
  bool read(Values& values);
  bool read_processors(Values& values);
  void read_pressure(const ProcFile& file, mlrun_machine_field some, mlrun_machine_field full, Values& values);
  void read_throttling(Values& values);

  ProcFile stat_, throttling_;
  std::array<ProcFile, 3> pressure_, cgroup_pressure_;  // cpu, io, memory
  bool is_version_1_;
  int64_t command_cpus_;
  Cgroup cgroup_;
  std::vector<char> room_;
  Values before_{};
  uint64_t before_ns_ = 0;  // time of the previous sample; 0: none
};

}  // namespace mlrun::proc
