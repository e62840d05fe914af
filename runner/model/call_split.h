// SPDX-License-Identifier: Apache-2.0
// How the time of a call divides. Each nanosecond is in exactly one of the parts up to wait_ns, so these add up to the duration.
#pragma once

#include <cstdint>

namespace mlrun::model {

struct CallSplit {
  int64_t own_ns = 0;     // on a processor, or in a sleep too short to be recorded
  int64_t runq_ns = 0;    // runnable, while another thread ran
  int64_t vfs_ns = 0;     // on a processor in the kernel's file operation
  int64_t queue_ns = 0;   // asleep; its I/O was in the block layer but not on a device
  int64_t device_ns = 0;  // asleep; its I/O was on a device
  int64_t remote_ns = 0;  // asleep while a server processed the request
  int64_t wait_ns = 0;    // asleep for another reason

  int64_t device_shared_ns = 0;  // part of device_ns that was only for I/O of others: other threads, earlier calls

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
