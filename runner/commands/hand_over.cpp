// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/hand_over.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "runner/session/installation.h"

namespace mlrun::commands {

namespace {

Result<int> hand_over(const std::string& program, const char* verb, const Arguments& arguments) {
  std::vector<char*> words = {const_cast<char*>(program.c_str()), const_cast<char*>(verb)};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  const int error_number = errno;
  if (::access(program.c_str(), F_OK) != 0)  // tests/demo builds only some of the programs at first
    return fail(program +
                " is missing: tests/setup/build.sh builds all of mlrun; if it was installed, install it again");
  return fail_errno("start " + program, error_number);
}

// The interpreter that MLRUN_PYTHON names, else that of the environment into which pip installed mlrun, else the first of PATH.
std::string find_python(const session::Installation& parts) {
  const char* named = std::getenv("MLRUN_PYTHON");
  if (named != nullptr && *named != '\0') return named;
  return ::access(parts.python_program.c_str(), X_OK) == 0 ? parts.python_program : "python3";
}

// What `python -c` runs: `-m MODULE` would take modules of the working directory, such as a random.py, before those of Python itself. Ctrl-C
// during the imports ends it without a traceback; main() then handles it (mlrun_trace/interrupt.py).
std::string code_of(const char* module) {
  return fmt::format(
      "import sys\n"
      "sys.path[:] = [folder for folder in sys.path if folder]\n"
      "import signal\n"
      "if signal.getsignal(signal.SIGINT) == signal.default_int_handler: signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
      "try:\n  from {} import main\n"
      "except ModuleNotFoundError as error:\n"
      "  if error.name != 'mlrun_trace': raise\n"
      "  print(f'mlrun: {{sys.executable}} has no package mlrun_trace; set MLRUN_PYTHON to the Python that pip "
      "installed mlrun for', "
      "file=sys.stderr)\n"
      "  sys.exit(125)\n"
      "sys.exit(main())\n",
      module);
}

// A module of the Python package.
Result<int> run_module(const char* module, const Arguments& arguments) {
  const session::Installation parts = session::find_installation();
  const std::string python = find_python(parts);
  if (::access(parts.python_folder.c_str(), F_OK) == 0) {  // pip puts the package where its Python looks
    std::string path = parts.python_folder;
    if (const char* others = std::getenv("PYTHONPATH"); others != nullptr && *others != '\0')
      path += std::string(":") + others;
    ::setenv("PYTHONPATH", path.c_str(), 1);
  }
  std::string code = code_of(module);
  std::vector<char*> words = {const_cast<char*>(python.c_str()), const_cast<char*>("-c"), code.data()};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execvp(python.c_str(), words.data());
  const int error_number = errno;
  return fail(fmt::format("cannot start {}: {}; this verb needs Python 3.9 or later: set MLRUN_PYTHON to one", python,
                          std::strerror(error_number)));
}

}  // namespace

Result<int> report(const Arguments& arguments) {
  return hand_over(session::find_installation().trace_program, "report", arguments);
}
Result<int> show(const Arguments& arguments) {
  return hand_over(session::find_installation().trace_program, "show", arguments);
}
Result<int> list(const Arguments& arguments) {
  return hand_over(session::find_installation().trace_program, "list", arguments);
}
Result<int> merge(const Arguments& arguments) {
  return hand_over(session::find_installation().exchange_program, "merge", arguments);
}
Result<int> export_trace(const Arguments& arguments) {
  return hand_over(session::find_installation().exchange_program, "export", arguments);
}
Result<int> convert(const Arguments& arguments) {
  return hand_over(session::find_installation().exchange_program, "convert", arguments);
}
Result<int> import(const Arguments& arguments) {
  return hand_over(session::find_installation().exchange_program, "import", arguments);
}
Result<int> sweep(const Arguments& arguments) {
  return hand_over(session::find_installation().sweep_program, "sweep", arguments);
}
Result<int> compare(const Arguments& arguments) {
  return hand_over(session::find_installation().sweep_program, "compare", arguments);
}
Result<int> advise(const Arguments& arguments) {
  return hand_over(session::find_installation().sweep_program, "advise", arguments);
}
Result<int> plot(const Arguments& arguments) { return run_module("mlrun_trace.plot.__main__", arguments); }
Result<int> mcp(const Arguments& arguments) { return run_module("mlrun_trace.mcp", arguments); }

}  // namespace mlrun::commands
