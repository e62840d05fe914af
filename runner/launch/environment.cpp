// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/environment.h"

#include <algorithm>
#include <array>

#include "runner/events/session.h"
#include "runner/util/text.h"

namespace mlrun::launch {

namespace {

constexpr std::string_view kPreload = "LD_PRELOAD";

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_sanitizer(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with("libasan") || name.starts_with("libclang_rt.asan");
}

bool looks_secret(std::string name) {
  static constexpr std::array<const char*, 6> kWords = {"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH"};
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* word) { return name.find(word) != std::string::npos; });
}

}  // namespace

std::string preload_value(std::string_view existing, const std::string& library) {
  std::string first, rest;
  for (const std::string_view entry : util::split(existing, " :\t\n")) {
    if (file_name(entry) == MLRUN_PRELOAD_LIBRARY) continue;
    std::string& part = is_sanitizer(entry) ? first : rest;
    if (!part.empty()) part += ':';
    part += entry;
  }
  std::string value = first.empty() ? library : first + ':' + library;
  if (!rest.empty()) value += ':' + rest;
  return value;
}

std::vector<std::string> traced_environment(char** environment, const std::string& library,
                                            const std::string& session) {
  std::vector<std::string> result;
  std::string_view preload;
  for (char** entry = environment; *entry != nullptr; entry++) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name == kPreload) {
      preload = text.substr(std::min(name.size() + 1, text.size()));
    } else if (name != MLRUN_SESSION_VARIABLE) {
      result.emplace_back(text);
    }
  }
  result.push_back(std::string(kPreload) + '=' + preload_value(preload, library));
  result.push_back(std::string(MLRUN_SESSION_VARIABLE) + '=' + session);
  return result;
}

std::map<std::string, std::string> shown_environment(char** environment) {
  std::map<std::string, std::string> shown;
  for (char** entry = environment; *entry != nullptr; entry++) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(text.substr(0, equals));
    shown[util::escaped_utf8(name)] = looks_secret(name) ? "(hidden)" : util::escaped_utf8(text.substr(equals + 1));
  }
  return shown;
}

}  // namespace mlrun::launch
