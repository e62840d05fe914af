// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/observed/observed_files.h"

#include <algorithm>
#include <utility>

#include "runner/events/content_hash.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/files/file_system_name.h"
#include "runner/trace/kernel/kernel_losses.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/scrambled.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

uint64_t inode_key(uint32_t device, uint64_t inode) { return util::scrambled(inode, device); }

model::FileKind kind_of(const mlrun_file_seen& file) {
  if (file.as == MLRUN_SEEN_OPEN_FOLDER) return model::FileKind::kDirectory;
  return file.as == MLRUN_SEEN_MAPPED ? model::FileKind::kRegular : model::FileKind::kUnknown;
}

}  // namespace

std::string path_of_names(std::string_view names) {
  std::string path;
  path.reserve(names.size() + 1);
  while (!names.empty()) {
    if (names.back() == '/') names.remove_suffix(1);
    const size_t before = names.rfind('/');
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    path += '/';
    path += names.substr(begin);
    names = names.substr(0, begin);
  }
  return path.empty() ? "/" : path;
}

void ObservedFiles::add(const decode::KernelReader& reader) {
  reader.visit(decode::Visitor{
      [&](const mlrun_file_seen& seen) {
        const auto text = reader.text_behind(sizeof seen, seen.path_bytes);
        if (text.empty()) return;
        add_seen(TraceClock::from_monotonic(seen.head.time_ns),
                 {seen.device, seen.inode, kind_of(seen), std::string(text), 0}, true);
      },
      [&](const mlrun_file_path& path) {
        const auto names = reader.text_behind(sizeof path, path.names_bytes);
        if (names.size() != path.names_bytes) return;
        const bool is_folder = (path.flags & MLRUN_PATH_FOLDER) != 0;
        const auto kind = is_folder ? model::FileKind::kDirectory : model::FileKind::kRegular;
        add_seen(TraceClock::from_monotonic(std::min(path.begin_ns, path.head.time_ns)),
                 {path.device, path.inode, kind, path_of_names(names), path.magic},
                 (path.flags & MLRUN_PATH_CREATED) != 0);
      },
      [&](const mlrun_file_op& operation) { add_made(operation); },
  });
}

// A repeated observation with the same path is the same file. `may_be_new_file`: the inode may have been another file
// in between.
void ObservedFiles::add_seen(int64_t ns, File file, bool may_be_new_file) {
  const uint64_t inode = inode_key(file.device, file.inode);
  const uint64_t identity = util::scrambled(mlrun_content_hash(file.path.data(), file.path.size()), inode);
  auto known = known_.find(identity);
  if (const auto last = last_.find(inode);
      known != known_.end() && last != last_.end() && last->second == known->second && !may_be_new_file) {
    return;
  }
  const auto takes_room = [&] { return texts_->take(util::escaped_utf8(file.path).size()); };
  const bool has_room = seen_.size() < most_ && (known != known_.end() || takes_room());
  if (!has_room) {
    ++left_out_;
    return;
  }
  if (known == known_.end()) {
    files_.push_back(std::move(file));
    known = known_.emplace(identity, static_cast<int64_t>(files_.size())).first;
  }
  last_[inode] = known->second;
  seen_.push_back({ns, known->second});
}

// A file has its inode before the call that creates it returns.
void ObservedFiles::add_made(const mlrun_file_op& operation) {
  if (operation.op != MLRUN_FILE_OPEN || (operation.flags & MLRUN_FILE_CREATED) == 0 || operation.inode == 0) return;
  last_.erase(inode_key(operation.device, operation.inode));
  if (made_.size() < most_) {
    made_.push_back({stat_device(operation.device), operation.inode, TraceClock::from_monotonic(operation.begin_ns)});
  } else {
    ++made_left_out_;
  }
}

void ObservedFiles::finish(model::FileTable& files) {
  const auto before = static_cast<int64_t>(files.size());
  for (FileSeen& seen : seen_) seen.file_id += before;
  // The kernel reports the magic number of opened files; /proc only the device of files that were open before.
  std::unordered_map<uint32_t, uint32_t> magic_of;
  for (const File& file : files_) {
    if (file.magic != 0) magic_of.emplace(file.device, file.magic);
  }
  for (File& file : files_) {
    if (const auto same = magic_of.find(file.device); same != magic_of.end()) file.magic = same->second;
    model::FileRow row;
    row.path = util::escaped_utf8(file.path);
    row.raw_path = row.path;
    if (row.path != file.path) row.path_bytes = file.path;
    file.path = {};  // otherwise its text would be kept twice
    row.dev = stat_device(file.device);
    row.ino = static_cast<int64_t>(file.inode);
    row.file_system = file_system_name(file.magic);
    row.kind = std::string(model::FileTable::kind_name(file.kind));
    files.push_back(row);
  }
  files_ = {};
  known_ = {};
  last_ = {};
}

void ObservedFiles::add_gaps(model::TraceInfo& info) const {
  add_kernel_loss(info, kTooMany, left_out_, "names of files");
  if (!seen_.empty()) add_kernel_loss(info, kTooMany, made_left_out_, "times at which files were made");
}

}  // namespace mlrun::trace
