// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/string_table.h"

#include "runner/decode/limits.h"
#include "runner/events/content_hash.h"
#include "runner/util/scrambled.h"

namespace mlrun::trace {

std::optional<std::string_view> StringTable::find(uint64_t id) {
  if (id == 0) return std::nullopt;
  const uint32_t* found = by_id_.find(util::scrambled(id));
  return found ? std::optional(strings_[*found]) : std::nullopt;
}

void StringTable::keep(uint64_t id, std::string_view text) {
  bool made = false;
  uint32_t& place = by_id_.at(util::scrambled(id), &made);
  if (!made) return;
  place = static_cast<uint32_t>(strings_.size());
  strings_.push_back(texts_->keep(text));
  kept_bytes_ += text.size() + sizeof(std::string_view);
}

void StringTable::add(const StringNote& string) {
  if (kept_bytes_ > decode::kStringBytesMax) {
    ++left_out_;
    return;
  }
  keep(string.id, string.text);
}

// Fragments of one definition arrive in order: they are in order in the segments of one thread.
void StringTable::add(uint64_t channel, const FragmentNote& fragment) {
  const std::pair key(channel, fragment.id);
  if (fragment.fragment == 0) {
    if (pending_.size() >= decode::kPendingStringsMax) pending_.clear();
    pending_[key] = {};
  }
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  const bool fits =
      pending.next == fragment.fragment && pending.text.size() + fragment.text.size() <= decode::kStringMax;
  if (!fits) {
    ++left_out_;
    pending_.erase(found);
    return;
  }
  pending.text += fragment.text;
  ++pending.next;
  if (!fragment.last) return;
  if (mlrun_content_hash(pending.text.data(), pending.text.size()) == fragment.id) {
    add(StringNote{fragment.id, pending.text});
  } else {
    ++left_out_;
  }
  pending_.erase(found);
}

}  // namespace mlrun::trace
