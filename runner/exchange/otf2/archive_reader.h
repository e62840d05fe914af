// SPDX-License-Identifier: Apache-2.0
// Reads one OTF2 archive (read_otf2.h): its definitions, then the events of all locations in order of time.
#pragma once

#include <otf2/otf2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/exchange/import/trace_maker.h"
#include "runner/exchange/otf2/read_attributes.h"
#include "runner/exchange/otf2/read_communicators.h"
#include "runner/exchange/otf2/read_stacks.h"

namespace mlrun::exchange {

// A region that was entered and not left yet.
struct OpenRegion {
  OTF2_RegionRef region = 0;
  int64_t begin_ns = 0;
  bool is_arrow = false;  // an end of an arrow, whose row was already added
  bool has_duration = true;
  std::string attributes;  // members of a JSON object
};

struct ReadLocation {
  std::string name;
  OTF2_LocationGroupRef group = 0;
  OTF2_LocationType type = OTF2_LOCATION_TYPE_UNKNOWN;
  uint64_t events = 0;
  int32_t proc_id = 0, thread_id = 0;
  std::vector<OpenRegion> open;
  std::string last_arrow;  // time and attributes of the last end of an arrow
};

class Otf2ArchiveReader {
 public:
  explicit Otf2ArchiveReader(TraceMaker& to) : to_(to) {}
  Status run(const std::string& path);

 private:
  static Otf2ArchiveReader& of(void* data) { return *static_cast<Otf2ArchiveReader*>(data); }
  static Otf2ArchiveReader& with(void* data, const OTF2_AttributeList* list) {
    of(data).attributes_.read(list);
    return of(data);
  }
  Status read(OTF2_Reader* reader);
  Status read_definitions(OTF2_Reader* reader);
  static void register_metrics(OTF2_GlobalDefReaderCallbacks* callbacks);
  static void register_communicators(OTF2_GlobalDefReaderCallbacks* callbacks);
  static void register_stacks(OTF2_GlobalDefReaderCallbacks* callbacks);
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
  [[nodiscard]] std::string region_name(OTF2_RegionRef ref) const;
  [[nodiscard]] model::Origin origin(const ReadLocation& location, int64_t ts_ns) const {
    return to_.ids().origin(ts_ns, location.proc_id, location.thread_id);
  }
  // Counts a record, for the progress.
  void handle() {
    constexpr int64_t kRecordsPerStep = 4096;
    if (++handled_ % kRecordsPerStep == 0)
      to_.progress().reached(static_cast<uint64_t>(handled_), std::max(static_cast<uint64_t>(handled_), events_));
  }
  OTF2_CallbackCode done(Status status) {
    if (status) return OTF2_CALLBACK_SUCCESS;
    status_ = std::move(status);
    return OTF2_CALLBACK_INTERRUPT;
  }
  // These take an event whose attributes were read.
  OTF2_CallbackCode enter(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_RegionRef region);
  OTF2_CallbackCode leave(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_RegionRef region);
  OTF2_CallbackCode slice(ReadLocation& location, const OpenRegion& open, int64_t end_ns);
  OTF2_CallbackCode metric(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_MetricRef ref, uint8_t count,
                           const OTF2_Type* types, const OTF2_MetricValue* values);
  OTF2_CallbackCode message(OTF2_LocationRef where, OTF2_TimeStamp stamp, bool is_send, uint32_t peer,
                            OTF2_CommRef comm, uint32_t tag, uint64_t bytes);
  [[nodiscard]] bool is_arrow() const { return attributes_.number("flow_id") && !attributes_.text("step").empty(); }
  OTF2_CallbackCode sample(OTF2_LocationRef where, OTF2_TimeStamp stamp, OTF2_CallingContextRef context);
  OTF2_CallbackCode arrow(ReadLocation& location, std::string_view name, int64_t ts_ns, bool may_be_known);

  TraceMaker& to_;
  Status status_;
  uint64_t resolution_ = 1'000'000'000;
  std::unordered_map<OTF2_StringRef, std::string> strings_;
  Otf2Attributes attributes_{strings_};
  std::unordered_map<OTF2_LocationGroupRef, OTF2_StringRef> groups_;
  std::map<OTF2_LocationRef, ReadLocation> locations_;
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
  Otf2Stacks stacks_;
  using Message = std::tuple<OTF2_CommRef, uint32_t, uint64_t, uint64_t>;  // communicator, tag, from, to
  std::map<Message, std::deque<int64_t>> sent_, received_;
  int64_t messages_ = 0, handled_ = 0;
  uint64_t events_ = 0;  // as the definitions of the locations say
};

}  // namespace mlrun::exchange
