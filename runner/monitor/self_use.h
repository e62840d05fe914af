// SPDX-License-Identifier: Apache-2.0
// Resource use of the monitor itself, as the standard process metrics of Prometheus' client libraries.
#pragma once

namespace mlrun::monitor {

struct SelfUse {
  double cpu_s = 0;  // CPU time of all threads
  double resident_bytes = 0;
  double open_fds = 0;
  double start_s = 0;  // since 1970
};

// `start_s`: when the monitor started; copied into the result.
SelfUse read_self_use(double start_s);

}  // namespace mlrun::monitor
