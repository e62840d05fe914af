// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/site_meter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "runner/events/record.h"
#include "runner/summary/meters/frame_names.h"
#include "runner/util/saturating.h"
#include "runner/util/text.h"

namespace mlrun::summary {

namespace {

bool is_runtime(const std::string& library) {
  constexpr std::array<std::string_view, 5> kNames = {"libc.so.", "libstdc++.so.", "libc++.so.", "ld-linux-x86-64.so.",
                                                      "libpthread.so."};
  const std::string_view name = util::base_name(library);
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) { return name.starts_with(known); });
}

const model::FrameRow& responsible(const model::StackTable& stacks, int32_t stack_id) {
  const auto frames = stacks.frames_of(stack_id);
  for (const int32_t frame_id : frames) {
    const model::FrameRow& frame = stacks.frame(frame_id);
    if (!is_runtime(stacks.library(frame))) return frame;
  }
  return stacks.frame(frames.front());
}

}  // namespace

SiteMeter::Sum& SiteMeter::sum_of(Sums& sums, int32_t stack_id) {
  const auto index = static_cast<size_t>(stack_id);
  if (index >= sums.size()) sums.resize(std::max(index + 1, sums.size() * 2));
  return sums[index];
}

void SiteMeter::add(const model::CallRow& row, const CallFacts& facts) {
  if (row.stack_id == 0) return;
  Sum& sum = sum_of(files_, row.stack_id);
  ++sum.calls;
  util::add_to(sum.bytes, facts.bytes);
  util::add_to(sum.time_ns, row.dur_ns);
}

void SiteMeter::add(const model::AllocRow& row) {
  if (row.stack_id == 0 || row.op == MLRUN_FREE) return;
  Sum& sum = sum_of(allocations_, row.stack_id);
  util::add_to(sum.calls, std::llround(row.weight));
  util::add_to(sum.bytes, std::llround(row.weight * double(row.size)));
  util::add_to(sum.time_ns, std::max<int64_t>(row.dur_ns, 0));
}

void SiteMeter::add(const model::SumRow& of) {
  if (of.call.stack_id == 0 || of.op == MLRUN_FREE) return;
  Sum& sum = sum_of(of.op == 0 ? files_ : allocations_, of.call.stack_id);
  util::add_to(sum.calls, of.calls);
  util::add_to(sum.bytes, of.bytes);
  util::add_to(sum.time_ns, of.time_ns);
}

void SiteMeter::append(SiteKind kind, const Sums& sums, const model::StackTable& stacks,
                       std::vector<SiteSummary>& out) {
  std::unordered_map<std::string, SiteSummary> by_name;
  const size_t known = std::min(sums.size(), stacks.stacks.size() + 1);
  for (size_t stack_id = 1; stack_id < known; ++stack_id) {
    const Sum& sum = sums[stack_id];
    if (sum.calls == 0) continue;
    const model::FrameRow& frame = responsible(stacks, static_cast<int32_t>(stack_id));
    std::string function = frame_name(frame);
    const std::string& library = stacks.library(frame);
    SiteSummary& site = by_name[function + '\n' + library];
    if (site.calls == 0) site = {kind, std::move(function), library, 0, 0, 0};
    util::add_to(site.calls, sum.calls);
    util::add_to(site.bytes, sum.bytes);
    util::add_to(site.time_ns, sum.time_ns);
  }
  std::vector<SiteSummary> sites;
  sites.reserve(by_name.size());
  for (auto& [name, site] : by_name) sites.push_back(std::move(site));
  const auto weight = [&](const SiteSummary& of) { return kind == SiteKind::kAllocations ? of.bytes : of.time_ns; };
  std::sort(sites.begin(), sites.end(), [&](const SiteSummary& a, const SiteSummary& b) {
    return std::tuple(-weight(a), -a.calls, std::tie(a.function, a.library)) <
           std::tuple(-weight(b), -b.calls, std::tie(b.function, b.library));
  });
  if (sites.size() > kTopSites) sites.resize(kTopSites);
  std::move(sites.begin(), sites.end(), std::back_inserter(out));
}

std::vector<SiteSummary> SiteMeter::sites(const model::StackTable& stacks) const {
  std::vector<SiteSummary> out;
  append(SiteKind::kAllocations, allocations_, stacks, out);
  append(SiteKind::kFiles, files_, stacks, out);
  return out;
}

}  // namespace mlrun::summary
