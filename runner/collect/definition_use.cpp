// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/definition_use.h"

#include <algorithm>
#include <cstring>

#include "runner/events/call_layout.h"
#include "runner/events/content_hash.h"
#include "runner/events/record.h"

namespace mlrun::collect {

namespace {

constexpr size_t kDefinitionsMax = size_t{1} << 22;  // tracked of each kind; further ones are never evicted
constexpr uint64_t kEvictedBytesMax = 64 << 20;
// With more bytes than this nothing is re-emitted, so that all fits in one frame: only a forged record needs more.
constexpr size_t kReEmittedBytesMax = MLRUN_FRAME_PAYLOAD_MAX / 2;
constexpr uint32_t kFirstId = 3;  // the first word of a record that may be an id
constexpr uint32_t kCallWords = 8;
constexpr uint32_t kFileWords = 8;
constexpr int kFolderDepthMax = 64;  // nested openat folders; the merger follows as many

uint64_t word(const char* record, uint32_t index) {
  uint64_t value = 0;
  std::memcpy(&value, record + size_t{index} * sizeof value, sizeof value);
  return value;
}

uint32_t kind_of(const char* record) { return static_cast<uint32_t>(word(record, 0) >> 16 & 0xffff); }
uint32_t argument_of(const char* record) { return static_cast<uint32_t>(word(record, 0) >> 32); }
uint32_t open_file_in(const char* record, uint32_t index) { return static_cast<uint32_t>(word(record, index) >> 8); }
uint32_t folder_of(const char* file) { return open_file_in(file, 6); }
uint32_t words_in(uint32_t bytes) { return bytes / uint32_t{sizeof(uint64_t)}; }

constexpr bool defines(uint32_t kind) {
  return kind == MLRUN_STRING || kind == MLRUN_FILE || kind == MLRUN_PROCESS || kind == MLRUN_END ||
         kind == MLRUN_COMM || kind == MLRUN_STACK || kind == MLRUN_MODULE || kind == MLRUN_GPU_DEVICE ||
         kind == MLRUN_GPU_NOTE || kind == MLRUN_CHILD_END || kind == MLRUN_RING || kind == MLRUN_SOCKET;
}

// Is the whole name in this record? Longer names (over 3.7 KiB) have several records and are never evicted.
bool is_whole_string(const char* record) {
  const uint32_t argument = argument_of(record);
  return kind_of(record) == MLRUN_STRING && (argument >> 16 & 0xff) == 0 && (argument >> 24 & 1) != 0;
}

constexpr bool is_allocation(uint32_t kind) {
  return kind == MLRUN_FREE_TIME || (kind >= MLRUN_MALLOC && kind < MLRUN_ALLOC_END);
}

constexpr bool closes(uint32_t kind) {
  using namespace events::func;  // NOLINT(google-build-using-namespace): it has only numbers
  const uint32_t number = kind - MLRUN_CALL;
  return number == k_close || number == k_fclose || number == k_pclose || number == k_closedir;
}

}  // namespace

uint32_t DefinitionUse::process_of(uint64_t channel) const {
  const auto found = process_of_.find(channel);
  return found == process_of_.end() ? 0 : found->second;
}

void DefinitionUse::note_name(const mlrun_frame& header, uint64_t id, std::vector<char>& kept) {
  if (const auto known = names_.find(id); known != names_.end()) {
    known->second = stretch_;
    return;
  }
  if (evicted_names_.empty() || kept.size() > kReEmittedBytesMax) return;
  auto old = evicted_names_.extract(id);
  if (old.empty()) return;
  names_[id] = stretch_;
  re_emit(header, old.mapped(), kept);
}

void DefinitionUse::re_emit(const mlrun_frame& header, const std::string& record, std::vector<char>& kept) {
  const size_t at = kept.size();
  kept.insert(kept.end(), record.begin(), record.end());
  kept[at] = static_cast<char>(header.lap);  // the tag of the destination frame
  evicted_bytes_ -= record.size();
  is_re_emitted_ = true;
}

// Marks an open file as used by the newest stretch. Re-emits it, and the folders of its path, if they were evicted. nullptr: unknown file.
DefinitionUse::OpenFile* DefinitionUse::note_file(const mlrun_frame& header, uint32_t number, std::vector<char>& kept) {
  OpenFile* noted = nullptr;
  for (int depth = 0; number != 0 && depth < kFolderDepthMax; ++depth) {
    if (const auto known = files_.find(number); known != files_.end()) {
      known->second.stretch = stretch_;
      return noted ? noted : &known->second;
    }
    if (evicted_files_.empty() || kept.size() > kReEmittedBytesMax) return noted;
    auto old = evicted_files_.extract(number);
    if (old.empty()) return noted;
    const std::string& record = old.mapped();
    OpenFile& file = files_[number] = {stretch_, process_of(header.channel), folder_of(record.data()), false};
    if (!noted) noted = &file;
    re_emit(header, old.mapped(), kept);
    note_words(header, record.data(), kFirstId, words_in(static_cast<uint32_t>(record.size())), kept);
    number = file.folder;
  }
  return noted;
}

void DefinitionUse::note_words(const mlrun_frame& header, const char* record, uint32_t first, uint32_t words,
                               std::vector<char>& kept) {
  for (uint32_t i = first; i < words; i++) note_name(header, word(record, i), kept);
}

void DefinitionUse::note_call(const mlrun_frame& header, const char* record, uint32_t bytes, std::vector<char>& kept) {
  const uint32_t words = words_in(bytes), kind = kind_of(record);
  if (words < kCallWords) return;
  if (OpenFile* file = note_file(header, open_file_in(record, 6), kept)) file->closed = closes(kind);
  const bool on_path = events::has_path_layout(static_cast<uint16_t>(kind - MLRUN_CALL));
  for (uint32_t i = kCallWords; i < words; i += 2) {  // further open files: a second descriptor, or folders
    (void)note_file(header, open_file_in(record, i), kept);
    if (on_path) (void)note_file(header, static_cast<uint32_t>(word(record, i + 1)), kept);
  }
  if (on_path) note_words(header, record, 5, words, kept);
}

// False: the definition is in the kept file already.
bool DefinitionUse::note_definition(const mlrun_frame& header, const char* record, uint32_t bytes) {
  const uint32_t process = process_of(header.channel);
  switch (kind_of(record)) {
    case MLRUN_STRING: {
      const uint64_t id = word(record, 1);
      if (!is_whole_string(record) || (names_.size() >= kDefinitionsMax && !names_.contains(id))) return true;
      if (const auto old = evicted_names_.extract(id)) evicted_bytes_ -= old.mapped().size();
      const auto [name, is_new] = names_.try_emplace(id, stretch_);
      name->second = stretch_;
      return is_new;
    }
    case MLRUN_FILE: {
      const uint32_t number = argument_of(record);
      if (words_in(bytes) < kFileWords || files_.size() >= kDefinitionsMax) return true;
      if (const auto old = evicted_files_.extract(number)) evicted_bytes_ -= old.mapped().size();
      files_[number] = {stretch_, process, folder_of(record), false};
      return true;
    }
    case MLRUN_STACK: {
      if (stacks_.size() >= kDefinitionsMax) stacks_.clear();
      return bytes < 2 * MLRUN_UNIT_BYTES || stacks_.insert(mlrun_hash_mix(process, word(record, 1))).second;
    }
    case MLRUN_END: ended_.insert(process); return true;
    default: return true;
  }
}

bool DefinitionUse::note(const mlrun_frame& header, const char* record, uint32_t bytes, std::vector<char>& kept) {
  const uint32_t kind = kind_of(record);
  if (kind >= MLRUN_CALL) {
    note_call(header, record, bytes, kept);
  } else if (!is_allocation(kind) && kind != MLRUN_STRING && kind != MLRUN_STACK) {
    note_words(header, record, kFirstId, words_in(bytes), kept);
    if (kind == MLRUN_FILE && words_in(bytes) >= kFileWords) (void)note_file(header, folder_of(record), kept);
  }
  if (!defines(kind)) return false;
  if (note_definition(header, record, bytes)) kept.insert(kept.end(), record, record + bytes);
  return true;
}

bool DefinitionUse::is_needed(const OpenFile& file, uint64_t first_stretch) const {
  return file.stretch >= first_stretch || (!file.closed && !ended_.contains(file.process));
}

bool DefinitionUse::needs_file(uint32_t number, uint64_t first_stretch) const {
  const auto found = files_.find(number);
  return found == files_.end() ? !evicted_files_.contains(number) : is_needed(found->second, first_stretch);
}

void DefinitionUse::note_folders(uint64_t first_stretch) {
  for (const auto& [number, file] : files_) {
    if (!is_needed(file, first_stretch)) continue;
    uint32_t folder = file.folder;
    for (int depth = 0; folder != 0 && depth < kFolderDepthMax; ++depth) {
      const auto found = files_.find(folder);
      if (found == files_.end()) break;
      found->second.stretch = std::max(found->second.stretch, first_stretch);
      folder = found->second.folder;
    }
  }
}

void DefinitionUse::note_reference(const char* record, uint32_t bytes, uint64_t first_stretch) {
  const uint32_t kind = kind_of(record);
  if (kind == MLRUN_STRING || kind == MLRUN_STACK) return;
  if (kind == MLRUN_FILE && !needs_file(argument_of(record), first_stretch)) return;
  for (uint32_t i = kFirstId; i < words_in(bytes); i++) {
    if (const auto name = names_.find(word(record, i)); name != names_.end()) {
      name->second = std::max(name->second, first_stretch);
    }
  }
}

void DefinitionUse::forget_evicted() {
  evicted_names_.clear();
  evicted_files_.clear();
  evicted_bytes_ = 0;
}

bool DefinitionUse::evict(const char* record, uint32_t bytes, uint64_t first_stretch) {
  if (evicted_bytes_ + bytes > kEvictedBytesMax) forget_evicted();
  if (kind_of(record) == MLRUN_FILE) {
    const uint32_t number = argument_of(record);
    if (needs_file(number, first_stretch)) return false;
    if (files_.erase(number) != 0 && evicted_files_.try_emplace(number, record, bytes).second) evicted_bytes_ += bytes;
    return true;
  }
  if (kind_of(record) == MLRUN_SOCKET) return !needs_file(argument_of(record), first_stretch);
  if (!is_whole_string(record)) return false;
  const auto name = names_.find(word(record, 1));
  if (name == names_.end() || name->second >= first_stretch) return false;
  if (evicted_names_.emplace(name->first, std::string(record, bytes)).second) evicted_bytes_ += bytes;
  names_.erase(name);
  return true;
}

}  // namespace mlrun::collect
