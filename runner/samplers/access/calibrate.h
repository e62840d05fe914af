// SPDX-License-Identifier: Apache-2.0
// What a rung costs the program on this machine, measured on memory of our own before the command starts.
#pragma once

#include <cstdint>

namespace mlrun::access {

// Picoseconds for each page of 4 KiB. 0: not measured.
struct PageCost {
  uint64_t clear_ps = 0;  // to clear the bits of a resident page
  uint64_t read_ps = 0;   // to read them
  uint64_t touch_ps = 0;  // the first access thereafter, beyond an ordinary one
  bool works = false;     // the bits showed what was touched
  int error = 0;          // errno of clearing
};

enum class PageBits : uint8_t { kCold, kClearRefs, kSoftDirty };

// In a child process, about 50 ms.
PageCost calibrate_pages(PageBits bits);

// Nanoseconds that a page fault takes longer with its sample; 0: the event cannot be opened.
uint64_t calibrate_fault_ns();

// What a window holds page faults back, of so many entries of page tables: one for each page of 4 KiB, and for each huge page.
inline uint64_t stall_ns(const PageCost& cost, uint64_t entries) { return cost.clear_ps * entries / 1000; }

}  // namespace mlrun::access
