// SPDX-License-Identifier: Apache-2.0
// The two ends of connections within the trace, by the addresses that connect and accept recorded:
//
//   IP        the accepted socket's addresses are those of the connecting one, exchanged
//   AF_UNIX   the name is the same, and the kernel reports the pid that connected. A listening socket accepts in the
//             order of the connects, so an accept gets this pid's first connect that has no accept yet. If connects
//             overlap in time, their order is unknown, and so are their other ends.
//
// IP addresses are used again, so an accept belongs to the last connect that began before it returned.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/trace/files/file_index.h"
#include "runner/trace/spool/chunk_scan.h"
#include "runner/trace/spool/spool_channels.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

class SocketPairs {
 public:
  // Requires: in the order of the spool.
  void add(std::vector<OfChannel<decode::SocketEvent>> sockets);

  // Finds the pairs, and stores each socket's addresses in `table`. Requires: everything was added, and `files` is finished.
  void finish(SpoolChannels& channels, const TraceClock& clock, FileIndex& files, model::FileTable& table);

  // Number of the open file at the other end; 0: unknown. Thread-safe.
  [[nodiscard]] uint32_t other_end(uint32_t open_file) const {
    const auto found = other_ends_.find(open_file);
    return found == other_ends_.end() ? 0 : found->second;
  }

 private:
  struct End {
    int64_t start_ns = 0, end_ns = 0;
    uint32_t open_file = 0;
    bool paired = false, ambiguous = false;
  };
  struct Accepted {
    int64_t end_ns = 0;
    uint32_t open_file = 0;
    std::string key;
    bool in_order = false;  // AF_UNIX
  };
  void place(const Channel& channel, const decode::SocketEvent& socket, const TraceClock& clock,
             std::vector<Accepted>& accepted);
  void pair(const Accepted& accepted);

  std::vector<OfChannel<decode::SocketEvent>> events_;
  std::unordered_map<std::string, std::vector<End>> connected_;  // by key, in order of time
  std::unordered_map<uint32_t, uint32_t> other_ends_;
};

}  // namespace mlrun::trace
