// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/page_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

namespace {

constexpr const char* kDropCaches = "/proc/sys/vm/drop_caches";

}  // namespace

Status check_can_drop_caches() {
  const util::UniqueFd fd(::open(kDropCaches, O_WRONLY | O_CLOEXEC));
  if (fd.valid()) return {};
  return fail(std::string("cache = \"cold\" needs to write ") + kDropCaches + ": " + std::strerror(errno) +
              "; make the sweep as root, or leave the key out");
}

Status drop_caches() {
  ::sync();  // dirty pages are not dropped
  const util::UniqueFd fd(::open(kDropCaches, O_WRONLY | O_CLOEXEC));
  if (!fd.valid() || ::write(fd.get(), "3", 1) != 1) return fail_errno(std::string("write ") + kDropCaches, errno);
  return {};
}

}  // namespace mlrun::sweep
