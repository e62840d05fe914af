// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/rule_files.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <fmt/format.h>

#include "runner/placement/rule_file.h"
#include "runner/placement/rule_text.h"
#include "runner/sweep/plan/configuration_check.h"

namespace mlrun::sweep {

Result<std::string> hash_of_rule_files(const Words& options) {
  const auto parsed = parse_options(options);
  if (!parsed) return tl::make_unexpected(parsed.error());
  std::string contents;
  for (const std::string& place : parsed->place) {
    if (placement::is_rule_text(place)) continue;
    const auto rules = placement::read_rule_file(place);
    if (!rules) return tl::make_unexpected(rules.error());
    for (const placement::Rule& rule : *rules) contents += fmt::format("{}:{}", rule.text.size(), rule.text);
  }
  if (contents.empty()) return std::string();
  return boost::uuids::to_string(boost::uuids::name_generator_sha1(boost::uuids::ns::oid())(contents));
}

Status check_rule_files(const Configuration& configuration) {
  if (configuration.rules.empty()) return {};
  const auto now = hash_of_rule_files(configuration.options);
  if (!now) return tl::make_unexpected(now.error());
  if (*now == configuration.rules) return {};
  return fail(fmt::format(
      "configuration \"{}\": the placement rules of its --place file were changed after this sweep began, "
      "and runs under other rules are not comparable; restore the file and use --resume, or name a new folder "
      "with -o",
      configuration.name));
}

}  // namespace mlrun::sweep
