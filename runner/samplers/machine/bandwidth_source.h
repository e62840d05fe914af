// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth per socket and channel, by the first mechanism that works on this machine: uncore events of perf,
// Intel PCM's server, pcm-memory, resctrl. remarks() names it, and says why the previous ones cannot be used. A mechanism
// that ends during the run (a program that exits, a server that stops) is followed by the next one that works.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "runner/samplers/machine/bandwidth_reader.h"
#include "runner/samplers/machine/differences.h"

namespace mlrun::machine {

class BandwidthSource : public Source {
 public:
  explicit BandwidthSource(Places places);
  void sample(uint64_t now_ns, Batch& batch) override;
  [[nodiscard]] std::vector<std::string> remarks() const override;

 private:
  using Key = std::tuple<uint32_t, int32_t, int32_t>;  // kind, socket, channel
  void open_next();
  void add_rows(uint64_t now_ns, Batch& batch);

  Places places_;
  size_t tried_ = 0;  // number of mechanisms; the last of them is that of reader_
  std::unique_ptr<BandwidthReader> reader_;
  bool has_read_ = false;             // reader_ has given readings
  std::vector<std::string> remarks_;  // about the mechanisms before that of reader_
  std::vector<BandwidthReading> readings_;
  Differences<Key, mlrun_bandwidth_sample> differences_{all_of<MLRUN_BANDWIDTH_FIELDS>(Counts::kTotal)};
};

}  // namespace mlrun::machine
