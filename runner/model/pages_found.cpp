// SPDX-License-Identifier: Apache-2.0
#include "runner/model/pages_found.h"

#include <algorithm>
#include <cmath>

namespace mlrun::model {

void PagesFound::add(const std::map<int, uint64_t>& on_node, double bytes_each, uint64_t resident) {
  constexpr double kSame = 0.1;  // samples that differ by less, or by less than chance can explain, saw the same memory
  samples++;
  uint64_t all = 0;
  for (const auto& [node, pages] : on_node) {
    sampled[node] += pages;
    all += pages;
  }
  const double now = std::min(static_cast<double>(all) * bytes_each, static_cast<double>(resident));
  const double margin = std::max(kSame, 3 / std::sqrt(static_cast<double>(std::max<uint64_t>(all, 1))));
  if (now > full_bytes * (1 + margin)) {
    full_bytes = now;
    bytes.clear();
    resident_bytes = full_samples = 0;
  }
  if (now < full_bytes * (1 - margin)) return;
  full_samples++;
  resident_bytes += resident;
  for (const auto& [node, pages] : on_node) bytes[node] += now * static_cast<double>(pages) / static_cast<double>(all);
}

void PagesFound::add(const PagesFound& other) {
  samples += other.samples;
  if (error == 0) error = other.error;
  for (const auto& [node, pages] : other.sampled) sampled[node] += pages;
  const auto make_mean = [](PagesFound& pages) {
    if (pages.full_samples == 0) return;
    for (auto& [node, sum] : pages.bytes) sum /= static_cast<double>(pages.full_samples);
    pages.resident_bytes /= pages.full_samples;
    pages.full_samples = 1;
  };
  PagesFound mean = other;
  make_mean(mean);
  make_mean(*this);
  for (const auto& [node, sum] : mean.bytes) bytes[node] += sum;
  resident_bytes += mean.resident_bytes;
  full_samples = std::max(full_samples, mean.full_samples);
}

}  // namespace mlrun::model
