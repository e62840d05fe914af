// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/cuda_live.h"

#include <algorithm>

#include <fmt/format.h>

#include "runner/monitor/local_time.h"
#include "runner/util/clock.h"
#include "runner/util/log.h"
#include "runner/util/time_units.h"

namespace mlrun::monitor {

namespace {
constexpr uint64_t kReadNs = 50'000'000;  // mlrun-probes writes every 100 ms
}  // namespace

CudaLive::CudaLive(const std::string& kernel_file, uint64_t interval_ns, uint64_t now_ns)
    : tail_(kernel_file),
      since_(local_time()),
      interval_ns_(interval_ns),
      next_read_ns_(now_ns),
      next_show_ns_(now_ns + interval_ns) {}

void CudaLive::pass(uint64_t now_ns) {
  if (!is_shown_ || now_ns < next_read_ns_) return;
  const bool has_more = tail_.read([this](const decode::KernelReader& record) { memory_.add(record); });
  next_read_ns_ = has_more ? now_ns : now_ns + kReadNs;
  if (now_ns < next_show_ns_) return keep_shown(screen_.go_on());
  next_show_ns_ = now_ns + interval_ns_;
  keep_shown(screen_.show(memory_.table(heading(now_ns))));
}

// If the spool is full, the table looks as if processes were idle. The age of the newest record shows which it is.
std::string CudaLive::heading(uint64_t now_ns) const {
  const uint64_t newest_ns = memory_.newest_ns();
  const std::string age =
      newest_ns == 0 ? "none yet" : fmt::format("{} s ago", (now_ns - std::min(newest_ns, now_ns)) / util::kNsPerS);
  return fmt::format("{}  GPU memory asked for since {}  newest record: {}", local_time(), since_, age);
}

// After a failed write, or when the reader has closed the output, the table is shown no more; recording continues.
void CudaLive::keep_shown(const Result<bool>& shown) {
  if (!shown) util::say("--live: " + shown.error().text);
  is_shown_ = shown && *shown;
}

}  // namespace mlrun::monitor
