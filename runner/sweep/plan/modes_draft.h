// SPDX-License-Identifier: Apache-2.0
// Configurations as a file of six columns: mode hms mem cpu dry freq.
#pragma once

#include <string>

#include "runner/sweep/plan/draft.h"

namespace mlrun::sweep {

// Environment variables of the script that `runs` replaces: they configure hms = 1 and freq > 0. Empty: not set.
struct ModesVariables {
  std::string pmem_folder, pmem_bytes;  // HEIMDALLR_PMEMDIR, HEIMDALLR_PMEMSIZE
  std::string read_event, write_event;  // HEIMDALLR_READEVENT, HEIMDALLR_WRITEEVENT: r and a raw number in hexadecimal

  static ModesVariables of_environment();
};

// One configuration a line; blank lines and comments (#) are left out. mem and cpu are NUMA nodes; - is any. hms = 1 puts blocks
// of 4 KiB and more into persistent memory, freq > 0 takes samples of memory accesses.
void read_modes(const std::string& text, const std::string& file, const ModesVariables& variables, Draft& draft);

}  // namespace mlrun::sweep
