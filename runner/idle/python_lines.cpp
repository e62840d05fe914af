// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/python_lines.h"

#include <algorithm>

namespace mlrun::idle {

namespace {

int64_t distance_ns(const PythonLines::Look& look, int64_t moment_ns) {
  if (moment_ns < look.first_ns) return look.first_ns - moment_ns;
  return std::max<int64_t>(0, moment_ns - look.last_ns);
}

// Between the first and the last sample only their number is known.
bool has_look_in(const PythonLines::Look& look, Stretch piece) {
  const auto lies_in = [&](int64_t moment_ns) { return moment_ns >= piece.start_ns && moment_ns < piece.end_ns; };
  if (lies_in(look.first_ns) || lies_in(look.last_ns)) return true;
  const bool spans = look.first_ns < piece.start_ns && look.last_ns >= piece.end_ns;
  return spans && look.apart_ns > 0 && piece.end_ns - piece.start_ns >= 2 * look.apart_ns;
}

}  // namespace

void PythonLines::add(int32_t thread_id, const Look& look) {
  if (thread_id == 0) return;
  if (count_ == kLooksMax) {
    ++left_out_;
    return;
  }
  ++count_;
  looks_[thread_id].push_back(look);
}

void PythonLines::sort() {
  for (auto& [thread_id, looks] : looks_) {
    std::sort(looks.begin(), looks.end(), [](const Look& a, const Look& b) { return a.first_ns < b.first_ns; });
  }
}

const PythonLines::Look* PythonLines::find(int32_t thread_id, Stretch piece) const {
  const auto of_thread = looks_.find(thread_id);
  if (of_thread == looks_.end()) return nullptr;
  const std::vector<Look>& looks = of_thread->second;
  const int64_t middle_ns = piece.start_ns + (piece.end_ns - piece.start_ns) / 2;
  const auto after =
      std::partition_point(looks.begin(), looks.end(), [&](const Look& look) { return look.last_ns < middle_ns; });
  const Look* nearest = nullptr;
  for (auto look = after == looks.begin() ? after : after - 1; look != looks.end() && look <= after; ++look) {
    if (!has_look_in(*look, piece)) continue;
    if (!nearest || distance_ns(*look, middle_ns) < distance_ns(*nearest, middle_ns)) nearest = &*look;
  }
  return nearest;
}

}  // namespace mlrun::idle
