// SPDX-License-Identifier: Apache-2.0
// Who takes the events of a recording that keeps none (--summary-only): it stands before the spool, which then gets only
// what the sink leaves over. One thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/events/spool.h"
#include "runner/util/result.h"

namespace mlrun::collect {

class EventSink {
 public:
  virtual ~EventSink() = default;

  // Takes the records of a data frame; appends those to `kept` that go into the spool nevertheless. The payload lies in
  // memory that every traced process can write.
  virtual void take_records(const mlrun_frame& header, const char* payload, uint32_t bytes,
                            std::vector<char>& kept) = 0;

  // A frame of another type. True: it goes into the spool.
  [[nodiscard]] virtual bool take_report(const mlrun_frame& header, const char* payload, uint32_t bytes) = 0;

  // Records taken so far.
  [[nodiscard]] virtual uint64_t records() const = 0;

  // A pass of the collector is over. `clock`: when it began, on the clock of the channels.
  virtual void end_pass(uint64_t now_ns, uint64_t clock) = 0;

  // Writes what was taken, as a whole or not at all.
  virtual Status save() = 0;
};

}  // namespace mlrun::collect
