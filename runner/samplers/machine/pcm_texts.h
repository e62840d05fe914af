// SPDX-License-Identifier: Apache-2.0
// Parses the two texts of Intel PCM that have memory bandwidth, as its sources write them (2025). Columns are found by
// their headers, so texts of versions with more or fewer columns can be read too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/samplers/machine/bandwidth_reader.h"

namespace mlrun::machine {

// pcm-sensor-server, /metrics: totals in bytes since the server was started:
//
//   DRAM_Reads{socket="0",source="uncore"} 123456
//   Persistent_Memory_Writes{socket="0",source="uncore"} 0
//   CXL_Write_Mem{socket="1",source="uncore"} 0
std::vector<BandwidthReading> parse_pcm_metrics(std::string_view text);

// pcm-memory -csv: two lines of headers, then one line for each interval, in MB/s (10^6 bytes):
//
//   ,,SKT0,SKT0,...,SKT0,SKT0,...,System,System,System
//   Date,Time,Ch0Read,Ch0Write,...,Mem Read (MB/s),Mem Write (MB/s),...,Read,Write,Memory
//   2025-11-26,10:00:01,   12.34,    5.67,...
class PcmCsv {
 public:
  // Takes a line. True: it was a line of values; readings() has them in bytes per second.
  bool take(std::string_view line);
  // Headers of which at least one is known have come.
  [[nodiscard]] bool has_columns() const { return !columns_.empty(); }
  [[nodiscard]] const std::vector<BandwidthReading>& readings() const { return readings_; }

 private:
  struct Column {
    size_t reading;  // index into readings_
    mlrun_bandwidth_field field;
    size_t place;
  };
  void read_headers(const std::vector<std::string_view>& names);

  std::vector<std::string> sockets_;  // words of the first line of headers
  bool has_headers_ = false;
  std::vector<Column> columns_;
  std::vector<BandwidthReading> readings_;
};

}  // namespace mlrun::machine
