// SPDX-License-Identifier: Apache-2.0
// The rows of one slice of time, decoded and in order of their end. Columns that depend on earlier rows (derived
// offsets, changes of counters) are filled in later, slice by slice.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runner/decode/call_fields.h"
#include "runner/model/gpu_rows.h"
#include "runner/model/rows.h"
#include "runner/trace/index/spool_index.h"
#include "runner/trace/rows/free_times.h"
#include "runner/util/huge_pages.h"
#include "runner/util/prefetch.h"

namespace mlrun::trace {

// Totals of one size class of one channel, from a counters frame.
struct ClassTotals {
  uint32_t channel = 0;  // index
  int64_t ts_ns = 0;
  mlrun_counter_entry totals{};
  bool final = false;
};

// A recorded mark: the beginning or the end of a range.
struct MarkMoment {
  model::Origin origin;
  decode::MarkEvent event;
  std::string text;
  std::string structure;  // bytes in the layout that event.payload refers to
};

// A CUDA call that allocated memory, with its caller.
struct GpuCaller {
  int32_t proc_id = 0;
  uint64_t address = 0;
  int64_t start_ns = 0, end_ns = 0;  // begin and end of the call
  int32_t stack_id = 0;
  uint64_t site = 0;  // return address of its innermost frame
  Site place;         // library and offset of `site`
};

// A CUDA call that copied to or from a host buffer.
struct GpuHostCall {
  int32_t thread_id = 0;
  int64_t start_ns = 0, end_ns = 0;  // begin and end of the call
  decode::GpuHostEvent event;
};

// Kinds of GPU work are last, in the order of model::GpuKind.
enum class RowKind : uint8_t {
  kCall,
  kAlloc,
  kCounters,
  kMark,
  kGpuApi,
  kGpuKernel,
  kGpuMemcpy,
  kGpuMemset,
  kGpuSync,
  kGpuMemory,
  kGpuGraph
};
static_assert(static_cast<size_t>(RowKind::kGpuGraph) - static_cast<size_t>(RowKind::kGpuApi) + 1 == model::kGpuKinds);

inline RowKind row_kind(model::GpuKind kind) {
  return static_cast<RowKind>(static_cast<uint8_t>(RowKind::kGpuApi) + static_cast<uint8_t>(kind));
}

struct RowRef {
  int64_t time_ns = 0;  // sort key
  uint32_t index = 0;   // in the vector of its kind
  RowKind kind = RowKind::kCall;
};

// Rows are visited in order of time but stored in that of the spool: with small pages most visits would miss the TLB.
template <typename T>
using Rows = std::vector<T, util::HugePageAllocator<T>>;

struct SliceRows {
  Rows<model::CallRow> calls;
  std::vector<decode::Motion> call_motion;
  Rows<model::AllocRow> allocs;
  std::vector<ClassTotals> counters;
  Rows<RowRef> order;                             // all rows, by end; frees by start
  std::vector<model::AllocSmallRow> alloc_small;  // made from `counters`, in order
  std::vector<model::CallSplit> splits;           // targets of CallRow::split; empty without the kernel side
  size_t folded_calls = 0;                        // number of `calls` removed from `order`
  std::vector<MarkMoment> mark_moments;
  std::vector<model::GpuWorkRow> gpu;
  std::array<size_t, model::kGpuKinds> gpu_rows{};  // of each kind, in `order`
  std::vector<GpuCaller> gpu_callers;               // of calls in this slice, and in progress at its end
  std::vector<GpuHostCall> gpu_hosts;               // of calls in this slice, and soon after it
  std::vector<model::GpuWorkRow> later_calls;       // CUDA calls that began in this slice and end soon after it, by end
  size_t later_calls_left_out = 0;                  // beyond the limit
  std::vector<model::MarkRow> marks;                // made from `mark_moments` in order; `order` then refers to these

  void clear();
  void prefetch(const RowRef& row) const {
    if (row.kind == RowKind::kCall) util::prefetch_whole(calls[row.index]);
    if (row.kind == RowKind::kAlloc) util::prefetch_whole(allocs[row.index]);
    if (row.kind >= RowKind::kGpuApi) util::prefetch_whole(gpu[row.index]);
  }
};

// Reads slices; one per thread.
class SliceReader {
 public:
  explicit SliceReader(SpoolIndex& index) : index_(index) {}

  // Replaces the content of `slice_rows`.
  Status read(const Slice& slice, SliceRows& slice_rows);
  Result<uint64_t> count(const Slice& slice);

  // Sets the files of a call.
  static void fill_files(FileIndex& files, const decode::CallEvent& call, model::CallRow& row);

 private:
  // An address means the same code while its library is loaded, so this cache finds most sites.
  struct CachedSite {
    uint64_t address = 0;
    uint32_t process = 0;
    Site site;
  };
  template <typename Visit>
  Status for_each_frame(const Slice& slice, Visit visit);
  void reserve(const Slice& slice, SliceRows& slice_rows);
  void add_data(const SpoolFrame& frame, const Channel& channel, const Slice& slice, SliceRows& slice_rows);
  void add_call(const decode::RecordView& record, const Channel& channel, const Slice& slice, SliceRows& slice_rows);
  void add_alloc(const decode::RecordView& record, const Channel& channel, const Slice& slice, SliceRows& slice_rows);
  void add_free_time(const decode::RecordView& record, const Channel& channel, const Slice& slice,
                     SliceRows& slice_rows);
  void add_mark(const decode::RecordView& record, const Channel& channel, const Slice& slice, SliceRows& slice_rows);
  void add_gpu_work(const decode::RecordView& record, const Channel& channel, const Slice& slice,
                    SliceRows& slice_rows);
  Status look_beyond(const Slice& slice, SliceRows& slice_rows);
  void add_caller(const decode::GpuWorkEvent& work, const Channel& channel, SliceRows& slice_rows);
  static void add_host(const decode::RecordView& record, const Channel& channel, SliceRows& slice_rows);
  void add_counters(const SpoolFrame& frame, uint32_t channel, const Slice& slice, SliceRows& slice_rows);
  const Site& site_of(uint32_t process, uint64_t address);

  SpoolIndex& index_;
  TraceClock::Hint hint_;
  FreeTimes free_times_;
  std::array<CachedSite, 4096> sites_{};
  // Templates to copy with a few wide moves: constructing such an object uses a string instruction that takes longer
  // than decoding the call.
  model::CallRow blank_call_;
  decode::CallEvent blank_event_;
  Rows<RowRef> spare_;
  bool reserves_ = true;
};

}  // namespace mlrun::trace
