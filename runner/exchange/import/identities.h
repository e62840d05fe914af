// SPDX-License-Identifier: Apache-2.0
// Processes, threads, GPUs, files and names of an imported trace, numbered in the order in which they appear. Ids of processes and
// threads may be any text; those that are no 32-bit numbers get negative numbers, and keep the text as their name.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/model/trace_info.h"

namespace mlrun::exchange {

class Identities {
 public:
  explicit Identities(model::TraceInfo& info) : info_(info) {}

  // A new file begins: its processes differ from those of earlier files, even with the same numbers.
  void begin_space() {
    ++space_;
    recent_ = {};
  }

  // Returns proc_id. `pid`: the text of the id, as in the file.
  int32_t process(std::string_view pid);
  int32_t process(int64_t pid) { return process(std::to_string(pid)); }
  // Returns thread_id.
  int32_t thread(int32_t proc_id, std::string_view tid);
  int32_t thread(int32_t proc_id, int64_t tid) { return thread(proc_id, std::to_string(tid)); }
  // The thread_id of a thread with this number, of any process; 0: none.
  [[nodiscard]] int32_t find_thread(int32_t tid) const;
  [[nodiscard]] int32_t process_of(int32_t thread_id) const;
  // The origin of an event at `ts_ns`. Thread 0: of the process as a whole.
  [[nodiscard]] model::Origin origin(int64_t ts_ns, int32_t proc_id, int32_t thread_id) const;
  // Extends the lives of the event's process and thread to its time and `end_ns`.
  void lived(const model::Origin& origin, int64_t end_ns);

  void name_process(int32_t proc_id, std::string_view name);
  void name_thread(int32_t thread_id, std::string_view name);
  void set_rank(int32_t proc_id, int64_t rank, int64_t world_size);
  void set_parent(int32_t proc_id, int32_t parent);

  int32_t gpu(int64_t number, std::string_view name = {});
  int64_t file(std::string_view path, model::FileKind kind);
  // Sets the path of a file that is known only after its calls.
  void name_file(int64_t file_id, std::string_view path);
  // Returns name_id; 0: there are too many names.
  int64_t name(std::string_view name);

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard names it
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Map = std::unordered_map<std::string, int32_t, Hash, std::equal_to<>>;

  model::TraceInfo& info_;
  int32_t space_ = 0;
  int32_t unnumbered_ = -1;  // the last negative number; -1 means a thread without records
  Map processes_, threads_;
  std::map<std::pair<int32_t, int64_t>, int32_t> gpus_;
  std::unordered_map<std::string_view, int64_t> files_;
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> names_;
  // A cache of the ids of recent events, as the same few threads take turns.
  struct Recent {
    std::string text;
    int32_t proc_id = 0, id = 0;  // proc_id of a thread; id 0: none
  };
  static constexpr int32_t kNoThread = -1;  // the proc_id of a process
  static constexpr size_t kRecent = 64;
  Recent& recent(std::string_view text, int32_t proc_id) {
    const size_t last = text.empty() ? 0 : static_cast<unsigned char>(text.back());
    const size_t before = text.size() < 2 ? 0 : static_cast<unsigned char>(text[text.size() - 2]);
    return recent_[(last + before * 10 + static_cast<size_t>(proc_id) * 17) % kRecent];
  }
  std::array<Recent, kRecent> recent_;
};

}  // namespace mlrun::exchange
