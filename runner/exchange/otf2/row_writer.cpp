// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/row_writer.h"

#include <algorithm>
#include <array>

#include "runner/exchange/call_classes.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kMostMetrics = 255;  // of a class

// Whether a column identifies the process or thread of a sample, rather than holding a value that changes.
bool is_id(std::string_view column) {
  constexpr std::array<std::string_view, 5> kIds = {"proc_id", "image_id", "thread_id", "pid", "tid"};
  return std::find(kIds.begin(), kIds.end(), column) != kIds.end();
}

bool is_thread(const std::string& column) { return column == "thread_id" || column.ends_with("_thread_id"); }

}  // namespace

Otf2RowWriter::Otf2RowWriter(const Otf2Rule& rule, std::vector<std::string> columns, size_t source, Otf2Shared& shared)
    : rule_(rule),
      columns_(std::move(columns)),
      source_(source),
      shared_(shared),
      at_{column("dur"),       rule.name == nullptr ? kMissing : column(rule.name),
          column("thread_id"), column("proc_id"),
          column("pid"),       column("tid"),
          column("scope"),     column("context"),
          column("stream"),    column("ofd_id"),
          column("file_id"),   column("stack_id")},
      io_{column("fd"),    column("requested"), column("ret"),   column("err"),
          column("flags"), column("arg2"),      column("offset")} {}

size_t Otf2RowWriter::column(const char* name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  return found == columns_.end() ? kMissing : size_t(found - columns_.begin());
}

// The types are known with the first row.
void Otf2RowWriter::find_attributes(const OrderedRows& row) {
  has_attributes_ = true;
  const bool is_value = rule_.what == Otf2Rule::What::kValues;
  no_duration_ = shared_.definitions.attribute("no_duration", OTF2_TYPE_UINT8);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string& name = columns_[i];
    if (is_of_place(rule_, name) || (name == "dur" && !is_value)) continue;
    const auto add = [&](As as, OTF2_Type type) {
      attributes_.push_back({i, as, shared_.definitions.attribute(name, type)});
    };
    switch (row.values(i).kind()) {
      case Values::Kind::kNone: break;
      case Values::Kind::kReal: add(As::kReal, OTF2_TYPE_DOUBLE); break;
      case Values::Kind::kBoolean: add(As::kBoolean, OTF2_TYPE_UINT8); break;
      case Values::Kind::kText: add(As::kText, OTF2_TYPE_STRING); break;
      case Values::Kind::kNumber:
        if (!is_value && (name == "file_id" || name == "file2_id")) {
          add(As::kFile, OTF2_TYPE_IO_FILE);
        } else if (!is_value && name == "stack_id") {
          add(As::kStack, OTF2_TYPE_CALLING_CONTEXT);
        } else if (!is_value && is_thread(name)) {
          add(As::kThread, OTF2_TYPE_LOCATION);
        } else if (!is_value && name == "site_library") {
          add(As::kName, OTF2_TYPE_STRING);
        } else if (is_value && is_id(name)) {
          add(As::kId, OTF2_TYPE_INT64);
        } else if (is_value || name != "name_id" || rule_.name == nullptr) {
          add(As::kNumber, OTF2_TYPE_INT64);
        }
        break;
    }
  }
}

int64_t Otf2RowWriter::write(const OrderedRows& row) {
  if (!has_attributes_) find_attributes(row);
  switch (rule_.what) {
    case Otf2Rule::What::kRegion: {
      const int64_t events = write_arrows(row);
      return events != 0 ? events : write_region(row);
    }
    case Otf2Rule::What::kSample: return write_sample(row);
    case Otf2Rule::What::kValues: return write_metrics(row);
  }
  return 0;
}

Otf2TrackKey Otf2RowWriter::key_of(const OrderedRows& row) const {
  const auto key = [&](size_t i) {
    return i < rule_.keys.size() && row.values(column(rule_.keys[i])).kind() == Values::Kind::kNumber
               ? row.number(column(rule_.keys[i]))
               : 0;
  };
  switch (rule_.place) {
    case Otf2TrackKind::kThread: {
      const std::string_view scope = at_.scope == kMissing ? std::string_view() : row.text(at_.scope);
      if (scope == "process") return {Otf2TrackKind::kProcess, number(row, at_.proc_id), 0, 0, rule_.table};
      if (scope == "run") return {Otf2TrackKind::kRun, 0, 0, 0, rule_.table};
      const int64_t thread_id = number(row, at_.thread_id);
      if (thread_id != 0) return {Otf2TrackKind::kThread, thread_id, 0, 0, ""};
      return {Otf2TrackKind::kThread, 0, number(row, at_.pid), number(row, at_.tid), ""};
    }
    case Otf2TrackKind::kStream:
      return {rule_.place, key(0), key(1), number(row, at_.context) << 32 | (number(row, at_.stream) & 0xffffffff), ""};
    case Otf2TrackKind::kMetric: {
      std::string text = rule_.table;
      int64_t first_size =
          0;  // so that "a/b", "c" differ from "a", "b/c"; tables with keys of text have no third number
      for (const char* name : rule_.keys) {
        const size_t place = column(name);
        if (place == kMissing || row.values(place).kind() != Values::Kind::kText) continue;
        text += "/" + std::string(row.text(place));
        if (first_size == 0) first_size = int64_t(text.size());
      }
      // Null is a key of its own: of sample_memory the machine, beside node 0.
      const auto key_or_none = [&](size_t i) {
        return i < rule_.keys.size() && row.is_null(column(rule_.keys[i])) ? kOtf2NoKey : key(i);
      };
      return {rule_.place, key_or_none(0), key_or_none(1), first_size != 0 ? first_size : key_or_none(2), text};
    }
    case Otf2TrackKind::kProcess:
    case Otf2TrackKind::kRun:
    case Otf2TrackKind::kGpu:
    case Otf2TrackKind::kDevice: return {rule_.place, key(0), 0, 0, rule_.table};
  }
  return {};
}

Otf2Track& Otf2RowWriter::track_of(const OrderedRows& row) {
  // Most rows are of the same thread as the row before.
  const bool by_thread = rule_.place == Otf2TrackKind::kThread && at_.scope == kMissing;
  const int64_t thread_id = by_thread ? number(row, at_.thread_id) : 0;
  if (thread_id != 0 && thread_id == last_thread_) return *last_track_;
  last_track_ = &shared_.tracks.track(key_of(row));
  last_thread_ = thread_id;
  return *last_track_;
}

OTF2_RegionRole Otf2RowWriter::role_of(std::string_view name) const {
  if (rule_.role == OTF2_REGION_ROLE_ALLOCATE) {
    if (name == "free" || name == "release") return OTF2_REGION_ROLE_DEALLOCATE;
    if (name.starts_with("realloc")) return OTF2_REGION_ROLE_REALLOCATE;
    return rule_.role;
  }
  const mlrun_call_class* of_call = std::string_view(rule_.table) == "call" ? class_of_name(name) : nullptr;
  if (of_call == nullptr) return rule_.role;
  switch (*of_call) {
    case MLRUN_CLASS_READ:
    case MLRUN_CLASS_WRITE:
    case MLRUN_CLASS_SYNC:
    case MLRUN_CLASS_COPY: return OTF2_REGION_ROLE_FILE_IO;
    case MLRUN_CLASS_OPEN:
    case MLRUN_CLASS_CLOSE:
    case MLRUN_CLASS_SEEK:
    case MLRUN_CLASS_META:
    case MLRUN_CLASS_FD: return OTF2_REGION_ROLE_FILE_IO_METADATA;
    case MLRUN_CLASS_WAIT: return OTF2_REGION_ROLE_THREAD_WAIT;
    case MLRUN_CLASS_MAP:
    case MLRUN_CLASS_PROCESS: return rule_.role;
  }
  return rule_.role;
}

OTF2_RegionRef Otf2RowWriter::region_of(const OrderedRows& row) {
  std::string_view name = rule_.table;
  std::string known;
  if (at_.name != kMissing) {
    if (row.values(at_.name).kind() == Values::Kind::kNumber) {
      known = shared_.names.name(row.number(at_.name));
      name = known;
      // A mark beyond the limit of names has its own text.
      if (name.empty() && column("text") != kMissing) name = row.text(column("text"));
    } else {
      name = row.text(at_.name);
    }
  }
  Otf2RegionKind kind{rule_.table, role_of(name), rule_.paradigm};
  if (name.starts_with("pthread_") || name.starts_with("sem_")) kind.paradigm = OTF2_PARADIGM_PTHREAD;
  return shared_.definitions.region(name, kind);
}

void Otf2RowWriter::add_attributes(const OrderedRows& row, bool with_numbers) {
  for (const Attribute& attribute : attributes_) {
    if (!with_numbers && (attribute.as == As::kNumber || attribute.as == As::kReal)) continue;
    if (!row.is_null(attribute.column)) add_attribute(attribute, row);
  }
}

void Otf2RowWriter::add_attribute(const Attribute& attribute, const OrderedRows& row) {
  OTF2_AttributeList* list = shared_.attributes;
  const auto [column, as, name] = attribute;
  switch (as) {
    case As::kId:
    case As::kNumber: OTF2_AttributeList_AddInt64(list, name, row.number(column)); return;
    case As::kReal: OTF2_AttributeList_AddDouble(list, name, row.values(column).real(row.row())); return;
    case As::kBoolean: OTF2_AttributeList_AddUint8(list, name, row.values(column).boolean(row.row()) ? 1 : 0); return;
    case As::kText: OTF2_AttributeList_AddStringRef(list, name, shared_.definitions.text(row.text(column))); return;
    case As::kName:
      OTF2_AttributeList_AddStringRef(list, name, shared_.definitions.text(shared_.names.name(row.number(column))));
      return;
    case As::kFile:
      if (row.number(column) > 0) OTF2_AttributeList_AddIoFileRef(list, name, OTF2_IoFileRef(row.number(column) - 1));
      return;
    case As::kStack: {
      const auto stack = size_t(row.number(column));
      if (stack < shared_.contexts.size()) OTF2_AttributeList_AddCallingContextRef(list, name, shared_.contexts[stack]);
      return;
    }
    case As::kThread: {
      if (row.number(column) <= 0) return;
      const Otf2Track& thread = shared_.tracks.track({Otf2TrackKind::kThread, row.number(column), 0, 0, ""});
      OTF2_AttributeList_AddLocationRef(list, name, thread.lanes.front().location());
      return;
    }
  }
}

void Otf2RowWriter::write_message(const OrderedRows& row, uint64_t arrow, bool is_send) {
  const auto [from, to] = shared_.flows.threads(arrow);
  const Otf2TrackKey peer{Otf2TrackKind::kThread, is_send ? to : from, 0, 0, ""};
  const auto rank = uint32_t(shared_.tracks.track(peer).lanes.front().location());
  const size_t category = column("category");
  const OTF2_CommRef comm = shared_.definitions.arrows(category == kMissing ? "" : row.text(category));
  Otf2Lane& lane = track_of(row).lanes.front();
  lane.leave_until(row.ts());
  const uint64_t at = lane.moment(row.ts());
  if (lane.events() == nullptr) return;
  add_attributes(row, true);
  // A message has no name, as the region of a row has.
  OTF2_AttributeList_AddStringRef(shared_.attributes, shared_.definitions.attribute("name", OTF2_TYPE_STRING),
                                  shared_.definitions.text(row.text(at_.name)));
  const auto tag = uint32_t(arrow);
  lane.check(is_send ? OTF2_EvtWriter_MpiSend(lane.events(), shared_.attributes, at, rank, comm, tag, 0)
                     : OTF2_EvtWriter_MpiRecv(lane.events(), shared_.attributes, at, rank, comm, tag, 0));
}

int64_t Otf2RowWriter::write_arrows(const OrderedRows& row) {
  begins_.clear();
  ends_.clear();
  shared_.flows.take_row(source_, begins_, ends_);
  int64_t events = 0;
  for (const bool is_send : {false, true}) {
    for (const uint64_t arrow : is_send ? begins_ : ends_) {
      const auto [from, to] = shared_.flows.threads(arrow);
      if (from == 0 || to == 0) continue;
      write_message(row, arrow, is_send);
      ++events;
    }
  }
  return events;
}

int64_t Otf2RowWriter::write_region(const OrderedRows& row) {
  Otf2Track& track = track_of(row);
  Otf2Lane& lane = shared_.tracks.lane(track, row.ts(), row.end());
  const OTF2_RegionRef region = region_of(row);
  add_attributes(row, true);
  if (at_.dur != kMissing && row.is_null(at_.dur)) OTF2_AttributeList_AddUint8(shared_.attributes, no_duration_, 1);
  lane.enter(row.ts(), row.end(), region, shared_.attributes);
  if (lane.events() == nullptr) OTF2_AttributeList_RemoveAllAttributes(shared_.attributes);
  return at_.ofd_id == kMissing ? 2 : 2 + write_io(row, lane, track.group);
}

int64_t Otf2RowWriter::write_io(const OrderedRows& row, Otf2Lane& lane, uint32_t group) {
  if (row.is_null(at_.ofd_id) && row.is_null(at_.file_id)) return 0;
  const int64_t file_id = number(row, at_.file_id);
  const std::string path(shared_.paths.name(file_id));
  return shared_.handles.begin({.proc_id = number(row, at_.proc_id),
                                .ofd_id = number(row, at_.ofd_id),
                                .file_id = file_id,
                                .fd = number(row, io_.fd),
                                .requested = number(row, io_.requested),
                                .ret = number(row, io_.ret),
                                .err = number(row, io_.err),
                                .flags = number(row, io_.flags),
                                .whence = number(row, io_.arg2),
                                .position = number(row, io_.offset),
                                .func = row.text(at_.name),
                                .path = path,
                                .group = group},
                               lane, row.ts());
}

int64_t Otf2RowWriter::write_sample(const OrderedRows& row) {
  Otf2Track& track = track_of(row);
  Otf2Lane& lane = track.lanes.front();
  lane.leave_until(row.ts());
  const auto stack = size_t(number(row, at_.stack_id));
  const uint64_t at = lane.moment(row.ts());
  if (lane.events() == nullptr) return 1;
  add_attributes(row, true);
  const OTF2_CallingContextRef context =
      stack < shared_.contexts.size() ? shared_.contexts[stack] : OTF2_UNDEFINED_CALLING_CONTEXT;
  lane.check(
      OTF2_EvtWriter_CallingContextSample(lane.events(), shared_.attributes, at, context, OTF2_UNDEFINED_UINT32, 0));
  return 1;
}

// A metric cannot be null, so each set of columns with values has its own metric class.
int64_t Otf2RowWriter::write_metrics(const OrderedRows& row) {
  Otf2Lane& lane = track_of(row).lanes.front();
  const uint64_t at = lane.moment(row.end());
  std::vector<bool> has;
  for (const Attribute& it : attributes_)
    has.push_back((it.as == As::kNumber || it.as == As::kReal) && !row.is_null(it.column));
  auto known = std::find_if(classes_.begin(), classes_.end(), [&](const auto& one) { return one.first == has; });
  if (known == classes_.end()) {
    Metrics made{};
    std::vector<std::pair<std::string, OTF2_Type>> members;
    for (size_t i = 0; i < has.size() && members.size() < kMostMetrics; ++i) {
      if (!has[i]) continue;
      const OTF2_Type type = attributes_[i].as == As::kReal ? OTF2_TYPE_DOUBLE : OTF2_TYPE_INT64;
      made.columns.push_back(attributes_[i].column);
      made.types.push_back(type);
      members.emplace_back(columns_[attributes_[i].column], type);
    }
    made.metric_class = shared_.definitions.metric_class(rule_.table, members);
    known = classes_.emplace(classes_.end(), has, std::move(made));
  }
  if (lane.events() == nullptr) return 1;
  const Metrics& metrics = known->second;
  std::array<OTF2_MetricValue, kMostMetrics> values{};
  for (size_t i = 0; i < metrics.columns.size(); ++i) {
    if (metrics.types[i] == OTF2_TYPE_DOUBLE) {
      values[i].floating_point = row.values(metrics.columns[i]).real(row.row());
    } else {
      values[i].signed_int = row.number(metrics.columns[i]);
    }
  }
  add_attributes(row, false);
  lane.check(OTF2_EvtWriter_Metric(lane.events(), shared_.attributes, at, metrics.metric_class,
                                   uint8_t(metrics.columns.size()), metrics.types.data(), values.data()));
  return 1;
}

}  // namespace mlrun::exchange
