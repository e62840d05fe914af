// SPDX-License-Identifier: Apache-2.0
// An OTF2 archive that is being written. libotf2 reports a failed call by its return value and a text on standard error; here the
// first failure is kept, and its text is the error of finish().
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::exchange {

class Otf2Archive {
 public:
  // Makes the folder `path` with traces.otf2 and what belongs to it.
  static Result<std::unique_ptr<Otf2Archive>> create(const std::string& path);
  ~Otf2Archive();
  Otf2Archive(const Otf2Archive&) = delete;
  Otf2Archive& operator=(const Otf2Archive&) = delete;

  // The event writer of a location; the same one until close_events(). nullptr: it could not be made.
  OTF2_EvtWriter* open_events(uint64_t location);
  // Writes the rest of the location's events, and frees its memory. Returns the number of its events.
  uint64_t close_events(OTF2_EvtWriter* events);
  // After the events: the definitions common to all locations; nullptr after a failure. Requires: finish_events() was called.
  OTF2_GlobalDefWriter* open_definitions();
  void finish_events(uint64_t locations);
  // Closes the archive.
  Status finish();

  // How much later all times are than in the trace, since OTF2 has no times before 0.
  void set_later(int64_t ns) { later_ns_ = ns; }
  [[nodiscard]] int64_t later_ns() const { return later_ns_; }

  // Keeps the first failure.
  void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS && failure_ == OTF2_SUCCESS) failure_ = code;
  }
  [[nodiscard]] bool good() const { return failure_ == OTF2_SUCCESS; }

 private:
  explicit Otf2Archive(std::string path) : path_(std::move(path)) {}

  std::string path_;
  OTF2_Archive* archive_ = nullptr;
  OTF2_ErrorCode failure_ = OTF2_SUCCESS;
  int64_t later_ns_ = 0;
};

}  // namespace mlrun::exchange
