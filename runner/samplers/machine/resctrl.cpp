// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth by resctrl (Linux 4.14; Intel MBM, AMD QoS): bytes that each L3 domain moved in total, and bytes from
// and to memory of its own socket. Sums over the default group and all control groups, so they are those of the machine.
// Groups are listed once a second: what a new one moves before that is not counted.
#include <dirent.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
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

// Totals are sums of what each file has grown by, so that a group that comes or goes changes no total.
class Resctrl : public BandwidthReader {
 public:
  explicit Resctrl(std::string top) : top_(std::move(top)) { list_groups(); }

  [[nodiscard]] bool works() const { return !counters_.empty(); }

  bool read(uint64_t now_ns, std::vector<BandwidthReading>& readings) override {
    if (now_ns >= next_list_ns_) {
      next_list_ns_ = now_ns + kListPauseNs;
      list_groups();
    }
    bool any = false;
    for (auto& [path, counter] : counters_) any = take(counter) || any;
    if (!any) return false;
    for (const auto& [domain, reading] : domains_) readings.push_back(reading);
    return true;
  }
  [[nodiscard]] std::string end() const override { return works() ? "" : top_ + " has no groups any more"; }
  [[nodiscard]] mlrun_bandwidth_source source() const override { return MLRUN_BANDWIDTH_RESCTRL; }
  [[nodiscard]] std::string text() const override {
    constexpr const char* kText = "bytes of each L3 domain; reads and writes are not separated, channels are unknown";
    if (gaps_ == 0) return kText;
    return fmt::format(
        "{}; {} readings of its files gave no number: the bytes are in later rows, or lost if the group was removed",
        kText, gaps_);
  }

 private:
  static constexpr uint64_t kListPauseNs = 1'000'000'000;

  struct Counter {
    int32_t domain;
    mlrun_bandwidth_field field;
    proc::ProcFile file;
    std::optional<uint64_t> before;
    bool is_gone = false;  // the file could not be read: its group was removed, perhaps to be made again
  };

  // Adds what the file has grown by. False: it has no number now ("Unavailable": the hardware has none yet), or is gone.
  bool take(Counter& counter) {
    std::array<char, 64> room;
    uint64_t bytes = 0;
    const std::string_view text = counter.file.read(room.data(), room.size());
    counter.is_gone = text.empty();
    if (std::from_chars(text.data(), text.data() + text.size(), bytes).ec != std::errc()) {
      ++gaps_;
      return false;
    }
    BandwidthReading& reading = domains_[counter.domain];
    reading.kind = MLRUN_BANDWIDTH_ALL;
    reading.socket = counter.domain;
    int64_t& total = reading.values[counter.field];
    if (total == MLRUN_NOT_KNOWN) total = 0;
    const uint64_t before = counter.before.value_or(bytes);
    total += static_cast<int64_t>(bytes >= before ? bytes - before : bytes);  // less: the group was made again
    counter.before = bytes;
    return true;
  }

  // Finds groups that were made, and forgets those that were removed.
  void list_groups() {
    std::map<std::string, Counter> known = std::exchange(counters_, {});
    add_group(top_, known);
    for (const std::string& name : folders_in(top_)) {
      if (name != "info" && name != "mon_groups" && name != "mon_data") add_group(top_ + "/" + name, known);
    }
  }
  void add_group(const std::string& group, std::map<std::string, Counter>& known) {
    constexpr std::string_view kDomain = "mon_L3_";
    const std::string data = group + "/mon_data/";
    for (const std::string& name : folders_in(data)) {
      int32_t domain = 0;
      if (!name.starts_with(kDomain)) continue;
      std::from_chars(name.data() + kDomain.size(), name.data() + name.size(), domain);
      add(domain, MLRUN_BANDWIDTH_TOTAL_BYTES, data + name + "/mbm_total_bytes", known);
      add(domain, MLRUN_BANDWIDTH_LOCAL_BYTES, data + name + "/mbm_local_bytes", known);
    }
  }
  void add(int32_t domain, mlrun_bandwidth_field field, const std::string& path,
           std::map<std::string, Counter>& known) {
    const auto old = known.find(path);
    Counter counter = old == known.end() ? Counter{domain, field, {}, {}} : std::move(old->second);
    if (!counter.file.is_open() || counter.is_gone) counter.file = proc::ProcFile(path);
    if (counter.file.is_open()) counters_.emplace(path, std::move(counter));
  }

  std::string top_;
  uint64_t next_list_ns_ = 0;
  std::map<std::string, Counter> counters_;  // by path
  std::map<int32_t, BandwidthReading> domains_;
  uint64_t gaps_ = 0;  // readings without a number
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
