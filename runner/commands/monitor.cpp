// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/monitor.h"

#include "runner/monitor/monitor.h"

namespace mlrun::commands {

Result<int> monitor(const Arguments& arguments) {
  const auto settings = parse_monitor(arguments);
  if (!settings) return tl::make_unexpected(settings.error());
  if (!*settings) return 0;
  return monitor::run(**settings);
}

}  // namespace mlrun::commands
