// SPDX-License-Identifier: Apache-2.0
#include "runner/util/id_list.h"

#include <algorithm>

#include <fmt/format.h>

#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::util {

Result<IdList> parse_id_list(std::string_view text) {
  const auto wrong = [&] {
    return fail(fmt::format("'{}' is no list of numbers below {}; write it like 0-3,8", text, kIdsMax));
  };
  if (has_empty_part(text)) return wrong();
  IdList ids;
  for (const std::string_view part : split(text, ",")) {
    const size_t dash = part.find('-');
    const auto first = whole_number<uint32_t>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number<uint32_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kIdsMax) return wrong();
    for (uint32_t id = *first; id <= *last; id++) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::string id_list_text(const IdList& ids) {
  std::string text;
  for (size_t i = 0; i < ids.size();) {
    size_t end = i + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) end++;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ids[i]);
    if (end - i > 1) text += fmt::format("-{}", ids[end - 1]);
    i = end;
  }
  return text;
}

IdList read_id_list(const std::string& path) { return parse_id_list(read_line(path)).value_or(IdList()); }

}  // namespace mlrun::util
