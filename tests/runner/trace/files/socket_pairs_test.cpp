// SPDX-License-Identifier: Apache-2.0
// Tests which sockets are the two ends of one connection, and how addresses are shown.
#include "runner/trace/files/socket_pairs.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "runner/trace/files/socket_address.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using Numbers = testing::TraceFolder::Numbers;
namespace func = events::func;

template <typename T>
std::string bytes_of(const T& address) {
  return {reinterpret_cast<const char*>(&address), sizeof address};
}

std::string ip(uint16_t port, uint32_t host = INADDR_LOOPBACK) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  in.sin_addr.s_addr = htonl(host);
  return bytes_of(in);
}

std::string ip6(const char* host, uint16_t port) {
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(port);
  inet_pton(AF_INET6, host, &in6.sin6_addr);
  return bytes_of(in6);
}

std::string local(const std::string& name) {
  const sa_family_t family = AF_UNIX;
  return bytes_of(family) + name;
}

TEST(SocketAddress, IsShownAsProgramsWriteIt) {
  using trace::socket_address_text;
  EXPECT_EQ(socket_address_text(ip(80)), "127.0.0.1:80");
  EXPECT_EQ(socket_address_text(ip6("2001:db8::7", 29500)), "[2001:db8::7]:29500");
  EXPECT_EQ(socket_address_text(ip6("::ffff:10.0.0.9", 443)), "10.0.0.9:443");
  EXPECT_EQ(socket_address_text(local(std::string("/run/a\0garbage", 14))), "/run/a");
  EXPECT_EQ(socket_address_text(local(std::string("\0name", 5))), "@name");
  EXPECT_EQ(socket_address_text(local("/run/\xff")), "/run/\\xff");
  EXPECT_EQ(socket_address_text(local("")), "") << "a socket without a name";
  for (const std::string& damaged :
       {std::string(), std::string("x"), ip(80).substr(0, 6), ip6("::1", 1).substr(0, 20)}) {
    EXPECT_EQ(socket_address_text(damaged), "");
  }
}

// Sockets in the order of their numbers, each with a call and the record of its addresses.
class Sockets {
 public:
  Sockets() {
    for (uint64_t ms = 0; ms <= 1000; ms += 100) spool_.add_anchor(ms * kMillisecond);
    spool_.add_channel({.serial = 1, .pid = 100, .tid = 100});
  }

  void add(bool accepted, uint64_t start_ms, uint64_t end_ms, const std::string& own, const std::string& other,
           uint32_t peer_pid = 0) {
    const uint32_t number = ++last_;
    const uint64_t start = ticks_at(start_ms * kMillisecond), duration = ticks_at((end_ms - start_ms) * kMillisecond);
    records_.add(
        testing::OpenFileRecord{.number = number,
                                .device = 8,
                                .inode = 1000 + number,
                                .mode = 0140777,
                                .origin = MLRUN_ORIGIN_FOUND,
                                .path = records_.add_string("socket:[" + std::to_string(1000 + number) + "]")});
    records_.add(testing::DescriptorCall{.func = accepted ? func::k_accept : func::k_connect,
                                         .start = start,
                                         .duration = duration,
                                         .open_file = number});
    std::vector<uint64_t> words = {
        0, start, own.size() << 8 | other.size() << 16 | uint64_t{accepted} << 24 | uint64_t{peer_pid} << 32, duration};
    const std::string both = own + other;
    for (size_t at = 0; at < both.size(); at += 15) {
      char unit[16] = {};
      std::memcpy(unit + 1, both.data() + at, std::min<size_t>(15, both.size() - at));
      words.resize(words.size() + 2);
      std::memcpy(&words[words.size() - 2], unit, sizeof unit);
    }
    records_.add_record(MLRUN_SOCKET, number, words);
  }

  // file2_id of the calls, in order of their beginning.
  Numbers other_ends() {
    spool_.add_data(1, records_);
    const auto merged = folder_.merge(spool_);
    EXPECT_TRUE(merged) << merged.error().text;
    return folder_.numbers("call", "file2_id");
  }
  [[nodiscard]] std::vector<std::string> addresses() const { return folder_.texts("file", "address"); }

 private:
  SpoolWriter spool_;
  RecordBuffer records_;
  testing::TraceFolder folder_;
  uint32_t last_ = 0;
};

TEST(SocketPairs, OfIpHaveEachOthersAddresses) {
  Sockets sockets;
  sockets.add(false, 10, 11, ip(5001), ip(80));
  sockets.add(false, 12, 13, ip(5002), ip(80));
  sockets.add(true, 9, 14, ip(80), ip(5002));
  sockets.add(true, 14, 15, ip(80), ip(5001));
  sockets.add(false, 16, 17, ip(5003), ip(443, 0x0a000001));
  EXPECT_EQ(sockets.other_ends(), Numbers({2, 4, 3, 1, std::nullopt}));
  EXPECT_EQ(sockets.addresses(), std::vector<std::string>({"127.0.0.1:80", "127.0.0.1:80", "127.0.0.1:5002",
                                                           "127.0.0.1:5001", "10.0.0.1:443"}));
}

TEST(SocketPairs, OfAPortThatCameBackAreThoseOfTheirTime) {
  Sockets sockets;
  sockets.add(false, 10, 11, ip(5001), ip(80));
  sockets.add(true, 10, 12, ip(80), ip(5001));
  sockets.add(false, 20, 21, ip(5001), ip(80));
  sockets.add(true, 20, 22, ip(80), ip(5001));
  sockets.add(true, 23, 24, ip(80), ip(5001));  // of a process without records
  EXPECT_EQ(sockets.other_ends(), Numbers({2, 1, 4, 3, std::nullopt}));
}

TEST(SocketPairs, OfLocalSocketsAreInTheOrderOfTheConnections) {
  Sockets sockets;
  sockets.add(false, 10, 11, local(""), local("/run/a"));
  sockets.add(false, 12, 13, local(""), local("/run/b"));
  sockets.add(false, 14, 15, local(""), local("/run/a"));
  sockets.add(true, 20, 21, local("/run/a"), local(""), 100);
  sockets.add(true, 22, 23, local("/run/a"), local(""), 100);
  sockets.add(true, 24, 25, local("/run/b"), local(""), 77);  // another process's
  EXPECT_EQ(sockets.other_ends(), Numbers({4, std::nullopt, 5, 1, 3, std::nullopt}));
}

TEST(SocketPairs, OfLocalConnectionsAtOneTimeAreUnknown) {
  Sockets sockets;
  sockets.add(false, 10, 13, local(""), local("/run/a"));
  sockets.add(false, 12, 14, local(""), local("/run/a"));
  sockets.add(false, 15, 16, local(""), local("/run/a"));
  sockets.add(true, 20, 21, local("/run/a"), local(""), 100);
  sockets.add(true, 22, 23, local("/run/a"), local(""), 100);
  sockets.add(true, 24, 25, local("/run/a"), local(""), 100);
  EXPECT_EQ(sockets.other_ends(), Numbers({std::nullopt, std::nullopt, 6, std::nullopt, std::nullopt, 3}));
}

TEST(SocketPairs, DamagedRecordsAreCounted) {
  Sockets sockets;
  sockets.add(false, 10, 11, ip(5001), ip(80));
  EXPECT_EQ(sockets.other_ends(), Numbers({std::nullopt}));
  const uint64_t words[4] = {mlrun_word0(1, 2, MLRUN_SOCKET, 1), 5, uint64_t{40} << 8, 0};
  decode::SocketEvent socket;
  EXPECT_FALSE(decode::decode({MLRUN_SOCKET, 2, 1, words}, socket)) << "longer than the record";
}

}  // namespace
}  // namespace mlrun
