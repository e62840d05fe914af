// SPDX-License-Identifier: Apache-2.0
#include "runner/python_stacks/layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>

#include <fmt/format.h>

namespace mlrun::python {

namespace {

constexpr uint32_t kKnown = 0x030b, kLastKnown = 0x030d;  // 3.11, 3.13
constexpr uint32_t kCandidate = 0xc;                      // release level: from then on nothing moves

Layout layout_3_11() {
  Layout layout;
  layout.interpreters_head = 40;
  layout.interpreter_next = 0;
  layout.threads_head = 16;
  layout.thread_next = 8;
  layout.thread_native_id = 160;
  layout.thread_frame = 56;
  layout.thread_chunk = 296;
  layout.has_c_frame = true;
  layout.c_frame_frame = 8;
  layout.frame_code = 32;
  layout.frame_previous = 48;
  layout.frame_instruction = 56;
  layout.frame_owner = 69;
  layout.frame_bytes = 72;
  layout.code_file = 112;
  layout.code_function = 128;
  layout.code_lines = 136;
  layout.code_first_line = 72;
  layout.code_instructions = 184;
  layout.code_first_traceable = 168;
  layout.size = 16;
  layout.bytes_data = 32;
  layout.text_length = 16;
  layout.text_state = 32;
  layout.text_ascii = 48;
  layout.text_other = 72;
  return layout;
}

Layout layout_3_12() {
  Layout layout = layout_3_11();
  layout.threads_head = 72;
  layout.thread_native_id = 144;
  layout.thread_chunk = 232;
  layout.c_frame_frame = 0;
  layout.frame_code = 0;
  layout.frame_previous = 8;
  layout.frame_owner = 70;
  layout.owner_c = 3;
  layout.code_first_line = 68;
  layout.code_instructions = 192;
  layout.code_first_traceable = 176;
  layout.code_version = 92;
  layout.text_ascii = 40;
  layout.text_other = 56;
  return layout;
}

// _Py_DebugOffsets of 3.13, by words of eight bytes from its beginning, the cookie, on.
enum Word : size_t {
  kVersion = 1,
  kFreeThreaded = 2,
  kInterpretersHead = 5,
  kInterpreterNext = 8,
  kThreadsHead = 9,
  kThreadNext = 21,
  kThreadFrame = 23,
  kThreadNativeId = 25,
  kThreadChunk = 26,
  kFramePrevious = 29,
  kFrameCode = 30,
  kFrameInstruction = 31,
  kFrameLocals = 32,
  kFrameOwner = 33,
  kCodeFile = 35,
  kCodeFunction = 37,
  kCodeLines = 38,
  kCodeFirstLine = 39,
  kCodeInstructions = 43,
  kBytesSize = 65,
  kBytesData = 66,
  kTextState = 68,
  kTextLength = 69,
  kTextAscii = 70,
  kWords = 71
};

// What is read of an object in one piece holds all that is looked at in it: a process can write what it likes there.
bool fits(const Layout& layout) {
  constexpr uint64_t kPointer = sizeof(uint64_t), kNumber = sizeof(uint32_t);
  const auto ends_by = [](uint64_t end, std::initializer_list<uint64_t> offsets, uint64_t bytes) {
    return std::all_of(offsets.begin(), offsets.end(), [&](uint64_t offset) { return offset + bytes <= end; });
  };
  return layout.frame_bytes <= kFrameBytesMax && layout.code_instructions <= kHeadBytesMax &&
         layout.text_ascii <= kHeadBytesMax && layout.bytes_data <= kHeadBytesMax &&
         ends_by(layout.frame_bytes, {layout.frame_code, layout.frame_previous, layout.frame_instruction}, kPointer) &&
         ends_by(layout.frame_bytes, {layout.frame_owner}, 1) &&
         ends_by(layout.code_instructions,
                 {kTypeAt, layout.size, layout.code_file, layout.code_function, layout.code_lines}, kPointer) &&
         ends_by(layout.code_instructions, {layout.code_first_line, layout.code_first_traceable, layout.code_version},
                 kNumber) &&
         ends_by(layout.text_ascii, {kTypeAt, layout.text_length}, kPointer) &&
         ends_by(layout.text_ascii, {layout.text_state}, kNumber) &&
         ends_by(layout.bytes_data, {kTypeAt, layout.size}, kPointer);
}

Result<Layout> layout_3_13(uint32_t version, uint64_t runtime, RemoteMemory& memory) {
  constexpr uint64_t kFarthest = 1 << 20;  // in the state of an interpreter
  constexpr uint64_t kUtf8 = 16;           // a text that is not ASCII has its UTF-8 form's place and length before it
  std::array<uint64_t, kWords> words;
  if (!memory.read(runtime, words.data(), sizeof words)) return fail("its memory cannot be read");
  const std::string name = "Python " + version_text(version);
  if (std::memcmp(words.data(), "xdebugpy", sizeof(uint64_t)) != 0 || words[kVersion] != version) {
    return fail(name + " does not tell where it keeps its frames");
  }
  if (words[kFreeThreaded] != 0) return fail(name + " is a build without the global lock");
  if (std::any_of(words.begin() + kInterpretersHead, words.end(), [](uint64_t word) { return word > kFarthest; })) {
    return fail(name + " does not tell where it keeps its frames");
  }
  Layout layout = layout_3_12();
  layout.interpreters_head = words[kInterpretersHead];
  layout.interpreter_next = words[kInterpreterNext];
  layout.threads_head = words[kThreadsHead];
  layout.thread_next = words[kThreadNext];
  layout.thread_native_id = words[kThreadNativeId];
  layout.thread_frame = words[kThreadFrame];
  layout.thread_chunk = words[kThreadChunk];
  layout.has_c_frame = false;
  layout.frame_code = words[kFrameCode];
  layout.frame_previous = words[kFramePrevious];
  layout.frame_instruction = words[kFrameInstruction];
  layout.frame_owner = words[kFrameOwner];
  layout.frame_bytes = words[kFrameLocals];
  layout.code_file = words[kCodeFile];
  layout.code_function = words[kCodeFunction];
  layout.code_lines = words[kCodeLines];
  layout.code_first_line = words[kCodeFirstLine];
  layout.code_first_traceable = words[kCodeInstructions] == 200 ? 184 : 0;  // not told
  layout.code_instructions = words[kCodeInstructions];
  layout.size = words[kBytesSize];
  layout.bytes_data = words[kBytesData];
  layout.text_length = words[kTextLength];
  layout.text_state = words[kTextState];
  layout.text_ascii = words[kTextAscii];
  layout.text_other = words[kTextAscii] + kUtf8;
  if (!fits(layout)) return fail(name + " does not tell where it keeps its frames");
  return layout;
}

}  // namespace

std::string version_text(uint32_t version) {
  return fmt::format("{}.{}.{}", version >> 24, version >> 16 & 0xff, version >> 8 & 0xff);
}

Result<Layout> layout_of(uint32_t version, uint64_t runtime, RemoteMemory& memory) {
  const uint32_t line = version >> 16;
  if (line < kKnown || line > kLastKnown || (version >> 4 & 0xf) < kCandidate) {
    return fail(fmt::format("Python {}{} is none of 3.11, 3.12 and 3.13", version_text(version),
                            (version >> 4 & 0xf) < kCandidate ? " before its release" : ""));
  }
  if (line == kLastKnown) return layout_3_13(version, runtime, memory);
  return line == kKnown ? layout_3_11() : layout_3_12();
}

}  // namespace mlrun::python
