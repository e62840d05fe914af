// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/observed/operation_names.h"

#include <string_view>
#include <utility>
#include <vector>

#include "runner/util/lexical_path.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

constexpr int64_t kSeveral = -1;

// The escaped path, as in `file`, and its raw bytes.
struct Wanted {
  std::string_view bytes;
  std::string path;
  int64_t file_id = 0;
};

void find_files(const model::FileTable& files, const std::unordered_map<std::string_view, Wanted*>& by_path) {
  for (size_t i = 0; i < files.size(); ++i) {
    const model::FileTable::Packed& file = files.packed(i);
    const auto found = by_path.find({file.path, file.path_bytes});
    if (found == by_path.end()) continue;
    int64_t& file_id = found->second->file_id;
    file_id = file_id == 0 ? static_cast<int64_t>(i) + 1 : kSeveral;
  }
}

int64_t add_row(model::FileTable& files, const Wanted& wanted) {
  model::FileRow row;
  row.path = row.raw_path = wanted.path;
  if (row.path != wanted.bytes) row.path_bytes = wanted.bytes;
  files.push_back(row);
  return static_cast<int64_t>(files.size());
}

}  // namespace

void OperationNames::add(const decode::KernelReader& reader) {
  mlrun_file_name record{};
  if (reader.head().kind != MLRUN_KERNEL_FILE_NAME || !reader.read(record)) return;
  const auto folder = reader.text_behind(sizeof record, record.folder_bytes);
  const auto name = reader.text_behind(sizeof record + folder.size(), record.name_bytes);
  if (folder.size() != record.folder_bytes || name.empty()) return;
  // A name that begins with '/' starts at the process's root.
  const std::string path = util::absolute_path("/", path_of_names(folder) + "/" + std::string(name));
  const auto known = paths_.find(path);
  const bool has_room = operations_.size() < most_ && (known != paths_.end() || texts_.take(path.size()));
  if (!has_room) {
    ++left_out_;
    return;
  }
  const int64_t number = paths_.try_emplace(path, static_cast<int64_t>(paths_.size()) + 1).first->second;
  Files& names = operations_[record.operation];
  (record.which == 0 ? names.file_id : names.file2_id) = number;
}

void OperationNames::finish(model::FileTable& files) {
  std::vector<Wanted> wanted(paths_.size());
  std::unordered_map<std::string_view, Wanted*> by_path;
  for (const auto& [path, number] : paths_) {
    Wanted& one = wanted[static_cast<size_t>(number) - 1];
    one.bytes = path;
    one.path = util::escaped_utf8(path);
    by_path.emplace(one.path, &one);
  }
  if (!wanted.empty()) find_files(files, by_path);
  for (Wanted& one : wanted) {
    if (one.file_id <= 0) one.file_id = add_row(files, one);
  }
  const auto file_of = [&](int64_t number) {
    return number == 0 ? 0 : wanted[static_cast<size_t>(number) - 1].file_id;
  };
  for (auto& [operation, names] : operations_) names = {file_of(names.file_id), file_of(names.file2_id)};
  paths_ = {};
}

OperationNames::Files OperationNames::of(uint64_t operation) const {
  const auto found = operations_.find(operation);
  return found == operations_.end() ? Files{} : found->second;
}

}  // namespace mlrun::trace
