// SPDX-License-Identifier: Apache-2.0
// Which I/O handle a call on a descriptor is about, and its I/O records. A handle is an open file description in a process. It is
// used only between its creation and its end; one that was open before counts as pre-created, and has no end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runner/exchange/otf2/definitions.h"
#include "runner/exchange/otf2/tracks.h"

namespace mlrun::exchange {

struct Otf2Call {
  int64_t proc_id, ofd_id, file_id, fd, requested, ret, err, flags, whence, position;
  std::string_view func, path;
  uint32_t group;
};

class Otf2IoHandles {
 public:
  explicit Otf2IoHandles(Otf2Definitions& definitions) : definitions_(definitions) {}

  // Writes the record for the begin of a read, write or sync, after the call's region was entered. Sets the record that is written with the
  // region's end. Returns the number of these records, 0 to 2.
  int64_t begin(const Otf2Call& call, Otf2Lane& lane, int64_t ts);

 private:
  struct Known {
    OTF2_IoHandleRef handle;
    int descriptors;  // open ones that share the handle
    bool existed;
  };
  using Key = std::pair<int64_t, int64_t>;  // process, open file description (negative: a file)

  static Key key_of(const Otf2Call& call) { return {call.proc_id, call.ofd_id != 0 ? call.ofd_id : -call.file_id}; }
  OTF2_IoHandleRef use(const Otf2Call& call);
  OTF2_IoHandleRef add(const Otf2Call& call, bool existed);
  Otf2IoEnd close(const Otf2Call& call);

  Otf2Definitions& definitions_;
  std::map<Key, Known> known_;
  uint64_t operations_ = 0;
  OTF2_IoHandleRef next_ = 0;
};

// True: the function works on the C library's streams.
[[nodiscard]] bool is_stdio(std::string_view func);

}  // namespace mlrun::exchange
