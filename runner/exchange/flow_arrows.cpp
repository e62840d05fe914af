// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/flow_arrows.h"

#include <algorithm>
#include <unordered_map>

#include "runner/exchange/each_row.h"
#include "runner/exchange/merged_rows.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kMostArrows = size_t{1} << 21, kMostChains = size_t{1} << 20;

enum FlowColumn : size_t {
  kFlowThread,
  kFlowPid,
  kFlowTid,
  kFlowCorrelation,
  kFlowGpu,
  kFlowStream,
  kFlowTrack,
  kFlowStep,
  kFlowBinds,
  kFlowNumber,
  kFlowName,
  kFlowCategory
};
const std::vector<std::string> kFlowColumns = {"thread_id", "pid",  "tid",   "correlation_id", "gpu_id", "stream",
                                               "track",     "step", "binds", "flow_id",        "name",   "category"};

}  // namespace

class FlowArrows::Finder {
  // The row that an end of an arrow is bound to.
  struct FlowPlace {
    uint64_t row = 0, sequence = 0;  // number of the row in its source, and among all sources
    int64_t correlation = 0;
    uint16_t source = 0;
  };

  struct OpenSlice {
    int64_t ts, end;
    FlowPlace place;
  };

  // The last end so far of an arrow, or of a chain of them.
  struct FlowChain {
    FlowPlace place;
    uint64_t flow_row = 0, flow_sequence = 0;
    int32_t thread_id = 0;
  };

  struct ChainKey {
    int64_t flow_id;
    uint32_t name;  // of name and category
    bool operator==(const ChainKey&) const = default;
  };
  struct ChainHash {
    size_t operator()(const ChainKey& key) const {
      return std::hash<uint64_t>()(uint64_t(key.flow_id) * 31 + key.name);
    }
  };

  class OpenSlices {
   public:
    void push(int64_t ts, int64_t end, const FlowPlace& place) {
      while (!open_.empty() && open_.back().end <= ts) open_.pop_back();
      open_.push_back({ts, end, place});
    }
    // The innermost slice around `ts`; nullptr: none is open.
    [[nodiscard]] const FlowPlace* around(int64_t ts) const {
      const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                      [&](const OpenSlice& open) { return open.end > ts || open.ts == ts; });
      return found == open_.rend() ? nullptr : &found->place;
    }

   private:
    std::vector<OpenSlice> open_;
  };

 public:
  Finder(FlowArrows& to, const std::vector<FlowSource>& sources) : to_(to), sources_(sources) {}

  Status run(Export& job, int64_t node_id) {
    const auto read = each_row(job, "gpu", {"gpu_id", "nvml_index"},
                               [&](const Row& row) { gpus_[row.number(0)] = row.is_null(1) ? -1 : row.number(1); });
    if (!read) return tl::make_unexpected(read.error());
    std::vector<OrderedRows> tables;
    for (const FlowSource& source : sources_) {
      const bool has_none = source.kind == FlowSource::Kind::kNone;
      auto rows = OrderedRows::open(job, has_none ? "" : source.table, kFlowColumns, node_id);
      if (!rows) return tl::make_unexpected(rows.error());
      tables.push_back(*std::move(rows));
    }
    std::vector<uint64_t> rows_of(sources_.size());
    MergedRows merged(std::move(tables));
    for (;;) {
      const auto row = merged.next();
      if (!row) return tl::make_unexpected(row.error());
      if (*row == nullptr) break;
      const FlowPlace place{.row = rows_of[merged.number()]++,
                            .sequence = ++sequence_,
                            .correlation = (*row)->number(kFlowCorrelation),
                            .source = uint16_t(merged.number())};
      see(**row, place);
    }
    finish();
    return {};
  }

 private:
  struct Thread {
    OpenSlices slices;
    std::vector<std::pair<uint32_t, FlowPlace>>
        waiting;  // arrows that end at the next slice, by number; their rows of `flow`
  };

  static uint64_t stream_key(int64_t gpu, int64_t stream) { return uint64_t(gpu) << 32 | uint32_t(stream); }

  void see(const OrderedRows& row, const FlowPlace& place) {
    switch (sources_[place.source].kind) {
      case FlowSource::Kind::kNone: return;
      case FlowSource::Kind::kFlow: return end(row, place);
      case FlowSource::Kind::kStream:
        return streams_[stream_key(gpus_[row.number(kFlowGpu)], row.number(kFlowStream))].push(row.ts(), row.end(),
                                                                                               place);
      case FlowSource::Kind::kSlices: break;
    }
    // Only rows with a duration are slices. Slices on an asynchronous track are not on the thread's own.
    if (!row.has_duration() || row.is_null(kFlowThread) || !row.is_null(kFlowTrack)) return;
    Thread& thread = threads_[row.number(kFlowThread)];
    thread.slices.push(row.ts(), row.end(), place);
    for (const auto& [arrow, flow] : thread.waiting) add_end(arrow, false, place);
    thread.waiting.clear();
  }

  void end(const OrderedRows& row, const FlowPlace& self) {
    to_.has_arrow_.resize(self.row + 1);
    to_.needs_point_.resize(self.row + 1);
    const int32_t thread_id = int32_t(row.number(kFlowThread));
    const bool waits = row.text(kFlowBinds) == "next" && thread_id != 0;
    const FlowPlace* slice = thread_id == 0 || waits ? nullptr : threads_[thread_id].slices.around(row.ts());
    if (slice == nullptr && !waits) {
      const auto stream = streams_.find(stream_key(row.number(kFlowPid), row.number(kFlowTid)));
      if (stream != streams_.end()) slice = stream->second.around(row.ts());
    }
    const FlowChain here{slice == nullptr ? self : *slice, self.row, self.sequence, thread_id};
    const ChainKey key{row.number(kFlowNumber), name_of(row)};
    const auto chain = chains_.find(key);
    const std::string_view step = row.text(kFlowStep);
    if (step != "start" && chain != chains_.end()) join(chain->second, here, waits, self);
    if (step == "end" || (step != "start" && chain == chains_.end())) return;
    if (chain != chains_.end()) {
      chain->second = here;
    } else if (chains_.size() < kMostChains) {
      chains_.emplace(key, here);
    }
  }

  void join(const FlowChain& from, const FlowChain& here, bool waits, const FlowPlace& self) {
    FlowPlace begin = from.place, end = here.place;
    if (begin.correlation != 0 && begin.correlation == end.correlation) {
      ++to_.of_launches_;
      to_.has_arrow_[from.flow_row] = to_.has_arrow_[here.flow_row] = true;
      return;
    }
    if (to_.threads_.size() >= kMostArrows) return;
    // The arrow would go to the slice that it begins in, or back to one that began earlier: it is drawn between points at the rows of `flow`.
    if (!waits && begin.sequence >= end.sequence) {
      begin = {.row = from.flow_row, .sequence = from.flow_sequence, .source = self.source};
      end = self;
    }
    const auto arrow = uint32_t(to_.threads_.size());
    to_.threads_.emplace_back(from.thread_id, here.thread_id);
    to_.has_arrow_[from.flow_row] = to_.has_arrow_[here.flow_row] = true;
    add_end(arrow, true, begin);
    if (waits) {
      threads_[here.thread_id].waiting.emplace_back(arrow, self);
    } else {
      add_end(arrow, false, end);
    }
  }

  void add_end(uint32_t arrow, bool is_begin, const FlowPlace& place) {
    to_.ends_[place.source].push_back({place.row, arrow, place.source, is_begin});
    if (sources_[place.source].kind == FlowSource::Kind::kFlow) to_.needs_point_[place.row] = true;
  }

  uint32_t name_of(const OrderedRows& row) {
    text_ = row.text(kFlowCategory);
    text_ += '\0';
    text_ += row.text(kFlowName);
    return names_.try_emplace(text_, uint32_t(names_.size())).first->second;
  }

  void finish() {
    for (auto& [id, thread] : threads_) {
      for (const auto& [arrow, flow] : thread.waiting) add_end(arrow, false, flow);
    }
    for (auto& ends : to_.ends_) {
      std::sort(ends.begin(), ends.end(),
                [](const End& a, const End& b) { return a.row != b.row ? a.row < b.row : a.arrow < b.arrow; });
    }
    to_.without_arrow_ = std::count(to_.has_arrow_.begin(), to_.has_arrow_.end(), false);
  }

  FlowArrows& to_;
  const std::vector<FlowSource>& sources_;
  uint64_t sequence_ = 0;
  std::unordered_map<int64_t, int64_t> gpus_;
  std::unordered_map<int64_t, Thread> threads_;
  std::unordered_map<uint64_t, OpenSlices> streams_;
  std::unordered_map<ChainKey, FlowChain, ChainHash> chains_;
  std::unordered_map<std::string, uint32_t> names_;
  std::string text_;
};

Result<FlowArrows> FlowArrows::find(Export& job, int64_t node_id, const std::vector<FlowSource>& sources,
                                    uint64_t first_number) {
  FlowArrows arrows;
  arrows.first_number_ = first_number;
  arrows.ends_.resize(sources.size());
  arrows.next_.resize(sources.size());
  arrows.taken_.resize(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].kind == FlowSource::Kind::kFlow) arrows.flow_source_ = i;
  }
  const bool has_flows = arrows.flow_source_ != SIZE_MAX && job.has_table("flow");
  if (!has_flows) return arrows;
  const auto rows = rows_in(job, "flow");
  if (!rows) return tl::make_unexpected(rows.error());
  if (*rows == 0) return arrows;
  if (auto found = Finder(arrows, sources).run(job, node_id); !found) return tl::make_unexpected(found.error());
  return arrows;
}

void FlowArrows::take_row(size_t source, std::vector<uint64_t>& begins, std::vector<uint64_t>& ends) {
  if (ends_.empty()) return;
  const uint64_t row = taken_[source]++;
  const std::vector<End>& all = ends_[source];
  for (size_t& at = next_[source]; at < all.size() && all[at].row == row; ++at)
    (all[at].is_begin ? begins : ends).push_back(first_number_ + all[at].arrow);
  if (source == flow_source_) is_drawn_ = row < has_arrow_.size() && has_arrow_[row] && !needs_point_[row];
}

}  // namespace mlrun::exchange
