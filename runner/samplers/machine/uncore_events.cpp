// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/uncore_events.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::machine {

namespace {

struct Named {
  const char* event;
  mlrun_bandwidth_field field;
};
// cas_count_*: server processors, since Granite Rapids and Sierra Forest for each of the two halves of a channel (sch0, sch1). data_*:
// client processors, and units that count without being programmed.
constexpr Named kNamed[] = {
    {"cas_count_read", MLRUN_BANDWIDTH_READ_BYTES},      {"cas_count_write", MLRUN_BANDWIDTH_WRITTEN_BYTES},
    {"cas_count_read_sch0", MLRUN_BANDWIDTH_READ_BYTES}, {"cas_count_write_sch0", MLRUN_BANDWIDTH_WRITTEN_BYTES},
    {"cas_count_read_sch1", MLRUN_BANDWIDTH_READ_BYTES}, {"cas_count_write_sch1", MLRUN_BANDWIDTH_WRITTEN_BYTES},
    {"data_reads", MLRUN_BANDWIDTH_READ_BYTES},          {"data_writes", MLRUN_BANDWIDTH_WRITTEN_BYTES},
    {"data_read", MLRUN_BANDWIDTH_READ_BYTES},           {"data_write", MLRUN_BANDWIDTH_WRITTEN_BYTES}};

// Bytes per count, from scale and unit: "6.103515625e-5" and "MiB" are 64 bytes.
double bytes_of(const std::string& scale, std::string_view unit) {
  const double factor = std::strtod(scale.c_str(), nullptr);
  if (unit == "MiB") return factor * (1 << 20);
  if (unit == "Bytes" || unit == "bytes") return factor;
  return 0;
}

int32_t last_number_of(std::string_view name) {
  const size_t at = name.rfind('_');
  int32_t value = -1;
  if (at != std::string_view::npos) std::from_chars(name.data() + at + 1, name.data() + name.size(), value);
  return value;
}

std::string text_of(const std::string& path) { return std::string(util::trimmed(util::read_line(path))); }

// Words of an event's terms, "event=0x04,umask=0x03". nullopt: the unit has no such term.
std::optional<EventWords> event_words(std::string_view terms, const std::string& format_folder) {
  EventWords words;
  for (const std::string_view term : util::split(terms, ",")) {
    const size_t equals = term.find('=');
    const std::string name(term.substr(0, equals));
    const uint64_t value = equals == std::string_view::npos ? 1 : number_of_term(term.substr(equals + 1));
    if (!put_bits(text_of(format_folder + name), value, words)) return {};
  }
  return words;
}

}  // namespace

uint64_t number_of_term(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  return util::leading_number<uint64_t>(text.substr(is_hex ? 2 : 0), is_hex ? 16 : 10);
}

bool put_bits(std::string_view format, uint64_t value, EventWords& words) {
  const size_t colon = format.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view word = format.substr(0, colon);
  if (word != "config" && word != "config1") return false;
  uint64_t& into = word == "config" ? words.config : words.config1;
  const auto bits = util::parse_id_list(format.substr(colon + 1));
  if (!bits || bits->back() > 63) return false;
  for (const uint32_t bit : *bits) {
    into |= (value & 1) << bit;
    value >>= 1;
  }
  return true;
}

std::optional<double> ScaledCount::add(const CounterReading& now) {
  const uint64_t running_ns = now.running_ns - before_.running_ns;
  if (running_ns == 0) return std::nullopt;
  const double share = static_cast<double>(now.enabled_ns - before_.enabled_ns) / static_cast<double>(running_ns);
  total_ += static_cast<double>(now.count - before_.count) * share;
  before_ = now;
  return total_;
}

void ChannelSums::add(int32_t socket, const UncoreEvent& event, std::optional<double> total) {
  const auto [known, is_new] = channels_.try_emplace({socket, event.channel});
  BandwidthReading& reading = known->second;
  if (is_new) {
    reading.socket = socket;
    reading.channel = event.channel;
  }
  auto& parts = parts_[{socket, event.channel, event.field}];
  parts.all = parts.all && total.has_value();
  parts.bytes += total.value_or(0) * event.bytes_per_count;
  reading.values[event.field] = parts.all ? static_cast<int64_t>(parts.bytes) : MLRUN_NOT_KNOWN;
}

std::vector<BandwidthReading> ChannelSums::readings() const {
  std::vector<BandwidthReading> list;
  for (const auto& [key, reading] : channels_) {
    const bool is_known = std::any_of(reading.values.begin(), reading.values.end(),
                                      [](int64_t value) { return value != MLRUN_NOT_KNOWN; });
    if (is_known) list.push_back(reading);
  }
  return list;
}

std::vector<std::string> units_with(const std::string& devices, std::string_view prefix) {
  std::vector<std::string> units;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(devices.c_str()), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    if (std::string_view(entry->d_name).starts_with(prefix)) units.emplace_back(entry->d_name);
  }
  std::sort(units.begin(), units.end());
  return units;
}

std::vector<UncoreEvent> find_uncore_events(const std::string& devices) {
  std::vector<UncoreEvent> events;
  for (const std::string& unit : units_with(devices, "uncore_imc")) {
    const std::string folder = devices + "/" + unit + "/";
    for (const Named& named : kNamed) {
      const std::string path = folder + "events/" + named.event;
      const std::string terms = text_of(path);
      const auto words = terms.empty() ? std::nullopt : event_words(terms, folder + "format/");
      if (!words) continue;
      UncoreEvent event;
      event.unit = unit;
      event.type = static_cast<uint32_t>(number_of_term(text_of(folder + "type")));
      event.config = words->config;
      event.config1 = words->config1;
      event.cpus = util::read_id_list(folder + "cpumask");
      event.bytes_per_count = bytes_of(text_of(path + ".scale"), text_of(path + ".unit"));
      event.field = named.field;
      event.channel = last_number_of(unit);
      if (event.bytes_per_count > 0 && !event.cpus.empty()) events.push_back(std::move(event));
    }
  }
  // Units that count without being programmed see the same traffic as programmable units. Only one kind may be used.
  const auto counts_itself = [](const UncoreEvent& event) {
    return event.unit.find("free_running") != std::string::npos;
  };
  const bool has_both = std::any_of(events.begin(), events.end(), counts_itself) &&
                        !std::all_of(events.begin(), events.end(), counts_itself);
  if (has_both) std::erase_if(events, counts_itself);
  return events;
}

}  // namespace mlrun::machine
