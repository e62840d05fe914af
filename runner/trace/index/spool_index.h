// SPDX-License-Identifier: Apache-2.0
// The result of the first pass over a spool: everything a row needs besides its own record, and the location of the
// rows of each time range. After load() it is only read, from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/files/file_index.h"
#include "runner/trace/files/socket_pairs.h"
#include "runner/trace/identity/process_facts.h"
#include "runner/trace/identity/thread_numbers.h"
#include "runner/trace/index/gpu_facts.h"
#include "runner/trace/index/stack_index.h"
#include "runner/trace/spool/frame_ranges.h"
#include "runner/trace/spool/spool_channels.h"
#include "runner/trace/spool/string_table.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/unique_fd.h"

namespace mlrun::trace {

// Bytes that could not be read, and records and frames that were malformed or of an unknown kind.
struct SpoolDamage {
  uint64_t file_bytes = 0, record_bytes = 0;
  uint64_t unknown_records = 0, unknown_frames = 0;
};

struct SpoolOptions {
  std::string path;
  // Clock of time stamps outside of channels, and of channels that the spool does not describe.
  mlrun_clock_kind clock_kind = MLRUN_CLOCK_TSC;
  std::vector<mlrun_frame_anchor> anchors;  // clock readings that are not in the spool
  unsigned threads = 1;
  int64_t alloc_sample_bytes = 0;          // 0: allocations were not sampled
  std::string kept_path;                   // definitions saved from freed parts of the spool; the file may be missing
  std::string sums_path;                   // sums.bin; may be missing
  bool summary_only = false;               // the spool contains only what the sums need
  std::vector<NamedInode> inherited = {};  // the command's standard streams
};

class SpoolIndex {
 public:
  // Reads the whole spool. Fills processes, images, threads and files of `info`, which outlives the index. `report` is
  // called with the number of finished chunks and of all.
  static Result<std::unique_ptr<SpoolIndex>> load(const SpoolOptions& options, model::TraceInfo& info,
                                                  const std::function<void(size_t, size_t)>& report);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] int64_t alloc_sample_bytes() const { return alloc_sample_bytes_; }
  [[nodiscard]] SpoolChannels& channels() { return channels_; }
  [[nodiscard]] const SpoolChannels& channels() const { return channels_; }
  [[nodiscard]] const FrameRanges& frame_ranges() const { return frame_ranges_; }
  [[nodiscard]] const TraceClock& clock() const { return clock_; }
  [[nodiscard]] FileIndex& files() { return files_; }
  [[nodiscard]] const SocketPairs& sockets() const { return sockets_; }
  [[nodiscard]] const StackIndex& stacks() const { return stacks_; }
  [[nodiscard]] const ModuleMap& modules() const { return notes_.modules(); }
  [[nodiscard]] const ProcessNotes& notes() const { return notes_; }
  [[nodiscard]] const ThreadNumbers& thread_numbers() const { return thread_numbers_; }
  [[nodiscard]] const StringTable& strings() const { return strings_; }
  [[nodiscard]] StringTable& strings() { return strings_; }
  [[nodiscard]] GpuFacts& gpu_facts() { return gpu_facts_; }
  [[nodiscard]] const GpuFacts& gpu_facts() const { return gpu_facts_; }
  // Whether CUPTI was active in some process, or recorded GPU work.
  [[nodiscard]] bool has_gpu_work() const { return has_gpu_work_ || !gpu_facts_.empty(); }
  [[nodiscard]] const std::vector<OfChannel<mlrun_frame_gap>>& gaps() const { return gaps_; }
  [[nodiscard]] const std::vector<std::string>& gpu_texts() const { return gpu_texts_; }
  [[nodiscard]] const std::vector<uint64_t>& sample_frames() const { return sample_frames_; }
  [[nodiscard]] const std::vector<uint64_t>& python_frames() const { return python_frames_; }
  [[nodiscard]] const SpoolDamage& damage() const { return damage_; }
  // An exec is recorded before its result is known. Whether the exec that began at `start` failed.
  [[nodiscard]] bool is_failed_exec(const Channel& channel, uint64_t start) const {
    return failed_execs_.find(exec_key(channel.serial, start)) != nullptr;
  }
  // Events before this were freed; 0: none were.
  [[nodiscard]] int64_t events_from_ns() const { return events_from_ns_; }

 private:
  SpoolIndex(const SpoolOptions& options, model::TraceInfo& info, util::UniqueFd fd, uint64_t bytes);
  static uint64_t exec_key(uint64_t serial, uint64_t start) { return util::scrambled(util::scrambled(serial), start); }
  // Takes the frames of kept.bin or sums.bin; if `keys` is given, it gets the key of each.
  Status load_frame_file(const std::string& path, KeptFrames* keys);
  void note_old_gaps();
  void take(ChunkScan& scan);
  void take_files(const ChunkScan& scan);
  void take_stacks(const ChunkScan& scan);
  void take_gpu_facts(const ChunkScan& scan);
  void keep_anchors(const std::vector<mlrun_frame_anchor>& anchors);
  Status resolve(model::TraceInfo& info);

  util::UniqueFd fd_;
  uint64_t bytes_;
  int64_t alloc_sample_bytes_;
  mlrun_clock_kind session_clock_;
  StringTable strings_;
  FileIndex files_;
  SpoolChannels channels_;
  FrameRanges frame_ranges_;
  ProcessNotes notes_;
  SocketPairs sockets_;
  ThreadNumbers thread_numbers_;
  StackIndex stacks_;
  TraceClock clock_;
  std::vector<mlrun_frame_anchor> anchors_;
  uint64_t anchor_step_ = 1, anchors_seen_ = 0;  // keeps every anchor_step_-th anchor
  std::vector<OfChannel<mlrun_frame_gap>> gaps_;
  std::vector<std::string> gpu_texts_;
  std::vector<uint64_t> sample_frames_;  // offsets
  std::vector<uint64_t> python_frames_;  // offsets
  GpuFacts gpu_facts_;
  util::FlatMap<uint8_t> failed_execs_;
  bool has_gpu_work_ = false;
  SpoolDamage damage_;
  KeptFrames kept_;
  int64_t events_from_ns_ = 0;
};

}  // namespace mlrun::trace
