// SPDX-License-Identifier: Apache-2.0
// Help pages: usage, options by group, examples, in lines that fit the terminal.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace mlrun {

// Lines of the terminal's width at most, but not more than a person reads with ease; 80 characters into a file or a pipe, where
// COLUMNS may say another number.
size_t help_width();

// `usage`: e.g. "mlrun clean [OPTIONS]".
std::shared_ptr<CLI::Formatter> help_formatter(const std::string& usage);

// A footer as it is shown. A line that is too wide is broken between words. Of an example, "  mlrun ...   what it does", what
// it does goes into lines of its own then, and the command stays whole.
std::string fitted_footer(const std::string& footer, size_t width);

}  // namespace mlrun
