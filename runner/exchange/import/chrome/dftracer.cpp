// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/dftracer.h"

#include "runner/exchange/import/call_names.h"

namespace mlrun::exchange {

void Dftracer::learn(const ChromeEvent& event) {
  if (event.name != "FH") return;
  std::string hash, path;
  members_.visit_padded(event.args, [&](const JsonMember& member) {
    if (member.key == "value") hash = member.text;
    if (member.key == "name") path = member.text;
  });
  if (hash.empty() || path.empty()) return;
  const auto [found, is_new] = files_.try_emplace(hash);
  if (is_new) {
    found->second.file_id = to_.ids().file(path, model::FileKind::kUnknown);
  } else if (!found->second.has_path) {
    to_.ids().name_file(found->second.file_id, path);
  }
  found->second.has_path = true;
}

Status Dftracer::add(const ChromeEvent& event, const model::Origin& origin, int64_t dur_ns, bool& taken) {
  taken = false;
  if (event.category != "POSIX" && event.category != "STDIO") return {};
  const auto func = func_number(event.name);
  if (!func) return {};
  model::CallRow row;
  row.origin = origin;
  row.dur_ns = dur_ns;
  row.func = *func;
  std::string hash, path, rest;
  int64_t size = -1, count = -1;
  const bool is_sound = members_.visit_padded(event.args, [&](const JsonMember& member) {
    const std::string_view key = member.key;
    if (key == "fname" && member.text.find('/') != std::string_view::npos) {
      path = member.text;  // as older versions write it
    } else if (key == "fhash" || key == "fname") {
      hash = member.text;
    } else if (key == "ret") {
      row.ret = json_integer(member.text);
    } else if (key == "count" || key == "nmemb") {
      count = json_integer(member.text, -1);
    } else if (key == "size") {
      size = json_integer(member.text, -1);
    } else if (key == "offset") {
      row.offset = json_integer(member.text, -1);
      row.offset_source = model::OffsetSource::kArgument;
    } else if (key == "fd") {
      row.fd = static_cast<int32_t>(json_integer(member.text, -1));
    } else if (key == "errno") {
      row.err = static_cast<int32_t>(json_integer(member.text));
    } else {
      add_json_member(rest, key, member.raw);
    }
  });
  if (!is_sound && !event.args.empty()) return {};
  if (!event.other.empty()) rest += (rest.empty() ? "" : ",") + event.other;
  row.requested = count >= 0 ? count : size;
  if (size >= 0 && count >= 0 && __builtin_mul_overflow(size, count, &row.requested)) row.requested = -1;
  if (!path.empty()) {
    row.file_id = to_.ids().file(path, model::FileKind::kUnknown);
  } else if (!hash.empty()) {
    const auto [found, is_new] = files_.try_emplace(hash);
    if (is_new) found->second.file_id = to_.ids().file("[file " + hash + "]", model::FileKind::kUnknown);
    row.file_id = found->second.file_id;
  }
  if (row.file_id != 0) row.file_kind = model::FileKind::kRegular;
  taken = true;
  if (Status added = to_.add(row); !added || rest.empty()) return added;
  const std::string args = "{" + rest + "}", id(event.id);
  model::OtherEventRow other;
  other.origin = origin;
  other.kind = "call";
  other.category = event.category;
  other.id = id;
  other.args = args;
  return to_.add(other, 0);
}

}  // namespace mlrun::exchange
