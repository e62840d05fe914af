// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <span>

#include <fmt/format.h>

namespace mlrun::python {

namespace {

constexpr uint32_t kKnown = 0x030b, kFirstPublished = 0x030d, kLastKnown = 0x030f;  // 3.11, 3.13, 3.15
constexpr uint32_t kCandidate = 0xc;  // release level "candidate", from which on layouts do not change

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

// Positions in _Py_DebugOffsets, in words of eight bytes from its cookie. They differ by version. Each is the first word
// of a group whose order is the same in all versions; comments give the further words.
struct PublishedWords {
  uint32_t version_line = 0;                     // 0x030d: 3.13
  size_t thread_next = 0, thread_native_id = 0;  // frame at +2, chunk at +1
  size_t frame_previous = 0;                     // code, instruction, end of the fixed part, owner
  size_t code_file = 0;                          // function +2, lines +3, first line +4, instructions +8
  size_t bytes_size = 0;                         // data
  size_t text_state = 0;                         // length, head of an ASCII text
  uint64_t code_instructions = 0,
           code_traceable = 0;  // traceable is not published; it depends on the size of the code object's head
  uint64_t code_tags = 0;
};
constexpr std::array kPublished = {PublishedWords{.version_line = 0x030d,
                                                  .thread_next = 21,
                                                  .thread_native_id = 25,
                                                  .frame_previous = 29,
                                                  .code_file = 35,
                                                  .bytes_size = 65,
                                                  .text_state = 68,
                                                  .code_instructions = 200,
                                                  .code_traceable = 184,
                                                  .code_tags = 0},
                                   PublishedWords{.version_line = 0x030e,
                                                  .thread_next = 24,
                                                  .thread_native_id = 28,
                                                  .frame_previous = 32,
                                                  .code_file = 40,
                                                  .bytes_size = 75,
                                                  .text_state = 78,
                                                  .code_instructions = 208,
                                                  .code_traceable = 192,
                                                  .code_tags = 1},
                                   PublishedWords{.version_line = 0x030f,
                                                  .thread_next = 24,
                                                  .thread_native_id = 31,
                                                  .frame_previous = 40,
                                                  .code_file = 48,
                                                  .bytes_size = 87,
                                                  .text_state = 90,
                                                  .code_instructions = 208,
                                                  .code_traceable = 192,
                                                  .code_tags = 1}};
static_assert(kPublished.front().version_line == kFirstPublished && kPublished.back().version_line == kLastKnown);

enum Word : size_t {  // positions that are the same in all versions that publish offsets
  kVersion = 1,
  kFreeThreaded = 2,
  kInterpretersHead = 5,
  kInterpreterNext = 8,
  kThreadsHead = 9,
  kWordsMax = 93
};

// Checks that all used fields lie within the bytes read of an object: the offsets come from the process and are
// untrusted.
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

Layout layout_of_words(const PublishedWords& at, std::span<const uint64_t> words) {
  constexpr uint64_t kUtf8 = 16;  // a non-ASCII text has pointer and length of its UTF-8 form before its data
  Layout layout = layout_3_12();
  layout.interpreters_head = words[kInterpretersHead];
  layout.interpreter_next = words[kInterpreterNext];
  layout.threads_head = words[kThreadsHead];
  layout.thread_next = words[at.thread_next];
  layout.thread_native_id = words[at.thread_native_id];
  layout.thread_frame = words[at.thread_next + 2];
  layout.thread_chunk = words[at.thread_native_id + 1];
  layout.has_c_frame = false;
  layout.frame_previous = words[at.frame_previous];
  layout.frame_code = words[at.frame_previous + 1];
  layout.frame_instruction = words[at.frame_previous + 2];
  layout.frame_bytes = words[at.frame_previous + 3];
  layout.frame_owner = words[at.frame_previous + 4];
  layout.frame_code_tags = at.code_tags;
  layout.code_file = words[at.code_file];
  layout.code_function = words[at.code_file + 2];
  layout.code_lines = words[at.code_file + 3];
  layout.code_first_line = words[at.code_file + 4];
  layout.code_instructions = words[at.code_file + 8];
  layout.code_first_traceable = layout.code_instructions == at.code_instructions ? at.code_traceable : 0;
  layout.size = words[at.bytes_size];
  layout.bytes_data = words[at.bytes_size + 1];
  layout.text_state = words[at.text_state];
  layout.text_length = words[at.text_state + 1];
  layout.text_ascii = words[at.text_state + 2];
  layout.text_other = layout.text_ascii + kUtf8;
  return layout;
}

Result<Layout> published_layout(const PublishedWords& at, uint32_t version, uint64_t runtime, RemoteMemory& memory) {
  constexpr uint64_t kFarthest = 1 << 20;  // largest plausible offset: in the interpreter state
  std::array<uint64_t, kWordsMax> all;
  const std::span<uint64_t> words(all.data(), at.text_state + 3);
  if (!memory.read(runtime, words.data(), words.size_bytes())) return fail("the memory of the process cannot be read");
  const std::string name = "Python " + version_text(version);
  if (std::memcmp(words.data(), "xdebugpy", sizeof(uint64_t)) != 0 || words[kVersion] != version) {
    return fail(name + " does not publish the offsets of its frames");
  }
  if (words[kFreeThreaded] != 0) return fail(name + " is a build without the global lock");
  if (std::any_of(words.begin() + kInterpretersHead, words.end(), [](uint64_t word) { return word > kFarthest; })) {
    return fail(name + " does not publish the offsets of its frames");
  }
  const Layout layout = layout_of_words(at, words);
  if (!fits(layout)) return fail(name + " does not publish the offsets of its frames");
  return layout;
}

}  // namespace

std::string version_text(uint32_t version) {
  return fmt::format("{}.{}.{}", version >> 24, version >> 16 & 0xff, version >> 8 & 0xff);
}

Result<Layout> layout_of(uint32_t version, uint64_t runtime, RemoteMemory& memory) {
  const uint32_t line = version >> 16;
  if (line < kKnown || line > kLastKnown || (version >> 4 & 0xf) < kCandidate) {
    return fail(fmt::format("Python {}{} is not supported, only {}", version_text(version),
                            (version >> 4 & 0xf) < kCandidate ? " (alpha or beta)" : "", kKnownVersions));
  }
  for (const PublishedWords& words : kPublished) {
    if (line == words.version_line) return published_layout(words, version, runtime, memory);
  }
  if (line != kKnown) return layout_3_12();
  Layout layout = layout_3_11();
  layout.has_loops = true;
  return layout;
}

}  // namespace mlrun::python
