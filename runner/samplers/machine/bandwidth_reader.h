// SPDX-License-Identifier: Apache-2.0
// Interface of the four mechanisms that read memory bandwidth; bandwidth_source chooses among them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/events/counter_sample.h"
#include "runner/samplers/machine/source.h"
#include "runner/util/result.h"

namespace mlrun::machine {

// Totals since some fixed time, for a socket or for one of its channels.
struct BandwidthReading {
  mlrun_bandwidth_kind kind = MLRUN_BANDWIDTH_DRAM;
  int32_t socket = -1, channel = -1;  // -1: unknown; all channels
  std::array<int64_t, MLRUN_BANDWIDTH_FIELDS> values{MLRUN_NOT_KNOWN, MLRUN_NOT_KNOWN, MLRUN_NOT_KNOWN,
                                                     MLRUN_NOT_KNOWN};
};

class BandwidthReader {
 public:
  BandwidthReader() = default;
  virtual ~BandwidthReader() = default;
  BandwidthReader(const BandwidthReader&) = delete;
  BandwidthReader& operator=(const BandwidthReader&) = delete;

  // Reads the totals. False: there are no new ones since the previous call.
  virtual bool read(uint64_t now_ns, std::vector<BandwidthReading>& readings) = 0;
  // Why there will be no more readings; empty: they go on.
  [[nodiscard]] virtual std::string end() const { return {}; }
  [[nodiscard]] virtual mlrun_bandwidth_source source() const = 0;
  // What the mechanism reads, in a few words, for a remark; also what it could not read so far.
  [[nodiscard]] virtual std::string text() const = 0;
};

using OpenedReader = Result<std::unique_ptr<BandwidthReader>>;  // error: why it does not work here, in one line

OpenedReader open_uncore(const Places& places);
OpenedReader open_pcm_server(const Places& places);
OpenedReader open_pcm_memory(const Places& places);
OpenedReader open_resctrl(const Places& places);

}  // namespace mlrun::machine
