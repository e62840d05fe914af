// SPDX-License-Identifier: Apache-2.0
// mlrun: the launcher and collector. Selects the verb and runs it.
#include <string>

#include <fmt/format.h>

#include "runner/commands/command.h"
#include "runner/util/program.h"

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
  return mlrun::util::run_program([&] { return dispatch(Arguments(argv + 1, argv + argc)); });
}
