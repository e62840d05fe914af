// SPDX-License-Identifier: Apache-2.0
// Splits a spool into frames, which can be changed one by one and joined again with valid lengths and checksums, so
// that a changed spool passes the decoder's first checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/events/spool.h"

namespace mlrun::testing {

struct SpoolPiece {
  mlrun_frame header{};
  std::string payload;
};

// The intact frames of the spool, skipping any bytes in between; checksums are not verified. Frames of padding only are
// left out.
std::vector<SpoolPiece> split_spool(std::string_view bytes);

// The files of a run. One input has them one after another; a frame of a type that only one of the files has switches
// to that file, for all that follows.
struct SpoolFiles {
  std::string spool, kept, kernel, sums;
};

// Bytes between frames go to the file of the frame before.
SpoolFiles split_files(std::string_view bytes);

// The frames one after another, as many as fit `bytes_max`.
std::string join_spool(std::vector<SpoolPiece>& pieces, size_t bytes_max);

}  // namespace mlrun::testing
