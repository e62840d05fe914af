// SPDX-License-Identifier: Apache-2.0
// What mlrun has to say: one line each, to stderr as "mlrun: TEXT", and with its time to mlrun.log in the trace folder. Names in
// a text cannot steer the terminal (printable). Failures to write are ignored: the command matters more.
#pragma once

#include <string>
#include <string_view>

namespace mlrun::util {

void say(std::string_view text);
void say_error(std::string_view text);

// For mlrun.log; on stderr only with --verbose.
void note(std::string_view text);
void set_verbose();

// From now on lines are also appended to FOLDER/mlrun.log (0600).
void begin_log(const std::string& folder);
// Removes the file again, of a run that did not start.
void take_log_back();

}  // namespace mlrun::util
