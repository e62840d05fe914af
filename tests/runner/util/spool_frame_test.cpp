// SPDX-License-Identifier: Apache-2.0
#include "runner/util/spool_frame.h"

#include <string>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

static_assert(frame_aligned(0) == 0 && frame_aligned(1) == 64 && frame_aligned(64) == 64);
static_assert(frame_bytes(0) == 64 && frame_bytes(1) == 128 && frame_bytes(64) == 128 && frame_bytes(65) == 192);
static_assert(chunk_end(0) == MLRUN_SPOOL_CHUNK_BYTES && chunk_end(MLRUN_SPOOL_CHUNK_BYTES - 1) == chunk_end(0));
static_assert(chunk_end(MLRUN_SPOOL_CHUNK_BYTES) == 2 * MLRUN_SPOOL_CHUNK_BYTES);

TEST(SpoolFrame, ASealCoversTheHeaderAndThePayload) {
  std::string payload = "payload";
  mlrun_frame header{};
  header.type = MLRUN_FRAME_PROCESS;
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  seal_frame(header, payload.data());
  EXPECT_EQ(header.magic, MLRUN_SPOOL_MAGIC);
  EXPECT_EQ(header.version, MLRUN_SPOOL_VERSION);
  EXPECT_EQ(header.crc32c, frame_checksum(header, payload.data()));

  mlrun_frame bare = header;
  bare.crc32c = 0;
  const std::string whole = std::string(reinterpret_cast<const char*>(&bare), sizeof bare) + payload;
  EXPECT_EQ(header.crc32c, crc32c(0, whole.data(), whole.size()));

  payload[0] = 'P';
  EXPECT_NE(header.crc32c, frame_checksum(header, payload.data()));
  header.payload_bytes = 0;
  seal_frame(header, nullptr);
  EXPECT_EQ(header.crc32c, frame_checksum(header, nullptr));
}

}  // namespace
}  // namespace mlrun::util
