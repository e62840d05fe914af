// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/gpu/gpu_mark_meter.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "runner/util/saturating.h"

namespace mlrun::summary {

using model::GpuKind;

// Visits the names from the innermost range outwards. A range nested in one of the same name counts once.
template <typename Each>
void GpuMarkMeter::for_each_name(int32_t gpu_id, int32_t path, const MarkPaths& paths, Each each) {
  std::array<uint32_t, MarkPaths::kDepthMax> met{};
  size_t count = 0;
  for (int32_t at = path; at != 0; at = paths.path(at).parent) {
    const uint32_t name = paths.path(at).name;
    if (std::find(met.begin(), met.begin() + count, name) != met.begin() + count) continue;
    each(sums_[{name, gpu_id}], at == path);
    if (count == met.size()) return;
    met[count++] = name;
  }
}

void GpuMarkMeter::add(const model::GpuWorkRow& row, const MarkPaths& paths) {
  for_each_name(row.gpu_id, row.mark_path, paths, [&](Sums& of, bool is_innermost) {
    if (has_times(row)) of.busy.add(row.origin.ts_ns, row.origin.ts_ns + row.dur_ns);
    switch (row.kind) {
      case GpuKind::kApi:
      case GpuKind::kSync:
      case GpuKind::kMemory: break;  // not on a device
      case GpuKind::kGraph: ++of.sums.graphs; break;
      case GpuKind::kMemset: ++of.sums.memsets; break;
      case GpuKind::kKernel:
        ++of.sums.kernels;
        of.sums.own_kernels += is_innermost ? 1 : 0;
        util::add_to(of.sums.kernel_ns, row.dur_ns);
        break;
      case GpuKind::kMemcpy:
        ++of.sums.copies;
        util::add_to(of.sums.copied_bytes, row.bytes);
        break;
    }
  });
}

void GpuMarkMeter::add_idle(int32_t gpu_id, int32_t path, int64_t ns, const MarkPaths& paths) {
  for_each_name(gpu_id, path, paths, [&](Sums& of, bool) { util::add_to(of.sums.idle_ns, ns); });
}

std::vector<GpuMarkSummary> GpuMarkMeter::finish(const MarkPaths& paths,
                                                 const std::vector<model::NameRow>& names) const {
  std::vector<GpuMarkSummary> out;
  for (const auto& [key, of] : sums_) {
    const MarkPaths::Name& name = paths.names()[key.first];
    GpuMarkSummary& row = out.emplace_back(of.sums);
    row.domain = name.domain;
    row.gpu_id = key.second;
    row.busy_ns = of.busy.ns();
    const bool known = name.name_id >= 1 && static_cast<size_t>(name.name_id) <= names.size();
    row.name = name.is_rest ? "(of further names and domains)"
               : known      ? names[static_cast<size_t>(name.name_id) - 1].text
                            : "(names without a number)";
  }
  const auto rank = [](const GpuMarkSummary& of) {
    return std::tuple(-of.busy_ns, -of.kernels, of.gpu_id, of.domain, of.name);
  };
  std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (out.size() > kTopMarks) out.resize(kTopMarks);
  return out;
}

}  // namespace mlrun::summary
