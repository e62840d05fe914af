// SPDX-License-Identifier: Apache-2.0
// Offsets of members in CPython's structures, by version. From 3.13 on CPython publishes them at the beginning of
// _PyRuntime. Those of 3.11 and 3.12 are hard-coded here; no patch release of these has changed them.
//
//   _PyRuntime ─▶ interpreter ─▶ thread state ─▶ (C frame, up to 3.12) ─▶ frame ─▶ frame ─▶ ... ─▶ 0
//                     │next          │next                                  │code, instruction, owner
//                     ▼              ▼                                      ▼
#pragma once

#include <cstdint>

#include "runner/samplers/python/remote_memory.h"
#include "runner/util/result.h"

namespace mlrun::python {

inline constexpr uint64_t kTypeAt = 8;                                 // offset of the type in every object
inline constexpr uint64_t kHeadBytesMax = 256, kFrameBytesMax = 4096;  // largest sizes to read

// Offsets in bytes.
struct Layout {
  uint64_t interpreters_head = 0;  // in _PyRuntime
  uint64_t interpreter_next = 0, threads_head = 0;

  uint64_t thread_next = 0, thread_native_id = 0;
  uint64_t thread_frame = 0;  // pointer to the innermost frame, or to the C frame that contains it
  uint64_t thread_chunk = 0;  // the memory chunk with its newest frames, adjacent to each other
  bool has_c_frame = false;
  uint64_t c_frame_frame = 0;

  uint64_t frame_code = 0, frame_previous = 0, frame_instruction = 0, frame_owner = 0;
  uint64_t frame_bytes = 0;  // size of the fixed part
  uint8_t owner_generator = 1;
  uint8_t owner_c = 0xff;  // values from this on mark frames of C code or of the interpreter itself
  // 3.14 sets the lowest bit of uncounted references, such as those to immortal code.
  uint64_t frame_code_tags = 0;

  uint64_t code_file = 0, code_function = 0, code_lines = 0, code_first_line = 0, code_instructions = 0;
  uint64_t code_first_traceable = 0;  // _co_firsttraceable; 0: unknown
  uint64_t code_version = 0;          // 0: code objects have no version field

  uint64_t size = 0;  // ob_size, of objects of variable length
  uint64_t bytes_data = 0;
  uint64_t text_length = 0, text_state = 0, text_ascii = 0, text_other = 0;

  bool has_loops = false;  // iterators are as LoopReader expects them
};

inline constexpr const char* kKnownVersions = "3.11, 3.12, 3.13, 3.14 and 3.15";

// `version`: Py_Version. The error says why stacks cannot be read.
Result<Layout> layout_of(uint32_t version, uint64_t runtime, RemoteMemory& memory);

// "3.12.1"
std::string version_text(uint32_t version);

}  // namespace mlrun::python
