// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/bandwidth_source.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace mlrun::machine {

namespace {

struct Mechanism {
  const char* name;
  OpenedReader (*open)(const Places&);
};
constexpr Mechanism kMechanisms[] = {{"uncore events of perf", open_uncore},
                                     {"pcm-sensor-server", open_pcm_server},
                                     {"pcm-memory", open_pcm_memory},
                                     {"resctrl", open_resctrl}};

}  // namespace

BandwidthSource::BandwidthSource(Places places) : places_(std::move(places)) { open_next(); }

// Opens the first mechanism that works of those that were not tried.
void BandwidthSource::open_next() {
  reader_.reset();
  has_read_ = false;
  while (!reader_ && tried_ < std::size(kMechanisms)) {
    const Mechanism& mechanism = kMechanisms[tried_++];
    OpenedReader opened = mechanism.open(places_);
    if (opened) {
      reader_ = *std::move(opened);
    } else {
      remarks_.push_back(
          fmt::format("bandwidth of memory cannot be read by {}: {}", mechanism.name, opened.error().text));
    }
  }
}

std::vector<std::string> BandwidthSource::remarks() const {
  std::vector<std::string> all = remarks_;
  if (reader_)
    all.push_back(fmt::format("bandwidth of memory by {}: {}", kMechanisms[tried_ - 1].name, reader_->text()));
  return all;
}

void BandwidthSource::sample(uint64_t now_ns, Batch& batch) {
  if (!reader_) return;
  readings_.clear();
  if (reader_->read(now_ns, readings_)) add_rows(now_ns, batch);
  const std::string end = reader_->end();
  if (end.empty()) return;
  remarks_.push_back(fmt::format("bandwidth of memory {} by {}: {}",
                                 has_read_ ? "was read for a time" : "cannot be read", kMechanisms[tried_ - 1].name,
                                 end));
  differences_ = decltype(differences_)(all_of<MLRUN_BANDWIDTH_FIELDS>(Counts::kTotal));  // others have other totals
  open_next();
}

void BandwidthSource::add_rows(uint64_t now_ns, Batch& batch) {
  has_read_ = true;
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
