// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/tracks.h"

#include <fcntl.h>

#include <array>
#include <utility>

namespace mlrun::exchange {

namespace {

OTF2_IoAccessMode access_mode(uint32_t flags) {
  if ((flags & O_ACCMODE) == O_WRONLY) return OTF2_IO_ACCESS_MODE_WRITE_ONLY;
  return (flags & O_ACCMODE) == O_RDWR ? OTF2_IO_ACCESS_MODE_READ_WRITE : OTF2_IO_ACCESS_MODE_READ_ONLY;
}

uint32_t creation_flags(uint32_t flags) {
  constexpr std::array<std::pair<uint32_t, uint32_t>, 7> kFlags = {{
      {O_CREAT, OTF2_IO_CREATION_FLAG_CREATE},
      {O_TRUNC, OTF2_IO_CREATION_FLAG_TRUNCATE},
      {O_DIRECTORY, OTF2_IO_CREATION_FLAG_DIRECTORY},
      {O_EXCL, OTF2_IO_CREATION_FLAG_EXCLUSIVE},
      {O_NOCTTY, OTF2_IO_CREATION_FLAG_NO_CONTROLLING_TERMINAL},
      {O_NOFOLLOW, OTF2_IO_CREATION_FLAG_NO_FOLLOW},
      {O_PATH, OTF2_IO_CREATION_FLAG_PATH},
  }};
  uint32_t made = OTF2_IO_CREATION_FLAG_NONE;
  for (const auto& [ours, theirs] : kFlags) made |= (flags & ours) != 0 ? theirs : 0;
  return made;
}

uint32_t status_flags(uint32_t flags) {
  constexpr std::array<std::pair<uint32_t, uint32_t>, 6> kFlags = {{
      {O_CLOEXEC, OTF2_IO_STATUS_FLAG_CLOSE_ON_EXEC},
      {O_APPEND, OTF2_IO_STATUS_FLAG_APPEND},
      {O_NONBLOCK, OTF2_IO_STATUS_FLAG_NON_BLOCKING},
      {O_DSYNC, OTF2_IO_STATUS_FLAG_DATA_SYNC},
      {O_DIRECT, OTF2_IO_STATUS_FLAG_AVOID_CACHING},
      {O_NOATIME, OTF2_IO_STATUS_FLAG_NO_ACCESS_TIME},
  }};
  uint32_t made = OTF2_IO_STATUS_FLAG_NONE;
  for (const auto& [ours, theirs] : kFlags) made |= (flags & ours) != 0 ? theirs : 0;
  return made;
}

}  // namespace

void Otf2Lane::enter(int64_t ts, int64_t end, OTF2_RegionRef region, OTF2_AttributeList* attributes) {
  const uint64_t at = moment(ts);
  open_.push_back({std::max(end, ts), region});
  if (events_ != nullptr) check(OTF2_EvtWriter_Enter(events_, attributes, at, region));
}

void Otf2Lane::leave() {
  const Open left = open_.back();
  open_.pop_back();
  const uint64_t at = moment(left.end);
  if (events_ == nullptr) return;
  end_io(left.io, at);
  check(OTF2_EvtWriter_Leave(events_, nullptr, at, left.region));
}

void Otf2Lane::end_io(const Otf2IoEnd& io, uint64_t at) {
  switch (io.what) {
    case Otf2IoEnd::What::kNothing: return;
    case Otf2IoEnd::What::kComplete:
      return check(OTF2_EvtWriter_IoOperationComplete(events_, nullptr, at, io.handle, io.bytes, io.matching_id));
    case Otf2IoEnd::What::kCancel:
      return check(OTF2_EvtWriter_IoOperationCancelled(events_, nullptr, at, io.handle, io.matching_id));
    case Otf2IoEnd::What::kCreate:
      return check(OTF2_EvtWriter_IoCreateHandle(events_, nullptr, at, io.handle, access_mode(io.flags),
                                                 creation_flags(io.flags), status_flags(io.flags)));
    case Otf2IoEnd::What::kDestroy: return check(OTF2_EvtWriter_IoDestroyHandle(events_, nullptr, at, io.handle));
    case Otf2IoEnd::What::kSeek:
      return check(OTF2_EvtWriter_IoSeek(events_, nullptr, at, io.handle, io.requested,
                                         static_cast<OTF2_IoSeekOption>(io.flags), io.bytes));
  }
}

Otf2Track& Otf2Tracks::track(const Otf2TrackKey& key) {
  const auto found = tracks_.find(key);
  if (found != tracks_.end()) return found->second;
  Otf2Location location = describe_(key);
  Otf2Track& made = tracks_[key];
  made.group = location.group;
  made.lanes.push_back(make_lane(std::move(location)));
  return made;
}

Otf2Lane& Otf2Tracks::lane(Otf2Track& track, int64_t ts, int64_t end) {
  for (Otf2Lane& lane : track.lanes) {
    lane.leave_until(ts);
    if (lane.takes(end)) return lane;
  }
  Otf2Location further = pass_ == 0 ? definitions_.locations()[track.lanes.front().location()] : Otf2Location{};
  if (pass_ == 0) further.properties.push_back(definitions_.property("overlap", int64_t(track.lanes.size())));
  track.lanes.push_back(make_lane(std::move(further)));
  return track.lanes.back();
}

Otf2Lane Otf2Tracks::make_lane(Otf2Location location) {
  const uint64_t number = locations_++;
  if (pass_ == 0) definitions_.add_location(std::move(location));
  const bool is_written = number / kLocationsAtOnce == pass_;
  return {number, is_written ? archive_.open_events(number) : nullptr, archive_};
}

void Otf2Tracks::finish() {
  for (auto& [key, track] : tracks_) {
    for (Otf2Lane& lane : track.lanes) {
      lane.leave_all();
      if (lane.events() == nullptr) continue;
      definitions_.locations()[lane.location()].events = archive_.close_events(lane.events());
    }
  }
  tracks_.clear();
}

}  // namespace mlrun::exchange
