// SPDX-License-Identifier: Apache-2.0
// Help pages: usage, options by group, examples, in lines that fit the terminal.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace mlrun {

// Line width: the terminal's, with an upper limit for readability; 80 characters into a file or a pipe unless COLUMNS
// is set.
size_t help_width();

// `usage`: e.g. "mlrun clean [OPTIONS]".
std::shared_ptr<CLI::Formatter> help_formatter(const std::string& usage);

// Formats a footer. Breaks wide lines between words. In a wide example, "  mlrun ...   what it does", the description
// moves to lines of its own and the command stays whole.
std::string fitted_footer(const std::string& footer, size_t width);

}  // namespace mlrun
