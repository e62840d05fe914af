// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/remote_table.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

TEST(RemoteTable, UsesTheProtocolsOwnOperationNames) {
  const auto named = [](uint32_t protocol, uint32_t code, const char* name) {
    mlrun_remote record{};
    record.protocol = protocol;
    record.code = code;
    std::memcpy(record.name, name, std::min(std::strlen(name), sizeof record.name));
    return remote_op_name(record);
  };
  EXPECT_EQ(named(MLRUN_REMOTE_9P, 116, ""), "read");
  EXPECT_EQ(named(MLRUN_REMOTE_9P, 9999, ""), "type 9999");
  EXPECT_EQ(named(MLRUN_REMOTE_FUSE, 15, ""), "read");
  EXPECT_EQ(named(MLRUN_REMOTE_RPC, 25, "READ_PLUS"), "read_plus");
  EXPECT_EQ(named(MLRUN_REMOTE_RPC, 25, ""), "type 25");
  EXPECT_EQ(named(MLRUN_REMOTE_RPC, 25, "ABCDEFGHIJKLMNOPQ"), "abcdefghijklmnop") << "the whole field, without an end";
}

}  // namespace
}  // namespace mlrun::trace
