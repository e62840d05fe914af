// SPDX-License-Identifier: Apache-2.0
// Calls as lines of text, so that a test can compare a whole sequence.
#pragma once

#include <string>
#include <vector>

#include "tests/preload/files/recorded_run.h"

namespace mlrun::preload_test {

// "pread 3: 11 at 90 = 11": function, arg, w3, offset if there is one, arg2 if not 0 or the buffer's place in its
// page, result or -errno, flags if any.
std::string data_row(const RecordedCall& call);

// "stat f (in /tmp/x) = 0", "renameat a -> b (by 7) = -2": path, second path, what they are relative to, result.
// `hidden` at the beginning of a path is left out.
std::string path_row(const RecordedCall& call, const std::string& hidden);

template <typename Row>
std::vector<std::string> rows(const std::vector<RecordedCall>& calls, Row row) {
  std::vector<std::string> lines;
  for (const RecordedCall& call : calls) lines.push_back(row(call));
  return lines;
}

}  // namespace mlrun::preload_test
