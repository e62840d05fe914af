// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/mark_tracker.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/decode/limits.h"
#include "runner/events/content_hash.h"
#include "runner/trace/rows/position_losses.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using util::scrambled;

constexpr uint64_t kProcessRange = 1;  // distinguishes keys of process ranges from those of threads

uint64_t stack_key(const MarkMoment& moment) {
  const auto thread = static_cast<uint32_t>(moment.origin.thread_id);
  return scrambled(scrambled(moment.event.domain, moment.event.source + 1), uint64_t{thread} << 1);
}

uint64_t range_key(const MarkMoment& moment) {
  const auto process = static_cast<uint32_t>(moment.origin.proc_id);
  return scrambled(moment.event.range, uint64_t{process} << 1 | kProcessRange);
}

std::string payload_text(const decode::MarkEvent& event) {
  double real = 0;
  float single = 0;
  switch (static_cast<mlrun_mark_payload>(event.payload_type)) {
    case MLRUN_PAYLOAD_NONE:
    case MLRUN_PAYLOAD_STRUCTURE: return {};
    case MLRUN_PAYLOAD_U64: return std::to_string(event.payload);
    case MLRUN_PAYLOAD_I64: return std::to_string(static_cast<int64_t>(event.payload));
    case MLRUN_PAYLOAD_U32: return std::to_string(static_cast<uint32_t>(event.payload));
    case MLRUN_PAYLOAD_I32: return std::to_string(static_cast<int32_t>(event.payload));
    case MLRUN_PAYLOAD_DOUBLE: __builtin_memcpy(&real, &event.payload, sizeof real); return nlohmann::json(real).dump();
    case MLRUN_PAYLOAD_FLOAT:
      __builtin_memcpy(&single, &event.payload, sizeof single);
      return nlohmann::json(single).dump();
  }
  return {};
}

// Freed parts of the spool (--last) count as a loss of all processes.
std::vector<PositionLoss> losses_of_marks(SpoolIndex& index) {
  std::vector<PositionLoss> losses = position_losses(index);
  if (index.events_from_ns() != 0) losses.push_back({index.events_from_ns(), 0});
  return losses;
}

}  // namespace

int64_t MarkNames::id_of(const std::string& name) {
  const uint64_t hash = mlrun_content_hash(name.data(), name.size());
  if (const int64_t* known = ids_.find(hash)) return *known;
  if (ids_.size() >= decode::kMarkNamesMax || kept_bytes_ + name.size() > decode::kMarkNameBytesMax) return 0;
  kept_bytes_ += name.size();
  const auto id = static_cast<int64_t>(names_.size()) + 1;
  names_.push_back({id, name});
  return ids_.at(hash) = id;
}

MarkTracker::MarkTracker(SpoolIndex& index, model::TraceInfo& info)
    : index_(index),
      info_(info),
      names_(info.names),
      has_gpu_work_(index.has_gpu_work()),
      collectives_(losses_of_marks(index)) {}

void MarkTracker::add_log(std::vector<model::MarkRow>& marks) {
  std::vector<int32_t> paths;
  for (model::MarkRow& mark : marks) {
    mark.mark_id = ++last_mark_id_;
    mark.name_id = names_.id_of(mark.name);
    const uint64_t key = scrambled(static_cast<uint64_t>(mark.name_id));
    paths.push_back(paths_.path_of(0, key, mark.name_id, [&] { return mark.domain; }));
  }
  open_marks_.set_log(marks, paths);
}

void MarkTracker::apply(SliceRows& slice_rows, summary::MarkMeter& meter) {
  if (slice_rows.mark_moments.empty() && slice_rows.gpu.empty()) return;
  value_bytes_ = 0;
  for (RowRef& ref : slice_rows.order) {
    if (ref.kind == RowKind::kGpuApi && !open_marks_.fill(slice_rows.gpu[ref.index])) ++calls_of_unknown_range_;
    if (ref.kind != RowKind::kMark) continue;
    MarkMoment& moment = slice_rows.mark_moments[ref.index];
    const auto row = static_cast<uint32_t>(slice_rows.marks.size());
    ref.index = join(moment, slice_rows, meter) ? row : UINT32_MAX;
  }
  for (model::GpuWorkRow& call : slice_rows.later_calls) open_marks_.fill(call);  // a later slice counts them
  if (slice_rows.mark_moments.empty()) return;
  std::erase_if(slice_rows.order,
                [](const RowRef& ref) { return ref.kind == RowKind::kMark && ref.index == UINT32_MAX; });
}

// True: a row was made.
bool MarkTracker::join(MarkMoment& moment, SliceRows& slice_rows, summary::MarkMeter& meter) {
  switch (moment.event.kind) {
    case MLRUN_MARK_INSTANT: {
      Open point{moment.origin, moment.event, std::move(moment.text), std::move(moment.structure), 0, {}};
      point.mark.mark_id = ++last_mark_id_;
      point.name_id = names_.id_of(util::escaped_utf8(point.text));
      add_row(point, -1, false, slice_rows, meter);
      return true;
    }
    case MLRUN_MARK_PUSH: begin(open_[stack_key(moment)], moment); return false;
    case MLRUN_MARK_START: begin(open_[range_key(moment)], moment); return false;
    case MLRUN_MARK_POP: return end(stack_key(moment), moment, slice_rows, meter);
    case MLRUN_MARK_END: return end(range_key(moment), moment, slice_rows, meter);
    default: return false;  // a number of a later version
  }
}

void MarkTracker::begin(std::vector<Open>& ranges, MarkMoment& moment) {
  Open range{moment.origin, moment.event, std::move(moment.text), std::move(moment.structure), 0, {}};
  if (open_count_ >= decode::kOpenRangesMax || open_bytes_ + range.bytes() > decode::kOpenRangeBytesMax) {
    ++ranges_left_out_;
    collectives_.lost(moment.origin.proc_id);
    return;
  }
  ++open_count_;
  open_bytes_ += range.bytes();
  open(range);
  ranges.push_back(std::move(range));
}

bool MarkTracker::is_of_process(const Open& range) { return range.event.kind == MLRUN_MARK_START; }

bool MarkTracker::counts_for_process(const Open& range) {
  return range.event.source == MLRUN_MARK_API || range.origin.tid == range.origin.pid;
}

std::string MarkTracker::domain_of(const decode::MarkEvent& event) {
  std::string text = event.source == MLRUN_MARK_API ? "api" : "nvtx";
  const std::string_view domain = index_.strings().text(event.domain);
  if (event.domain != 0) text += ":" + util::escaped_utf8(domain.substr(0, decode::kRepeatedBytesMax));
  return text;
}

// Assigns the range its name_id and mark_id.
void MarkTracker::open(Open& range) {
  range.name_id = names_.id_of(util::escaped_utf8(range.text));
  range.mark = {++last_mark_id_, range.origin.ts_ns, 0};
  if (!has_gpu_work_) return;
  const uint64_t key =
      scrambled(scrambled(range.event.domain, range.event.source), static_cast<uint64_t>(range.name_id));
  range.mark.path =
      paths_.path_of(open_marks_.around(range.origin).path, key, range.name_id, [&] { return domain_of(range.event); });
  open_marks_.begin(range.origin, range.mark, is_of_process(range), counts_for_process(range));
}

bool MarkTracker::end(uint64_t key, const MarkMoment& moment, SliceRows& slice_rows, summary::MarkMeter& meter) {
  const auto found = open_.find(key);
  if (found == open_.end() || found->second.empty()) {
    ++unmatched_ends_;
    return false;
  }
  Open& range = found->second.back();
  open_bytes_ -= range.bytes();
  if (moment.event.payload_type == MLRUN_PAYLOAD_STRUCTURE) take_payload(range, moment);
  if (has_gpu_work_) {
    open_marks_.end(range.origin, moment.origin.ts_ns, range.mark, is_of_process(range), counts_for_process(range));
  }
  add_row(range, moment.origin.ts_ns, false, slice_rows, meter);
  found->second.pop_back();
  if (found->second.empty()) open_.erase(found);
  --open_count_;
  return true;
}

// A payload of the range's end replaces that of its beginning, if it can be decoded.
void MarkTracker::take_payload(Open& range, const MarkMoment& end) {
  const PayloadLayout* layout = layout_of(end.event.payload);
  if (!layout) return note_unknown(end.event.payload);
  if (layout->values(end.structure).empty()) {
    ++structures_.partial;
    return;
  }
  range.event.payload_type = end.event.payload_type;
  range.event.payload = end.event.payload;
  range.structure = end.structure;
}

void MarkTracker::add_row(const Open& range, int64_t end_ns, bool is_open, SliceRows& slice_rows,
                          summary::MarkMeter& meter) {
  model::MarkRow& row = slice_rows.marks.emplace_back();
  row.origin = range.origin;
  row.mark_id = range.mark.mark_id;
  row.dur_ns = end_ns < 0 ? -1 : std::max<int64_t>(0, end_ns - range.origin.ts_ns);
  row.domain = domain_of(range.event);
  if (index_.strings().text(range.event.domain).size() > decode::kRepeatedBytesMax) ++cut_domains_;
  row.name = util::escaped_utf8(range.text);
  row.name_id = range.name_id;
  row.scope = range.event.kind == MLRUN_MARK_START ? "process" : "thread";
  row.value = payload_text(range.event);
  row.is_open = is_open;
  if (range.event.payload_type == MLRUN_PAYLOAD_STRUCTURE) {
    const std::vector<PayloadValue> values = structure_of(range);
    row.value = structure_text(values);
    collectives_.add(row, values);
  }
  meter.add(row);
  if (row.name_id != 0) row.name.clear();
  ++rows_;
}

// nullptr: unknown, or too many layouts.
const PayloadLayout* MarkTracker::layout_of(uint64_t id) {
  const auto known = layouts_.find(id);
  if (known != layouts_.end()) return known->second ? &*known->second : nullptr;
  if (id == 0 || layouts_.size() >= decode::kLayoutsMax) return nullptr;
  std::optional<PayloadLayout>& made = layouts_[id];
  made = PayloadLayout::parse(index_.strings().text(id));
  return made ? &*made : nullptr;
}

// Counts a payload without a layout, by the reason.
void MarkTracker::note_unknown(uint64_t id) {
  const bool is_known = id != 0 && !index_.strings().text(id).empty();
  ++(is_known ? structures_.refused : structures_.unknown);
}

std::vector<PayloadValue> MarkTracker::structure_of(const Open& range) {
  const PayloadLayout* layout = layout_of(range.event.payload);
  if (!layout) {
    note_unknown(range.event.payload);
    return {};
  }
  std::vector<PayloadValue> values = layout->values(range.structure);
  if (layout->left_out() != 0 || values.size() < layout->members().size()) ++structures_.partial;
  return values;
}

// JSON of as many of the first members as the limits for this text and for all of the slice allow.
std::string MarkTracker::structure_text(const std::vector<PayloadValue>& values) {
  const size_t room =
      std::min(decode::kPayloadTextMax, decode::kPayloadTextsMax - std::min(decode::kPayloadTextsMax, value_bytes_));
  const size_t fit = payload_that_fits(values, room);
  if (fit < values.size()) ++structures_.cut;
  if (fit == 0) return {};
  std::string text = payload_json(std::span(values).first(fit)).dump();
  value_bytes_ += text.size();
  return text;
}

std::vector<model::CoverageRow> MarkTracker::coverage() const {
  std::vector<model::CoverageRow> rows = collectives_.coverage();
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) rows.push_back({.subject = "payloads of NVTX", .detail = fmt::format("{} {}", count, what)});
  };
  add(structures_.unknown, "have a layout that the program did not register: their marks have no value");
  add(structures_.refused, "have a layout that is damaged, too large or beyond the limit: their marks have no value");
  add(structures_.partial, "could be decoded only in part: their marks lack some members");
  add(structures_.cut, "are too long: their marks have only the first members");
  if (calls_of_unknown_range_ > 0) {
    rows.push_back({.subject = "ranges of GPU work",
                    .detail = fmt::format("{} calls of CUDA took so long that the range in which they began is unknown",
                                          calls_of_unknown_range_)});
  }
  if (cut_domains_ > 0) {
    rows.push_back({.subject = "domains of NVTX",
                    .detail = fmt::format("{} marks have only the first {} bytes of their domain's name", cut_domains_,
                                          decode::kRepeatedBytesMax)});
  }
  return rows;
}

SliceRows MarkTracker::finish(summary::MarkMeter& meter) {
  SliceRows rest;
  value_bytes_ = 0;
  std::vector<Open> ranges;
  for (auto& [key, open] : open_) std::move(open.begin(), open.end(), std::back_inserter(ranges));
  open_.clear();
  std::sort(ranges.begin(), ranges.end(), [](const Open& a, const Open& b) {
    return std::tie(a.origin.ts_ns, a.origin.thread_id) < std::tie(b.origin.ts_ns, b.origin.thread_id);
  });
  for (const Open& range : ranges) {
    const auto process = static_cast<size_t>(range.origin.proc_id);
    const bool known = process >= 1 && process <= info_.processes.size();
    const int64_t last_ns = known ? info_.processes[process - 1].last_ns : range.origin.ts_ns;
    const int64_t end_ns = std::max(last_ns, range.origin.ts_ns);
    rest.order.push_back({end_ns, static_cast<uint32_t>(rest.marks.size()), RowKind::kMark});
    add_row(range, end_ns, true, rest, meter);
  }
  std::stable_sort(rest.order.begin(), rest.order.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  return rest;
}

}  // namespace mlrun::trace
