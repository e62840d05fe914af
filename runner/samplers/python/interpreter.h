// SPDX-License-Identifier: Apache-2.0
// CPython in another process: finds it, and reads the stacks of its threads while they run. Every pointer may be stale
// when it is followed: inconsistent stacks are discarded and counted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "runner/samplers/python/code_cache.h"
#include "runner/samplers/python/interpreter_file.h"
#include "runner/samplers/python/layout.h"
#include "runner/samplers/python/loop_reader.h"
#include "runner/samplers/python/remote_memory.h"
#include "runner/util/result.h"

namespace mlrun::python {

inline constexpr size_t kFramesMax = 128;  // frames kept of a stack: the innermost ones

inline constexpr const char* kRefused = "the kernel does not allow reading their memory";

struct Frame {
  std::shared_ptr<const Code> code;
  int32_t line = 0;  // 0: unknown
};

struct Stack {
  std::vector<Frame> frames;  // innermost first
  bool cut = false;           // there were more frames
  std::string loops;          // from LoopReader; empty: no loops, or they were not read
};

// Cache of examined files, by device, inode and modification time.
class InterpreterFiles {
 public:
  // `path`: the file's path in our mount namespace. Null: not found.
  std::shared_ptr<const InterpreterFile> find(const std::string& path, bool thorough);

 private:
  std::map<std::tuple<uint64_t, uint64_t, int64_t>, std::shared_ptr<const InterpreterFile>> files_;
};

class Interpreter {
 public:
  // Looks for CPython in a process. Null: the process has no CPython, or not yet. The error says why its stacks cannot be
  // read.
  static Result<std::unique_ptr<Interpreter>> find(uint32_t pid, InterpreterFiles& files);

  // Threads that CPython knows now, with or without frames: addresses of their thread states, and thread ids in the process's
  // own pid namespace. A thread in a subinterpreter has two entries.
  struct Thread {
    uint64_t state = 0;
    uint32_t tid = 0;
    auto operator<=>(const Thread&) const = default;
  };
  std::vector<Thread> threads();

  // Reads a thread's stack. False: the thread has no frames or has ended, or its frames changed during every attempt to read them
  // (`discarded`). `loops`: also reads the positions of its loops.
  bool read_stack(const Thread& thread, bool loops, Stack& stack, bool& discarded);

  // errno of the last failed read since threads() was called; 0: none.
  [[nodiscard]] int last_error() const { return memory_.last_error(); }

 private:
  struct RawFrame {
    uint64_t address = 0, code = 0, instruction = 0;
    uint8_t owner = 0;
  };
  // The fields of a thread state that identify the thread's innermost frame.
  struct Top {
    uint64_t c_frame = 0, frame = 0;
    uint64_t chunk = 0, native_id = 0;
    bool operator==(const Top&) const = default;
  };
  enum class Outcome { kRead, kEmpty, kChanged };

  Interpreter(uint32_t pid, uint64_t runtime, const Layout& layout, const Types& types, const LoopTypes& loop_types);
  bool read_top(uint64_t state, Top& top);
  Outcome try_stack(const Thread& thread, Stack& stack);
  bool load_window(uint64_t state, const Top& top, Top& after);
  const char* frame_at(uint64_t address);
  bool walk(uint64_t address);
  bool name(Stack& stack);
  void read_loops(Stack& stack);

  RemoteMemory memory_;
  uint64_t runtime_;
  Layout layout_;
  CodeCache codes_;
  std::vector<char> window_, single_;
  uint64_t window_address_ = 0;
  bool left_window_ = false;  // frames outside of the window were read
  bool cut_ = false;
  std::vector<RawFrame> raw_;
  std::vector<std::shared_ptr<const Code>> raw_codes_;  // code objects of raw_, in the same order
  std::unique_ptr<LoopReader> loops_;                   // null: not for this version, or a type was not found
};

}  // namespace mlrun::python
