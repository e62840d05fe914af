// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/socket_pairs.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "runner/decode/limits.h"
#include "runner/trace/files/socket_address.h"
#include "runner/trace/files/socket_ends.h"

namespace mlrun::trace {

namespace {

bool is_local(const std::string& address) {
  sa_family_t family = AF_UNSPEC;
  if (address.size() >= sizeof family) std::memcpy(&family, address.data(), sizeof family);
  return family == AF_UNIX;
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? std::string() : first + '\0' + second;
}

// A key that is equal for both ends of a connection; empty: the recorded addresses do not suffice.
std::string key_of(const decode::SocketEvent& socket, const Channel& channel) {
  const std::string own = socket_address_text(socket.own), other = socket_address_text(socket.other);
  const bool local = is_local(socket.own) || is_local(socket.other);
  if (!local) return socket.accepted ? joined(other, own) : joined(own, other);
  const uint32_t pid = socket.accepted ? socket.peer_pid : channel.about.pid;
  const std::string& name = socket.accepted ? own : other;
  if (pid == 0 || name.empty()) return {};
  return std::to_string(channel.about.pid_namespace) + '\0' + std::to_string(pid) + '\0' + name;
}

}  // namespace

void SocketPairs::add(std::vector<OfChannel<decode::SocketEvent>> sockets) {
  const size_t room = decode::kSocketsMax - std::min(decode::kSocketsMax, events_.size());
  if (sockets.size() > room) sockets.resize(room);
  std::move(sockets.begin(), sockets.end(), std::back_inserter(events_));
}

void SocketPairs::place(const Channel& channel, const decode::SocketEvent& socket, const TraceClock& clock,
                        std::vector<Accepted>& accepted) {
  TraceClock::Hint hint;
  std::string key = key_of(socket, channel);
  if (key.empty()) return;
  const uint64_t end = socket.clock > UINT64_MAX - socket.duration ? UINT64_MAX : socket.clock + socket.duration;
  const int64_t start_ns = clock.convert(socket.clock, channel.clock_kind, hint);
  const int64_t end_ns = clock.convert(end, channel.clock_kind, hint);
  if (socket.accepted) {
    accepted.push_back({end_ns, socket.open_file, std::move(key), is_local(socket.own)});
  } else {
    connected_[std::move(key)].push_back({start_ns, end_ns, socket.open_file});
  }
}

void SocketPairs::pair(const Accepted& accepted) {
  const auto found = connected_.find(accepted.key);
  if (found == connected_.end()) return;
  std::vector<End>& ends = found->second;
  const auto later =
      std::partition_point(ends.begin(), ends.end(), [&](const End& end) { return end.start_ns <= accepted.end_ns; });
  const auto free = [](const End& end) { return !end.paired; };
  auto chosen = later;
  if (accepted.in_order) {
    chosen = std::find_if(ends.begin(), later, free);
    if (chosen == later) return;
    for (auto next = std::next(chosen); next != later && next->start_ns < chosen->end_ns; ++next) {
      chosen->ambiguous = next->ambiguous = true;
    }
  } else {
    if (later == ends.begin() || std::prev(later)->paired) return;
    chosen = std::prev(later);
  }
  chosen->paired = true;
  if (chosen->ambiguous) return;
  other_ends_[chosen->open_file] = accepted.open_file;
  other_ends_[accepted.open_file] = chosen->open_file;
}

void SocketPairs::finish(SpoolChannels& channels, const TraceClock& clock, FileIndex& files, model::FileTable& table) {
  std::vector<Accepted> accepted;
  for (const auto& [serial, socket] : events_) {
    const uint32_t file_id = files.open_file(socket.open_file).file_id;
    std::string other = socket_address_text(socket.other);
    const std::string own = socket_address_text(socket.own);
    if (other.empty() && is_local(socket.own)) other = own;
    if (file_id != 0 && !(other.empty() && own.empty())) table.set_address(file_id - 1, pack({other, own}));
    if (const Channel* channel = channels.find(serial)) place(*channel, socket, clock, accepted);
  }
  events_ = {};
  for (auto& [key, ends] : connected_) {
    std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.start_ns < b.start_ns; });
  }
  std::sort(accepted.begin(), accepted.end(), [](const Accepted& a, const Accepted& b) {
    return std::pair(a.end_ns, a.open_file) < std::pair(b.end_ns, b.open_file);
  });
  for (const Accepted& one : accepted) pair(one);
  connected_ = {};
}

}  // namespace mlrun::trace
