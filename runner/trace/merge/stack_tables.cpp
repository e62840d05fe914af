// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/stack_tables.h"

#include <array>

#include <fmt/format.h>

#include "runner/events/record.h"
#include "runner/parquet/write_rows.h"

namespace mlrun::trace {

namespace {

using model::FrameRow;
using model::StackTable;

const char* name_of(model::FrameState state) {
  switch (state) {
    case model::FrameState::kNamed: return "named";
    case model::FrameState::kNoSymbol: return "no symbol";
    case model::FrameState::kNoFile: return "no file";
    case model::FrameState::kChanged: return "file changed";
    case model::FrameState::kNoLibrary: return "no library";
    case model::FrameState::kPython: return "python";
  }
  return "";
}

const char* name_of_end(uint8_t end) {
  static constexpr std::array<const char*, 6> kNames = {
      "root", "depth", "unknown code", "no unwind information", "off the stack", "loading"};
  return end < kNames.size() ? kNames[end] : "unknown";
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// For display: function, library and source line, as far as known.
std::string label(const StackTable& stacks, const FrameRow& frame) {
  const std::string& library = stacks.library(frame);
  if (frame.state == model::FrameState::kPython) return model::python_line(frame);
  if (frame.file == 0) return fmt::format("0x{:x} in no library", frame.offset);
  std::string text = frame.function.empty() ? fmt::format("+0x{:x}", frame.offset) : frame.function;
  text += fmt::format(" ({})", base_name(library));
  if (!frame.source.empty()) text += fmt::format(" {}:{}", base_name(frame.source), frame.line);
  return text;
}

// One frame of one stack.
struct Step {
  int32_t stack_id = 0, depth = 0, frame_id = 0;
  const char* ending = "";  // set in the outermost frame
};

std::vector<Step> steps(const StackTable& stacks) {
  std::vector<Step> rows;
  rows.reserve(stacks.frame_ids.size());
  for (size_t i = 0; i < stacks.stacks.size(); ++i) {
    const auto stack_id = static_cast<int32_t>(i + 1);
    int32_t depth = 0;
    for (const int32_t frame_id : stacks.frames_of(stack_id)) rows.push_back({stack_id, depth++, frame_id, ""});
    rows.back().ending = name_of_end(stacks.stacks[i].end);
  }
  return rows;
}

}  // namespace

Status write_stacks(const StackTable& stacks, const std::string& trace_folder) {
  ParquetTable table("stack");
  auto& stack_id = table.int32("stack_id", Encoding::kDelta);
  auto& depth = table.int32("depth");
  auto& frame_id = table.int32("frame_id");
  auto& ending = table.optional_text("ending");
  return write_rows(table, steps(stacks), trace_folder, [&](const Step& row) {
    stack_id.add(row.stack_id);
    depth.add(row.depth);
    frame_id.add(row.frame_id);
    ending.add_unless_empty(row.ending);
  });
}

Status write_frames(const StackTable& stacks, const std::string& trace_folder) {
  ParquetTable table("frame");
  auto& frame_id = table.int32("frame_id", Encoding::kDelta);
  auto& function = table.optional_text("function");
  auto& library = table.optional_text("library");
  auto& source = table.optional_text("source");
  auto& line = table.optional_int32("line");
  auto& offset = table.int64("offset");
  auto& build_id = table.optional_text("build_id");
  auto& interrupted = table.boolean("interrupted");
  auto& state = table.text("state");
  auto& text = table.text("label");
  int32_t next_id = 1;
  return write_rows(table, stacks.frames, trace_folder, [&](const FrameRow& row) {
    frame_id.add(next_id++);
    function.add_unless_empty(row.function);
    library.add_unless_empty(stacks.library(row));
    source.add_unless_empty(row.source);
    line.add_unless(0, row.line);
    offset.add(static_cast<int64_t>(row.offset));
    build_id.add_unless_empty(row.file == 0 ? std::string() : hex(stacks.files[row.file - 1].build_id));
    interrupted.add(row.interrupted);
    state.add(name_of(row.state));
    text.add(label(stacks, row));
  });
}

}  // namespace mlrun::trace
