// SPDX-License-Identifier: Apache-2.0
// What the monitor itself uses, as the metrics that Prometheus' own libraries tell of every exporter.
#pragma once

namespace mlrun::monitor {

struct SelfUse {
  double cpu_s = 0;  // of all threads
  double resident_bytes = 0;
  double open_fds = 0;
  double start_s = 0;  // since 1970
};

// `start_s` is the caller's to know.
SelfUse read_self_use(double start_s);

}  // namespace mlrun::monitor
