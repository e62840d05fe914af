// SPDX-License-Identifier: Apache-2.0
// Reads the static probes (SDT, as of <sys/sdt.h>; USDT) of a library. Such a probe is a nop in the code and a note in
// the ELF file: name, address of the nop, locations of the arguments, and address of a counter in memory (semaphore).
// While the counter is 0 the program skips the probe. The kernel increments it in each probed process until the
// release.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kprobes/bpf/shared.h"
#include "runner/util/result.h"

namespace mlrun::probes {

struct StaticProbe {
  std::string name;
  uint64_t offset = 0;     // in the file
  uint64_t semaphore = 0;  // offset in the file; 0: it has none
  std::vector<mlrun_probe_argument> arguments;
};

struct StaticProbes {
  std::vector<StaticProbe> found;
  std::string refused;  // why the first unusable probe was refused; empty: all can be probed
};

// The probes of a provider. The file is not trusted: a breakpoint on anything but a nop would break the program. Fails
// if it is no library for this machine, or cannot be read.
Result<StaticProbes> static_probes(const std::string& path, std::string_view provider);

}  // namespace mlrun::probes
