// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/stack_tables.h"

#include <array>

#include <fmt/format.h>

#include "runner/events/record.h"
#include "runner/parquet/row_columns.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using model::FrameRow;
using model::StackTable;
using tables::kDelta;

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

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// Text of a stack frame for the column `label`: function, library and source line, as far as known.
std::string label(const StackTable& stacks, const FrameRow& frame) {
  const std::string& library = stacks.library(frame);
  if (frame.state == model::FrameState::kPython) return model::python_line(frame);
  if (frame.file == 0 && frame.function.empty()) return fmt::format("0x{:x} in no library", frame.offset);
  std::string text = frame.function.empty() ? fmt::format("+0x{:x}", frame.offset) : frame.function;
  if (frame.file != 0) text += fmt::format(" ({})", util::base_name(library));
  if (!frame.source.empty()) text += fmt::format(" {}:{}", util::base_name(frame.source), frame.line);
  return text;
}

// One row of the table `stack`: a stack frame at its depth.
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

struct StackColumns {
  static constexpr const char* kTable = "stack";
  static void visit(auto& visitor, const Step& row) {
    visitor("stack_id", row.stack_id, kDelta);
    visitor("depth", row.depth);
    visitor("frame_id", row.frame_id);
    visitor.optional("ending", row.ending);
  }
};

struct FrameColumns {
  static constexpr const char* kTable = "frame";
  static void visit(auto& visitor, const FrameRow& row, int32_t frame_id, const StackTable& stacks) {
    visitor("frame_id", frame_id, kDelta);
    visitor.optional("function", row.function);
    visitor.optional("library", stacks.library(row));
    visitor.optional("source", row.source);
    visitor.optional("line", row.line, 0);
    visitor("offset", row.offset);
    visitor.optional("build_id", row.file == 0 ? std::string() : hex(stacks.files[row.file - 1].build_id));
    visitor("interrupted", row.interrupted);
    visitor("state", name_of(row.state));
    visitor("label", label(stacks, row));
  }
};

}  // namespace

Status write_stacks(const StackTable& stacks, const std::string& trace_folder) {
  return tables::write_rows<StackColumns>(steps(stacks), trace_folder);
}

Status write_frames(const StackTable& stacks, const std::string& trace_folder) {
  int32_t frame_id = 0;
  tables::RowTable<FrameColumns, FrameRow, int32_t, StackTable> table;
  if (Status opened = table.open_in(trace_folder + "/tables"); !opened) return opened;
  for (const FrameRow& row : stacks.frames) {
    table.add(row, ++frame_id, stacks);
    if (Status ended = table.end_full_group(); !ended) return ended;
  }
  return table.close();
}

}  // namespace mlrun::trace
