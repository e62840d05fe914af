// SPDX-License-Identifier: Apache-2.0
// Tests that a thread cancelled inside a hooked call ends as untraced, and that the call is recorded.
#include <gtest/gtest.h>

#include "tests/preload/files/rows.h"

namespace mlrun::preload_test {
namespace {

TEST(CancelledCalls, AreRecordedAndHoldNothing) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/cancelled"), folder / "fifo"});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.output(), "4 4 1\n");  // all cancelled, all cleaned up, and the stream's lock was free
  std::vector<RecordedCall> cancelled;
  for (const RecordedCall& call : run.calls()) {
    if (call.event.flags & MLRUN_CALL_CANCELLED) cancelled.push_back(call);
  }
  ASSERT_EQ(cancelled.size(), 4u);
  const std::vector<std::string> functions = {"read", "open", "fread", "read"};
  for (size_t i = 0; i < cancelled.size(); i++) {
    EXPECT_EQ(cancelled[i].func, functions[i]);
    EXPECT_EQ(cancelled[i].event.result, -ECANCELED);
  }
  EXPECT_EQ(cancelled[0].event.w3, 8u);
  EXPECT_EQ(cancelled[0].file_path().substr(0, 5), "pipe:");
  EXPECT_EQ(cancelled[1].path, folder / "fifo");
  EXPECT_EQ(cancelled[2].event.open_file, cancelled[0].event.open_file);
  EXPECT_NE(cancelled[2].event.flags & MLRUN_CALL_STDIO, 0u);
}

}  // namespace
}  // namespace mlrun::preload_test
