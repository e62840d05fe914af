// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/stack_batch.h"

#include <algorithm>

namespace mlrun::python {

namespace {

template <typename T>
size_t size_of(const std::vector<T>& items) {
  return items.size() * sizeof(T);
}

template <typename T>
void append(std::string& payload, const std::vector<T>& items) {
  payload.append(reinterpret_cast<const char*>(items.data()), size_of(items));
}

}  // namespace

uint32_t StackBatch::text_id(const std::string& text) {
  const auto [found, made] = text_ids_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
  if (made) {
    texts_.push_back({static_cast<__u32>(bytes_.size()), static_cast<__u32>(text.size())});
    bytes_ += text;
  }
  return found->second;
}

uint32_t StackBatch::frame_id(const Frame& frame) {
  const uint32_t file = text_id(frame.code->file), function = text_id(frame.code->function);
  const std::tuple key(file, function, frame.line);
  const auto [found, made] = frame_ids_.try_emplace(key, static_cast<uint32_t>(frames_.size()));
  if (made) frames_.push_back({file, function, frame.line});
  return found->second;
}

uint32_t StackBatch::stack_id(const Stack& stack) {
  std::vector<uint32_t> steps;
  steps.reserve(stack.frames.size());
  for (const Frame& frame : stack.frames) steps.push_back(frame_id(frame));
  const auto [found, made] = stack_ids_.try_emplace({steps, stack.cut}, static_cast<uint32_t>(stacks_.size()));
  if (made) {
    stacks_.push_back({static_cast<__u32>(steps_.size()), static_cast<__u32>(steps.size()), stack.cut ? 1u : 0u, 0});
    steps_.insert(steps_.end(), steps.begin(), steps.end());
  }
  return found->second;
}

namespace {

int running(char state) { return state == 0 ? -1 : state == 'R' ? 1 : 0; }

void extend_row(mlrun_python_sample& row, uint64_t now_ns, uint64_t period_ns) {
  row.last_ns = now_ns;
  row.period_ns += period_ns;
  ++row.samples;
}

}  // namespace

void StackBatch::add(uint64_t now_ns, uint64_t period_ns, const Who& who, const Stack& stack) {
  const uint32_t id = stack_id(stack), loops = stack.loops.empty() ? 0 : text_id(stack.loops) + 1;
  const auto state = static_cast<unsigned char>(who.state);
  const auto [last, is_first] = last_.try_emplace(key_of(who), samples_.size());
  if (!is_first) {
    mlrun_python_sample& before = samples_[last->second];
    if (running(who.state) == 0 && before.state == state && before.stack == id && before.loops == loops)
      return extend_row(before, now_ns, period_ns);
    last->second = samples_.size();
  }
  samples_.push_back({now_ns, now_ns, who.process, who.tid, id, 1, running(who.state), state, period_ns, loops, 0});
}

bool StackBatch::extend(uint64_t now_ns, uint64_t period_ns, const Who& who) {
  const auto last = last_.find(key_of(who));
  if (last == last_.end()) return false;
  extend_row(samples_[last->second], now_ns, period_ns);
  return true;
}

size_t StackBatch::bytes() const {
  return sizeof(mlrun_frame_python) + size_of(samples_) + size_of(stacks_) + size_of(steps_) + size_of(frames_) +
         size_of(texts_) + bytes_.size();
}

std::string StackBatch::take() {
  mlrun_frame_python head{};
  head.samples = static_cast<__u32>(samples_.size());
  head.stacks = static_cast<__u32>(stacks_.size());
  head.steps = static_cast<__u32>(steps_.size());
  head.frames = static_cast<__u32>(frames_.size());
  head.texts = static_cast<__u32>(texts_.size());
  head.text_bytes = static_cast<__u32>(bytes_.size());
  head.sample_bytes = sizeof(mlrun_python_sample);
  std::string payload(reinterpret_cast<const char*>(&head), sizeof head);
  append(payload, samples_);
  append(payload, stacks_);
  append(payload, steps_);
  append(payload, frames_);
  append(payload, texts_);
  payload += bytes_;
  *this = StackBatch();
  return payload;
}

}  // namespace mlrun::python
