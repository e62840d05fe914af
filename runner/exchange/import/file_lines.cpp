// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/file_lines.h"

namespace mlrun::exchange {

Status for_each_line(const std::string& path, TraceMaker& to, const SeeLine& see) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  return for_each_line(**input, path, to, see);
}

Status for_each_line(Input& input, const std::string& path, TraceMaker& to, const SeeLine& see) {
  Lines lines(input, path);
  constexpr uint64_t kLinesPerStep = 1024;
  int64_t shown = -1;
  uint64_t count = 0;
  for (std::string_view line;;) {
    const auto more = lines.next(line);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    if (Status seen = see(line, lines.offset()); !seen) return seen;
    // The output of a program has no known size, so its lines are counted instead.
    if (input.file_size() == 0 && ++count % kLinesPerStep == 0) to.progress().advance(kLinesPerStep);
    if (input.file_at() == shown) continue;
    shown = input.file_at();
    to.progress().reached(static_cast<size_t>(shown), static_cast<size_t>(input.file_size()));
  }
  if (input.is_cut()) to.file().remarks[kCutRemark] = 1;
  return {};
}

}  // namespace mlrun::exchange
