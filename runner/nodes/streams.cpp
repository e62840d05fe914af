// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/streams.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "runner/nodes/row_batches.h"
#include "runner/util/text.h"

namespace mlrun::nodes {

namespace {

constexpr size_t kTransfersMost = 65536;  // of all connections of a node
constexpr std::array<std::string_view, 5> kSends = {"write", "writev", "send", "sendto", "sendmsg"};
constexpr std::array<std::string_view, 5> kReceives = {"read", "readv", "recv", "recvfrom", "recvmsg"};

// Loopback and AF_UNIX addresses. Every machine has them, so two matching ends on two machines are not one connection.
bool is_of_one_machine(std::string_view address) {
  return address.starts_with("127.") || address.starts_with("[::1]") || address.starts_with('/') ||
         address.starts_with('@') || address.find(':') == std::string_view::npos;
}

bool share_network(const NodeTrace& a, const NodeTrace& b) {
  const auto network = [](const NodeTrace& node) { return node.run.host.boot_id + node.run.host.network_namespace; };
  return !network(a).empty() && network(a) == network(b);
}

struct Socket {
  size_t node = 0;
  int64_t file_id = 0;
  std::string own, other;
};

Status add_sockets(const NodeTrace& node, size_t number, std::vector<Socket>& sockets) {
  if (!tables::has_table(node.folder + "/tables", "file")) return {};
  return for_each_batch_unless_stopped(node.folder, "file", {}, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers file_id(batch, "file_id");
    const tables::Texts own(batch, "own_address"), other(batch, "address");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (!own[i].empty() && !other[i].empty())
        sockets.push_back({number, file_id[i], std::string(own[i]), std::string(other[i])});
    }
  });
}

struct Call {
  std::string_view name;
  int64_t start_ns = 0, end_ns = 0, result = 0, flags = 0;
  int32_t proc_id = 0;
};

// `end`, `target`: the call's first and second file; nullptr: this file is no end of a connection between nodes.
void add_call(const Call& call, StreamEnd* end, StreamEnd* target) {
  if (end != nullptr && call.name == "connect" && end->connect_ns == 0) end->connect_ns = call.start_ns;
  if (end != nullptr && call.name.starts_with("accept")) end->accepted_ns = call.end_ns;
  if (call.result <= 0) return;
  for (StreamEnd* one : {end, target}) {
    if (one != nullptr) one->proc_id = call.proc_id;
  }
  if (target != nullptr && (call.name == "sendfile" || call.name == "splice"))
    target->sent.add(call.start_ns, call.end_ns, call.result);
  if (end == nullptr) return;
  const bool peeks = call.name.starts_with("recv") && (call.flags & MSG_PEEK) != 0;
  if (util::is_one_of(call.name, kSends)) {
    end->sent.add(call.start_ns, call.end_ns, call.result);
  } else if (call.name == "splice" || (util::is_one_of(call.name, kReceives) && !peeks)) {
    end->received.add(call.start_ns, call.end_ns, call.result);
  }
}

}  // namespace

// Joined calls keep the first start and the last end. As a bound uses a sender's start and a receiver's end, it gets weaker, never wrong.
void Transfers::add(int64_t start_ns, int64_t end_ns, int64_t count) {
  bytes += count;
  if (!list.empty() && (start_ns < list.back().end_ns || in_last_ < stride_)) {
    One& last = list.back();
    last.start_ns = std::min(last.start_ns, start_ns);
    last.end_ns = std::max(last.end_ns, end_ns);
    last.bytes_after = bytes;
    ++in_last_;
    return;
  }
  list.push_back({start_ns, end_ns, bytes});
  in_last_ = 1;
  if (list.size() < most) return;
  for (size_t i = 0; i + 1 < list.size(); i += 2) {
    list[i / 2] = {std::min(list[i].start_ns, list[i + 1].start_ns), std::max(list[i].end_ns, list[i + 1].end_ns),
                   list[i + 1].bytes_after};
  }
  if (list.size() % 2 != 0) list[list.size() / 2] = list.back();  // it has no neighbour
  list.resize((list.size() + 1) / 2);
  stride_ *= 2;
  in_last_ = stride_;
}

Result<std::vector<Connection>> find_connections(const std::vector<NodeTrace>& nodes) {
  std::vector<Socket> sockets;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (Status added = add_sockets(nodes[i], i, sockets); !added) return tl::make_unexpected(added.error());
  }
  // An address pair that occurs twice belongs to two connections: which bytes are of which is unknown.
  std::map<std::pair<std::string, std::string>, std::vector<const Socket*>> by_ends;
  for (const Socket& socket : sockets) by_ends[{socket.own, socket.other}].push_back(&socket);
  std::vector<Connection> connections;
  std::vector<size_t> of_node(nodes.size());
  for (const auto& [ends, owners] : by_ends) {
    if (ends.first > ends.second || owners.size() != 1) continue;
    const auto others = by_ends.find({ends.second, ends.first});
    if (others == by_ends.end() || others->second.size() != 1) continue;
    const Socket *a = owners.front(), *b = others->second.front();
    if (a->node == b->node) continue;
    const bool is_local = is_of_one_machine(a->own) || is_of_one_machine(a->other);
    if (is_local && !share_network(nodes[a->node], nodes[b->node])) continue;
    if (a->node > b->node) std::swap(a, b);
    Connection& made = connections.emplace_back();
    size_t side = 0;
    for (const Socket* socket : {a, b}) {
      made.node[side] = socket->node;
      made.end[side].file_id = socket->file_id;
      made.end[side].own = socket->own;
      made.end[side].other = socket->other;
      ++side;
      ++of_node[socket->node];
    }
  }
  for (Connection& one : connections) {
    for (int side : {0, 1}) {
      const size_t share = std::clamp<size_t>(kTransfersMost / of_node[one.node[side]] / 2, 64, 4096);
      one.end[side].sent.most = one.end[side].received.most = share;
    }
  }
  return connections;
}

Status read_transfers(const NodeTrace& node, size_t number, std::vector<Connection>& connections) {
  std::unordered_map<int64_t, StreamEnd*> ends;
  for (Connection& one : connections) {
    for (int side : {0, 1}) {
      if (one.node[side] == number) ends[one.end[side].file_id] = &one.end[side];
    }
  }
  if (ends.empty() || !tables::has_table(node.folder + "/tables", "call")) return {};
  const auto end_of = [&](int64_t file_id) {
    const auto found = file_id == 0 ? ends.end() : ends.find(file_id);
    return found == ends.end() ? nullptr : found->second;
  };
  const tables::TableQuery query{.columns = {"ts", "dur", "proc_id", "func", "file_id", "file2_id", "ret", "arg2"},
                                 .dictionaries = {"func"}};
  return for_each_batch_unless_stopped(node.folder, "call", query, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers ts(batch, "ts"), dur(batch, "dur"), file(batch, "file_id"), file2(batch, "file2_id"),
        ret(batch, "ret"), arg2(batch, "arg2"), proc(batch, "proc_id");
    const tables::Texts func(batch, "func");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      StreamEnd *end = end_of(file[i]), *target = end_of(file2[i]);
      if (end == nullptr && target == nullptr) continue;
      add_call({func[i], ts[i], ts[i] + dur[i], ret[i], arg2[i], static_cast<int32_t>(proc[i])}, end, target);
    }
  });
}

size_t add_bounds(const Connection& connection, int64_t readings_error_ns, OffsetBounds& bounds) {
  const StreamEnd &first = connection.end[0], &second = connection.end[1];
  // Only streams, of which one end was accepted, not datagrams. If more bytes were received than sent, calls are missing.
  if ((first.accepted_ns == 0) == (second.accepted_ns == 0)) return 0;
  if (first.received.bytes > second.sent.bytes || second.received.bytes > first.sent.bytes) return 0;
  size_t messages = 0;
  if (first.connect_ns != 0 && second.accepted_ns != 0) {
    bounds.upper.push_back({second.accepted_ns, second.accepted_ns - first.connect_ns + readings_error_ns});
    ++messages;
  } else if (second.connect_ns != 0 && first.accepted_ns != 0) {
    bounds.lower.push_back({second.connect_ns, second.connect_ns - first.accepted_ns - readings_error_ns});
    ++messages;
  }
  for (int sender : {0, 1}) {
    const std::vector<Transfers::One>& sent = connection.end[sender].sent.list;
    auto from = sent.begin();
    for (const Transfers::One& got : connection.end[1 - sender].received.list) {
      from = std::partition_point(from, sent.end(),
                                  [&](const Transfers::One& one) { return one.bytes_after < got.bytes_after; });
      if (from == sent.end()) break;
      ++messages;
      if (sender == 0) {
        bounds.upper.push_back({got.end_ns, got.end_ns - from->start_ns + readings_error_ns});
      } else {
        bounds.lower.push_back({from->start_ns, from->start_ns - got.end_ns - readings_error_ns});
      }
    }
  }
  return messages;
}

}  // namespace mlrun::nodes
