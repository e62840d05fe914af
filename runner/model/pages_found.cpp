// SPDX-License-Identifier: Apache-2.0
#include "runner/model/pages_found.h"

#include <algorithm>
#include <cmath>

namespace mlrun::model {

namespace {

// The relative difference up to which samples saw the same memory: a tenth, or what chance can explain where so many pages are expected.
double margin(double pages) { return std::max(0.1, 3 / std::sqrt(std::max(1.0, pages))); }

}  // namespace

void PagesFound::add(const std::map<int, uint64_t>& on_node, double bytes_each, uint64_t resident) {
  samples++;
  uint64_t all = 0;
  for (const auto& [node, pages] : on_node) {
    sampled[node] += pages;
    all += pages;
  }
  const double now = std::min(static_cast<double>(all) * bytes_each, static_cast<double>(resident));
  if (now > full_bytes * (1 + margin(static_cast<double>(all)))) {
    full_bytes = now;
    bytes.clear();
    resident_bytes = full_samples = 0;
  }
  // By the pages that the full memory would show: a sample with few pages, or none, is from freed memory unless few are expected.
  if (now < full_bytes * (1 - margin(full_bytes / bytes_each))) return;
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
