// SPDX-License-Identifier: Apache-2.0
// mlrun's messages, one line each: to stderr as "mlrun: TEXT", and with the time to mlrun.log in the trace folder. Names in a
// text cannot control the terminal (printable). A message that cannot be written is lost without an error, so that the command runs on.
#pragma once

#include <string>
#include <string_view>

namespace mlrun::util {

void say(std::string_view text);
void say_error(std::string_view text);

// For mlrun.log; on stderr only with --verbose.
void note(std::string_view text);
void set_verbose();

// From now on messages are also appended to FOLDER/mlrun.log (mode 0600).
void begin_log(const std::string& folder);
// Stops writing to mlrun.log and removes it, when a run did not start.
void take_log_back();

}  // namespace mlrun::util
