// SPDX-License-Identifier: Apache-2.0
// Stacks of a trace and the frames they are made of, both numbered from 1. The same code called by the same way is one
// stack, in whatever process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mlrun::model {

// A file with code, as it was when it ran.
struct CodeFile {
  std::string path;      // "": not known
  std::string build_id;  // bytes; "": it has none
};

enum class FrameState : uint8_t {
  kNamed,      // its function is known
  kNoSymbol,   // the library does not tell
  kNoFile,     // the library is no longer there
  kChanged,    // another file is there now
  kNoLibrary,  // code made at run time
  kPython,     // of Python: function, source and line are what the interpreter said, and there is no more
};

struct FrameRow {
  uint32_t file = 0;         // index + 1 in StackTable::files; 0: in no library
  uint64_t offset = 0;       // where it goes on in the file's own numbering of addresses; file 0: address in memory
  bool interrupted = false;  // by a signal; else it is where a call returns to
  FrameState state = FrameState::kNoLibrary;
  std::string function, source;  // "": not known
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
  std::vector<int32_t> frame_ids;  // innermost first, one stack behind the other

  // Requires: the stack_id is one.
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

// Of a frame of Python what a person reads: "train.py:12 Loader.fetch".
inline std::string python_line(const FrameRow& frame) {
  std::string text = frame.source.substr(frame.source.rfind('/') + 1);
  if (frame.line > 0) text += ":" + std::to_string(frame.line);
  return frame.function.empty() ? text : text + " " + frame.function;
}

}  // namespace mlrun::model
