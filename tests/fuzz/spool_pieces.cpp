// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/spool_pieces.h"

#include <cstring>

#include "runner/events/kernel_record.h"
#include "runner/events/sums.h"
#include "runner/util/spool_frame.h"

namespace mlrun::testing {

namespace {

// Calls visit(offset, header) for each whole frame, until that returns false.
template <typename Visit>
void for_each_frame(std::string_view bytes, Visit visit) {
  mlrun_frame header{};
  for (size_t at = 0; bytes.size() >= sizeof header && at <= bytes.size() - sizeof header;) {
    std::memcpy(&header, bytes.data() + at, sizeof header);
    const size_t frame_bytes = sizeof header + header.payload_bytes;
    const bool whole = header.magic == MLRUN_SPOOL_MAGIC && frame_bytes <= bytes.size() - at;
    if (whole && !visit(at, header)) return;
    at += whole ? util::frame_aligned(frame_bytes) : size_t{MLRUN_FRAME_ALIGN};
  }
}

// Where a frame of this type goes when the one before it went to `file`.
std::string SpoolFiles::*file_of(uint16_t type, std::string SpoolFiles::*file) {
  switch (type) {
    case MLRUN_FRAME_DATA: return &SpoolFiles::spool;
    case MLRUN_FRAME_KEPT: return &SpoolFiles::kept;
    case MLRUN_FRAME_KERNEL: return &SpoolFiles::kernel;
    case MLRUN_FRAME_SUMS:
    case MLRUN_FRAME_SUMS_STATE:
    case MLRUN_FRAME_SAME_FILE:
    case MLRUN_FRAME_TIMELINE:
    case MLRUN_FRAME_HEAP: return &SpoolFiles::sums;
    default: return file;
  }
}

}  // namespace

std::vector<SpoolPiece> split_spool(std::string_view bytes) {
  std::vector<SpoolPiece> pieces;
  for_each_frame(bytes, [&](size_t at, const mlrun_frame& header) {
    if (header.type == MLRUN_FRAME_PAD) return true;
    pieces.push_back({header, std::string(bytes.substr(at + sizeof header, header.payload_bytes))});
    return true;
  });
  return pieces;
}

SpoolFiles split_files(std::string_view bytes) {
  SpoolFiles files;
  std::string SpoolFiles::*file = &SpoolFiles::spool;
  size_t done = 0;
  for_each_frame(bytes, [&](size_t at, const mlrun_frame& header) {
    std::string SpoolFiles::*next = file_of(header.type, file);
    if (next == file) return true;
    (files.*file).append(bytes.substr(done, at - done));
    done = at;
    file = next;
    return true;
  });
  (files.*file).append(bytes.substr(done));
  return files;
}

std::string join_spool(std::vector<SpoolPiece>& pieces, size_t bytes_max) {
  std::string bytes;
  for (SpoolPiece& piece : pieces) {
    if (util::frame_bytes(piece.payload.size()) > bytes_max - bytes.size()) continue;
    piece.header.magic = MLRUN_SPOOL_MAGIC;
    piece.header.payload_bytes = static_cast<uint32_t>(piece.payload.size());
    piece.header.crc32c = util::frame_checksum(piece.header, piece.payload.data());
    bytes.append(reinterpret_cast<const char*>(&piece.header), sizeof piece.header);
    bytes.append(piece.payload);
    bytes.resize(util::frame_aligned(bytes.size()));
  }
  return bytes;
}

}  // namespace mlrun::testing
