// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/environment.h"

#include <algorithm>
#include <utility>

#include "runner/events/session.h"
#include "runner/util/secrets.h"
#include "runner/util/text.h"

namespace mlrun::launch {

namespace {

constexpr std::string_view kPreload = "LD_PRELOAD";
constexpr std::string_view kNvtxHandler = "NVTX_INJECTION64_PATH";
constexpr std::string_view kCudaInjection = MLRUN_CUDA_INJECTION;

bool is_ours(std::string_view path) {
  return util::base_name(path) == MLRUN_PRELOAD_LIBRARY || util::base_name(path) == MLRUN_CUPTI_LIBRARY ||
         util::base_name(path) == MLRUN_PLACEMENT_LIBRARY;
}

// A sanitizer runtime that an outer mlrun added for us, not for our children: right before the outer mlrun's library,
// with an empty entry between. `entry` points into `list`.
bool is_lent(std::string_view entry, std::string_view list) {
  const std::string_view behind = list.substr(static_cast<size_t>(entry.data() - list.data()) + entry.size());
  if (!behind.starts_with("::")) return false;
  const std::string_view next = behind.substr(2);
  return is_ours(next.substr(0, next.find_first_of(" :")));
}

// Appends to a colon-separated list.
void append(std::string& list, std::string_view entry) {
  if (!list.empty()) list += ':';
  list += entry;
}

// The environment, with our variables separated.
struct Split {
  std::string_view preload;         // value of LD_PRELOAD
  bool has_nvtx_handler = false;    // another tool's, kept in `others`
  bool has_cuda_injection = false;  // another tool's, kept in `others`
  std::vector<std::string> others;  // the other variables, NAME=value
};

Split split_environment(char** environment) {
  Split result;
  for (char** entry = environment; *entry != nullptr; entry++) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name == kPreload) {
      result.preload = text.substr(std::min(name.size() + 1, text.size()));
    } else if ((name == kNvtxHandler || name == kCudaInjection) && is_ours(text)) {
      continue;  // set by an outer mlrun
    } else if (name != MLRUN_SESSION_VARIABLE) {
      result.has_nvtx_handler = result.has_nvtx_handler || name == kNvtxHandler;
      result.has_cuda_injection = result.has_cuda_injection || name == kCudaInjection;
      result.others.emplace_back(text);
    }
  }
  return result;
}

}  // namespace

std::string preload_value(std::string_view existing, const std::string& library, const std::string& runtime) {
  std::string first, rest;
  for (const std::string_view entry : util::split(existing, " :\t\n")) {
    if (is_ours(entry) || is_lent(entry, existing)) continue;
    append(is_sanitizer_runtime(util::base_name(entry)) ? first : rest, entry);
  }
  if (first.empty() && !runtime.empty()) first = runtime + ':';
  std::string value = first.empty() ? library : first + ':' + library;
  if (!rest.empty()) value += ':' + rest;
  return value;
}

std::vector<std::string> traced_environment(char** environment, const std::string& library, const std::string& session,
                                            const ProgramFile& program, const std::string& gpu_library,
                                            const std::string& placement_library) {
  Split split = split_environment(environment);
  std::vector<std::string> result = std::move(split.others);
  std::string libraries;
  for (const std::string& one : {library, gpu_library, placement_library}) {
    if (!one.empty() && (!library.empty() || one == placement_library)) append(libraries, one);
  }
  if (!program.can_be_preloaded || libraries.empty()) {
    if (!split.preload.empty()) result.push_back(std::string(kPreload) + '=' + std::string(split.preload));
    if (program.can_be_preloaded) result.push_back(std::string(MLRUN_SESSION_VARIABLE) + '=' + session);
    return result;
  }
  result.push_back(std::string(kPreload) + '=' + preload_value(split.preload, libraries, program.sanitizer_runtime));
  if (!split.has_nvtx_handler && !library.empty()) result.push_back(std::string(kNvtxHandler) + '=' + library);
  if (!split.has_cuda_injection && !gpu_library.empty() && !library.empty()) {
    result.push_back(std::string(kCudaInjection) + '=' + gpu_library);
  }
  result.push_back(std::string(MLRUN_SESSION_VARIABLE) + '=' + session);
  return result;
}

std::string other_cuda_injection(char** environment) {
  for (char** entry = environment; *entry != nullptr; entry++) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (text.substr(0, equals) != kCudaInjection || is_ours(text)) continue;
    return std::string(text.substr(std::min(equals + 1, text.size())));
  }
  return {};
}

std::vector<std::string> untraced_environment(char** environment) {
  Split split = split_environment(environment);
  std::vector<std::string> result = std::move(split.others);
  std::string preload;
  for (const std::string_view entry : util::split(split.preload, " :\t\n")) {
    if (!is_ours(entry)) append(preload, entry);
  }
  if (!preload.empty()) result.push_back(std::string(kPreload) + '=' + preload);
  return result;
}

std::map<std::string, std::string> shown_environment(char** environment, const std::vector<std::string>& kept) {
  std::map<std::string, std::string> shown;
  for (char** entry = environment; *entry != nullptr; entry++) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(text.substr(0, equals)), value(text.substr(equals + 1));
    const bool is_kept = std::find(kept.begin(), kept.end(), name) != kept.end();
    shown[util::escaped_utf8(name)] = util::escaped_utf8(is_kept ? value : util::masked_value(name, value));
  }
  return shown;
}

}  // namespace mlrun::launch
