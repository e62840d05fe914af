// SPDX-License-Identifier: Apache-2.0
// Stacks of a trace and their frames, both numbered from 1. Equal stacks of all processes are stored once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mlrun::model {

// A file with code, in the version that ran.
struct CodeFile {
  std::string path;      // "": unknown
  std::string build_id;  // bytes; "": none
};

enum class FrameState : uint8_t {
  kNamed,      // its function is known
  kNoSymbol,   // the library has no symbol for it
  kNoFile,     // the library no longer exists
  kChanged,    // the file has been replaced
  kNoLibrary,  // code generated at run time
  kPython,     // Python: function, source and line come from the interpreter
};

struct FrameRow {
  uint32_t file = 0;         // index + 1 in StackTable::files; 0: the code is in no file
  uint64_t offset = 0;       // return address in the file's own numbering; file 0: address in memory
  bool interrupted = false;  // a signal interrupted the frame: `offset` is that of the interrupted instruction
  FrameState state = FrameState::kNoLibrary;
  std::string function, source;  // "": unknown
  int32_t line = 0;
};

struct StackRow {
  uint32_t first = 0;  // in StackTable::frame_ids
  uint8_t frames = 0;
  uint8_t end = 0;  // enum mlrun_stack_end
};

struct StackTable {
  std::vector<CodeFile> files;
  std::vector<FrameRow> frames;    // index + 1: frame_id
  std::vector<StackRow> stacks;    // index + 1: stack_id
  std::vector<int32_t> frame_ids;  // innermost first, stacks concatenated

  // Requires: the stack_id is valid.
  [[nodiscard]] std::span<const int32_t> frames_of(int32_t stack_id) const {
    const StackRow& stack = stacks[static_cast<size_t>(stack_id) - 1];
    return {frame_ids.data() + stack.first, stack.frames};
  }
  [[nodiscard]] const FrameRow& frame(int32_t frame_id) const { return frames[static_cast<size_t>(frame_id) - 1]; }
  [[nodiscard]] const std::string& library(const FrameRow& frame) const {
    static const std::string kNone;
    return frame.file == 0 ? kNone : files[frame.file - 1].path;
  }
};

// A Python frame for display: "train.py:12 Loader.fetch".
inline std::string python_line(const FrameRow& frame) {
  std::string text = frame.source.substr(frame.source.rfind('/') + 1);
  if (frame.line > 0) text += ":" + std::to_string(frame.line);
  return frame.function.empty() ? text : text + " " + frame.function;
}

}  // namespace mlrun::model
