// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/chrome_ranges.h"

#include <algorithm>

namespace mlrun::exchange {

namespace {

constexpr size_t kOpenMax = 500'000;  // of all threads
constexpr size_t kSearchMax = 1000;   // innermost open ranges of one key_of() that are searched for the name of an end

model::SliceKind kind_of(char phase) {
  switch (phase) {
    case 'B': return model::SliceKind::kThread;
    case 'N': return model::SliceKind::kObject;
    default: return model::SliceKind::kAsync;
  }
}

// A JSON object with the members of both objects.
std::string joined(std::string_view one, std::string_view other) {
  const auto is_empty = [](std::string_view text) {
    return text.find_first_not_of("{} \n\r\t") == std::string_view::npos;
  };
  if (is_empty(other) || !other.ends_with('}')) return std::string(one);
  if (is_empty(one) || !one.ends_with('}')) return std::string(other);
  std::string text(one.substr(0, one.size() - 1));
  return text.append(",").append(other.substr(1));
}

}  // namespace

Status ChromeRanges::add(const ChromeEvent& event, const model::Origin& origin, int32_t stack_id,
                         const std::string& rest) {
  std::string id;
  if (event.phase != 'B' && event.phase != 'E') {
    id = std::string(event.scope.empty() ? std::string_view() : event.scope) + (event.scope.empty() ? "" : ":") +
         std::string(event.id);
    if (event.id_is_local) id += "@" + std::to_string(origin.proc_id);
  }
  return ends_.add(origin.ts_ns, {origin, stack_id, event.phase}, {event.name, event.category, id, event.args, rest});
}

// The key by which an end finds its range: for B and E the thread, for N and D name and id, else category and id, for S and F also the name.
std::string ChromeRanges::key_of(const End& end, const SortedRows<End, 5>::Texts& texts) {
  const auto& [name, category, id, args, other] = texts;
  std::string key;
  switch (end.phase) {
    case 'B':
    case 'E': return "t" + std::to_string(end.origin.proc_id) + "/" + std::to_string(end.origin.thread_id);
    case 'b':
    case 'e': key = "a"; break;
    case 'N':
    case 'D': return key.append("o").append(name).append("/").append(id);
    default: key = "s"; break;
  }
  key.append(category).append("/").append(id);
  if (key.front() == 's') key.append("/").append(name);
  return key;
}

Status ChromeRanges::keep(const Open& open, int64_t end_ns, std::string_view more_args, std::string_view more_other) {
  const std::string args = joined(open.args, more_args);
  const std::string other = open.other.empty() || more_other.empty() ? open.other + std::string(more_other)
                                                                     : open.other + "," + std::string(more_other);
  const std::string braced = other.empty() ? std::string() : "{" + other + "}";
  model::SliceRow row;
  row.origin = open.end.origin;
  row.dur_ns = end_ns < 0 && end_ns == INT64_MIN ? -1 : end_ns - row.origin.ts_ns;
  row.kind = kind_of(open.end.phase);
  row.stack_id = open.end.stack_id;
  row.name = open.name;
  row.category = open.category;
  row.track = open.track;
  row.args = args;
  row.other = braced;
  return to_.add(row);
}

Status ChromeRanges::take(const End& end, const SortedRows<End, 5>::Texts& texts) {
  const std::string_view name = texts[0], category = texts[1], id = texts[2], args = texts[3], other = texts[4];
  const auto place = open_.try_emplace(key_of(end, texts)).first;
  Stack& stack = place->second;
  if (!is_end(end.phase)) {
    if (opened_ >= kOpenMax) {
      to_.file().leave_out("a range begun while 500,000 others were open");
      return {};
    }
    ++opened_;
    stack.push_back(
        {end, std::string(name), std::string(category), std::string(id), std::string(args), std::string(other)});
    return {};
  }
  if (stack.empty()) {
    if (end.phase != 'E') open_.erase(place);
    to_.file().leave_out("an end without a beginning");
    return {};
  }
  // An end belongs to the innermost range of its name; without a name, or if none has it, to the innermost range.
  const auto last = stack.rbegin() + static_cast<ptrdiff_t>(std::min(stack.size(), kSearchMax));
  auto found = std::find_if(stack.rbegin(), last, [&](const Open& open) { return name.empty() || open.name == name; });
  if (found == last) {
    found = stack.rbegin();
    ++to_.file().remarks["a range ended by an end with another name"];
  }
  if (found != stack.rbegin()) ++to_.file().remarks["a range ended before one that began later"];
  if (Status kept = keep(*found, end.origin.ts_ns, args, other); !kept) return kept;
  to_.file().keep("slice", 0);
  stack.erase(std::next(found).base());
  --opened_;
  // Asynchronous operations have many ids, so their empty stacks are freed; threads are few.
  if (stack.empty() && end.phase != 'E') open_.erase(place);
  return {};
}

Status ChromeRanges::finish() {
  const auto visit = [&](int64_t, const End& end, const SortedRows<End, 5>::Texts& texts) { return take(end, texts); };
  if (Status all = ends_.for_each(visit); !all) return all;
  for (const auto& [key, stack] : open_) {
    for (const Open& open : stack) {
      ++to_.file().remarks["a range begun and never ended, kept without a duration"];
      if (Status kept = keep(open, INT64_MIN, {}, {}); !kept) return kept;
    }
  }
  open_.clear();
  return {};
}

}  // namespace mlrun::exchange
