// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/remarks.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "runner/sweep/read/quantity.h"
#include "runner/util/units.h"

namespace mlrun::sweep {
namespace {

constexpr double kBlockBytes = 512;       // unit of ru_inblock
constexpr double kShareDiffers = 0.1;     // differences up to this share of the read bytes do not matter
constexpr double kBytesMatter = 4 << 20;  // programs and libraries can cause smaller differences

struct Source {
  const char* figure;
  double unit_bytes;
};
// Figures of bytes from devices, the most exact first. Only the first needs the kernel side; dry runs have the others, too.
constexpr std::array<Source, 3> kSources = {{{"missing_bytes", 1}, {"read_bytes", 1}, {"input_blocks", kBlockBytes}}};

using Runs = std::vector<const RunRow*>;

// A value for each run, by the first source that all of them have; empty if there is none.
std::vector<double> device_bytes(const Runs& runs) {
  for (const Source& source : kSources) {
    std::vector<double> bytes;
    for (const RunRow* run : runs) {
      const auto found = run->figures.find(source.figure);
      if (found == run->figures.end()) break;
      bytes.push_back(found->second * source.unit_bytes);
    }
    if (bytes.size() == runs.size()) return bytes;
  }
  return {};
}

// The bytes of which kShareDiffers is a share: the most that any run read, from devices or the page cache.
double read_bytes(const Runs& runs, const std::vector<double>& from_devices) {
  double most = from_devices.empty() ? 0 : *std::ranges::max_element(from_devices);
  for (const RunRow* run : runs) {
    const auto found = run->figures.find("bytes_read");
    if (found != run->figures.end()) most = std::max(most, found->second);
  }
  return most;
}

std::string bytes(double value) { return util::bytes_text(static_cast<int64_t>(value)); }

}  // namespace

std::optional<UnlikeReads> unlike_reads(const Cell& cell) {
  const std::vector<double> all = device_bytes(cell.done);
  if (all.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(all);
  if (most - least < kBytesMatter || most - least <= kShareDiffers * read_bytes(cell.done, all)) return std::nullopt;
  const double middle = std::midpoint(least, most);
  const auto many = size_t(std::ranges::count_if(all, [&](double value) { return value > middle; }));
  return UnlikeReads{many, all.size() - many, most, least};
}

std::optional<UnlikeSides> unlike_sides(const Cell& a, const Cell& b) {
  Runs both = a.done;
  both.insert(both.end(), b.done.begin(), b.done.end());
  const std::vector<double> all = device_bytes(both);
  if (a.done.empty() || b.done.empty() || all.empty()) return std::nullopt;
  const auto middle = all.begin() + std::ptrdiff_t(a.done.size());
  const double of_a = std::accumulate(all.begin(), middle, 0.0) / double(a.done.size());
  const double of_b = std::accumulate(middle, all.end(), 0.0) / double(b.done.size());
  const double apart = std::abs(of_a - of_b);
  if (apart < kBytesMatter || apart <= kShareDiffers * read_bytes(both, all)) return std::nullopt;
  return UnlikeSides{of_a, of_b};
}

std::vector<std::string> remarks_on(const Cell& cell) {
  std::vector<std::string> remarks;
  if (!cell.failed.empty()) {
    std::map<std::string, size_t> reasons;
    for (const RunRow* run : cell.failed) {
      const bool has_status = run->state == RunState::kFailed && run->exit_status;
      ++reasons[has_status                          ? fmt::format("with exit status {}", *run->exit_status)
                : run->state == RunState::kTimedOut ? "beyond the time limit"
                                                    : "could not be started"];
    }
    std::string list;
    for (const auto& [reason, count] : reasons) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, reason);
    remarks.push_back(
        fmt::format("{} of {} runs failed and are in no figure: {}", cell.failed.size(), cell.runs(), list));
  }
  if (cell.left > 0) remarks.push_back(fmt::format("{} of {} runs are still to be made", cell.left, cell.runs()));
  if (const auto unlike = unlike_reads(cell)) {
    remarks.push_back(
        fmt::format("{} read up to {} from devices, {} as little as {}: cold and warm runs are pooled in "
                    "its figures",
                    util::counted(int64_t(unlike->many), "run"), bytes(unlike->most_bytes), unlike->few,
                    bytes(unlike->least_bytes)));
  }
  return remarks;
}

std::vector<std::string> remarks_on(const std::string& figure, const Description& description) {
  std::vector<std::string> remarks;
  if (description.is_bimodal) remarks.push_back(figure + " has two modes: its mean is between them, where no run is");
  if (description.drift && description.drift->is_clear) {
    remarks.push_back(figure + " drifts by " + drift_text(*description.drift));
  }
  return remarks;
}

std::string drift_text(const Drift& drift) {
  return fmt::format("{} a run ({})", change_text(drift.slope), changes_text(drift.interval.low, drift.interval.high));
}

std::string order_warning(const Sweep& sweep) {
  if (sweep.order != Order::kSequence || sweep.configurations.size() < 2) return "";
  return "configurations were run one after the other: a drift of the machine looks like an effect";
}

std::string looks_remark(const Sweep& sweep) {
  if (sweep.looks == 0) return "";
  return fmt::format("the stop rule looked at the results {}: intervals are a little too narrow",
                     util::counted(sweep.looks, "time"));
}

}  // namespace mlrun::sweep
