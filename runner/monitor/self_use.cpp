// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/self_use.h"

#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/time_units.h"

namespace mlrun::monitor {

SelfUse read_self_use(double start_s) {
  SelfUse use;
  use.start_s = start_s;
  use.cpu_s = util::in_seconds(util::clock_ns(CLOCK_PROCESS_CPUTIME_ID));
  std::istringstream pages(util::read_text("/proc/self/statm"));
  if (long size = 0, resident = 0; pages >> size >> resident) {
    use.resident_bytes = static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  }
  std::error_code error;
  for (std::filesystem::directory_iterator fd("/proc/self/fd", error), end; !error && fd != end; fd.increment(error)) {
    ++use.open_fds;
  }
  if (use.open_fds > 0) --use.open_fds;  // without the descriptor that reads this folder
  return use;
}

}  // namespace mlrun::monitor
