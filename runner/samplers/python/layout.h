// SPDX-License-Identifier: Apache-2.0
// Where CPython keeps what a stack is made of, by version. From 3.13 on CPython tells it itself, at the
// beginning of _PyRuntime; of 3.11 and 3.12 it is known here, and no patch release of either has changed it.
//
//   _PyRuntime ─▶ interpreter ─▶ thread state ─▶ (C frame, up to 3.12) ─▶ frame ─▶ frame ─▶ ... ─▶ 0
//                     │next          │next                                  │code, instruction, owner
//                     ▼              ▼                                      ▼
#pragma once

#include <cstdint>

#include "runner/samplers/python/remote_memory.h"
#include "runner/util/result.h"

namespace mlrun::python {

inline constexpr uint64_t kTypeAt = 8;                                 // in every object
inline constexpr uint64_t kHeadBytesMax = 256, kFrameBytesMax = 4096;  // of what is read in one piece

// Offsets in bytes.
struct Layout {
  uint64_t interpreters_head = 0;  // in _PyRuntime
  uint64_t interpreter_next = 0, threads_head = 0;

  uint64_t thread_next = 0, thread_native_id = 0;
  uint64_t thread_frame = 0;  // pointer to the innermost frame, or to the C frame that has it
  uint64_t thread_chunk = 0;  // the piece of memory in which its newest frames lie one behind the other
  bool has_c_frame = false;
  uint64_t c_frame_frame = 0;

  uint64_t frame_code = 0, frame_previous = 0, frame_instruction = 0, frame_owner = 0;
  uint64_t frame_bytes = 0;  // of the fixed part
  uint8_t owner_generator = 1;
  uint8_t owner_c = 0xff;  // from it on: such a frame stands for C code, or for the interpreter itself
  // 3.14 marks references that are not counted, such as those to code that is never freed, in the lowest bit.
  uint64_t frame_code_tags = 0;

  uint64_t code_file = 0, code_function = 0, code_lines = 0, code_first_line = 0, code_instructions = 0;
  uint64_t code_first_traceable = 0;  // before it the function has not begun; 0: not known
  uint64_t code_version = 0;          // a number of its own; 0: it has none

  uint64_t size = 0;  // of objects whose length varies
  uint64_t bytes_data = 0;
  uint64_t text_length = 0, text_state = 0, text_ascii = 0, text_other = 0;
};

inline constexpr const char* kKnownVersions = "3.11, 3.12, 3.13, 3.14 and 3.15";

// `version`: Py_Version. The error tells why there are no stacks.
Result<Layout> layout_of(uint32_t version, uint64_t runtime, RemoteMemory& memory);

// "3.12.1"
std::string version_text(uint32_t version);

}  // namespace mlrun::python
