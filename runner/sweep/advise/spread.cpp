// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/spread.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/placement/kinds.h"
#include "runner/util/number.h"

namespace mlrun::sweep {

namespace {

constexpr uint32_t kPartsMax = 16;
constexpr double kCloseRatio = 0.05;  // relative error at which a ratio of small numbers is close enough

// "node 3" → 3; nullopt: several nodes, or none.
std::optional<uint32_t> one_node(const std::string& target) {
  return target.starts_with("node ") ? util::whole_number<uint32_t>(std::string_view(target).substr(5)) : std::nullopt;
}

double bandwidth_of(uint32_t node, const std::string& system) {
  return static_cast<double>(std::max<int64_t>(placement::firmware_value(node, "read_bandwidth", system), 0));
}

// The nearest ratio of numbers up to kPartsMax; what is beyond gets 16:1 or 1:16.
std::pair<uint32_t, uint32_t> small_ratio(double wanted) {
  std::pair<uint32_t, uint32_t> best{1, 1};
  double error = 1e9;
  for (uint32_t slow = 1; slow <= kPartsMax && error > kCloseRatio; slow++) {
    const double fast = std::clamp(std::round(wanted * slow), 1.0, static_cast<double>(kPartsMax));
    const double off = std::abs(fast / slow / wanted - 1);
    if (off < error) best = {static_cast<uint32_t>(fast), slow};
    error = std::min(error, off);
  }
  return best;
}

}  // namespace

Result<NodeSpread> find_spread(const std::string& fast, const std::string& slow, const std::string& ratio,
                               const std::string& system) {
  NodeSpread spread;
  const auto near = one_node(fast), far = one_node(slow);
  if (!near || !far) {
    if (!ratio.empty()) return fail("--spread needs one fast and one slow node; name one in --fast and one in --slow");
    spread.why = "it needs one fast and one slow node";
    return spread;
  }
  std::pair<uint32_t, uint32_t> parts;
  if (ratio.empty()) {
    const double fast_speed = bandwidth_of(*near, system), slow_speed = bandwidth_of(*far, system);
    if (fast_speed <= 0 || slow_speed <= 0) {
      spread.why = "the firmware reports no bandwidths (HMAT); give a ratio: --spread N:M";
      return spread;
    }
    parts = small_ratio(fast_speed / slow_speed);
  } else {
    const size_t colon = ratio.find(':');
    const auto part = [](std::string_view text) { return util::whole_number<uint32_t>(text); };
    const auto first = part(std::string_view(ratio).substr(0, colon));
    const auto second = colon == std::string::npos ? std::nullopt : part(std::string_view(ratio).substr(colon + 1));
    if (!first || !second || *first == 0 || *second == 0 || *first > 1000 || *second > 1000)
      return fail(fmt::format("--spread '{}': write it like 4:1, fast to slow, with numbers from 1 to 1000", ratio));
    parts = {*first, *second};
  }
  spread.fast_share = static_cast<double>(parts.first) / (parts.first + parts.second);
  // The nodes of a rule must be in rising order.
  spread.target = *near < *far ? fmt::format("{}:{} node {},{}", parts.first, parts.second, *near, *far)
                               : fmt::format("{}:{} node {},{}", parts.second, parts.first, *far, *near);
  return spread;
}

}  // namespace mlrun::sweep
