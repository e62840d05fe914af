// SPDX-License-Identifier: Apache-2.0
#include "runner/util/lexical_path.h"

namespace mlrun::util {

namespace {

// Appends the parts of `path` to `result`, which is "" (for the root) or begins with a slash.
void append_parts(std::string& result, std::string_view path) {
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      result.resize(result.empty() ? 0 : result.rfind('/'));
      continue;
    }
    result += '/';
    result += part;
  }
}

bool is_absolute(std::string_view path) { return path.starts_with('/'); }

}  // namespace

std::string absolute_path(std::string_view base, std::string_view path) {
  if (!is_absolute(path) && !is_absolute(base)) return std::string(path);
  std::string result;
  if (!is_absolute(path)) append_parts(result, base);
  append_parts(result, path);
  return result.empty() ? "/" : result;
}

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return path.substr(0, slash == 0 ? 1 : slash);
}

size_t parent_step(std::string_view path) {
  for (size_t at = path.find(".."); at != std::string_view::npos; at = path.find("..", at + 1)) {
    const bool begins = at == 0 || path[at - 1] == '/', ends = at + 2 == path.size() || path[at + 2] == '/';
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

std::string_view without_deleted(std::string_view link_text) {
  constexpr std::string_view kMark = " (deleted)";
  if (link_text.starts_with('/') && link_text.ends_with(kMark)) link_text.remove_suffix(kMark.size());
  return link_text;
}

bool names_descriptor(std::string_view path) {
  if (path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr") return true;
  if (path.starts_with("/dev/fd/")) return true;
  return path.starts_with("/proc/") && path.find("/fd/") != std::string_view::npos;
}

bool is_nameless(std::string_view link_text) {
  if (link_text.starts_with("/memfd:")) return true;
  if (link_text.starts_with('/')) return false;
  const size_t colon = link_text.find(":[");
  return colon != std::string_view::npos && colon != 0 && link_text.ends_with(']') &&
         link_text.find('/') == std::string_view::npos;
}

}  // namespace mlrun::util
