// SPDX-License-Identifier: Apache-2.0
// Writes a trace folder as mlrun leaves it behind, spool.bin and session.json, for tests of the merger. In memory, so
// that a test can damage it before it is written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/events/spool.h"
#include "tests/runner/trace/record_buffer.h"

namespace mlrun::testing {

// A clock of 2.5 ticks per nanosecond that says 0 when CLOCK_MONOTONIC says kStartNs.
inline constexpr uint64_t kStartNs = 1'000'000'000'000, kRealtimeOffsetNs = 1'700'000'000'000'000'000;
constexpr uint64_t ticks_at(uint64_t ns_since_start) { return ns_since_start * 5 / 2; }

struct ChannelFacts {
  uint64_t serial = 1;
  uint32_t pid = 100, tid = 100, host_pid = 0, host_tid = 0;  // host: the same
  uint32_t process = 1, image = 1;
  uint64_t pid_namespace = 77, start_ticks = 500;
  uint32_t clock_kind = MLRUN_CLOCK_TSC;
};

class SpoolWriter {
 public:
  SpoolWriter();

  // A frame of any kind; the sequence number is the channel's next one unless `seq` says otherwise.
  void add_frame(mlrun_frame_type type, uint64_t channel, const void* payload, size_t bytes, uint8_t lap = 0,
                 uint32_t lost = 0, int64_t seq = -1);

  void add_channel(const ChannelFacts& channel);
  void add_anchor(uint64_t ns_since_start, int64_t error_ns = 0, uint64_t width_ticks = 100);
  // The records, and an empty buffer for the next ones.
  void add_data(uint64_t channel, RecordBuffer& records, uint32_t lost = 0, int64_t seq = -1);
  void add_counters(uint64_t channel, uint64_t ns_since_start, const std::vector<mlrun_counter_entry>& entries,
                    bool final = false, const std::vector<uint64_t>& drops = {});
  void add_gap(uint64_t channel, mlrun_gap_reason reason, uint64_t first_ns, uint64_t last_ns, uint64_t count);
  void add_process_text(uint64_t ns_since_start, const nlohmann::json& text);

  // What frames added from now on say about the time of the collector's pass.
  void pass_at(uint64_t ns_since_start) { pass_ns_ = ns_since_start; }

  nlohmann::json& session() { return session_; }
  std::string& bytes() { return bytes_; }

  void write(const std::string& trace_folder) const;

 private:
  void append(mlrun_frame header, const void* payload);
  void begin_chunk();

  std::string bytes_;
  nlohmann::json session_;
  std::map<uint64_t, uint64_t> next_seq_;
  uint64_t pass_ns_ = 0;
};

}  // namespace mlrun::testing
