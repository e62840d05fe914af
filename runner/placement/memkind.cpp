// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/memkind.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "runner/events/placement.h"

namespace mlrun::placement {

Status check_memkind() {
  void* const library = ::dlopen(MLRUN_MEMKIND_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr)
    return fail(fmt::format("memkind cannot be loaded ({}); install it (Debian, Ubuntu: libmemkind0)", ::dlerror()));
  const bool is_known = ::dlsym(library, "memkind_create_fixed") != nullptr;
  ::dlclose(library);
  return is_known ? Status() : fail("the installed memkind lacks memkind_create_fixed; install memkind 1.12 or later");
}

}  // namespace mlrun::placement
