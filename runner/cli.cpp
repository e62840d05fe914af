// SPDX-License-Identifier: Apache-2.0
#include "runner/cli.h"

#include <memory>

#include <fmt/format.h>

namespace mlrun {

namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) { column_width(24); }

  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n"; }

  // CLI11 writes a flag's default behind its name, in braces.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = option->get_name(positional, !positional);
    const size_t brace = name.find('{');
    if (brace != std::string::npos) name.erase(brace, name.find('}') + 1 - brace);
    return name;
  }

 private:
  std::string usage_;
};

}  // namespace

void set_usage(CLI::App& app, const std::string& usage) { app.formatter(std::make_shared<HelpFormatter>(usage)); }

Result<bool> parse(CLI::App& app, const std::vector<std::string>& arguments) {
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return true;
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return false;
  } catch (const CLI::Error& error) {
    return fail(fmt::format("{}; see mlrun {} --help", error.what(), app.get_name()));
  }
}

CLI::Validator between(double least, double most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        double value = 0;
        const bool is_inside = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
        return is_inside ? std::string() : fmt::format("'{}' is not a number from {} to {}", text, least, most);
      },
      fmt::format("from {} to {}", least, most));
}

}  // namespace mlrun
