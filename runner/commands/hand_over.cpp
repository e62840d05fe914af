// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/hand_over.h"

#include <unistd.h>

#include <cerrno>

#include "runner/session/installation.h"

namespace mlrun::commands {

namespace {

Result<int> hand_over(const std::string& program, const char* verb, const Arguments& arguments) {
  std::vector<char*> words = {const_cast<char*>(program.c_str()), const_cast<char*>(verb)};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  return fail_errno("start " + program, errno);
}

}  // namespace

Result<int> report(const Arguments& arguments) {
  return hand_over(launch::find_installation().trace_program, "report", arguments);
}
Result<int> show(const Arguments& arguments) {
  return hand_over(launch::find_installation().trace_program, "show", arguments);
}
Result<int> list(const Arguments& arguments) {
  return hand_over(launch::find_installation().trace_program, "list", arguments);
}
Result<int> sweep(const Arguments& arguments) {
  return hand_over(launch::find_installation().sweep_program, "sweep", arguments);
}
Result<int> compare(const Arguments& arguments) {
  return hand_over(launch::find_installation().sweep_program, "compare", arguments);
}

}  // namespace mlrun::commands
