// SPDX-License-Identifier: Apache-2.0
// Locations, and the regions that are open on them. Regions of a location are nested, also at equal times: a region that would cross an
// open one goes to a further location of the same name, so that nothing is cut.
//
// Only the locations of one pass have an event writer: its buffer takes 256 KiB each. All passes see the same rows, and number
// the locations alike.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "runner/exchange/otf2/archive.h"
#include "runner/exchange/otf2/definitions.h"

namespace mlrun::exchange {

enum class Otf2TrackKind : uint8_t { kThread, kProcess, kRun, kStream, kGpu, kDevice, kMetric };

inline constexpr int64_t kOtf2NoKey = -1;  // of a metric: null
using Otf2TrackKey = std::tuple<Otf2TrackKind, int64_t, int64_t, int64_t, std::string>;

// The I/O record that is written at the end of a region.
struct Otf2IoEnd {
  enum class What : uint8_t { kNothing, kComplete, kCancel, kCreate, kDestroy, kSeek } what = What::kNothing;
  OTF2_IoHandleRef handle = 0;
  uint64_t matching_id = 0;
  uint64_t bytes = 0;     // moved; kSeek: the new position
  int64_t requested = 0;  // kSeek: the offset
  uint32_t flags = 0;     // kCreate: of open(); kSeek: whence
};

// One location.
class Otf2Lane {
 public:
  Otf2Lane(uint64_t location, OTF2_EvtWriter* events, Otf2Archive& archive)
      : location_(location), events_(events), archive_(&archive) {}

  [[nodiscard]] uint64_t location() const { return location_; }
  [[nodiscard]] OTF2_EvtWriter* events() const { return events_; }  // nullptr: not of this pass
  // Leaves the regions that have ended by `ts`.
  void leave_until(int64_t ts) {
    while (!open_.empty() && open_.back().end <= ts) leave();
  }
  void leave_all() {
    while (!open_.empty()) leave();
  }
  [[nodiscard]] bool takes(int64_t end) const { return open_.empty() || open_.back().end >= end; }
  void enter(int64_t ts, int64_t end, OTF2_RegionRef region, OTF2_AttributeList* attributes);
  // Sets the I/O record that ends the region just entered.
  void at_end(const Otf2IoEnd& io) { open_.back().io = io; }
  // The archive's time for `ts`, but not before the location's last event, since its events must be in order.
  [[nodiscard]] uint64_t moment(int64_t ts) {
    if (ts > latest_) latest_ = ts;
    return uint64_t(latest_ + archive_->later_ns());
  }
  void check(OTF2_ErrorCode code) { archive_->check(code); }

 private:
  struct Open {
    int64_t end;
    OTF2_RegionRef region;
    Otf2IoEnd io = {};
  };
  void leave();
  void end_io(const Otf2IoEnd& io, uint64_t at);

  uint64_t location_;
  OTF2_EvtWriter* events_;
  Otf2Archive* archive_;
  std::vector<Open> open_;
  int64_t latest_ = INT64_MIN;
};

struct Otf2Track {
  uint32_t group = 0;
  std::vector<Otf2Lane> lanes = {};
};

class Otf2Tracks {
 public:
  static constexpr uint64_t kLocationsAtOnce = 640;

  // Locations below `kLocationsAtOnce * pass` are of earlier passes. `describe` gives the location of a track that is new.
  using Describe = std::function<Otf2Location(const Otf2TrackKey& key)>;
  Otf2Tracks(Otf2Archive& archive, Otf2Definitions& definitions, uint64_t pass, Describe describe)
      : archive_(archive), definitions_(definitions), pass_(pass), describe_(std::move(describe)) {}

  Otf2Track& track(const Otf2TrackKey& key);
  // The first location of the track on which the region [ts, end) crosses no open one. Leaves the regions that have ended by `ts`.
  Otf2Lane& lane(Otf2Track& track, int64_t ts, int64_t end);
  // Leaves all regions, and closes the event writers. Tracks that are asked for later are new ones, even with the same keys.
  void finish();
  [[nodiscard]] uint64_t locations() const { return locations_; }

 private:
  Otf2Lane make_lane(Otf2Location location);

  Otf2Archive& archive_;
  Otf2Definitions& definitions_;
  uint64_t pass_;
  Describe describe_;
  std::map<Otf2TrackKey, Otf2Track> tracks_;
  uint64_t locations_ = 0;
};

}  // namespace mlrun::exchange
