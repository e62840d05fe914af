// SPDX-License-Identifier: Apache-2.0
// Tests that messages of mlrun-probes arrive complete, whatever their length.
#include "runner/util/probe_messages.h"

#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "runner/util/unique_fd.h"

namespace mlrun::util {
namespace {

constexpr int kTimeoutMs = 60'000;

class ProbeMessages : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
  }
  UniqueFd ours_, theirs_;
};

TEST_F(ProbeMessages, ATextOfAnyLengthArrivesCompletely) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{MLRUN_PROBE_TEXT_MAX} - 1, size_t{MLRUN_PROBE_TEXT_MAX},
                             size_t{MLRUN_PROBE_TEXT_MAX} + 1, size_t{3'000'000}}) {
    std::string text(bytes, '.');
    for (size_t i = 0; i < bytes; i++) text[i] = static_cast<char>('a' + i % 23);
    std::thread sender([&] {
      EXPECT_TRUE(send_probe_message(theirs_.get(), MLRUN_PROBE_REPORT, 7, text));
      EXPECT_TRUE(send_probe_message(theirs_.get(), MLRUN_PROBE_ENDED, 0, {}));
    });
    const auto report = receive_probe_message(ours_.get(), kTimeoutMs);
    const auto next = receive_probe_message(ours_.get(), kTimeoutMs);
    sender.join();
    ASSERT_TRUE(report.has_value()) << bytes;
    EXPECT_EQ(report->type, uint32_t{MLRUN_PROBE_REPORT});
    EXPECT_EQ(report->value, 7);
    EXPECT_TRUE(report->text == text) << bytes;
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->type, uint32_t{MLRUN_PROBE_ENDED});
    EXPECT_TRUE(next->text.empty());
  }
}

TEST_F(ProbeMessages, ATruncatedMessageIsIgnored) {
  mlrun_probe_message piece{};
  piece.type = MLRUN_PROBE_MORE;
  ASSERT_EQ(::send(theirs_.get(), &piece, MLRUN_PROBE_HEAD_BYTES + 10, 0), MLRUN_PROBE_HEAD_BYTES + 10);
  theirs_.reset();
  const auto report = receive_probe_message(ours_.get(), kTimeoutMs);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().text, "mlrun-probes ended before its time");
}

TEST_F(ProbeMessages, ClosedReadersGetNoMessage) {
  ours_.reset();
  EXPECT_FALSE(send_probe_message(theirs_.get(), MLRUN_PROBE_REPORT, 0, std::string(200'000, 'x')));
}

}  // namespace
}  // namespace mlrun::util
