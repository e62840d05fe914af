// SPDX-License-Identifier: Apache-2.0
// Where the time of a call went: each of its nanoseconds is in one of these, so that they add up to its duration.
#pragma once

#include <cstdint>

namespace mlrun::model {

struct CallSplit {
  int64_t own_ns = 0;     // on a processor, or asleep so shortly that nobody recorded it
  int64_t runq_ns = 0;    // could run, and another one did
  int64_t vfs_ns = 0;     // on a processor in the kernel's file operation
  int64_t queue_ns = 0;   // asleep, and what it waited for was in the block layer but on no device
  int64_t device_ns = 0;  // asleep, and what it waited for was on a device
  int64_t remote_ns = 0;  // asleep, and a server had the request
  int64_t wait_ns = 0;    // asleep for anything else

  int64_t device_shared_ns = 0;  // of device_ns: all that it waited for was asked for by somebody else

  [[nodiscard]] int64_t sum() const { return own_ns + runq_ns + vfs_ns + queue_ns + device_ns + remote_ns + wait_ns; }
  [[nodiscard]] int64_t asleep_ns() const { return queue_ns + device_ns + remote_ns + wait_ns; }
  void add(const CallSplit& other) {
    own_ns += other.own_ns;
    runq_ns += other.runq_ns;
    vfs_ns += other.vfs_ns;
    queue_ns += other.queue_ns;
    device_ns += other.device_ns;
    remote_ns += other.remote_ns;
    wait_ns += other.wait_ns;
    device_shared_ns += other.device_shared_ns;
  }
};

}  // namespace mlrun::model
