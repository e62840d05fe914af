// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/trace/spool_writer.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "runner/util/crc32c.h"

namespace mlrun::testing {

SpoolWriter::SpoolWriter()
    : session_({{"schema_version", 1},
                {"command", {"./program"}},
                {"cwd", "/"},
                {"mllog", nlohmann::json::array()},
                {"options", {{"alloc_min_bytes", 1024}, {"streams", {"files", "marks"}}}},
                {"clock", {{"kind", "tsc"}}},
                {"wait_status", 0}}) {}

void SpoolWriter::append(mlrun_frame header, const void* payload) {
  header.magic = MLRUN_SPOOL_MAGIC;
  header.version = MLRUN_SPOOL_VERSION;
  header.crc32c = 0;
  const size_t begin = bytes_.size();
  bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
  bytes_.append(static_cast<const char*>(payload), header.payload_bytes);
  header.crc32c = util::crc32c(0, bytes_.data() + begin, bytes_.size() - begin);
  std::memcpy(bytes_.data() + begin, &header, sizeof header);
  bytes_.resize((bytes_.size() + MLRUN_FRAME_ALIGN - 1) / MLRUN_FRAME_ALIGN * MLRUN_FRAME_ALIGN);
}

void SpoolWriter::add_frame(mlrun_frame_type type, uint64_t channel, const void* payload, size_t bytes, uint8_t lap,
                            uint32_t lost, int64_t seq) {
  const size_t used = bytes_.size() % MLRUN_SPOOL_CHUNK_BYTES;
  const size_t needed = 2 * sizeof(mlrun_frame) + bytes + MLRUN_FRAME_ALIGN;  // a pad behind it as well
  if (used == 0 || MLRUN_SPOOL_CHUNK_BYTES - used < needed) begin_chunk();
  mlrun_frame header{};
  header.type = type;
  header.payload_bytes = static_cast<uint32_t>(bytes);
  header.channel = channel;
  header.seq = seq >= 0 ? static_cast<uint64_t>(seq) : next_seq_[channel]++;
  header.first = header.last = ticks_at(pass_ns_);
  header.lap = lap;
  header.lost = lost;
  append(header, payload);
}

void SpoolWriter::begin_chunk() {
  const size_t chunks = (bytes_.size() + MLRUN_SPOOL_CHUNK_BYTES - 1) / MLRUN_SPOOL_CHUNK_BYTES;
  if (bytes_.size() % MLRUN_SPOOL_CHUNK_BYTES != 0) {
    mlrun_frame pad{};
    pad.type = MLRUN_FRAME_PAD;
    append(pad, nullptr);
    bytes_.resize(chunks * MLRUN_SPOOL_CHUNK_BYTES);
  }
  const mlrun_frame_index index{chunks, kStartNs + pass_ns_};
  mlrun_frame header{};
  header.type = MLRUN_FRAME_INDEX;
  header.payload_bytes = sizeof index;
  append(header, &index);
}

void SpoolWriter::add_channel(const ChannelFacts& channel) {
  mlrun_frame_channel about{};
  about.pid = channel.pid;
  about.tid = channel.tid;
  about.host_pid = channel.host_pid != 0 ? channel.host_pid : channel.pid;
  about.host_tid = channel.host_tid != 0 ? channel.host_tid : channel.tid;
  about.process = channel.process;
  about.image = channel.image;
  about.pid_namespace = channel.pid_namespace;
  about.start_ticks = channel.start_ticks;
  about.clock_kind = channel.clock_kind;
  about.kind = 1;
  add_frame(MLRUN_FRAME_CHANNEL, channel.serial, &about, sizeof about);
}

void SpoolWriter::add_anchor(uint64_t ns_since_start, int64_t error_ns, uint64_t width_ticks) {
  const uint64_t monotonic = kStartNs + ns_since_start + static_cast<uint64_t>(error_ns);
  const mlrun_frame_anchor anchor{ticks_at(ns_since_start), width_ticks, monotonic,
                                  kRealtimeOffsetNs + kStartNs + ns_since_start, monotonic};
  add_frame(MLRUN_FRAME_ANCHOR, 0, &anchor, sizeof anchor);
}

void SpoolWriter::add_data(uint64_t channel, RecordBuffer& records, uint32_t lost, int64_t seq) {
  add_frame(MLRUN_FRAME_DATA, channel, records.words().data(), records.bytes(), records.lap(), lost, seq);
  records.clear();
}

void SpoolWriter::add_counters(uint64_t channel, uint64_t ns_since_start,
                               const std::vector<mlrun_counter_entry>& entries, bool final,
                               const std::vector<uint64_t>& drops) {
  mlrun_frame_counters counters{};
  counters.monotonic_ns = kStartNs + ns_since_start;
  for (size_t i = 0; i < drops.size(); ++i) counters.drops[i] = drops[i];
  counters.entries = static_cast<uint32_t>(entries.size());
  counters.final = final ? 1 : 0;
  std::string payload(reinterpret_cast<const char*>(&counters), sizeof counters);
  payload.append(reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(mlrun_counter_entry));
  add_frame(MLRUN_FRAME_COUNTERS, channel, payload.data(), payload.size());
}

void SpoolWriter::add_gap(uint64_t channel, mlrun_gap_reason reason, uint64_t first_ns, uint64_t last_ns,
                          uint64_t count) {
  mlrun_frame_gap gap{};
  gap.reason = reason;
  gap.first_monotonic_ns = kStartNs + first_ns;
  gap.last_monotonic_ns = kStartNs + last_ns;
  gap.count = count;
  add_frame(MLRUN_FRAME_GAP, channel, &gap, sizeof gap);
}

void SpoolWriter::add_process_text(uint64_t ns_since_start, const nlohmann::json& text) {
  pass_at(ns_since_start);
  const std::string bytes = text.dump();
  add_frame(MLRUN_FRAME_PROCESS, 0, bytes.data(), bytes.size());
}

void SpoolWriter::write(const std::string& trace_folder) const {
  std::filesystem::create_directories(trace_folder);
  std::ofstream(trace_folder + "/spool.bin", std::ios::binary) << bytes_;
  std::ofstream(trace_folder + "/session.json") << session_.dump();
}

}  // namespace mlrun::testing
