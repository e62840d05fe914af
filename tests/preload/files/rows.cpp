// SPDX-License-Identifier: Apache-2.0
#include "tests/preload/files/rows.h"

namespace mlrun::preload_test {

namespace {

// A buffer's address differs between runs; its offset in the page does not.
bool has_buffer(const RecordedCall& call) {
  return call.func == "read" || call.func == "write" || call.func == "pread" || call.func == "pwrite";
}

}  // namespace

std::string data_row(const RecordedCall& call) {
  const auto& event = call.event;
  std::string row = call.func + " " + std::to_string(event.arg) + ": " + std::to_string(static_cast<int64_t>(event.w3));
  if (event.offset != MLRUN_NO_OFFSET) row += " at " + std::to_string(event.offset);
  if (has_buffer(call)) {
    row += " by page + " + std::to_string(event.arg2 % 4096);
  } else if (event.arg2 != 0) {
    row += " with " + std::to_string(event.arg2);
  }
  row += " = " + std::to_string(event.result);
  return event.flags == 0 ? row : row + " flags " + std::to_string(event.flags);
}

std::string path_row(const RecordedCall& call, const std::string& hidden) {
  const auto shown = [&](const std::string& path) {
    return path.rfind(hidden, 0) == 0 ? "~" + path.substr(hidden.size()) : path;
  };
  std::string row = call.func + " " + shown(call.path);
  if (call.event.second_path != 0) row += " -> " + shown(call.second_path);
  if (call.event.cwd != 0) row += " (in " + shown(call.cwd) + ")";
  if (call.event.dirfd_file != 0) row += " (by " + std::to_string(call.event.dirfd_file) + ")";
  if (call.event.second_dirfd_file != 0) row += " (second by " + std::to_string(call.event.second_dirfd_file) + ")";
  return row + " = " + std::to_string(call.event.result);
}

}  // namespace mlrun::preload_test
