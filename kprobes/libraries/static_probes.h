// SPDX-License-Identifier: Apache-2.0
// Static probes (SDT, as of <sys/sdt.h>; USDT) of a library: a nop in its code, and a note in the file that tells of its
// name, its place, where its arguments are then, and of a counter in memory (semaphore), without which the program goes
// past it. The kernel adds one to the counter in each process that is probed, and takes it away again.
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
  uint64_t semaphore = 0;  // likewise; 0: it has none
  std::vector<mlrun_probe_argument> arguments;
};

struct StaticProbes {
  std::vector<StaticProbe> found;
  std::string refused;  // why the first of those that cannot be probed is none of them; empty: all can
};

// Those of a provider. The file is not trusted: a place that is none, or no nop, would break what runs there. Fails where
// it is no library for this machine, or cannot be read.
Result<StaticProbes> static_probes(const std::string& path, std::string_view provider);

}  // namespace mlrun::probes
