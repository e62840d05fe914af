// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/hand_over.h"

#include <unistd.h>

#include <cerrno>

#include "runner/session/installation.h"

namespace mlrun::commands {

namespace {

Result<int> hand_over(const char* verb, const Arguments& arguments) {
  const std::string program = launch::find_installation().trace_program;
  std::vector<char*> words = {const_cast<char*>("mlrun-trace"), const_cast<char*>(verb)};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  return fail_errno("start " + program, errno);
}

}  // namespace

Result<int> report(const Arguments& arguments) { return hand_over("report", arguments); }
Result<int> show(const Arguments& arguments) { return hand_over("show", arguments); }
Result<int> list(const Arguments& arguments) { return hand_over("list", arguments); }

}  // namespace mlrun::commands
