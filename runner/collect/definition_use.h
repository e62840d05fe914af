// SPDX-License-Identifier: Apache-2.0
// Which definitions the kept file of a window (spool_window.h) must contain. A name or an open file is needed while a
// record of a present stretch refers to it; an open file also until it is closed, with the folder that it was opened
// in. Evicted definitions stay in memory, since a process defines each only once: a closed file may have another
// descriptor, or be open in a child. A definition that is used again is re-emitted. All other definitions are pinned.
//
// References are matched conservatively: every word of a record that may be the id of a name counts.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runner/events/spool.h"

namespace mlrun::collect {

class DefinitionUse {
 public:
  void begin_stretch() { ++stretch_; }
  [[nodiscard]] uint64_t stretch() const { return stretch_; }

  void note_channel(uint64_t channel, uint32_t process) { process_of_[channel] = process; }

  // A record of the newest stretch: `bytes` untrusted bytes at `record`. Appends what the kept file needs because of
  // it: the record itself if it defines something new, and evicted definitions. True: it defines something.
  bool note(const mlrun_frame& header, const char* record, uint32_t bytes, std::vector<char>& kept);

  // Was a definition re-emitted since the last call? Until the kept file is flushed, it may exist only in memory.
  [[nodiscard]] bool has_re_emitted() { return std::exchange(is_re_emitted_, false); }

  // Eviction, in three steps: note_folders() marks the folders of needed files; note_reference(), for every record of the
  // kept file, marks the names that needed records refer to; evict(), for every record again, evicts the rest and returns
  // true for what is evicted. Requires: `first_stretch` is the oldest present one.
  void note_folders(uint64_t first_stretch);
  void note_reference(const char* record, uint32_t bytes, uint64_t first_stretch);
  [[nodiscard]] bool evict(const char* record, uint32_t bytes, uint64_t first_stretch);

 private:
  struct OpenFile {
    uint64_t stretch = 0;
    uint32_t process = 0, folder = 0;  // folder: the open folder that its path is relative to; 0: none
    bool closed = false;
  };
  void note_words(const mlrun_frame& header, const char* record, uint32_t first, uint32_t words,
                  std::vector<char>& kept);
  void note_name(const mlrun_frame& header, uint64_t id, std::vector<char>& kept);
  OpenFile* note_file(const mlrun_frame& header, uint32_t number, std::vector<char>& kept);
  void re_emit(const mlrun_frame& header, const std::string& record, std::vector<char>& kept);
  void note_call(const mlrun_frame& header, const char* record, uint32_t bytes, std::vector<char>& kept);
  bool note_definition(const mlrun_frame& header, const char* record, uint32_t bytes);
  void forget_evicted();
  [[nodiscard]] bool is_needed(const OpenFile& file, uint64_t first_stretch) const;
  [[nodiscard]] bool needs_file(uint32_t number, uint64_t first_stretch) const;
  [[nodiscard]] uint32_t process_of(uint64_t channel) const;

  uint64_t stretch_ = 0;
  bool is_re_emitted_ = false;
  std::unordered_map<uint64_t, uint64_t> names_;  // names in the kept file, with the last stretch that refers to each
  std::unordered_map<uint64_t, std::string> evicted_names_;  // records of evicted names
  std::unordered_map<uint32_t, std::string> evicted_files_;  // records of evicted open files
  uint64_t evicted_bytes_ = 0;                               // size of both tables of evicted records
  std::unordered_map<uint32_t, OpenFile> files_;             // open files in the kept file
  std::unordered_set<uint64_t> stacks_;                      // stacks in the kept file: hashes of process and stack id
  std::unordered_map<uint64_t, uint32_t> process_of_;        // process numbers by channel
  std::unordered_set<uint32_t> ended_;                       // numbers of processes that have ended
};

}  // namespace mlrun::collect
