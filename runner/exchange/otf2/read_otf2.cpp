// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/read_otf2.h"

#include <otf2/otf2.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <fstream>

#include <fmt/format.h>

#include "runner/exchange/otf2/archive_reader.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr OTF2_CallbackCode kGoOn = OTF2_CALLBACK_SUCCESS;
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

// Limits the memory of the process to `more_bytes` more while it exists: the library allocates as much as the number of properties in an
// anchor file wants, and a damaged file may have any number.
class LimitedRoom {
 public:
  explicit LimitedRoom(uint64_t more_bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    if (pages != 0)
      limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, pages * static_cast<uint64_t>(::getpagesize()) + more_bytes);
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~LimitedRoom() { ::setrlimit(RLIMIT_AS, &before_); }
  LimitedRoom(const LimitedRoom&) = delete;
  LimitedRoom& operator=(const LimitedRoom&) = delete;

 private:
  rlimit before_{};
};

OTF2_Reader* open_reader(const std::string& path) {
  const LimitedRoom room(uint64_t{256} << 20);
  return OTF2_Reader_Open(path.c_str());
}

}  // namespace

std::string Otf2ArchiveReader::region_name(OTF2_RegionRef ref) const {
  const auto found = regions_.find(ref);
  return found == regions_.end() ? fmt::format("region {}", ref) : text(found->second.name);
}

OTF2_CallbackCode Otf2ArchiveReader::slice(ReadLocation& location, const OpenRegion& open, int64_t end_ns) {
  const auto found = regions_.find(open.region);
  const std::string name = region_name(open.region);
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

OTF2_CallbackCode Otf2ArchiveReader::enter(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_RegionRef region) {
  handle();
  ReadLocation& location = locations_[where];
  if (location.open.size() >= kOpenMaxOfLocation) {
    to_.file().leave_out("a region begun inside 100,000 others");
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

OTF2_CallbackCode Otf2ArchiveReader::leave(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_RegionRef region) {
  handle();
  ReadLocation& location = locations_[where];
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

OTF2_CallbackCode Otf2ArchiveReader::metric(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_MetricRef ref,
                                            uint8_t count, const OTF2_Type* types, const OTF2_MetricValue* values) {
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

// A sample. If it is a row of stack_sample that mlrun exported, its columns are attributes.
OTF2_CallbackCode Otf2ArchiveReader::sample(OTF2_LocationRef where, OTF2_TimeStamp stamp,
                                            OTF2_CallingContextRef context) {
  handle();
  const std::string_view event = attributes_.text("event");
  const std::string others = event.empty() ? attributes_.members({}) : std::string();
  const std::string args =
      event.empty() ? (others.empty() ? others : "{" + others + "}") : std::string(attributes_.text("args"));
  model::StackSampleRow row;
  row.origin = origin(locations_[where], time(stamp));
  row.stack_id = stacks_.stack(
      context, {[&](OTF2_RegionRef ref) { return region_name(ref); }, [&](OTF2_StringRef ref) { return text(ref); }},
      to_);
  row.cpu = static_cast<int32_t>(attributes_.number("cpu").value_or(-1));
  row.period = attributes_.number("period").value_or(-1);
  row.event = event.empty() ? "sample" : event;
  row.args = args;
  return done(to_.add(row));
}

// An end of an arrow that mlrun exported: the columns of its row of `flow` are attributes. The row is exported as a message for each arrow that
// ends or begins there: first at most one received message, then the sent ones. All but the first are repetitions.
OTF2_CallbackCode Otf2ArchiveReader::arrow(ReadLocation& location, std::string_view name, int64_t ts_ns,
                                           bool may_be_known) {
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
OTF2_CallbackCode Otf2ArchiveReader::message(OTF2_LocationRef where, OTF2_TimeStamp stamp, bool is_send, uint32_t peer,
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

// Opens the definitions of each location, which its events refer to, and its events.
Status Otf2ArchiveReader::open_locations(OTF2_Reader* reader) {
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

void Otf2ArchiveReader::register_events(OTF2_Reader* reader, OTF2_GlobalEvtReader* events) {
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
  OTF2_GlobalEvtReaderCallbacks_SetCallingContextSampleCallback(
      callbacks, [](OTF2_LocationRef where, OTF2_TimeStamp stamp, void* data, OTF2_AttributeList* list,
                    OTF2_CallingContextRef context, uint32_t,
                    OTF2_InterruptGeneratorRef) { return with(data, list).sample(where, stamp, context); });
  OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, this);
  OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
}

Status Otf2ArchiveReader::add_never_ended() {
  for (auto& [ref, location] : locations_) {
    for (const OpenRegion& open : location.open) {
      if (open.is_arrow) continue;
      ++to_.file().remarks["begun and never ended: without a duration"];
      if (slice(location, open, INT64_MIN) != kGoOn) return status_;
    }
  }
  return {};
}

Status Otf2ArchiveReader::read_events(OTF2_Reader* reader) {
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
  if (others > 0) to_.file().leave_out("a record of another kind than regions, metrics, messages and samples", others);
  return {};
}

Status Otf2ArchiveReader::run(const std::string& path) {
  complaint().clear();
  OTF2_Error_RegisterCallback(note_complaint, nullptr);
  OTF2_Reader* reader = open_reader(path);
  Status done = reader == nullptr ? Status(fail("it cannot be opened")) : Status();
  if (done) OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  if (done) done = read(reader);
  if (reader != nullptr) OTF2_Reader_Close(reader);
  if (!done && status_)
    return fail(fmt::format("cannot import {}: {} ({})", path, done.error().text, util::printable(complaint())));
  return done;
}

Status Otf2ArchiveReader::read(OTF2_Reader* reader) {
  to_.ids().begin_space();
  if (Status defined = read_definitions(reader); !defined) return defined;
  name_locations();
  return read_events(reader);
}

Status read_otf2(const std::string& path, TraceMaker& to) { return Otf2ArchiveReader(to).run(path); }

}  // namespace mlrun::exchange
