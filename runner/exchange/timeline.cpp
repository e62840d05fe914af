// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "runner/exchange/each_row.h"
#include "runner/exchange/flow_arrows.h"
#include "runner/exchange/lanes.h"
#include "runner/exchange/links.h"
#include "runner/exchange/merged_rows.h"
#include "runner/exchange/timeline_tables.h"
#include "runner/exchange/tracks.h"
#include "runner/parquet/table_reader.h"
#include "runner/trace/merge/progress.h"

namespace mlrun::exchange {

namespace {

// Numbers the names of events.
class EventNames {
 public:
  struct Name {
    uint32_t number = 0;
    std::string_view text;
  };
  // Tries the name of the table's last row first: rows mostly repeat it.
  Name of(size_t table, const char* prefix, std::string_view text) {
    if (table >= last_.size()) last_.resize(table + 1);
    Last& last = last_[table];
    if (last.number != 0 && last.text == text) return {last.number, names_[last.number - 1]};
    const std::string whole = prefix + std::string(text);
    const auto [found, is_new] = numbers_.try_emplace(whole, uint32_t(names_.size() + 1));
    if (is_new) names_.push_back(found->first);
    last = {std::string(text), found->second};
    return {found->second, names_[found->second - 1]};
  }

 private:
  struct Last {
    std::string text;
    uint32_t number = 0;
  };
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<std::string_view> names_;  // keys of numbers_
  std::vector<Last> last_;               // by table
};

// The lanes of one track.
struct LaneSet {
  NestingLanes nesting;
  ApartLanes apart;
  std::vector<TrackId> tracks;  // by lane
};

class Timeline {
 public:
  Timeline(Export& job, TimelineSink& sink) : job_(&job), sink_(&sink), tracks_(sink) {}

  Status write();

 private:
  Status open_tables();
  Status write_node(const ExportNode& node);
  Status expect_links(const ExportNode& node);
  Status find_flows(const ExportNode& node);
  Status write_rows(std::vector<OrderedRows> rows);
  Status account();
  void note_flows();
  LaneSet& lanes_of(TrackId track);
  void write_row(size_t number, const OrderedRows& row);
  void begin_part();
  void write_slice(const TimelineTable& table, const OrderedRows& row, TimelineEvent& event);
  void write_stack(const TimelineTable& table, const OrderedRows& row, const TimelineEvent& event);
  void write_point(TimelineEvent& event);
  void write_counters(const TimelineTable& table, size_t number, const OrderedRows& row);
  void link(const TimelineTable& table, const OrderedRows& row, TimelineEvent& event);
  void close_slices();

  Export* job_;
  TimelineSink* sink_;
  Tracks tracks_;
  EventNames names_;
  Links links_;
  FlowArrows flows_;
  std::unordered_set<uint64_t> open_flows_;  // arrows of `flow` that have begun and not ended
  struct {
    int64_t drawn = 0, of_launches = 0, without = 0, cut = 0, drawn_rows = 0;
  } flow_sums_;
  std::vector<TimelineTable> tables_;
  int64_t all_rows_ = 0;
  std::vector<int64_t> written_, events_;                                // by table
  std::vector<LaneSet> lanes_;                                           // by track
  std::map<std::pair<TrackId, size_t>, std::vector<TrackId>> counters_;  // by group and table, then by argument
  std::unordered_map<TrackId, int64_t> small_bytes_;                     // live bytes of small blocks
  std::vector<uint64_t> flows_out_, flows_in_;
};

bool is_definition(const std::string& table) {
  static constexpr std::array<const char*, 9> kNames = {"process", "thread", "image", "file",  "name",
                                                        "stack",   "frame",  "gpu",   "device"};
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* name) { return table == name; });
}

struct Reference {
  Link link = Link::kNone;
  int64_t proc_id = 0, id = 0;
};

// The id by which other rows refer to this one.
Reference own_id(Link link, const CommonColumns& at, const OrderedRows& row) {
  switch (link) {
    case Link::kFileOp: return {link, 0, row.number(at.op_id)};
    case Link::kCall: return {link, 0, row.number(at.call_id)};
    case Link::kRequest: return {link, 0, row.number(at.req_id)};
    case Link::kLaunch: return {link, row.number(at.proc_id), row.number(at.correlation_id)};
    case Link::kGpuFile: return {link, 0, row.number(at.gpu_file_id)};
    case Link::kBatch:
    case Link::kNone: break;
  }
  return {};
}

// The id that this row refers to. Block I/O refers to its file operation; if it has none, to its call.
Reference reference_of(Link link, const CommonColumns& at, const OrderedRows& row) {
  if (link == Link::kBatch) return {Link::kGpuFile, 0, row.number(at.batch_id)};
  if (link == Link::kFileOp && row.is_null(at.op_id)) link = Link::kCall;
  return own_id(link, at, row);
}

// Names of the columns that hold ids of other rows, each at its place in the table. The other places are empty: not read.
std::vector<std::string> link_columns(const TimelineTable& table) {
  const CommonColumns& at = table.at;
  std::vector<std::string> columns(table.columns.size());
  for (const size_t place :
       {at.proc_id, at.op_id, at.call_id, at.req_id, at.correlation_id, at.gpu_file_id, at.batch_id}) {
    columns[place] = table.columns[place];
  }
  return columns;
}

Status Timeline::open_tables() {
  size_t arguments = 0;
  for (const TableForm& form : timeline_forms()) {
    if (!job_->has_table(form.table)) continue;
    auto table = timeline_table(*job_, form);
    if (!table) return tl::make_unexpected(table.error());
    const auto rows = rows_in(*job_, form.table);
    if (!rows) return tl::make_unexpected(rows.error());
    all_rows_ += *rows;
    table->number = tables_.size();
    for (Argument& argument : table->arguments) argument.number = arguments++;
    tables_.push_back(*std::move(table));
  }
  written_.resize(tables_.size());
  events_.resize(tables_.size());
  return {};
}

Status Timeline::expect_links(const ExportNode& node) {
  const auto gpu_files = rows_in(*job_, "gpu_file");
  if (!gpu_files) return tl::make_unexpected(gpu_files.error());
  for (const TimelineTable& table : tables_) {
    std::vector<Link> links;
    for (const Link link : {table.form->in, table.form->other_in}) {
      const bool is_of_gpu_file = link == Link::kGpuFile || link == Link::kBatch;
      if (link != Link::kNone && (*gpu_files != 0 || !is_of_gpu_file)) links.push_back(link);
    }
    if (links.empty()) continue;
    auto rows = OrderedRows::open(*job_, table.form->table, link_columns(table), node.id);
    if (!rows) return tl::make_unexpected(rows.error());
    for (;;) {
      const auto more = rows->next();
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) break;
      for (const Link link : links) {
        const Reference to = reference_of(link, table.at, *rows);
        if (to.id != 0) links_.expect(to.link, to.proc_id, to.id);
      }
    }
  }
  return {};
}

Status Timeline::find_flows(const ExportNode& node) {
  if (sink_->takes_flow_rows()) return {};
  std::vector<FlowSource> sources;
  for (const TimelineTable& table : tables_) {
    const TableForm& form = *table.form;
    const bool is_flow = std::string_view(form.table) == "flow";
    const bool has_slices = form.shape == Shape::kNested && form.place == Place::kThread;
    sources.push_back({form.table, is_flow                        ? FlowSource::Kind::kFlow
                                   : has_slices                   ? FlowSource::Kind::kSlices
                                   : form.place == Place::kStream ? FlowSource::Kind::kStream
                                                                  : FlowSource::Kind::kNone});
  }
  auto found = FlowArrows::find(*job_, node.id, sources, std::max<uint64_t>(flows_.next_number(), 1));
  if (!found) return tl::make_unexpected(found.error());
  flows_ = *std::move(found);
  flow_sums_.of_launches += flows_.of_launches();
  flow_sums_.without += flows_.without_arrow();
  return {};
}

void Timeline::link(const TimelineTable& table, const OrderedRows& row, TimelineEvent& event) {
  flows_out_.clear();
  flows_in_.clear();
  const TableForm& form = *table.form;
  for (const Link link : {form.in, form.other_in}) {
    const Reference to = reference_of(link, table.at, row);
    if (to.id != 0) links_.end(to.link, to.proc_id, to.id, flows_in_);
  }
  const Reference own = own_id(form.out, table.at, row);
  if (own.id != 0) links_.begin(own.link, own.proc_id, own.id, flows_out_);
  const size_t begins = flows_out_.size(), ends = flows_in_.size();
  flows_.take_row(table.number, flows_out_, flows_in_);
  for (size_t i = begins; i < flows_out_.size(); ++i) {
    flows_out_[i] = number_of_flow(flows_out_[i]);
    open_flows_.insert(flows_out_[i]);
  }
  for (size_t i = ends; i < flows_in_.size(); ++i) flows_in_[i] = number_of_flow(flows_in_[i]);
  flow_sums_.drawn += std::ptrdiff_t(flows_in_.size() - ends);
  // An arrow that began in another output file is not drawn.
  const auto is_cut = [&](uint64_t flow) { return open_flows_.erase(flow) == 0; };
  const auto cut = std::remove_if(flows_in_.begin() + std::ptrdiff_t(ends), flows_in_.end(), is_cut);
  flow_sums_.cut += flows_in_.end() - cut;
  flows_in_.erase(cut, flows_in_.end());
  event.flows_out = flows_out_;
  event.flows_in = flows_in_;
}

LaneSet& Timeline::lanes_of(TrackId track) {
  if (track >= lanes_.size()) lanes_.resize(size_t(track) * 2);
  LaneSet& lanes = lanes_[track];
  if (lanes.tracks.empty()) lanes.tracks.push_back(track);
  return lanes;
}

void Timeline::write_slice(const TimelineTable& table, const OrderedRows& row, TimelineEvent& event) {
  LaneSet& lanes = lanes_of(event.track);
  const auto track_of = [&](size_t lane) {
    while (lane >= lanes.tracks.size()) lanes.tracks.push_back(tracks_.add_lane(event.track));
    return lanes.tracks[lane];
  };
  const auto closed = [&](size_t lane, int64_t end) { sink_->end(track_of(lane), end); };
  if (table.form->shape == Shape::kApart) {
    event.track = track_of(lanes.apart.place(event.ts, event.end));
    sink_->begin(event);
    sink_->end(event.track, event.end);
    return;
  }
  const bool is_call = table.form->out == Link::kCall;
  const int64_t call = is_call || table.form->out == Link::kFileOp ? row.number(table.at.call_id) : 0;
  // The kernel's clock and ours differ by some ns, so an operation of the kernel may begin before its call: the call then keeps the first lane.
  const bool is_early = !is_call && call != 0 && !lanes.nesting.has_open(event.ts, call);
  const size_t lane = lanes.nesting.place(event.ts, event.end, is_call ? call : 0, is_early ? 1 : 0, closed);
  event.track = track_of(lane);
  sink_->begin(event);
}

void Timeline::write_counters(const TimelineTable& table, size_t number, const OrderedRows& row) {
  TrackId group = tracks_.of_row(table, row);
  TimelineEvent event{.track = 0, .ts = row.ts(), .end = row.ts(), .table = &table, .row = &row};
  if (table.form->place == Place::kProcess && !row.is_null(table.at.tid)) event.thread = tracks_.thread_of(table, row);
  if (std::string_view(table.form->table) == "alloc_small") {
    event.track = tracks_.child(group, TrackKind::kCounter, "live bytes");
    sink_->counter(event, small_bytes_[event.track] += row.number(table.at.bytes));
    ++events_[number];
    return;
  }
  if (!table.keys.empty()) group = tracks_.of_key(group, table, row);
  std::vector<TrackId>& tracks = counters_[{group, number}];
  if (tracks.empty()) tracks.resize(table.arguments.size());
  for (size_t i = 0; i < table.arguments.size(); ++i) {
    const Argument& argument = table.arguments[i];
    if (row.is_null(argument.column)) continue;
    if (tracks[i] == 0) tracks[i] = tracks_.child(group, TrackKind::kCounter, argument.shown);
    const Values& values = row.values(argument.column);
    event.track = tracks[i];
    sink_->counter(event, values.kind() == Values::Kind::kReal ? CounterValue(values.real(row.row()))
                                                               : CounterValue(values.number(row.row())));
    ++events_[number];
  }
}

void Timeline::write_point(TimelineEvent& event) {
  LaneSet& lanes = lanes_of(event.track);
  lanes.nesting.close_first(event.ts, [&](size_t lane, int64_t end) { sink_->end(lanes.tracks[lane], end); });
  sink_->point(event);
}

// The weight of a stack: of a call its time, of an allocation its bytes.
void Timeline::write_stack(const TimelineTable& table, const OrderedRows& row, const TimelineEvent& event) {
  const size_t amount = row.is_null(table.at.size) ? table.at.bytes : table.at.size;
  const bool has_bytes = !row.is_null(amount);
  const TrackId thread = tracks_.thread_of(table, row);
  sink_->stack(event, tracks_.track(thread), row.number(table.at.stack_id),
               has_bytes ? row.number(amount) : row.end() - row.ts(), has_bytes ? StackUnit::kBytes : StackUnit::kTime);
}

void Timeline::write_row(size_t number, const OrderedRows& row) {
  const TimelineTable& table = tables_[number];
  const TableForm& form = *table.form;
  ++written_[number];
  if (form.shape == Shape::kCounter) return write_counters(table, number, row);
  ++events_[number];
  TimelineEvent event{
      .track = tracks_.of_row(table, row), .ts = row.ts(), .end = row.end(), .table = &table, .row = &row};
  std::string_view text = row.text(table.at.name);
  if (table.names) {
    text = table.names->name(row.number(table.at.name));
    if (text.empty()) text = row.text(table.at.text);
  }
  const EventNames::Name name = names_.of(number, form.prefix, text);
  if (!row.is_null(table.at.track) && !row.is_null(table.at.tid)) event.thread = tracks_.thread_of(table, row);
  event.name = name.number;
  event.name_text = name.text;
  if (form.shape == Shape::kStack) {
    return sink_->stack(event, tracks_.track(event.track), row.number(table.at.stack_id),
                        row.number(table.at.period_ns), StackUnit::kTime);
  }
  link(table, row, event);
  if (flows_.is_drawn() && std::string_view(form.table) == "flow") {
    ++flow_sums_.drawn_rows;
    return;
  }
  if (!row.is_null(table.at.stack_id)) write_stack(table, row, event);
  if (row.has_duration()) {
    write_slice(table, row, event);
  } else {
    write_point(event);
  }
}

void Timeline::close_slices() {
  for (LaneSet& lanes : lanes_) {
    lanes.nesting.close_all([&](size_t lane, int64_t end) { sink_->end(lanes.tracks[lane], end); });
    lanes.apart = {};
  }
}

void Timeline::begin_part() {
  close_slices();
  links_.forget_open();
  open_flows_.clear();
  sink_->next_part();
}

Status Timeline::write_rows(std::vector<OrderedRows> rows) {
  constexpr int64_t kStep = 1 << 16;
  MergedRows merged(std::move(rows));
  int64_t done = 0;
  for (;;) {
    const auto row = merged.next();
    if (!row) return tl::make_unexpected(row.error());
    if (*row == nullptr) break;
    if (sink_->is_full()) begin_part();
    write_row(merged.number(), **row);
    if (++done % kStep != 0) continue;
    job_->progress().advance(kStep);
    if (const Status good = sink_->status(); !good) return good;
  }
  close_slices();
  for (const OrderedRows& of_table : merged.tables())
    job_->account().left_out(of_table.table(), kNotWanted, of_table.unwanted());
  return sink_->status();
}

void Timeline::note_flows() {
  const auto& sums = flow_sums_;
  if (sums.drawn_rows + sums.drawn + sums.without == 0) return;
  Account& account = job_->account();
  account.note(fmt::format("arrows of flow: {}; {} of its rows became ends of arrows, without names and arguments",
                           sums.drawn - sums.cut, sums.drawn_rows));
  account.note(fmt::format(
      "arrows of flow not drawn: {} that repeat the arrow of a launch, {} into another output file; {} ends "
      "whose other end is missing",
      sums.of_launches, sums.cut, sums.without));
}

Status Timeline::account() {
  Account& account = job_->account();
  std::set<std::string> written;
  for (size_t i = 0; i < tables_.size(); ++i) {
    account.wrote(tables_[i].form->table, written_[i], events_[i]);
    written.insert(tables_[i].form->table);
  }
  const auto names = tables::list_tables(job_->trace_folder());
  if (!names) return tl::make_unexpected(names.error());
  for (const std::string& name : *names) {
    if (written.contains(name)) continue;
    const auto rows = rows_in(*job_, name);
    if (!rows) return tl::make_unexpected(rows.error());
    account.left_out(
        name,
        is_definition(name) ? "names, which are written with the rows that refer to them" : "no place on a time line",
        *rows);
  }
  account.note(
      fmt::format("arrows: {}; not drawn: {} whose begin is not written before their end, or in another output file",
                  links_.drawn(), links_.not_drawn()));
  note_flows();
  return {};
}

Status Timeline::write_node(const ExportNode& node) {
  tracks_.begin_node(node);
  if (auto expected = expect_links(node); !expected) return expected;
  if (auto found = find_flows(node); !found) return found;
  std::vector<OrderedRows> rows;
  for (const TimelineTable& table : tables_) {
    auto of_table = OrderedRows::open(*job_, table.form->table, table.columns, node.id);
    if (!of_table) return tl::make_unexpected(of_table.error());
    rows.push_back(*std::move(of_table));
  }
  return write_rows(std::move(rows));
}

Status Timeline::write() {
  if (auto loaded = tracks_.load(*job_); !loaded) return loaded;
  if (auto opened = open_tables(); !opened) return opened;
  std::vector<std::string> names;
  for (const TimelineTable& table : tables_) names.emplace_back(table.form->table);
  const auto first_ns = job_->earliest(names);
  if (!first_ns) return tl::make_unexpected(first_ns.error());
  if (auto started = sink_->start(*first_ns); !started) return started;
  job_->progress().begin(1, uint64_t(all_rows_));
  for (const ExportNode& node : job_->nodes()) {
    if (auto written = write_node(node); !written) return written;
  }
  return account();
}

}  // namespace

Status write_timeline(Export& job, TimelineSink& sink) { return Timeline(job, sink).write(); }

}  // namespace mlrun::exchange
