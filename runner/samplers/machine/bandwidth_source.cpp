// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/bandwidth_source.h"

#include <utility>

#include <fmt/format.h>

namespace mlrun::machine {

namespace {

struct Way {
  const char* name;
  OpenedReader (*open)(const Places&);
};
constexpr Way kWays[] = {{"uncore events of perf", open_uncore},
                         {"pcm-sensor-server", open_pcm_server},
                         {"pcm-memory", open_pcm_memory},
                         {"resctrl", open_resctrl}};

}  // namespace

BandwidthSource::BandwidthSource(const Places& places) {
  for (const Way& way : kWays) {
    OpenedReader reader = way.open(places);
    if (!reader) {
      remarks_.push_back(fmt::format("bandwidth of memory cannot be read by {}: {}", way.name, reader.error().text));
      continue;
    }
    reader_ = *std::move(reader);
    remarks_.push_back(fmt::format("bandwidth of memory by {}: {}", way.name, reader_->text()));
    return;
  }
}

void BandwidthSource::sample(uint64_t now_ns, Batch& batch) {
  readings_.clear();
  if (!reader_ || !reader_->read(now_ns, readings_)) return;
  differences_.begin(now_ns);
  for (const BandwidthReading& reading : readings_) {
    mlrun_bandwidth_sample sample{};
    sample.source = reader_->source();
    sample.kind = reading.kind;
    sample.socket = reading.socket;
    sample.channel = reading.channel;
    if (differences_.step({reading.kind, reading.socket, reading.channel}, reading.values, sample))
      batch.add(MLRUN_SAMPLE_BANDWIDTH, sample);
  }
  differences_.end();
}

}  // namespace mlrun::machine
