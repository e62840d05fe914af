// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/report/text/text.h"

namespace mlrun::report {
namespace {

std::string lines_about(const nlohmann::json& found, const nlohmann::json& placement = nullptr, int stack_depth = 16) {
  const nlohmann::json rung = {{"rung", found["rung"]}, {"cost", "little"}, {"blind_to", "much"}};
  nlohmann::json document;
  document["access"]["rungs"] = nlohmann::json::array({rung});
  document["access"]["by_rung"] = nlohmann::json::array({found});
  document["options"]["stack_depth"] = stack_depth;
  if (!placement.is_null()) document["placement"] = placement;
  summary::Summary summary;
  summary.run = model::run_of(std::move(document));
  return memory_rungs_text(summary, {});
}

TEST(TextAccess, TheShareOfTheSamplesInNoListedBlockIsBesideWhatIsAttributed) {
  nlohmann::json found = {{"rung", "precise"}, {"byte_s", 8.0}, {"seen_byte_s", 2.0}};
  EXPECT_EQ(lines_about(found).find("in no listed block"), std::string::npos) << "older traces do not know it";
  found["rows"] = 200;
  found["joined_rows"] = 50;
  const std::string text = lines_about(found);
  EXPECT_NE(text.find("25 % of listed bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("75 % of its samples in no listed block"), std::string::npos) << text;
  found["rung"] = "cold";  // its rows are ranges of any size
  EXPECT_EQ(lines_about(found).find("in no listed block"), std::string::npos);
}

TEST(TextAccess, WhereSitesOfOneMappingCannotBeToldApartTheCommandThatKeepsThemApartIsNamed) {
  const auto is_named = [](const std::string& text) { return text.find("--apart") != std::string::npos; };
  nlohmann::json found = {{"rung", "cold"}, {"byte_s", 8.0}, {"seen_byte_s", 2.0}, {"shared_byte_s", 4.0}};
  EXPECT_TRUE(is_named(lines_about(found))) << lines_about(found);
  nlohmann::json placement;
  placement["rules"] = nlohmann::json::array({{{"text", "-> default"}}});
  EXPECT_FALSE(is_named(lines_about(found, placement))) << "they are apart";
  EXPECT_TRUE(is_named(lines_about(found, nullptr, 0))) << "from a trace with stacks";
  found["seen_byte_s"] = 6.0;
  EXPECT_FALSE(is_named(lines_about(found))) << "most is attributed";
  found["seen_byte_s"] = 2.0;
  found["shared_byte_s"] = 2.0;
  EXPECT_FALSE(is_named(lines_about(found))) << "most of what is missing has another cause";
  found.erase("shared_byte_s");
  EXPECT_FALSE(is_named(lines_about(found))) << "older traces do not know it";
}

// A line without its breaks.
std::string unwrapped(const std::string& text) {
  std::string joined;
  for (const char c : text) {
    const char next = c == '\n' ? ' ' : c;
    if (next != ' ' || joined.empty() || joined.back() != ' ') joined += next;
  }
  return joined;
}

TEST(TextAccess, TheCommandsThatKeepSitesApartAreWholeWithStacksAndWithout) {
  const nlohmann::json found = {{"rung", "cold"}, {"byte_s", 8.0}, {"seen_byte_s", 2.0}, {"shared_byte_s", 4.0}};
  const std::string with = unwrapped(lines_about(found)), without = unwrapped(lines_about(found, nullptr, 0));
  const std::string last = "then mlrun --place FILE --access=cold --stacks=16 --alloc-min=64K COMMAND";
  EXPECT_NE(with.find(": mlrun advise TRACE --apart -o FILE, " + last), std::string::npos) << with;
  const std::string first =
      ": mlrun --stacks=16 --alloc-min=64K -o NEW COMMAND, then mlrun advise NEW --apart -o FILE, ";
  EXPECT_NE(without.find(first + last), std::string::npos) << without;
}

}  // namespace
}  // namespace mlrun::report
