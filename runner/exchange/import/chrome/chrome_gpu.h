// SPDX-License-Identifier: Apache-2.0
// Events of PyTorch's profiler (Kineto) and of rocprofiler that are GPU work or calls of CUDA or HIP become rows of the gpu_* tables.
// Arguments that these tables have no columns for go to import_event, with the same time and correlation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runner/exchange/import/chrome/chrome_event.h"
#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

class ChromeGpu {
 public:
  explicit ChromeGpu(TraceMaker& to) : to_(to) {}

  // Adds an X event that has a duration. Sets `taken` if it was GPU work or a call, and is now in the trace. `join`: the number of its file.
  Status add(const ChromeEvent& event, int64_t ts_ns, int64_t dur_ns, uint32_t join, bool& taken);

 private:
  struct Fields;
  bool read(const ChromeEvent& event, Fields& fields);
  static bool find_kind(const ChromeEvent& event, const Fields& fields, model::GpuWorkRow& row);
  void place(const ChromeEvent& event, const Fields& fields, int64_t ts_ns, model::GpuWorkRow& row);
  static void set_detail(const ChromeEvent& event, const Fields& fields, model::GpuWorkRow& row);
  Status add_rest(const ChromeEvent& event, std::string rest, const model::GpuWorkRow& row);

  TraceMaker& to_;
  JsonMembers members_;
};

// CUPTI's number of the kind of copy in a name or kind ("HtoD", "Memcpy HtoD (Pageable -> Device)"); 0: unknown.
[[nodiscard]] uint32_t copy_kind(std::string_view text);

}  // namespace mlrun::exchange
