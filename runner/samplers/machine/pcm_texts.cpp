// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/pcm_texts.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "runner/samplers/proc/kernel_texts.h"

namespace mlrun::machine {

namespace {

constexpr double kMegabyte = 1e6;

// Splits at commas; keeps empty cells, unlike util::split.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const size_t comma = line.find(',');
    std::string_view cell = line.substr(0, comma);
    const size_t begin = cell.find_first_not_of(' '), end = cell.find_last_not_of(" \r");
    cells.push_back(begin == std::string_view::npos ? std::string_view() : cell.substr(begin, end - begin + 1));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::optional<int32_t> number_behind(std::string_view text, std::string_view lead) {
  const size_t at = text.find(lead);
  int32_t value = 0;
  if (at == std::string_view::npos) return {};
  const char* const first = text.data() + at + lead.size();
  if (std::from_chars(first, text.data() + text.size(), value).ec != std::errc()) return {};
  return value;
}

std::optional<double> decimal(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() ? std::nullopt : std::optional(value);
}

struct Meaning {
  mlrun_bandwidth_kind kind;
  mlrun_bandwidth_field field;
};

struct NamedMeaning {
  std::string_view name;
  Meaning meaning;
};

constexpr Meaning kDramRead{MLRUN_BANDWIDTH_DRAM, MLRUN_BANDWIDTH_READ_BYTES};
constexpr Meaning kDramWrite{MLRUN_BANDWIDTH_DRAM, MLRUN_BANDWIDTH_WRITTEN_BYTES};
constexpr Meaning kPmemRead{MLRUN_BANDWIDTH_PMEM, MLRUN_BANDWIDTH_READ_BYTES};
constexpr Meaning kPmemWrite{MLRUN_BANDWIDTH_PMEM, MLRUN_BANDWIDTH_WRITTEN_BYTES};
constexpr Meaning kCxlRead{MLRUN_BANDWIDTH_CXL, MLRUN_BANDWIDTH_READ_BYTES};
constexpr Meaning kCxlWrite{MLRUN_BANDWIDTH_CXL, MLRUN_BANDWIDTH_WRITTEN_BYTES};

constexpr NamedMeaning kMetrics[] = {{"DRAM_Reads", kDramRead},
                                     {"DRAM_Writes", kDramWrite},
                                     {"Persistent_Memory_Reads", kPmemRead},
                                     {"Persistent_Memory_Writes", kPmemWrite},
                                     {"CXL_Write_Mem", kCxlWrite}};
constexpr NamedMeaning kOfSocket[] = {{"Mem Read (MB/s)", kDramRead},
                                      {"Mem Write (MB/s)", kDramWrite},
                                      {"PMM_Read (MB/s)", kPmemRead},
                                      {"PMM_Write (MB/s)", kPmemWrite}};
// Meanings of the words that follow "Ch3", and of those that follow "CXL.mem_P0".
constexpr NamedMeaning kOfChannel[] = {
    {"Read", kDramRead}, {"Write", kDramWrite}, {"PMM_Read", kPmemRead}, {"PMM_Write", kPmemWrite}};
constexpr NamedMeaning kOfPort[] = {{"Read", kCxlRead}, {"Write", kCxlWrite}};

std::optional<Meaning> meaning_of(const auto& known, std::string_view name) {
  const auto* found =
      std::find_if(std::begin(known), std::end(known), [&](const NamedMeaning& one) { return one.name == name; });
  return found == std::end(known) ? std::nullopt : std::optional(found->meaning);
}

struct Heading {
  Meaning meaning;
  int32_t channel = -1;
};

// The meaning of a column name such as Ch0Read, CXL.mem_P0Write or "Mem Read (MB/s)".
std::optional<Heading> heading_of(std::string_view name) {
  if (const auto meaning = meaning_of(kOfSocket, name)) return Heading{*meaning};
  const bool is_port = name.starts_with("CXL.mem_P");
  const std::string_view lead = is_port ? "CXL.mem_P" : "Ch";
  if (!name.starts_with(lead)) return {};
  const auto channel = number_behind(name, lead);
  const std::string_view rest = name.substr(std::min(name.find_first_not_of("0123456789", lead.size()), name.size()));
  const auto meaning = is_port ? meaning_of(kOfPort, rest) : meaning_of(kOfChannel, rest);
  if (!channel || !meaning) return {};
  return Heading{*meaning, *channel};
}

size_t find_or_add(std::vector<BandwidthReading>& readings, mlrun_bandwidth_kind kind, int32_t socket,
                   int32_t channel) {
  for (size_t i = 0; i < readings.size(); ++i) {
    const BandwidthReading& one = readings[i];
    if (one.kind == kind && one.socket == socket && one.channel == channel) return i;
  }
  BandwidthReading added;
  added.kind = kind;
  added.socket = socket;
  added.channel = channel;
  readings.push_back(added);
  return readings.size() - 1;
}

}  // namespace

std::vector<BandwidthReading> parse_pcm_metrics(std::string_view text) {
  std::vector<BandwidthReading> readings;
  proc::for_each_line(text, [&](std::string_view line) {
    const size_t brace = line.find('{'), end = line.rfind('}');
    if (brace == std::string_view::npos || end == std::string_view::npos) return;
    const auto meaning = meaning_of(kMetrics, line.substr(0, brace));
    const std::string_view labels = line.substr(brace, end - brace);
    const auto socket = number_behind(labels, "socket=\"");
    const auto value = decimal(line.substr(end + 1));
    if (!meaning || !socket || !value) return;  // another metric; or the whole machine, which is the sum of its sockets
    BandwidthReading& reading = readings[find_or_add(readings, meaning->kind, *socket, -1)];
    reading.values[meaning->field] = static_cast<int64_t>(*value);
  });
  return readings;
}

void PcmCsv::read_headers(const std::vector<std::string_view>& names) {
  has_headers_ = true;
  for (size_t i = 0; i < names.size() && i < sockets_.size(); ++i) {
    const auto heading = heading_of(names[i]);
    const auto socket = number_behind(sockets_[i], "SKT");
    if (!heading || !socket) continue;
    // The columns with a socket's sum come after those of its channels, so these are known here.
    const bool is_sum = heading->channel < 0 && std::any_of(readings_.begin(), readings_.end(), [&](const auto& one) {
                          return one.kind == heading->meaning.kind && one.socket == *socket && one.channel >= 0;
                        });
    if (is_sum) continue;
    const size_t reading = find_or_add(readings_, heading->meaning.kind, *socket, heading->channel);
    columns_.push_back({reading, heading->meaning.field, i});
  }
}

bool PcmCsv::take(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  const std::vector<std::string_view> cells = cells_of(line);
  if (sockets_.empty()) {
    const bool is_first = std::any_of(cells.begin(), cells.end(), [](auto cell) { return cell.starts_with("SKT"); });
    if (is_first) sockets_.assign(cells.begin(), cells.end());
    return false;
  }
  if (!has_headers_) {
    read_headers(cells);
    return false;
  }
  bool any = false;
  for (BandwidthReading& reading : readings_) reading.values.fill(MLRUN_NOT_KNOWN);
  for (const Column& column : columns_) {
    const auto rate = column.place < cells.size() ? decimal(cells[column.place]) : std::nullopt;
    if (!rate || *rate < 0) continue;  // a channel without memory has no value
    readings_[column.reading].values[column.field] = static_cast<int64_t>(*rate * kMegabyte);
    any = true;
  }
  return any;
}

}  // namespace mlrun::machine
