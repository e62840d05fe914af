// SPDX-License-Identifier: Apache-2.0
// The source line of a Python instruction, from the location table of its code object (CPython 3.11 and later; see its
// Objects/locations.md):
//
//   entry   1 kkkk nnn   then bytes whose highest bit is 0, up to the next entry
//           kind k, for n + 1 code units of two bytes; the payload has the line's increment
#pragma once

#include <cstdint>
#include <span>

namespace mlrun::python {

// The line at `offset_bytes` from the code's first instruction. 0: the instruction has no line, or the table is invalid.
int32_t line_at(std::span<const uint8_t> table, int32_t first_line, uint64_t offset_bytes);

}  // namespace mlrun::python
