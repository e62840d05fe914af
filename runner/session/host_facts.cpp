// SPDX-License-Identifier: Apache-2.0
#include "runner/session/host_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include <nlohmann/json.hpp>

#include "runner/util/file_io.h"
#include "runner/util/proc_files.h"
#include "runner/util/text.h"

namespace mlrun::session {

namespace {

std::string cpu_model() {
  const std::string text = util::read_text("/proc/cpuinfo", 16384);
  const size_t line = text.find("model name");
  const size_t colon = text.find(": ", line);
  if (line == std::string::npos || colon == std::string::npos) return {};
  return util::escaped_utf8(std::string_view(text).substr(colon + 2, text.find('\n', colon) - colon - 2));
}

// "time:[4026531834]"; empty: the kernel has no such namespaces.
std::string namespace_text(const char* name) {
  std::error_code ignored;
  return std::filesystem::read_symlink(std::string("/proc/self/ns/") + name, ignored).string();
}

}  // namespace

nlohmann::json host_facts() {
  utsname names{};
  ::uname(&names);
  const int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  return {{"name", util::escaped_utf8(names.nodename)},
          {"kernel", util::escaped_utf8(names.release)},
          {"cpu_model", cpu_model()},
          {"cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
          {"memory_bytes", ::sysconf(_SC_PHYS_PAGES) * page_bytes},
          {"page_bytes", page_bytes},
          {"ticks_per_second", ::sysconf(_SC_CLK_TCK)},
          {"boot_id", util::boot_id()},
          {"time_namespace", namespace_text("time")},
          {"network_namespace", namespace_text("net")}};
}

}  // namespace mlrun::session
