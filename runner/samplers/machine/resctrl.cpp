// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth by resctrl (Linux 4.14; Intel MBM, AMD QoS): bytes that each L3 domain moved in total, and bytes from
// and to memory of its own socket. Sums over the default group and all control groups, so they are those of the machine.
#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "runner/samplers/machine/bandwidth_reader.h"
#include "runner/samplers/proc/proc_file.h"

namespace mlrun::machine {

namespace {

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Resctrl : public BandwidthReader {
 public:
  explicit Resctrl(const std::string& top) {
    add_group(top);
    for (const std::string& name : folders_in(top)) {
      if (name != "info" && name != "mon_groups" && name != "mon_data") add_group(top + "/" + name);
    }
  }

  [[nodiscard]] bool works() const { return !counters_.empty(); }

  bool read(uint64_t /*now_ns*/, std::vector<BandwidthReading>& readings) override {
    std::map<int32_t, BandwidthReading> domains;
    for (const Counter& counter : counters_) {
      std::array<char, 64> room;
      uint64_t bytes = 0;
      // "Unavailable": the hardware has no value yet. This sample is then skipped; a later one has the value.
      const std::string_view text = counter.file.read(room.data(), room.size());
      if (std::from_chars(text.data(), text.data() + text.size(), bytes).ec != std::errc()) return false;
      int64_t& value = domains[counter.domain].values[counter.field];
      value = (value == MLRUN_NOT_KNOWN ? 0 : value) + static_cast<int64_t>(bytes);
    }
    for (auto& [domain, reading] : domains) {
      reading.kind = MLRUN_BANDWIDTH_ALL;
      reading.socket = domain;
      readings.push_back(reading);
    }
    return !readings.empty();
  }
  [[nodiscard]] mlrun_bandwidth_source source() const override { return MLRUN_BANDWIDTH_RESCTRL; }
  [[nodiscard]] std::string text() const override {
    return "bytes of each L3 domain, without reads and writes apart and without channels";
  }

 private:
  struct Counter {
    int32_t domain;
    mlrun_bandwidth_field field;
    proc::ProcFile file;
  };

  void add_group(const std::string& group) {
    constexpr std::string_view kDomain = "mon_L3_";
    const std::string data = group + "/mon_data/";
    for (const std::string& name : folders_in(data)) {
      int32_t domain = 0;
      if (!name.starts_with(kDomain)) continue;
      std::from_chars(name.data() + kDomain.size(), name.data() + name.size(), domain);
      add(domain, MLRUN_BANDWIDTH_TOTAL_BYTES, data + name + "/mbm_total_bytes");
      add(domain, MLRUN_BANDWIDTH_LOCAL_BYTES, data + name + "/mbm_local_bytes");
    }
  }
  void add(int32_t domain, mlrun_bandwidth_field field, const std::string& path) {
    proc::ProcFile file(path);
    if (file.is_open()) counters_.push_back({domain, field, std::move(file)});
  }

  std::vector<Counter> counters_;
};

}  // namespace

OpenedReader open_resctrl(const Places& places) {
  const std::string top = places.sys + "/fs/resctrl";
  if (folders_in(top).empty())
    return fail("not mounted, or the processor does not support it (mount -t resctrl resctrl " + top + ")");
  auto reader = std::make_unique<Resctrl>(top);
  if (!reader->works()) return fail("no readable mbm_total_bytes below " + top);
  return reader;
}

}  // namespace mlrun::machine
