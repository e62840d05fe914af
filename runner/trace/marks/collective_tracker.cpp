// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/collective_tracker.h"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/decode/limits.h"
#include "runner/util/scrambled.h"

namespace mlrun::trace {

namespace {

constexpr std::string_view kDomain = "nvtx:NCCL", kPrefix = "nccl";
// NCCL's payload member names, the same in all versions that have them.
constexpr std::string_view kCommunicator = "NCCL communicator ID", kBytes = "Message size [bytes]", kRoot = "Root",
                           kPeer = "Peer rank", kReduction = "Reduction operation", kRank = "Rank",
                           kRanks = "No. of ranks", kDevices = "No. of devices";

std::optional<int64_t> number(const std::vector<PayloadValue>& payload, std::string_view name) {
  const PayloadValue* value = find_value(payload, name);
  return value ? std::optional(value->number()) : std::nullopt;
}

std::string reduction_text(const std::vector<PayloadValue>& payload) {
  const PayloadValue* value = find_value(payload, kReduction);
  if (!value) return {};
  const nlohmann::json text = value->json();
  return text.is_string() ? text.get<std::string>() : text.dump();
}

// Whether the range's payload has the process's own rank in the communicator that the payload names. The payload of
// ncclCommSplit does not: its rank is that in the parent communicator.
bool has_own_rank(std::string_view name) {
  return name.starts_with("ncclCommInit") || name == "ncclCommDestroy" || name == "ncclCommAbort";
}

}  // namespace

// nullptr: too many.
CollectiveTracker::Membership* CollectiveTracker::membership(int32_t proc_id, uint64_t communicator) {
  const uint64_t key = util::scrambled(communicator, static_cast<uint32_t>(proc_id));
  const auto known = memberships_.find(key);
  if (known != memberships_.end()) return &known->second;
  if (memberships_.size() >= decode::kCommunicatorsMax) return nullptr;
  return &memberships_[key];
}

void CollectiveTracker::add(const model::MarkRow& range, const std::vector<PayloadValue>& payload) {
  if (range.domain != kDomain || range.dur_ns < 0) return;
  losses_.pass(range.origin.ts_ns + range.dur_ns);
  const std::optional<int64_t> bytes = number(payload, kBytes);
  const bool may_be_one = payload.empty() ? !range.name.starts_with("ncclComm") : bytes && range.name.empty();
  if (may_be_one) losses_.add(range.origin.proc_id);
  if (!range.name.starts_with(kPrefix)) return;
  if (!bytes) return note_rank(range, payload);
  model::CollectiveRow row;
  row.origin = range.origin;
  row.dur_ns = range.dur_ns;
  row.operation = range.name.substr(kPrefix.size());
  row.bytes = *bytes;
  row.root = number(payload, kRoot);
  row.peer = number(payload, kPeer);
  row.reduction = reduction_text(payload);
  row.is_open = range.is_open;
  const PayloadValue* communicator = find_value(payload, kCommunicator);
  if (communicator && communicator->bits != 0) place(row, communicator->bits);  // 0: the call has no communicator
  meter_.add(row);
  if (written_) written_ = table_.add(row);
}

void CollectiveTracker::place(model::CollectiveRow& row, uint64_t communicator) {
  row.communicator = fmt::format("{:#018x}", communicator);
  Membership* member = membership(row.origin.proc_id, communicator);
  if (!member) {
    ++beyond_;
    return;
  }
  row.ranks = member->ranks;
  if (member->is_several || (!member->rank && processes_[row.origin.proc_id].is_several)) return;
  row.rank = member->rank;
  if (row.peer) return;
  if (member->losses != losses_.of(row.origin.proc_id)) {
    ++after_losses_;
    return;
  }
  row.sequence = member->collectives++;
}

void CollectiveTracker::note_rank(const model::MarkRow& range, const std::vector<PayloadValue>& payload) {
  if (!has_own_rank(range.name)) return;
  const PayloadValue* communicator = find_value(payload, kCommunicator);
  const std::optional<int64_t> rank = number(payload, kRank), ranks = number(payload, kRanks);
  const std::optional<int64_t> devices = number(payload, kDevices);
  if (!communicator || (!ranks && !devices)) return;
  Process& process = processes_[range.origin.proc_id];
  const auto differs = [&](const std::optional<int64_t>& known) { return known && rank && *known != *rank; };
  if (communicator->bits == 0) {
    process.is_several = process.is_several || differs(process.unnamed_rank);
    process.unnamed_rank = rank;
    return;
  }
  Membership* member = membership(range.origin.proc_id, communicator->bits);
  if (!member) return;
  member->is_several = member->is_several || devices.value_or(1) > 1 || differs(member->rank);
  process.is_several = process.is_several || member->is_several;
  if (member->collectives == 0) member->losses = losses_.of(range.origin.proc_id);
  member->ranks = ranks ? ranks : devices;
  member->rank = rank;
}

std::vector<model::CoverageRow> CollectiveTracker::coverage() const {
  std::vector<model::CoverageRow> rows;
  const auto add = [&](const char* subject, int64_t count, const char* what) {
    if (count > 0) rows.push_back({.subject = subject, .detail = fmt::format("{} {}", count, what)});
  };
  constexpr const char *kNumbers = "numbers of collectives", *kSkew = "start skew of collectives";
  add(kNumbers, after_losses_, "came after lost records of their process: they have no number and are not compared");
  add(kNumbers, beyond_, "are of communicators beyond the limit: they have no number and are not compared");
  add(kSkew, meter_.differing(), "differ between ranks in operation or size: they are not compared");
  add(kSkew, meter_.late(), "began on a rank that was too far behind the other ranks: that rank is not compared");
  return rows;
}

Status CollectiveTracker::finish() { return written_ ? table_.close() : written_; }

}  // namespace mlrun::trace
