// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/definitions.h"

#include <array>
#include <cstring>
#include <string>

#include "runner/util/scrambled.h"

namespace mlrun::sums {

using decode::EventClass;
using decode::RecordView;
using util::scrambled;

void Definitions::append(const uint64_t* words, uint32_t units, std::vector<char>& kept) {
  const auto* bytes = reinterpret_cast<const char*>(words);
  kept.insert(kept.end(), bytes, bytes + size_t{units} * MLRUN_UNIT_BYTES);
}

bool Definitions::take_room(uint64_t bytes) {
  if (bytes > left_bytes_) {
    left_out_++;
    return false;
  }
  left_bytes_ -= bytes;
  return true;
}

// Whether no process has defined this string before: every process defines the strings that it uses. All fragments of a
// string come in succession from one thread.
bool Definitions::is_new_string(const RecordView& record) {
  decode::StringEvent string;
  if (!decode::decode(record, string) || strings_.size() >= kNamesMax) return false;
  const uint64_t key = scrambled(string.id);
  if (strings_.find(key)) return false;
  if (string.fragment == 0 && string.bytes < MLRUN_UNIT_BYTES * 4) {
    std::string text;
    decode::append_text(string, text);
    if (text.starts_with("/memfd:")) memfds_.at(key) = 1;
  }
  if (string.last) strings_.at(key) = 1;
  return true;
}

// Keeps the record of a new file. If its path is relative, the record refers to the folder by the number whose
// description is kept (KnownFiles).
void Definitions::take_file(const RecordView& record, std::vector<char>& kept) {
  constexpr uint32_t kUnits = 4;
  decode::FileEvent file;
  if (!decode::decode(record, file)) return;
  const bool is_memfd = file.path != 0 && memfds_.find(scrambled(file.path));
  const uint64_t bytes = uint64_t{kUnits} * MLRUN_UNIT_BYTES;
  if (!files_.add(file, is_memfd, bytes <= left_bytes_)) return;
  left_bytes_ -= bytes;
  std::array<uint64_t, size_t{kUnits} * 2> words{};
  std::memcpy(words.data(), record.words, sizeof words);
  words[0] = mlrun_word0(record.words[0] & 0xff, kUnits, MLRUN_FILE, record.arg);
  words[6] = uint64_t{files_.described(file.dirfd_file)} << 8;
  append(words.data(), kUnits, kept);
}

void Definitions::take(const RecordView& record, uint32_t process, std::vector<char>& kept) {
  const EventClass event_class = decode::class_of(record.kind);
  if (event_class == EventClass::kFile) return take_file(record, kept);
  if (event_class == EventClass::kString && !is_new_string(record)) return;
  if (event_class == EventClass::kStack) {
    decode::StackEvent stack;
    if (!decode::decode(record, stack) || stacks_.size() >= kNamesMax) return;
    bool made = false;
    stacks_.at(scrambled(scrambled(stack.id), process), &made);
    if (!made) return;
  }
  if (take_room(uint64_t{record.units} * MLRUN_UNIT_BYTES)) append(record.words, record.units, kept);
}

}  // namespace mlrun::sums
