// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/index/stack_index.h"

#include <algorithm>

#include "runner/decode/limits.h"
#include "runner/util/scrambled.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using util::scrambled;

uint32_t module_of(uint64_t word) {
  return (word & MLRUN_FRAME_IN_MODULE) == 0 ? 0 : static_cast<uint32_t>(word >> 32 & MLRUN_FRAME_MODULE_MAX);
}

uint64_t key_of(uint32_t process, uint64_t id) { return scrambled(process, id); }

}  // namespace

void StackIndex::add(uint32_t process, const decode::ModuleEvent& module) {
  if (modules_.size() >= decode::kModulesMax) return;
  const auto [place, made] = modules_.try_emplace({process, module.number});
  const bool has_frames = module.number <= MLRUN_FRAME_MODULE_MAX;
  if (made) place->second = {module, has_frames ? file_of(module) : 0};
}

uint32_t StackIndex::file_of(const decode::ModuleEvent& module) {
  const auto [place, made] = files_.try_emplace({module.path, module.build_id});
  if (made) {
    table_.files.push_back({{}, module.build_id});
    paths_.push_back(module.path);
    place->second = static_cast<uint32_t>(table_.files.size());
  }
  return place->second;
}

bool StackIndex::modules_known(uint32_t process, const uint64_t* frames, uint32_t count) const {
  return std::all_of(frames, frames + count, [&](uint64_t word) {
    const uint32_t module = module_of(word);
    return module == 0 || modules_.contains({process, module});
  });
}

void StackIndex::add(uint32_t process, const StackNote& stack, const uint64_t* frames) {
  if (known_.find(key_of(process, stack.id))) return;
  const bool room = known_.size() + waiting_.size() < decode::kStacksMax &&
                    table_.frame_ids.size() + waiting_frames_ < decode::kFramesMax;
  if (!room) {
    ++left_out_;
  } else if (modules_known(process, frames, stack.frames)) {
    intern(process, stack, frames);
  } else {
    waiting_.push_back({process, stack, {frames, frames + stack.frames}});
    waiting_frames_ += stack.frames;
  }
}

void StackIndex::intern(uint32_t process, const StackNote& stack, const uint64_t* frames) {
  bool made = false;
  KnownStack& known = known_.at(key_of(process, stack.id), &made);
  if (!made) return;
  spare_.clear();
  for (uint32_t i = 0; i < stack.frames; ++i) spare_.push_back(frame_id(process, frames[i]));
  known.site = address_of(process, frames[0]);
  known.stack_id = stack_id(spare_, static_cast<uint8_t>(stack.end));
}

uint64_t StackIndex::address_of(uint32_t process, uint64_t word) const {
  constexpr uint64_t kLow32 = 0xffffffff;
  const auto module = modules_.find({process, module_of(word)});
  if (module != modules_.end()) return module->second.event.bias + (word & kLow32);
  return (word & MLRUN_FRAME_IN_MODULE) != 0 ? 0 : word & MLRUN_STACK_ID_MASK;
}

// A frame whose library was never described keeps only its offset.
int32_t StackIndex::frame_id(uint32_t process, uint64_t word) {
  model::FrameRow frame;
  frame.interrupted = (word & MLRUN_FRAME_INTERRUPTED) != 0;
  const uint32_t number = module_of(word);
  const auto module = modules_.find({process, number});
  if (module != modules_.end()) frame.file = module->second.file;
  frame.offset = number == 0 ? word & MLRUN_STACK_ID_MASK : word & 0xffffffff;
  if (number != 0) frame.state = model::FrameState::kNoFile;

  bool made = false;
  const uint64_t place = frame.offset << 1 | (frame.interrupted ? 1 : 0);
  int32_t& id = frame_ids_.at(scrambled(frame.file + (uint64_t{number != 0} << 32), place), &made);
  if (made) {
    table_.frames.push_back(std::move(frame));
    id = static_cast<int32_t>(table_.frames.size());
  }
  return id;
}

int32_t StackIndex::stack_id(const std::vector<int32_t>& frames, uint8_t end) {
  uint64_t key = scrambled(end);
  for (const int32_t frame : frames) key = scrambled(key, static_cast<uint64_t>(frame));
  for (;; key = scrambled(key)) {
    bool made = false;
    int32_t& id = stack_ids_.at(key, &made);
    if (made) {
      table_.stacks.push_back(
          {static_cast<uint32_t>(table_.frame_ids.size()), static_cast<uint8_t>(frames.size()), end});
      table_.frame_ids.insert(table_.frame_ids.end(), frames.begin(), frames.end());
      id = static_cast<int32_t>(table_.stacks.size());
      return id;
    }
    const auto there = table_.frames_of(id);
    const bool same = std::equal(there.begin(), there.end(), frames.begin(), frames.end());
    if (same && table_.stacks[static_cast<size_t>(id) - 1].end == end) return id;
  }
}

void StackIndex::finish(StringTable& strings, ModuleMap& modules) {
  for (const Waiting& waiting : waiting_) intern(waiting.process, waiting.stack, waiting.frames.data());
  waiting_ = {};
  for (size_t i = 0; i < paths_.size(); ++i) table_.files[i].path = util::escaped_utf8(strings.text(paths_[i]));
  for (const auto& [key, module] : modules_) {
    const decode::ModuleEvent& at = module.event;
    if (module.file == 0) {  // no stack refers to this library: only its addresses are of use
      const std::string path = util::escaped_utf8(strings.text(at.path));
      const bool unseen = modules.find(key.first, at.start).library == 0;
      if (unseen && path.starts_with('/')) modules.add(key.first, at.start, at.end, at.file_offset, path);
      continue;
    }
    model::CodeFile& file = table_.files[module.file - 1];
    // The dynamic linker keeps a relative path as requested; the kernel knows the absolute one.
    if (!file.path.starts_with('/')) {
      const std::string seen = modules.path(modules.find(key.first, at.start).library);
      if (!file.path.empty() && seen.ends_with(file.path.substr(file.path.rfind('/') + 1))) file.path = seen;
    }
    const bool unseen = modules.find(key.first, at.start).library == 0;
    if (unseen && file.path.starts_with('/')) modules.add(key.first, at.start, at.end, at.file_offset, file.path);
  }
}

KnownStack StackIndex::find(uint32_t process, uint64_t id) const {
  const KnownStack* found = id == 0 ? nullptr : known_.find(key_of(process, id));
  return found ? *found : KnownStack{};
}

}  // namespace mlrun::trace
