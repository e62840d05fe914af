// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/gpu_file_batches.h"

#include <algorithm>

#include "runner/decode/limits.h"

namespace mlrun::trace {

namespace {

using model::BatchStatus;

// The outcome that libcufile reports; kNone: the operation has not finished.
BatchStatus status_of(uint32_t status) {
  switch (status) {
    case events::kCufileComplete: return BatchStatus::kComplete;
    case events::kCufileFailed: return BatchStatus::kFailed;
    case events::kCufileInvalid: return BatchStatus::kInvalid;
    case events::kCufileTimeout: return BatchStatus::kTimeout;
    case events::kCufileCancelled: return BatchStatus::kCancelled;
    default: return BatchStatus::kNone;
  }
}

}  // namespace

void CufileParts::add(const mlrun_cufile_part& part) {
  if (arrays_.size() >= decode::kCufileArraysMax) arrays_.clear();  // of threads whose call records were lost
  Array& array = arrays_[part.head.tid];
  if (array.time_ns != part.head.time_ns || part.offset == 0) array = {part.head.time_ns, {}};
  if (part.offset != array.bytes.size()) return;
  if (array.bytes.size() >= size_t{MLRUN_CUFILE_PARTS} * MLRUN_CUFILE_PART_BYTES) return;
  const auto* entries = reinterpret_cast<const char*>(part.entries);
  array.bytes.append(entries, std::min<size_t>(part.bytes, MLRUN_CUFILE_PART_BYTES));
}

std::string CufileParts::take(const mlrun_cufile_call& record) {
  const auto found = arrays_.find(record.head.tid);
  if (found == arrays_.end()) return {};
  const Array array = std::move(found->second);
  arrays_.erase(found);
  return array.time_ns == record.head.time_ns ? array.bytes : std::string();
}

void GpuFileBatches::hand_in(Batch batch, int64_t ns, uint32_t entry, const events::CufileOperation& operation) {
  List& open = open_[batch];
  if (open.size() < decode::kOpenInBatchMax) open.push_back({entry, operation.cookie, operation.bytes, ns, 0});
}

int64_t GpuFileBatches::since(Batch batch) const {
  const auto found = open_.find(batch);
  return found == open_.end() || found->second.empty() ? INT64_MAX : found->second.back().since_ns;
}

GpuFileBatches::List::iterator GpuFileBatches::find(List& open, const events::CufileResult& result) {
  const auto has_cookie = [&](const Open& one) { return one.cookie == result.cookie; };
  const auto first = std::find_if(open.begin(), open.end(), has_cookie);
  if (first == open.end() || std::none_of(first + 1, open.end(), has_cookie)) return first;
  ++guessed_;
  const auto likely = std::find_if(first, open.end(), [&](const Open& one) {
    return has_cookie(one) && one.bytes == static_cast<uint64_t>(result.moved);
  });
  return likely == open.end() ? first : likely;
}

std::vector<BatchEnd> GpuFileBatches::results(Batch batch, int64_t ns,
                                              const std::vector<events::CufileResult>& results) {
  std::vector<BatchEnd> ends;
  List& open = open_[batch];
  for (const events::CufileResult& result : results) {
    const BatchStatus status = status_of(result.status);
    if (status == BatchStatus::kNone) continue;
    const auto one = find(open, result);
    if (one == open.end()) {
      ++unmatched_;
      continue;
    }
    ends.push_back({one->entry, ns, status, result.moved});
    open.erase(one);
  }
  if (open.empty()) open_.erase(batch);
  return ends;
}

void GpuFileBatches::cancel(Batch batch, int64_t ns) {
  const auto found = open_.find(batch);
  if (found == open_.end()) return;
  for (Open& open : found->second) {
    if (open.cancelled_ns == 0) open.cancelled_ns = ns;
  }
}

// Adds the outcome of an open operation that got no result, if it has one. destroyed_ns 0: its batch was not destroyed.
void GpuFileBatches::end(const Open& open, std::vector<BatchEnd>& ends, int64_t destroyed_ns) {
  if (open.cancelled_ns != 0) {
    ends.push_back({open.entry, open.cancelled_ns, BatchStatus::kCancelled, 0});
  } else if (destroyed_ns != 0) {
    ends.push_back({open.entry, destroyed_ns, BatchStatus::kDestroyed, 0});
  }
}

std::vector<BatchEnd> GpuFileBatches::destroy(Batch batch, int64_t ns) {
  std::vector<BatchEnd> ends;
  const auto found = open_.find(batch);
  if (found == open_.end()) return ends;
  for (const Open& open : found->second) end(open, ends, ns);
  open_.erase(found);
  return ends;
}

std::vector<BatchEnd> GpuFileBatches::finish() {
  std::vector<BatchEnd> ends;
  for (const auto& [batch, list] : open_) {
    for (const Open& open : list) end(open, ends, 0);
  }
  open_.clear();
  return ends;
}

}  // namespace mlrun::trace
