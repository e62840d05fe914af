// SPDX-License-Identifier: Apache-2.0
// mlrun: the launcher and collector. Picks the verb, runs it, and is the one place where an error becomes text and exit
// status.
#include <exception>
#include <string>

#include <fmt/format.h>

#include "runner/commands/command.h"
#include "runner/util/standard_streams.h"

namespace {

using mlrun::Arguments;
using mlrun::Result;

// A first word that is a verb's name is the verb; anything else belongs to `run`.
Result<int> dispatch(Arguments arguments) {
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h") {
    fmt::print("{}", mlrun::commands::general_help());
    return arguments.empty() ? 125 : 0;
  }
  if (arguments.front() == "--version") {
    fmt::print("mlrun {}\n", MLRUN_VERSION);
    return 0;
  }
  const auto* command = mlrun::commands::find_command(arguments.front());
  if (command == nullptr) return mlrun::commands::find_command("run")->run(arguments);
  arguments.erase(arguments.begin());
  return command->run(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  mlrun::util::hold_standard_descriptors();
  try {
    const auto status = dispatch(Arguments(argv + 1, argv + argc));
    if (status) return *status;
    mlrun::util::say(status.error().text);
    return status.error().exit_code;
  } catch (const std::exception& error) {
    mlrun::util::say(error.what());
    return 125;
  }
}
