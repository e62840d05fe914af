// SPDX-License-Identifier: Apache-2.0
#include "runner/options/cli.h"

#include <map>

#include <fmt/format.h>

#include "runner/options/help_format.h"
#include "runner/util/number.h"

namespace mlrun {

namespace {

constexpr int kNotFound = 127;

tl::unexpected<Error> missing_value(const CLI::App& app, const std::string& name) {
  return fail(fmt::format("{}: the value is missing; give one, or leave the option out; see mlrun {} --help", name,
                          app.get_name()));
}

// The option as written, without its value: "--where" of "--where=x".
std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

CLI::Option* option_of(const CLI::App& app, const std::string& word) {
  const std::string name = name_in(word);
  return name.size() < 2 ? nullptr : const_cast<CLI::App&>(app).get_option_no_throw(name);
}

tl::unexpected<Error> empty_value(const CLI::App& app, const std::string& name) {
  return fail(fmt::format("{}: the value is empty; give one, or leave the option out; see mlrun {} --help", name,
                          app.get_name()));
}

bool may_be_given_again(const CLI::Option& option) {
  return option.get_items_expected_max() == 0 || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

// Checks what CLI11 accepts silently or reports in its own words: empty values, and an option given twice. Stops at the
// command of a verb that takes one.
Status check_words(const CLI::App& app, const Arguments& arguments) {
  std::map<const CLI::Option*, int> given;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; i++) {
    const std::string& word = arguments[i];
    if (word.empty()) {
      if (app.get_prefix_command()) return fail("the command is an empty word; name a program", kNotFound);
      return fail(fmt::format("an argument is an empty word; see mlrun {} --help", app.get_name()));
    }
    if (word.front() != '-') {
      if (app.get_prefix_command()) return {};
      continue;
    }
    const CLI::Option* option = option_of(app, word);
    if (option == nullptr) continue;
    const std::string name = name_in(word);
    if (++given[option] > 1 && !may_be_given_again(*option)) {
      return fail(fmt::format("{} is given more than once; give it once", name));
    }
    const bool is_joined = word.find('=') != std::string::npos;
    if (is_joined && word.back() == '=' && word.size() == name.size() + 1) return empty_value(app, name + "=");
    if (is_joined || option->get_items_expected_max() == 0 || i + 1 == arguments.size()) continue;
    const std::string& next = arguments[i + 1];
    if (next.empty()) return empty_value(app, name + " ''");
    if (next == "--" && option->get_items_expected_min() > 0) return missing_value(app, name);
    if (option->get_items_expected_min() > 0 || next.front() != '-') ++i;
  }
  return {};
}

}  // namespace

void set_usage(CLI::App& app, const std::string& usage) {
  app.formatter(help_formatter(usage));
  app.get_help_ptr()->description("this page");
}

Result<bool> parse(CLI::App& app, const Arguments& arguments) {
  if (Status words = check_words(app, arguments); !words) return tl::make_unexpected(words.error());
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

CLI::Validator is_number_to(uint64_t most) {
  return CLI::Validator(
      [most](const std::string& text) {
        const auto value = util::whole_number<uint64_t>(text);
        return value && *value <= most ? std::string()
                                       : fmt::format("'{}' is not a whole number from 0 to {}", text, most);
      },
      fmt::format("from 0 to {}", most));
}

}  // namespace mlrun
