// SPDX-License-Identifier: Apache-2.0
#include "runner/options/help_format.h"

#include <unistd.h>

#include <algorithm>

#include "runner/util/text.h"
#include "runner/util/wrap.h"

namespace mlrun {

namespace {

constexpr size_t kPiped = 80, kNarrowest = 40, kWidest = 110;
constexpr size_t kColumn = 26;       // where descriptions begin
constexpr size_t kNarrowColumn = 6;  // for names that leave no room beside them
constexpr size_t kColumnNeeds = 64;

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)), width_(help_width()) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    std::string out = util::wrapped(app->get_description(), width_) + "\n" + util::wrapped(usage_, width_, "Usage: ");
    std::string groups = make_positionals(app) + make_groups(app, mode);
    for (size_t at = 0; (at = groups.find("\n\n\n", at)) != std::string::npos;) groups.erase(at, 1);
    out += groups;
    const std::string footer = app->get_footer();
    return footer.empty() ? out : out + "\n" + fitted_footer(footer, width_);
  }

  // A group is its title, a tab and a text about all of its options: CLI11 does not accept newlines here.
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    const size_t title_end = std::min(group.find('\t'), group.size());
    std::string out = "\n" + util::wrapped(group.substr(0, title_end) + ":", width_);
    if (title_end < group.size()) out += util::wrapped(group.substr(title_end + 1), width_, "  ");
    for (const CLI::Option* option : options) out += make_option(option, is_positional);
    return out;
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const size_t column = width_ < kColumnNeeds ? kNarrowColumn : kColumn;
    std::string name = "  " + name_of(option, is_positional);
    std::string out;
    if (name.size() + 2 > column) {
      out = name + "\n";
      name.clear();
    }
    name.resize(column, ' ');
    return out + util::wrapped(option->get_description(), width_, name);
  }

 private:
  // "--stacks[=DEPTH]", "-o,--output DIR". CLI11 appends a flag's default to its name, in braces.
  static std::string name_of(const CLI::Option* option, bool is_positional) {
    std::string name = option->get_name(is_positional, !is_positional);
    if (const size_t brace = name.find('{'); brace != std::string::npos) name.erase(brace, name.find('}') + 1 - brace);
    const std::string value = value_of(option, is_positional);
    return value.empty() || value.starts_with('[') ? name + value : name + " " + value;
  }

  // The name of an option's value, as the page shows it. Without a name: its type, or the words that it can be.
  static std::string value_of(const CLI::Option* option, bool is_positional) {
    if (!option->get_option_text().empty() || is_positional || option->get_items_expected_max() == 0)
      return option->get_option_text();
    std::string type = option->get_type_name();
    if (const size_t words = type.find('{'); words != std::string::npos) {
      type = type.substr(words + 1, type.find('}') - words - 1);
      std::replace(type.begin(), type.end(), ',', '|');
      return type;
    }
    type.erase(std::min(type.find(':'), type.size()));
    return type == "UINT" || type == "INT" || type == "FLOAT" ? "NUMBER" : type;
  }

  std::string usage_;
  size_t width_;
};

// Offset of an example's comment; npos: none.
size_t comment_at(std::string_view line) {
  const size_t text = line.find_first_not_of(' ');
  if (text == std::string_view::npos || text == 0) return std::string_view::npos;
  const size_t gap = line.find("   ", text);
  return gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
}

}  // namespace

size_t help_width() { return std::clamp(util::terminal_width(STDOUT_FILENO, kPiped), kNarrowest, kWidest); }

std::shared_ptr<CLI::Formatter> help_formatter(const std::string& usage) {
  return std::make_shared<HelpFormatter>(usage);
}

std::string fitted_footer(const std::string& footer, size_t width) {
  std::string out;
  size_t begin = 0;
  while (begin < footer.size()) {
    const size_t end = std::min(footer.find('\n', begin), footer.size());
    const std::string line = footer.substr(begin, end - begin);
    begin = end + 1;
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (line.size() <= width) {
      out += line + "\n";
    } else if (indent == 0) {
      out += util::wrapped(line, width);
    } else {
      const size_t comment = comment_at(line);
      const std::string command = line.substr(0, comment);
      out += command.substr(0, command.find_last_not_of(' ') + 1) + "\n";
      if (comment != std::string::npos) out += util::wrapped(line.substr(comment), width, std::string(indent + 4, ' '));
    }
  }
  return out;
}

}  // namespace mlrun
