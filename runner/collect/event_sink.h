// SPDX-License-Identifier: Apache-2.0
// Consumes the events of a recording that stores no events (--summary-only). The spool then gets only the records and
// frames that the sink passes on. One thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/events/spool.h"
#include "runner/util/result.h"

namespace mlrun::collect {

class EventSink {
 public:
  virtual ~EventSink() = default;

  // Takes the records of a data frame; appends to `kept` those that go into the spool. The payload is in memory that
  // every traced process can write.
  virtual void take_records(const mlrun_frame& header, const char* payload, uint32_t bytes,
                            std::vector<char>& kept) = 0;

  // Takes a frame of any type but data. True: the frame also goes into the spool.
  [[nodiscard]] virtual bool take_report(const mlrun_frame& header, const char* payload, uint32_t bytes) = 0;

  // Records taken so far.
  [[nodiscard]] virtual uint64_t records() const = 0;

  // To be called when a pass of the collector has ended. `clock`: when the pass began, on the channels' clock; UINT64_MAX
  // after the last pass.
  virtual void end_pass(uint64_t now_ns, uint64_t clock) = 0;

  // Writes the sink's state to its file, atomically.
  virtual Status save() = 0;
};

}  // namespace mlrun::collect
