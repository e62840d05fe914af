// SPDX-License-Identifier: Apache-2.0
// Measures on memory of our own, before the command starts, what a rung will cost the program on this machine.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/samplers/access/perf_events.h"
#include "runner/util/result.h"

namespace mlrun::access {

// Cost in picoseconds for each page of 4 KiB. 0: not measured.
struct PageCost {
  uint64_t clear_ps = 0;  // to clear the bits of a resident page
  uint64_t read_ps = 0;   // to read the bits
  uint64_t touch_ps = 0;  // how much longer the first access after clearing takes than an ordinary access
  bool works = false;     // the bits showed which pages were touched
  int error = 0;          // errno of the call that clears; ENOMEM: no trial process; 0: none
};

enum class PageBits : uint8_t { kCold, kClearRefs, kSoftDirty };

// Measures in a child process; takes about 50 ms.
PageCost calibrate_pages(PageBits bits);

// How many nanoseconds longer a page fault takes when perf samples it, 1 at least. Fails where the events cannot be opened.
Result<uint64_t> calibrate_fault_ns();

// How many nanoseconds longer a thread takes to start and end where it inherits these events, one for each processor: 1 at least. 0: they cannot be
// opened, or there are no threads.
uint64_t calibrate_thread_ns(const std::vector<AccessEvent>& events);

// How long clearing `entries` page table entries delays page faults: one for each page of 4 KiB and one for each huge page.
inline uint64_t stall_ns(const PageCost& cost, uint64_t entries) { return cost.clear_ps * entries / 1000; }

}  // namespace mlrun::access
