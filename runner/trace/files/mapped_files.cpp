// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/mapped_files.h"

#include <algorithm>
#include <utility>

namespace mlrun::trace {

namespace {

constexpr uint64_t kPageBytes = 4096, kLastAddress = uint64_t{1} << 56;

uint64_t end_of(uint64_t begin, uint64_t bytes) {
  if (begin >= kLastAddress || bytes >= kLastAddress) return kLastAddress;
  return begin + (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

MappedFiles::Spans* MappedFiles::to_change(uint64_t space) {
  const auto found = spaces_.find(space);
  if (found == spaces_.end()) return nullptr;
  if (found->second.use_count() > 1) {
    if (found->second->size() > room_) {  // too many spans: stops tracking this address space
      spaces_.erase(found);
      return nullptr;
    }
    room_ -= found->second->size();
    found->second = std::make_shared<Spans>(*found->second);
  }
  return found->second.get();
}

void MappedFiles::cut(Spans& spans, uint64_t begin, uint64_t end, uint64_t made_before) {
  auto at = spans.upper_bound(begin);
  if (at != spans.begin()) --at;
  while (at != spans.end() && at->first < end) {
    const auto [first, span] = *at;
    if (span.end <= begin || span.made > made_before) {
      ++at;
      continue;
    }
    at = spans.erase(at);
    ++room_;
    if (first < begin && room_ > 0) {
      spans[first] = {begin, span.file, span.made};
      --room_;
    }
    if (span.end > end && room_ > 0) {
      spans[end] = span;
      --room_;
    }
  }
}

void MappedFiles::map(uint64_t space, uint64_t begin, uint64_t bytes, uint64_t file, uint64_t time) {
  Spans* spans = to_change(space);
  if (!spans && file != 0) spans = (spaces_[space] = std::make_shared<Spans>()).get();
  if (!spans) return;
  const uint64_t end = end_of(begin, bytes);
  cut(*spans, begin, end, UINT64_MAX);
  if (file == 0 || room_ == 0) return;
  (*spans)[begin] = {end, file, time};
  --room_;
}

void MappedFiles::unmap(uint64_t space, uint64_t begin, uint64_t bytes, uint64_t time) {
  if (Spans* spans = to_change(space)) cut(*spans, begin, end_of(begin, bytes), time);
}

// Moves the rest of the mapping that contains `old_begin`. Does not use the old length, which older records lack.
void MappedFiles::remap(uint64_t space, uint64_t old_begin, uint64_t begin, uint64_t bytes, uint64_t time) {
  Spans* spans = to_change(space);
  if (!spans) return;
  auto found = spans->upper_bound(old_begin);
  if (found == spans->begin()) return;
  --found;
  const Span span = found->second;
  if (span.end <= old_begin) return;
  cut(*spans, old_begin, span.end, UINT64_MAX);
  map(space, begin, bytes, span.file, time);
}

void MappedFiles::fork(uint64_t parent, uint64_t child) {
  const auto found = spaces_.find(parent);
  if (found == spaces_.end()) return;
  const std::shared_ptr<Spans> spans = found->second;
  spaces_[child] = spans;
}

uint64_t MappedFiles::find(uint64_t space, uint64_t address) const {
  const auto known = spaces_.find(space);
  if (known == spaces_.end()) return 0;
  auto at = known->second->upper_bound(address);
  if (at == known->second->begin()) return 0;
  --at;
  return address < at->second.end ? at->second.file : 0;
}

}  // namespace mlrun::trace
