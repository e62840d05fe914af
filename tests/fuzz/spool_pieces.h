// SPDX-License-Identifier: Apache-2.0
// A spool as its frames, to be changed one by one and put together again with lengths and checksums that are right, so
// that a changed spool gets past the first line of the decoder.
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

// The whole frames of the spool, whatever stands between them; checksums are not looked at. Frames of nothing but
// padding are left out.
std::vector<SpoolPiece> split_spool(std::string_view bytes);

// The files of a run. One input holds them one after another, and a frame of a type that only one of them has goes on
// in that one, with all that follows.
struct SpoolFiles {
  std::string spool, kept, kernel, sums;
};

// What stands between frames goes where the frame before it went.
SpoolFiles split_files(std::string_view bytes);

// The frames one after another, as many as fit `bytes_max`.
std::string join_spool(std::vector<SpoolPiece>& pieces, size_t bytes_max);

}  // namespace mlrun::testing
