// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth by uncore events of perf. Not tested on hardware.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "runner/samplers/machine/bandwidth_reader.h"
#include "runner/samplers/machine/uncore_events.h"
#include "runner/util/file_io.h"
#include "runner/util/unique_fd.h"

namespace mlrun::machine {

namespace {

int32_t socket_of(const Places& places, uint32_t cpu) {
  const std::string text =
      util::read_text(fmt::format("{}/devices/system/cpu/cpu{}/topology/physical_package_id", places.sys, cpu), 64);
  int32_t socket = -1;
  std::from_chars(text.data(), text.data() + text.size(), socket);
  return socket;
}

class Uncore : public BandwidthReader {
 public:
  // Returns the errno of the first event that could not be opened; 0: all events are open.
  int open(const Places& places, const std::vector<UncoreEvent>& events) {
    for (const UncoreEvent& event : events) {
      for (const uint32_t cpu : event.cpus) {
        perf_event_attr attr{};
        attr.size = sizeof attr;
        attr.type = event.type;
        attr.config = event.config;
        attr.config1 = event.config1;
        attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        util::UniqueFd fd(static_cast<int>(::syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
        if (!fd.valid()) return errno;
        counters_.push_back({std::move(fd), socket_of(places, cpu), event, {}});
      }
    }
    return 0;
  }

  bool read(uint64_t /*now_ns*/, std::vector<BandwidthReading>& readings) override {
    ChannelSums channels;
    for (Counter& counter : counters_) {
      CounterReading got;
      const bool is_read = ::read(counter.fd.get(), &got, sizeof got) == sizeof got;
      channels.add(counter.socket, counter.event, is_read ? counter.count.add(got) : std::nullopt);
    }
    readings = channels.readings();
    return !readings.empty();
  }
  [[nodiscard]] mlrun_bandwidth_source source() const override { return MLRUN_BANDWIDTH_UNCORE; }
  [[nodiscard]] std::string text() const override {
    return fmt::format("reads and writes of DRAM, {} counters; neither PMEM nor CXL", counters_.size());
  }

 private:
  struct Counter {
    util::UniqueFd fd;
    int32_t socket;
    UncoreEvent event;
    ScaledCount count;
  };
  std::vector<Counter> counters_;
};

// Why there are no events.
std::string why_none(const std::string& devices) {
  if (!units_with(devices, "uncore_imc").empty())
    return "the kernel names no events that count reads and writes of the memory controllers (uncore_imc)";
  for (const char* amd : {"amd_umc", "amd_df"}) {  // since Zen 4; before
    if (const auto units = units_with(devices, amd); !units.empty())
      return fmt::format("mlrun reads Intel's memory controllers (uncore_imc) alone, and this is an AMD processor ({})",
                         units.front());
  }
  return "the kernel shows no memory controller (uncore_imc) here, as in most virtual machines";
}

}  // namespace

OpenedReader open_uncore(const Places& places) {
  const std::string devices = places.sys + "/bus/event_source/devices";
  const auto events = find_uncore_events(devices);
  if (events.empty()) return fail(why_none(devices));
  auto reader = std::make_unique<Uncore>();
  if (const int error = reader->open(places, events); error != 0) {
    return fail(fmt::format("{} refused ({}): needs CAP_PERFMON, or kernel.perf_event_paranoid=0", events.front().unit,
                            std::strerror(error)));
  }
  return reader;
}

}  // namespace mlrun::machine
