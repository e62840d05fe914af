// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "runner/decode/event_view.h"
#include "tests/runner/trace/record_buffer.h"

namespace mlrun::decode {

inline RecordReader reader_of(const testing::RecordBuffer& records) {
  return {records.words().data(), records.bytes(), records.lap()};
}

// The one record in the buffer, decoded.
template <typename Event>
Event only(const testing::RecordBuffer& records) {
  RecordReader reader = reader_of(records);
  Event event;
  EXPECT_TRUE(reader.next());
  EXPECT_TRUE(decode(reader.record(), event));
  EXPECT_FALSE(reader.next());
  return event;
}

}  // namespace mlrun::decode
