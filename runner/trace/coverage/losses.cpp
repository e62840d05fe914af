// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/losses.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "runner/util/drop_counts.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

using model::LossRow;

constexpr size_t kGapRowsMax = 10000;

struct Reason {
  const char* reason;
  bool adds_up;  // true: the loss is a count of bytes or records, false: a span of time
  const char* unit = "bytes";
  const char* channel = "interposer";
};

std::optional<Reason> reason_of(uint32_t gap) {
  switch (static_cast<mlrun_gap_reason>(gap)) {
    case MLRUN_GAP_TORN: return Reason{"begun and never finished", true};
    case MLRUN_GAP_CORRUPT: return Reason{"damaged in the buffer", true};
    case MLRUN_GAP_SPOOL_FULL: return Reason{"recording stopped, the spool reached its limit", false};
    case MLRUN_GAP_DISK_FULL: return Reason{"recording stopped, the disk took no more", false};
    case MLRUN_GAP_COLLECTOR: return Reason{"mlrun died, records not collected", false};
    case MLRUN_GAP_PAUSED: return Reason{"paused", false};
    case MLRUN_GAP_CUT_OFF: return std::nullopt;  // a row of coverage
    case MLRUN_GAP_OLD: return Reason{"older than --last and --max-spool let it keep", true, "records", "last"};
  }
  return Reason{"for a reason that only a later version of mlrun knows", false};
}

class LossFinder {
 public:
  LossFinder(SpoolIndex& index, const model::Run& session) : index_(index), session_(session) {}

  std::vector<LossRow> find(const Mllog& mllog, const RowLosses& noticed) {
    note_spans();
    for (size_t i = 0; i < index_.channels().all().size(); ++i) add_channel(i);
    add_gaps();
    add_spool();
    add_failures();
    add("mllog", "files that cannot be opened", mllog.unreadable_files, "files");
    add("mllog", "lines that cannot be read", mllog.unreadable_lines, "lines");
    add("mllog", "interval ends without a start", mllog.unmatched_ends, "lines");
    add("samples", "damaged rows", noticed.damaged_samples, "rows");
    add("marks", "more open ranges than the merger tracks", noticed.ranges_left_out, "marks");
    add("python stacks", "damaged rows", noticed.damaged_python_rows, "rows");
    add("python stacks", "rows whose stack is beyond the limits or malformed", noticed.python_rows_without_stack,
        "rows");
    add("python stacks", "rows not fetched in time", positive(session_.python_stacks.rows_dropped), "rows");
    add("samples", "rows not fetched in time", positive(session_.sampler.rows_dropped), "rows");
    add("samples", "rows of counters not fetched in time", positive(session_.machine_sampler.rows_dropped), "rows");
    add("samples", "rows of accesses not fetched in time", positive(session_.access.rows_dropped), "rows");
    add("gpu sampler", "rows not fetched in time", positive(session_.gpu_sampler.rows_dropped), "rows");
    return std::move(rows_);
  }

 private:
  struct Span {
    int64_t first_ns = kLatestNs, last_ns = 0;
  };

  void add(const char* channel, const char* reason, uint64_t count, const char* unit) {
    if (count == 0) return;
    LossRow row;
    row.channel = channel;
    row.reason = reason;
    row.count = static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX));
    row.unit = unit;
    rows_.push_back(std::move(row));
  }

  int64_t ns_of(const Channel& channel, uint64_t clock) {
    return index_.clock().convert(clock, channel.clock_kind, hint_);
  }

  void note_spans() {
    for (const LossSpan& span : index_.channels().losses()) {
      const Channel& channel = index_.channels().all()[span.channel];
      Span& known = spans_[span.channel];
      known.first_ns = std::min(known.first_ns, ns_of(channel, span.first));
      known.last_ns = std::max(known.last_ns, ns_of(channel, span.last));
    }
  }

  void place(size_t channel_index) {
    const Channel& channel = index_.channels().all()[channel_index];
    LossRow& row = rows_.back();
    row.proc_id = channel.origin.proc_id;
    row.thread_id = channel.origin.thread_id;
    const auto span = spans_.find(channel_index);
    if (span == spans_.end()) return;
    row.first_ns = span->second.first_ns;
    row.last_ns = span->second.last_ns;
  }

  void add_here(size_t channel_index, const char* reason, uint64_t count, const char* unit) {
    if (count == 0) return;
    add("interposer", reason, count, unit);
    place(channel_index);
  }

  // Spools of an older version have no counts by kind of record. If mlrun died between writing the counts by kind and the
  // total, one of them is behind.
  uint64_t add_drops(size_t channel_index, size_t reason) {
    static constexpr const char* kReasons[] = {"buffer full", "gave up waiting for room", "dropped", "dropped"};
    const Channel& channel = index_.channels().all()[channel_index];
    uint64_t of_kinds = 0;
    for (uint32_t kind = 0; reason < MLRUN_DROP_REASONS && kind < MLRUN_DROPPED_KINDS; ++kind) {
      const uint64_t count = channel.drops[reason][kind];
      if (count == 0) continue;
      add_here(channel_index, kReasons[reason], count, "records");
      rows_.back().kind = util::name_of(static_cast<mlrun_dropped>(kind));
      of_kinds += count;
    }
    const uint64_t all = channel.counters.drops[reason];
    if (all > of_kinds) add_here(channel_index, kReasons[reason], all - of_kinds, "records");
    return std::max(all, of_kinds);
  }

  // The channel's counters give losses by reason. If its frames count more lost records than these counters, the excess
  // was lost after the last reading of the counters.
  void add_channel(size_t channel_index) {
    const Channel& channel = index_.channels().all()[channel_index];
    uint64_t counted = 0;
    for (size_t reason = 0; reason < std::size(channel.counters.drops); ++reason) {
      counted += add_drops(channel_index, reason);
    }
    if (channel.lost > counted) add_here(channel_index, "buffer full", channel.lost - counted, "records");
    add_here(channel_index, "frames missing from the spool", channel.missing_frames, "frames");
    const bool has_rows = channel.first <= channel.last;
    if (!channel.described && has_rows) add_here(channel_index, "the recording thread is unknown", 1, "threads");
  }

  // Counts of bytes or records are summed per channel; every lost span of time gets a row.
  void add_gaps() {
    std::map<std::pair<uint64_t, uint32_t>, size_t> sums;  // by channel and reason: index of the row
    size_t gap_rows = 0;
    for (const auto& [serial, gap] : index_.gaps()) {
      const auto reason = reason_of(gap.reason);
      if (!reason) continue;
      const auto sum = reason->adds_up ? sums.find({serial, gap.reason}) : sums.end();
      if (sum == sums.end()) {
        if (++gap_rows > kGapRowsMax) break;
        if (reason->adds_up) sums[{serial, gap.reason}] = rows_.size();
        add_gap(serial, gap, *reason);
      } else {
        LossRow& row = rows_[sum->second];
        util::add_to(row.count, static_cast<int64_t>(std::min<uint64_t>(gap.count, INT32_MAX)));
        row.first_ns = std::min(row.first_ns, TraceClock::from_monotonic(gap.first_monotonic_ns));
        row.last_ns = std::max(row.last_ns, TraceClock::from_monotonic(gap.last_monotonic_ns));
      }
    }
  }

  void add_gap(uint64_t serial, const mlrun_frame_gap& gap, const Reason& reason) {
    const uint64_t count = reason.adds_up ? std::min<uint64_t>(std::max<uint64_t>(gap.count, 1), INT32_MAX) : 1;
    add(reason.channel, reason.reason, count, reason.adds_up ? reason.unit : "stretches");
    LossRow& row = rows_.back();
    row.first_ns = TraceClock::from_monotonic(gap.first_monotonic_ns);
    row.last_ns = TraceClock::from_monotonic(gap.last_monotonic_ns);
    const Channel* channel = serial == 0 ? nullptr : index_.channels().find(serial);
    if (!channel) return;
    row.proc_id = channel->origin.proc_id;
    row.thread_id = channel->origin.thread_id;
  }

  void add_spool() {
    const SpoolDamage& damage = index_.damage();
    add("spool", "damaged in the file", damage.file_bytes, "bytes");
    add("spool", "damaged records", damage.record_bytes, "bytes");
    add("spool", "records of a kind that this version does not know", damage.unknown_records, "records");
    add("spool", "frames of a kind that this version does not know", damage.unknown_frames, "frames");
    add("spool", "more threads than the merger tracks", index_.channels().frames_left_out(), "frames");
    add("spool", "names that are damaged or too many", index_.strings().left_out(), "names");
    add("spool", "more files than the merger tracks", index_.files().left_out(), "files");
    add("spool", "stacks that are damaged or too many", index_.stacks().left_out(), "stacks");
    add("spool", "unreadable reports about processes", index_.notes().unreadable_texts(), "reports");
    add("spool", "reports that did not fit", positive(session_.frames_left_out), "frames");
  }

  static uint64_t positive(int64_t count) { return static_cast<uint64_t>(std::max<int64_t>(count, 0)); }

  [[nodiscard]] uint64_t failed(const char* how) const { return positive(session_.collector.failed(how)); }

  // Records of threads that got no channel: counted for the whole run, not by process.
  void add_without_channel() {
    static constexpr const char* kReason = "no room for a thread's channel";
    const uint64_t all = failed("no_channel");
    uint64_t of_kinds = 0;
    for (uint32_t i = 0; i < MLRUN_DROPPED_KINDS; ++i) {
      const std::string kind = util::name_of(static_cast<mlrun_dropped>(i));
      const auto found = session_.collector.without_channel.find(kind);
      const uint64_t count = found == session_.collector.without_channel.end() ? 0 : positive(found->second);
      if (count == 0) continue;
      add("interposer", kReason, count, "records");
      rows_.back().kind = kind;
      of_kinds += count;
    }
    if (all > of_kinds) add("interposer", kReason, all - of_kinds, "records");
  }

  void add_failures() {
    add_without_channel();
    add("interposer", "sampled blocks whose end cannot be seen", failed("samples"), "blocks");
    add("interposer", "descriptors that no table holds", failed("fd_range"), "calls");
    add("interposer", "no memory for unwinding stacks", failed("no_stacks"), "processes");
    add("marks", "names and domains beyond the limit", failed("mark_names"), "names");
  }

  SpoolIndex& index_;
  const model::Run& session_;
  TraceClock::Hint hint_;
  std::map<size_t, Span> spans_;  // by channel index
  std::vector<LossRow> rows_;
};

}  // namespace

std::vector<model::LossRow> find_losses(SpoolIndex& index, const model::Run& session, const Mllog& mllog,
                                        const RowLosses& noticed) {
  return LossFinder(index, session).find(mllog, noticed);
}

std::optional<model::LossRow> unsaved_loss(const model::Run& session, const mlrun_frame_sums_state& state) {
  const int64_t added_up = session.collector.added_up.value_or(-1);
  if (added_up < 0) return std::nullopt;
  const uint32_t unsaved = static_cast<uint32_t>(added_up) - static_cast<uint32_t>(state.records);
  if (unsaved == 0) return std::nullopt;
  LossRow row;
  row.channel = "mlrun";
  row.reason = "added up after the sums were last saved, before mlrun ended";
  row.first_ns = TraceClock::from_monotonic(state.monotonic_ns);
  row.count = unsaved;
  row.unit = "records";
  return row;
}

}  // namespace mlrun::trace
