// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth per socket and channel, by the first mechanism that works on this machine: uncore events of perf,
// Intel PCM's server, pcm-memory, resctrl. remarks() names it, and says why the previous ones cannot be used. A mechanism
// that ends during the run (a program that exits, a server that stops) is followed by the next one that works. Uncore
// events see DRAM alone: PMEM and CXL come from PCM's server besides, where it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "runner/samplers/machine/bandwidth_reader.h"
#include "runner/samplers/machine/differences.h"

namespace mlrun::machine {

struct BandwidthMechanism {
  const char* name;
  OpenedReader (*open)(const Places&);
  bool is_besides = false;  // may also read PMEM and CXL beside uncore events: it programs no counters for mlrun
};
// In the order in which they are tried.
std::span<const BandwidthMechanism> bandwidth_mechanisms();

class BandwidthSource : public Source {
 public:
  explicit BandwidthSource(Places places, std::span<const BandwidthMechanism> mechanisms = bandwidth_mechanisms());
  void sample(uint64_t now_ns, Batch& batch) override;
  [[nodiscard]] std::vector<std::string> remarks() const override;

 private:
  using Key = std::tuple<uint32_t, int32_t, int32_t>;  // kind, socket, channel
  struct Used {
    const char* name = "";
    std::unique_ptr<BandwidthReader> reader;
    bool has_read = false;  // reader has given readings
    Differences<Key, mlrun_bandwidth_sample> differences{all_of<MLRUN_BANDWIDTH_FIELDS>(Counts::kTotal)};
  };
  void open_next();
  void open_besides();
  bool open(Used& used, const BandwidthMechanism& mechanism, const char* what);
  bool read(Used& used, uint64_t now_ns, Batch& batch);
  void add_rows(Used& used, uint64_t now_ns, Batch& batch);

  Places places_;
  std::span<const BandwidthMechanism> mechanisms_;
  size_t tried_ = 0;                  // number of mechanisms
  Used main_, besides_;               // besides_: PMEM and CXL, if main_ sees DRAM alone
  std::vector<std::string> remarks_;  // about mechanisms that cannot be used, or not any more
  std::vector<BandwidthReading> readings_;
};

}  // namespace mlrun::machine
