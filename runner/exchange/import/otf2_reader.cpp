// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/otf2_reader.h"

#include <otf2/otf2.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "runner/exchange/import/otf2_attributes.h"
#include "runner/exchange/import/otf2_communicators.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr OTF2_CallbackCode kGoOn = OTF2_CALLBACK_SUCCESS, kStop = OTF2_CALLBACK_INTERRUPT;
constexpr size_t kOpenMaxOfLocation = 100'000;
constexpr std::string_view kNoDuration = "no_duration";  // of a region that mlrun exported

// The library's last complaint, instead of its own print to stderr.
std::string& complaint() {
  static std::string text;
  return text;
}
OTF2_ErrorCode note_complaint(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                              va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (complaint().empty()) complaint() = fmt::format("{}: {}", OTF2_Error_GetDescription(code), text);
  return code;
}

// A region that was entered and not left yet.
struct OpenRegion {
  OTF2_RegionRef region = 0;
  int64_t begin_ns = 0;
  bool is_arrow = false;  // an end of an arrow: its row is there already
  bool has_duration = true;
  std::string attributes;  // members of a JSON object
};

struct Otf2Location {
  std::string name;
  OTF2_LocationGroupRef group = 0;
  OTF2_LocationType type = OTF2_LOCATION_TYPE_UNKNOWN;
  uint64_t events = 0;
  int32_t proc_id = 0, thread_id = 0;
  std::vector<OpenRegion> open;
  std::string last_arrow;  // what the last end of an arrow was
};

class Otf2Archive {
 public:
  explicit Otf2Archive(TraceMaker& to) : to_(to) {}
  Status run(const std::string& path);

 private:
  static Otf2Archive& of(void* data) { return *static_cast<Otf2Archive*>(data); }
  static Otf2Archive& with(void* data, const OTF2_AttributeList* list) {
    of(data).attributes_.read(list);
    return of(data);
  }
  Status read(OTF2_Reader* reader);
  Status read_definitions(OTF2_Reader* reader);
  static void register_metrics(OTF2_GlobalDefReaderCallbacks* callbacks);
  static void register_communicators(OTF2_GlobalDefReaderCallbacks* callbacks);
  Status read_events(OTF2_Reader* reader);
  Status open_locations(OTF2_Reader* reader);
  void register_events(OTF2_Reader* reader, OTF2_GlobalEvtReader* events);
  Status add_never_ended();
  void name_locations();
  [[nodiscard]] int64_t time(OTF2_TimeStamp stamp) const {
    const uint64_t second = resolution_ == 0 ? 1'000'000'000 : resolution_;
    const auto part = static_cast<double>(stamp % second) * 1e9 / static_cast<double>(second);
    return static_cast<int64_t>(std::min<uint64_t>(stamp / second, INT64_MAX / 4 / 1'000'000'000)) * 1'000'000'000 +
           std::llround(part);
  }
  [[nodiscard]] const std::string& text(OTF2_StringRef ref) const {
    static const std::string kNone;
    const auto found = strings_.find(ref);
    return found == strings_.end() ? kNone : found->second;
  }
  [[nodiscard]] model::Origin origin(const Otf2Location& location, int64_t ts_ns) const {
    return to_.ids().origin(ts_ns, location.proc_id, location.thread_id);
  }
  // One record more.
  void handle() {
    constexpr int64_t kRecordsPerStep = 4096;
    if (++handled_ % kRecordsPerStep == 0)
      to_.progress().reached(static_cast<uint64_t>(handled_), std::max(static_cast<uint64_t>(handled_), events_));
  }
  OTF2_CallbackCode done(Status status) {
    if (status) return kGoOn;
    status_ = std::move(status);
    return kStop;
  }
  // These take an event whose attributes were read.
  OTF2_CallbackCode enter(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_RegionRef region);
  OTF2_CallbackCode leave(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_RegionRef region);
  OTF2_CallbackCode slice(Otf2Location& location, const OpenRegion& open, int64_t end_ns);
  OTF2_CallbackCode metric(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_MetricRef ref, uint8_t count,
                           const OTF2_Type* types, const OTF2_MetricValue* values);
  OTF2_CallbackCode message(OTF2_LocationRef where, OTF2_TimeStamp stamp, bool is_send, uint32_t peer,
                            OTF2_CommRef comm, uint32_t tag, uint64_t bytes);
  [[nodiscard]] bool is_arrow() const { return attributes_.number("flow_id") && !attributes_.text("step").empty(); }
  OTF2_CallbackCode arrow(Otf2Location& location, std::string_view name, int64_t ts_ns, bool may_be_known);

  TraceMaker& to_;
  Status status_;
  uint64_t resolution_ = 1'000'000'000;
  std::unordered_map<OTF2_StringRef, std::string> strings_;
  Otf2Attributes attributes_{strings_};
  std::unordered_map<OTF2_LocationGroupRef, OTF2_StringRef> groups_;
  std::map<OTF2_LocationRef, Otf2Location> locations_;
  struct Region {
    OTF2_StringRef name = 0, description = 0;
    OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
  };
  std::unordered_map<OTF2_RegionRef, Region> regions_;
  struct Member {
    OTF2_StringRef name = 0, unit = 0;
  };
  std::unordered_map<OTF2_MetricMemberRef, Member> members_;
  std::unordered_map<OTF2_MetricRef, std::vector<OTF2_MetricMemberRef>> classes_;
  Otf2Communicators communicators_;
  using Message = std::tuple<OTF2_CommRef, uint32_t, uint64_t, uint64_t>;  // tag, from, to
  std::map<Message, std::deque<int64_t>> sent_, received_;
  int64_t messages_ = 0, handled_ = 0;
  uint64_t events_ = 0;  // as the definitions of the locations say
};

OTF2_CallbackCode Otf2Archive::slice(Otf2Location& location, const OpenRegion& open, int64_t end_ns) {
  const auto found = regions_.find(open.region);
  const std::string name = found == regions_.end() ? fmt::format("region {}", open.region) : text(found->second.name);
  const std::string args = open.attributes.empty() ? std::string() : "{" + open.attributes + "}";
  const bool is_stream = location.type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
  model::SliceRow row;
  row.origin = origin(location, open.begin_ns);
  row.dur_ns = end_ns < open.begin_ns || !open.has_duration ? -1 : end_ns - open.begin_ns;
  row.kind = model::SliceKind::kRegion;
  row.name = name;
  row.category = is_stream                                                                ? "accelerator"
                 : found != regions_.end() && found->second.paradigm == OTF2_PARADIGM_MPI ? "mpi"
                                                                                          : "region";
  row.args = args;
  return done(to_.add(row));
}

OTF2_CallbackCode Otf2Archive::enter(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_RegionRef region) {
  handle();
  Otf2Location& location = locations_[where];
  if (location.open.size() >= kOpenMaxOfLocation) {
    to_.file().leave_out("begun inside 100,000 others");
    return kGoOn;
  }
  OpenRegion& open = location.open.emplace_back();
  open.region = region;
  open.begin_ns = time(stamp);
  const auto found = regions_.find(region);
  open.is_arrow = is_arrow() && found != regions_.end() && text(found->second.description) == "flow";
  if (open.is_arrow) return arrow(location, text(found->second.name), open.begin_ns, false);
  open.has_duration = !attributes_.number(kNoDuration);
  open.attributes = attributes_.members(kNoDuration);
  return kGoOn;
}

OTF2_CallbackCode Otf2Archive::leave(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_RegionRef region) {
  handle();
  Otf2Location& location = locations_[where];
  for (size_t i = location.open.size(); i-- > 0;) {
    if (location.open[i].region != region) continue;
    OpenRegion open = std::move(location.open[i]);
    if (i + 1 != location.open.size()) ++to_.file().remarks["ended before what began later"];
    location.open.erase(location.open.begin() + static_cast<ptrdiff_t>(i));
    to_.file().keep(open.is_arrow ? "flow" : "slice", 0);
    if (open.is_arrow) return kGoOn;
    if (const std::string more = attributes_.members({}); !more.empty())
      open.attributes += (open.attributes.empty() ? "" : ",") + more;
    return slice(location, open, time(stamp));
  }
  to_.file().leave_out("an end without a beginning");
  return kGoOn;
}

OTF2_CallbackCode Otf2Archive::metric(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_MetricRef ref, uint8_t count,
                                      const OTF2_Type* types, const OTF2_MetricValue* values) {
  handle();
  if (!attributes_.empty()) ++to_.file().remarks["a metric's attributes, left out"];
  const std::vector<OTF2_MetricMemberRef>& members = classes_[ref];
  for (uint8_t i = 0; i < count; ++i) {
    const Member member = i < members.size() ? members_[members[i]] : Member{};
    model::CounterRow row;
    row.origin = origin(locations_[where], time(stamp));
    row.name = text(member.name);
    row.category = text(member.unit);
    row.value = types[i] == OTF2_TYPE_DOUBLE  ? values[i].floating_point
                : types[i] == OTF2_TYPE_INT64 ? static_cast<double>(values[i].signed_int)
                                              : static_cast<double>(values[i].unsigned_int);
    if (Status added = to_.add(row, i == 0 ? 1 : 0); !added) return done(std::move(added));
  }
  if (count == 0) to_.file().leave_out("a metric without a value");
  return kGoOn;
}

// An end of an arrow as mlrun exports it: its columns are attributes. It is a message for each arrow that ends or begins there: one that is
// received at most, and first.
OTF2_CallbackCode Otf2Archive::arrow(Otf2Location& location, std::string_view name, int64_t ts_ns, bool may_be_known) {
  const std::string_view step = attributes_.text("step");
  model::FlowRow row;
  row.origin = origin(location, ts_ns);
  row.flow_id = attributes_.number("flow_id").value_or(0);
  row.step = step == "start"  ? model::FlowStep::kStart
             : step == "step" ? model::FlowStep::kStep
                              : model::FlowStep::kEnd;
  row.binds_enclosing = attributes_.text("binds") != "next";
  row.name = name;
  row.category = attributes_.text("category");
  row.id_text = attributes_.text("id_text");
  row.args = attributes_.text("args");
  std::string said = fmt::format("{} {}", ts_ns, attributes_.members({}));
  if (may_be_known && said == location.last_arrow) {
    to_.file().keep("flow", 0);
    return kGoOn;
  }
  location.last_arrow = std::move(said);
  return done(to_.add(row));
}

// Messages of one communicator, tag and pair arrive in the order in which they were sent.
OTF2_CallbackCode Otf2Archive::message(OTF2_LocationRef where, OTF2_TimeStamp stamp, bool is_send, uint32_t peer,
                                       OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
  handle();
  if (is_arrow()) return arrow(locations_[where], attributes_.text("name"), time(stamp), is_send);
  const OTF2_LocationRef other = communicators_.location(comm, where, peer);
  const Message key = is_send ? Message{comm, tag, where, other} : Message{comm, tag, other, where};
  std::deque<int64_t>& others = is_send ? received_[key] : sent_[key];
  int64_t id = 0;
  if (others.empty()) {
    (is_send ? sent_[key] : received_[key]).push_back(id = ++messages_);
  } else {
    id = others.front();
    others.pop_front();
  }
  const std::string more = attributes_.members({});
  const std::string args = fmt::format("{{\"peer\":{},\"tag\":{},\"bytes\":{},\"communicator\":{}{}{}}}", peer, tag,
                                       bytes, comm, more.empty() ? "" : ",", more);
  model::FlowRow row;
  row.origin = origin(locations_[where], time(stamp));
  row.flow_id = id;
  row.step = is_send ? model::FlowStep::kStart : model::FlowStep::kEnd;
  row.binds_enclosing = true;
  row.name = "message";
  row.category = "mpi";
  row.args = args;
  return done(to_.add(row));
}

void Otf2Archive::register_metrics(OTF2_GlobalDefReaderCallbacks* callbacks) {
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(
      callbacks, [](void* data, OTF2_MetricMemberRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_MetricType,
                    OTF2_MetricMode, OTF2_Type, OTF2_Base, int64_t, OTF2_StringRef unit) {
        of(data).members_[self] = {name, unit};
        return kGoOn;
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(
      callbacks, [](void* data, OTF2_MetricRef self, uint8_t count, const OTF2_MetricMemberRef* members,
                    OTF2_MetricOccurrence, OTF2_RecorderKind) {
        of(data).classes_[self].assign(members, members + count);
        return kGoOn;
      });
  // A recorder's own copy of a class.
  OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(
      callbacks,
      [](void* data, OTF2_MetricRef self, OTF2_MetricRef metric_class, OTF2_LocationRef, OTF2_MetricScope, uint64_t) {
        of(data).classes_[self] = std::vector(of(data).classes_[metric_class]);
        return kGoOn;
      });
}

void Otf2Archive::register_communicators(OTF2_GlobalDefReaderCallbacks* callbacks) {
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
      callbacks, [](void* data, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
                    OTF2_GroupFlag, uint32_t count, const uint64_t* members) {
        of(data).communicators_.add_group(self, type, paradigm, {members, members + count});
        return kGoOn;
      });
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(
      callbacks, [](void* data, OTF2_CommRef self, OTF2_StringRef, OTF2_GroupRef group, OTF2_CommRef, OTF2_CommFlag) {
        of(data).communicators_.add(self, group, OTF2_UNDEFINED_GROUP);
        return kGoOn;
      });
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(
      callbacks, [](void* data, OTF2_CommRef self, OTF2_StringRef, OTF2_GroupRef first, OTF2_GroupRef second,
                    OTF2_CommRef, OTF2_CommFlag) {
        of(data).communicators_.add(self, first, second);
        return kGoOn;
      });
}

Status Otf2Archive::read_definitions(OTF2_Reader* reader) {
  OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
  OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
      callbacks, [](void* data, uint64_t resolution, uint64_t offset, uint64_t, uint64_t realtime) {
        Otf2Archive& self = of(data);
        self.resolution_ = resolution;
        if (realtime != UINT64_MAX) {
          self.to_.file().realtime_offset_ns = static_cast<int64_t>(realtime) - self.time(offset);
          self.to_.file().has_offset = true;
        }
        return kGoOn;
      });
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, [](void* data, OTF2_StringRef self, const char* string) {
    of(data).strings_[self] = util::escaped_utf8(string == nullptr ? "" : string);
    return kGoOn;
  });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
      callbacks, [](void* data, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType,
                    OTF2_SystemTreeNodeRef, OTF2_LocationGroupRef) {
        of(data).groups_[self] = name;
        return kGoOn;
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
      callbacks, [](void* data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type, uint64_t events,
                    OTF2_LocationGroupRef group) {
        Otf2Location& location = of(data).locations_[self];
        location.name = of(data).text(name);
        location.group = group;
        location.type = type;
        location.events = events;
        of(data).events_ += events;
        return kGoOn;
      });
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
      callbacks, [](void* data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef,
                    OTF2_StringRef description, OTF2_RegionRole, OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef, uint32_t, uint32_t) {
        of(data).regions_[self] = {name, description, paradigm};
        return kGoOn;
      });
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(
      callbacks, [](void* data, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type) {
        of(data).attributes_.define(self, name);
        return kGoOn;
      });
  register_metrics(callbacks);
  register_communicators(callbacks);
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, this);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  uint64_t count = 0;
  if (OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count) != OTF2_SUCCESS)
    return fail("its definitions are damaged");
  return {};
}

void Otf2Archive::name_locations() {
  for (auto& [ref, location] : locations_) {
    location.proc_id = to_.ids().process(static_cast<int64_t>(location.group));
    to_.ids().name_process(location.proc_id, text(groups_[location.group]));
    location.thread_id = to_.ids().thread(location.proc_id, static_cast<int64_t>(ref));
    to_.ids().name_thread(location.thread_id, location.name);
  }
}

// The definitions of each location, which its events refer to, and its events.
Status Otf2Archive::open_locations(OTF2_Reader* reader) {
  for (const auto& [ref, location] : locations_) OTF2_Reader_SelectLocation(reader, ref);
  const bool has_local_definitions = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
  complaint().clear();
  if (OTF2_Reader_OpenEvtFiles(reader) != OTF2_SUCCESS) return fail("its events cannot be opened");
  for (const auto& [ref, location] : locations_) {
    if (has_local_definitions) {
      if (OTF2_DefReader* local = OTF2_Reader_GetDefReader(reader, ref)) {
        uint64_t count = 0;
        OTF2_Reader_ReadAllLocalDefinitions(reader, local, &count);
        OTF2_Reader_CloseDefReader(reader, local);
      }
    }
    OTF2_Reader_GetEvtReader(reader, ref);
  }
  if (has_local_definitions) OTF2_Reader_CloseDefFiles(reader);
  return {};
}

void Otf2Archive::register_events(OTF2_Reader* reader, OTF2_GlobalEvtReader* events) {
  OTF2_GlobalEvtReaderCallbacks* callbacks = OTF2_GlobalEvtReaderCallbacks_New();
  OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(
      callbacks, [](OTF2_LocationRef where, OTF2_TimeStamp stamp, void* data, OTF2_AttributeList* list,
                    OTF2_RegionRef region) { return with(data, list).enter(where, stamp, region); });
  OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(
      callbacks, [](OTF2_LocationRef where, OTF2_TimeStamp stamp, void* data, OTF2_AttributeList* list,
                    OTF2_RegionRef region) { return with(data, list).leave(where, stamp, region); });
  OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(
      callbacks, [](OTF2_LocationRef where, OTF2_TimeStamp stamp, void* data, OTF2_AttributeList* list,
                    OTF2_MetricRef metric, uint8_t number, const OTF2_Type* types, const OTF2_MetricValue* values) {
        return with(data, list).metric(where, stamp, metric, number, types, values);
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(
      callbacks, [](OTF2_LocationRef where, OTF2_TimeStamp stamp, void* data, OTF2_AttributeList* list, uint32_t peer,
                    OTF2_CommRef comm, uint32_t tag,
                    uint64_t bytes) { return with(data, list).message(where, stamp, true, peer, comm, tag, bytes); });
  OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(
      callbacks, [](OTF2_LocationRef where, OTF2_TimeStamp stamp, void* data, OTF2_AttributeList* list, uint32_t peer,
                    OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                    uint64_t) { return with(data, list).message(where, stamp, true, peer, comm, tag, bytes); });
  OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(
      callbacks, [](OTF2_LocationRef where, OTF2_TimeStamp stamp, void* data, OTF2_AttributeList* list, uint32_t peer,
                    OTF2_CommRef comm, uint32_t tag,
                    uint64_t bytes) { return with(data, list).message(where, stamp, false, peer, comm, tag, bytes); });
  OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(
      callbacks, [](OTF2_LocationRef where, OTF2_TimeStamp stamp, void* data, OTF2_AttributeList* list, uint32_t peer,
                    OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                    uint64_t) { return with(data, list).message(where, stamp, false, peer, comm, tag, bytes); });
  OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, this);
  OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
}

Status Otf2Archive::add_never_ended() {
  for (auto& [ref, location] : locations_) {
    for (const OpenRegion& open : location.open) {
      if (open.is_arrow) continue;
      ++to_.file().remarks["begun and never ended: without a duration"];
      if (slice(location, open, INT64_MIN) != kGoOn) return status_;
    }
  }
  return {};
}

Status Otf2Archive::read_events(OTF2_Reader* reader) {
  if (Status opened = open_locations(reader); !opened) return opened;
  OTF2_GlobalEvtReader* events = OTF2_Reader_GetGlobalEvtReader(reader);
  register_events(reader, events);
  uint64_t count = 0;
  const bool read = OTF2_Reader_ReadAllGlobalEvents(reader, events, &count) == OTF2_SUCCESS;
  OTF2_Reader_CloseGlobalEvtReader(reader, events);
  OTF2_Reader_CloseEvtFiles(reader);
  if (!status_) return status_;
  if (!read) return fail("its events are damaged");
  if (Status added = add_never_ended(); !added) return added;
  const int64_t others = static_cast<int64_t>(std::max(count, events_)) - handled_;
  if (others > 0) to_.file().leave_out("a record of another kind than regions, metrics and messages", others);
  return {};
}

Status Otf2Archive::run(const std::string& path) {
  complaint().clear();
  OTF2_Error_RegisterCallback(note_complaint, nullptr);
  OTF2_Reader* reader = OTF2_Reader_Open(path.c_str());
  Status done = reader == nullptr ? Status(fail("it cannot be opened")) : Status();
  if (done) OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  if (done) done = read(reader);
  if (reader != nullptr) OTF2_Reader_Close(reader);
  if (!done && status_)
    return fail(fmt::format("cannot import {}: {} ({})", path, done.error().text, util::printable(complaint())));
  return done;
}

Status Otf2Archive::read(OTF2_Reader* reader) {
  to_.ids().begin_space();
  if (Status defined = read_definitions(reader); !defined) return defined;
  name_locations();
  return read_events(reader);
}

}  // namespace

Status read_otf2(const std::string& path, TraceMaker& to) { return Otf2Archive(to).run(path); }

}  // namespace mlrun::exchange
