// SPDX-License-Identifier: Apache-2.0
// A rule turns one cause into a finding: a claim, a remedy, and what speaks against it. findings.cpp adds the numbers.
#pragma once

#include <string>
#include <vector>

#include "runner/findings/context.h"

namespace mlrun::findings {

struct Draft {
  std::string claim, remedy, against;
  std::vector<Cause> also = {};  // causes that the data cannot distinguish from this one
  double saved_ns = -1;          // upper limit of the saving; -1: all the time that the cause explains
};

Draft data_device(const Context& context);
Draft data_remote(const Context& context);
Draft data_transform_cpu(const Context& context);
Draft data_serialisation(const Context& context);
Draft data_lock(const Context& context);
Draft data_slow_worker(const Context& context);
Draft data_in_driver(const Context& context);
Draft python_lock(const Context& context);
Draft timer(const Context& context);
Draft page_cache_miss(const Context& context);
Draft reread(const Context& context);
Draft small_requests(const Context& context);
Draft small_files(const Context& context);
Draft random_requests(const Context& context);
Draft metadata(const Context& context);
Draft worker_startup(const Context& context);
Draft loader_end(const Context& context);
Draft checkpoint(const Context& context);
Draft logging(const Context& context);
Draft oversubscription(const Context& context);
Draft allocation(const Context& context);
Draft rank_skew(const Context& context);
Draft remote_call(const Context& context);
Draft compute_bound(const Context& context);
Draft not_followed(const Context& context);

// Texts that several rules use.
[[nodiscard]] std::string at_line(const Context& context, Cause cause);  // " at train.py:12 f", or empty
[[nodiscard]] std::string workers_text(const Context& context);  // "4 workers, busy 98, 97, 97 and 96 % of that time"
// Whether more workers would help, by the number of idle processors; empty: unknown.
[[nodiscard]] std::string more_workers(const Context& context);
[[nodiscard]] std::string reads_text(const Context& context);  // "40,661 reads of 8.00 KiB on average"
// The program that the driver ran and waited for, as "120 times nvidia-smi"; empty unless one program, run three times or more, has more than
// half of the cause's time.
[[nodiscard]] std::string commands_text(const Context& context, Cause cause);
// Number of workers that were started after the training had its first batch.
[[nodiscard]] int64_t later_workers(const Context& context);
// The thread with most of the cause's time, as "DataLoader worker (1234)".
[[nodiscard]] std::string who(const Context& context, Cause cause);

}  // namespace mlrun::findings
