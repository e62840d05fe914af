// SPDX-License-Identifier: Apache-2.0
// Names of files in a run without the library in its processes: paths that the kernel recorded at opens, paths that
// mlrun-probes found in /proc for files opened before, and when files were created.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/decode/kernel_view.h"
#include "runner/decode/limits.h"
#include "runner/model/trace_info.h"
#include "runner/trace/files/files_by_inode.h"

namespace mlrun::trace {

// Remaining bytes for texts of all kinds.
class TextBudget {
 public:
  explicit TextBudget(size_t bytes) : left_(bytes) {}
  bool take(size_t bytes) {  // false: over the budget
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  size_t left_;
};

// Path from the kernel's component list, innermost first: "file/folder/" is /folder/file, "" is /.
std::string path_of_names(std::string_view names);

class ObservedFiles {
 public:
  // Requires: `texts` outlives it.
  ObservedFiles(TextBudget& texts, size_t most) : texts_(&texts), most_(most) {}

  // Accepts any record; ignores all but names and creations of files. Records beyond the limits are counted.
  void add(const decode::KernelReader& reader);
  // Requires: everything was added. Adds the rows.
  void finish(model::FileTable& files);

  // After finish(): when names were seen, and when files were created.
  [[nodiscard]] const std::vector<FileSeen>& seen() const { return seen_; }
  [[nodiscard]] const std::vector<FileMade>& made() const { return made_; }

  // Adds loss rows for names and creations beyond the limits.
  void add_gaps(model::TraceInfo& info) const;

 private:
  struct File {
    uint32_t device = 0;
    uint64_t inode = 0;
    model::FileKind kind = model::FileKind::kUnknown;
    std::string path;
    uint32_t magic = 0;  // of its file system; 0: unknown
  };
  void add_seen(int64_t ns, File file, bool may_be_new_file);
  void add_made(const mlrun_file_op& operation);

  TextBudget* texts_;
  size_t most_;
  std::vector<File> files_;  // each once
  std::vector<FileSeen> seen_;
  std::vector<FileMade> made_;
  std::unordered_map<uint64_t, int64_t> known_;  // by device, inode and path: index + 1
  std::unordered_map<uint64_t, int64_t> last_;   // by device and inode: the file seen last
  uint64_t left_out_ = 0, made_left_out_ = 0;
};

}  // namespace mlrun::trace
