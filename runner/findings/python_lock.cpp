// SPDX-License-Identifier: Apache-2.0
// Threads compete for the interpreter.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft python_lock(const Context& context) {
  return {.claim = fmt::format("threads waited for Python's lock{}", at_line(context, Cause::kPythonLock)),
          .remedy = "move the Python work of that thread into a process, or into code that releases the lock",
          .against = "waits of less than 20 us have no row"};
}

}  // namespace mlrun::findings
