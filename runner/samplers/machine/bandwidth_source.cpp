// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/bandwidth_source.h"

#include <utility>

#include <fmt/format.h>

namespace mlrun::machine {

namespace {

constexpr BandwidthMechanism kMechanisms[] = {{"uncore events of perf", open_uncore},
                                              {"pcm-sensor-server", open_pcm_server, true},
                                              {"pcm-memory", open_pcm_memory},
                                              {"resctrl", open_resctrl}};
constexpr const char* kAll = "memory";
constexpr const char* kBesides = "PMEM and CXL";

}  // namespace

std::span<const BandwidthMechanism> bandwidth_mechanisms() { return kMechanisms; }

BandwidthSource::BandwidthSource(Places places, std::span<const BandwidthMechanism> mechanisms)
    : places_(std::move(places)), mechanisms_(mechanisms) {
  open_next();
}

// Opens the first mechanism that works of those that were not tried.
void BandwidthSource::open_next() {
  main_ = Used();
  besides_ = Used();
  while (!main_.reader && tried_ < mechanisms_.size()) open(main_, mechanisms_[tried_++], kAll);
  if (main_.reader && main_.reader->source() == MLRUN_BANDWIDTH_UNCORE) open_besides();
}

void BandwidthSource::open_besides() {
  for (const BandwidthMechanism& mechanism : mechanisms_) {
    if (mechanism.is_besides && open(besides_, mechanism, kBesides)) return;
  }
}

bool BandwidthSource::open(Used& used, const BandwidthMechanism& mechanism, const char* what) {
  OpenedReader opened = mechanism.open(places_);
  if (!opened) {
    remarks_.push_back(
        fmt::format("bandwidth of {} cannot be read by {}: {}", what, mechanism.name, opened.error().text));
    return false;
  }
  used.name = mechanism.name;
  used.reader = *std::move(opened);
  return true;
}

std::vector<std::string> BandwidthSource::remarks() const {
  std::vector<std::string> all = remarks_;
  if (main_.reader) all.push_back(fmt::format("bandwidth of {} by {}: {}", kAll, main_.name, main_.reader->text()));
  if (besides_.reader)
    all.push_back(fmt::format("bandwidth of {} by {}: {}", kBesides, besides_.name, besides_.reader->text()));
  return all;
}

void BandwidthSource::sample(uint64_t now_ns, Batch& batch) {
  if (!read(main_, now_ns, batch)) open_next();
  read(besides_, now_ns, batch);
}

// False: the mechanism has ended.
bool BandwidthSource::read(Used& used, uint64_t now_ns, Batch& batch) {
  if (!used.reader) return true;
  readings_.clear();
  if (used.reader->read(now_ns, readings_)) add_rows(used, now_ns, batch);
  const std::string end = used.reader->end();
  if (end.empty()) return true;
  remarks_.push_back(fmt::format("bandwidth of {} {} by {}: {}", &used == &main_ ? kAll : kBesides,
                                 used.has_read ? "was read for a time" : "cannot be read", used.name, end));
  used = Used();  // another mechanism has other totals
  return false;
}

void BandwidthSource::add_rows(Used& used, uint64_t now_ns, Batch& batch) {
  used.has_read = true;
  used.differences.begin(now_ns);
  for (const BandwidthReading& reading : readings_) {
    const bool is_of_main = reading.kind != MLRUN_BANDWIDTH_PMEM && reading.kind != MLRUN_BANDWIDTH_CXL;
    if (&used == &besides_ && is_of_main) continue;
    mlrun_bandwidth_sample sample{};
    sample.source = used.reader->source();
    sample.kind = reading.kind;
    sample.socket = reading.socket;
    sample.channel = reading.channel;
    if (used.differences.step({reading.kind, reading.socket, reading.channel}, reading.values, sample))
      batch.add(MLRUN_SAMPLE_BANDWIDTH, sample);
  }
  used.differences.end();
}

}  // namespace mlrun::machine
