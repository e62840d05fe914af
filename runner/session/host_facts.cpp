// SPDX-License-Identifier: Apache-2.0
#include "runner/session/host_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <string>

#include <nlohmann/json.hpp>

#include "runner/util/file_io.h"
#include "runner/util/text.h"

namespace mlrun::launch {

namespace {

std::string cpu_model() {
  const std::string text = util::read_text("/proc/cpuinfo", 16384);
  const size_t line = text.find("model name");
  const size_t colon = text.find(": ", line);
  if (line == std::string::npos || colon == std::string::npos) return {};
  return util::escaped_utf8(std::string_view(text).substr(colon + 2, text.find('\n', colon) - colon - 2));
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
          {"ticks_per_second", ::sysconf(_SC_CLK_TCK)}};
}

}  // namespace mlrun::launch
