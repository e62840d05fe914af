// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/file_index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runner/decode/limits.h"
#include "runner/events/content_hash.h"
#include "runner/util/lexical_path.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using decode::PathRef;
using util::is_nameless;
using util::scrambled;

// Tables that spilled to files (spilled_memory.h) grow in memory by look-ups: each may load up to 64 KiB of each of three
// tables. Trims their resident part every kTrimSteps look-ups.
void count_look_up() {
  constexpr uint32_t kTrimSteps = 128;
  static thread_local uint32_t look_ups = 0;
  if (++look_ups % kTrimSteps == 0) util::LargeMemory::trim();
}

// Rounds of find_pending(), and so the longest chain of directories, opened relative to each other, whose records are in
// reverse order.
constexpr int kFolderDepthMax = 64;

uint64_t key_of(std::string_view path) { return scrambled(mlrun_content_hash(path.data(), path.size())); }

// eventfds, epolls and similar descriptors share one inode, so each open file of these kinds counts as a separate file.
uint64_t number_of_anonymous(const decode::FileEvent& file) { return (file.mode & S_IFMT) == 0 ? file.number : 0; }

uint64_t identity_of(const decode::FileEvent& file, std::string_view path) {
  const uint64_t number = is_nameless(path) ? number_of_anonymous(file) : 0;
  return scrambled(scrambled(key_of(path), file.inode), file.device | number << 32);
}

PathRef ref_of(const decode::FileEvent& file) { return {file.path, file.cwd, file.dirfd_file, false}; }

// Kind of a file that the kernel names anon_inode:SOMETHING.
model::FileKind kind_of_nameless(std::string_view path) {
  static constexpr std::pair<std::string_view, model::FileKind> kKinds[] = {
      {"anon_inode:[eventfd]", model::FileKind::kEventfd},   {"anon_inode:[timerfd]", model::FileKind::kTimerfd},
      {"anon_inode:[signalfd]", model::FileKind::kSignalfd}, {"anon_inode:[eventpoll]", model::FileKind::kEpoll},
      {"anon_inode:inotify", model::FileKind::kInotify},     {"anon_inode:[pidfd]", model::FileKind::kPidfd},
  };
  for (const auto& [name, kind] : kKinds) {
    if (path == name) return kind;
  }
  return is_nameless(path) ? model::FileKind::kAnonymous : model::FileKind::kUnknown;
}

model::FileKind kind_of_regular(std::string_view path) {
  if (path.starts_with("/dev/shm/")) return model::FileKind::kSharedMemory;
  if (path.starts_with("/memfd:")) return model::FileKind::kMemfd;
  return is_nameless(path) ? model::FileKind::kAnonymous : model::FileKind::kRegular;
}

model::FileKind kind_of(const decode::FileEvent& file, std::string_view path) {
  switch (file.mode & S_IFMT) {
    case S_IFREG: return kind_of_regular(path);
    case S_IFDIR: return model::FileKind::kDirectory;
    case S_IFCHR: return model::FileKind::kCharacter;
    case S_IFBLK: return model::FileKind::kBlock;
    case S_IFIFO: return is_nameless(path) ? model::FileKind::kPipe : model::FileKind::kFifo;
    case S_IFSOCK: return model::FileKind::kSocket;
    case S_IFLNK: return model::FileKind::kLink;
    default: return kind_of_nameless(path);
  }
}

// Placeholder path of a file opened under a name that could not be read.
std::string nameless(const decode::FileEvent& file) {
  return "[" + std::to_string(major(file.device)) + ":" + std::to_string(minor(file.device)) + ":" +
         std::to_string(file.inode) + "]";
}

}  // namespace

FileIndex::FileIndex(StringTable& strings, model::FileTable& files, Mounts mounts, std::vector<NamedInode> inherited)
    : strings_(&strings), files_(&files), mounts_(std::move(mounts)), inherited_(std::move(inherited)) {}

void FileIndex::add(const decode::FileEvent& file) {
  if (try_add(file)) return;
  if (pending_files_.size() < decode::kPendingFilesMax) {
    pending_files_.push_back(file);
  } else {
    ++left_out_;
  }
}

void FileIndex::add(const PathRef& path) {
  bool made = false;
  if (pending_paths_.size() >= decode::kFilesMax) {
    ++left_out_;
    return;
  }
  uint32_t& place = by_ref_.at(path.key(), &made);
  if (!made) return;
  place = static_cast<uint32_t>(pending_paths_.size());
  pending_paths_.push_back(path);
}

// The path of an unnamed file (O_TMPFILE) as the kernel shows it.
std::string FileIndex::unnamed_in(const std::string& folder, uint64_t inode) {
  return symlinks_.with_resolved_folder((folder == "/" ? "" : folder) + "/#" + std::to_string(inode));
}

// ".." after a symbolic link is the parent of the link's target.
std::string FileIndex::joined(std::string_view base, std::string_view path) {
  std::string whole(base);
  for (size_t step = util::parent_step(path); step != std::string_view::npos; step = util::parent_step(path)) {
    if (step != 0) whole = symlinks_.resolved(util::absolute_path(whole, path.substr(0, step)));
    whole = util::absolute_path(whole, "..");
    path.remove_prefix(std::min(path.size(), step + 3));
    if (path.empty()) return whole;
  }
  return util::absolute_path(whole, path);
}

void FileIndex::add(const decode::GivenName& given) {
  if (!try_name(given) && pending_names_.size() < decode::kPendingFilesMax) pending_names_.push_back(given);
}

// Lets later opens by the given name find the same file. False: the file, or a part of the name's path, is not defined so far; finish()
// tries again.
bool FileIndex::try_name(const decode::GivenName& given) {
  const uint32_t file_id = open_files_.find(given.open_file).file_id;
  const std::optional<std::string> name = file_id == 0 ? std::nullopt : absolute(given.name);
  if (!name) return false;
  model::FileTable::Packed& file = files_->packed(file_id - 1);
  const std::string unnamed = "/#" + std::to_string(file.ino);
  if (!std::string_view(file.path, file.path_bytes).ends_with(unnamed)) return true;
  const decode::FileEvent event{.device = file.dev, .mode = S_IFREG, .inode = file.ino};
  const std::string path = symlinks_.with_resolved_folder(*name);
  const std::string escaped = util::escaped_utf8(path);
  const std::string_view kept = files_->texts().keep(escaped);
  file.path = kept.data();
  file.path_bytes = static_cast<uint32_t>(kept.size());
  if (escaped != path) files_->set_bytes(file_id - 1, path);
  for (const std::string& each : {*name, path}) {
    by_identity_.at(identity_of(event, each)) = file_id;
    note_path(each, file_id);
  }
  return true;
}

std::optional<std::string> FileIndex::absolute(const PathRef& path) {
  const auto raw = strings_->find(path.path);
  if (!raw) return std::nullopt;
  if (raw->starts_with('/')) return joined({}, *raw);
  if (path.searched && raw->find('/') == std::string_view::npos) return std::string(*raw);
  if (path.dirfd_file != 0) {
    const OpenFile folder = open_files_.find(path.dirfd_file);
    if (folder.file_id == 0) return std::nullopt;
    return joined(path_of(folder.file_id), *raw);
  }
  if (path.cwd == 0) return std::string(*raw);
  const auto cwd = strings_->find(path.cwd);
  return cwd ? std::optional(joined(*cwd, *raw)) : std::nullopt;
}

bool FileIndex::try_add(const decode::FileEvent& file) {
  const uint64_t event_key =
      scrambled(scrambled(ref_of(file).key(), file.inode), file.device | number_of_anonymous(file) << 32);
  const bool found = file.origin == MLRUN_ORIGIN_FOUND;
  if (file.origin == MLRUN_ORIGIN_UNNAMED) return try_add_unnamed(file);
  if (const uint32_t* known = by_event_.find(event_key)) {
    open_files_.add(file.number, {*known, found, (file.flags & O_APPEND) != 0});
    return true;
  }
  if (file.path == 0) {
    add_described(file, nameless(file));
    return true;
  }
  std::optional<std::string> path;
  if (found) {
    if (const auto text = strings_->find(file.path)) path = util::without_deleted(*text);
  } else {
    path = absolute(ref_of(file));
  }
  if (!path) return false;
  if (!found && file.inode != 0 && util::names_descriptor(*path)) {
    if (aliases_.size() >= decode::kPendingFilesMax) return false;
    aliases_.emplace_back(file, *std::move(path));
    return true;
  }
  add_described(file, *path);
  if (file.dirfd_file == 0) by_event_.at(event_key) = open_files_.find(file.number).file_id;
  return true;
}

// Each unnamed file gets its own file_id: the file system reuses its inode once it is closed.
bool FileIndex::try_add_unnamed(const decode::FileEvent& file) {
  const auto folder = absolute(ref_of(file));
  if (!folder) return false;
  const std::string path = unnamed_in(*folder, file.inode);
  const uint32_t file_id = make_file(path, strings_->text(file.path), file);
  open_files_.add(file.number, {file_id, false, false});
  if (file_id == 0) return true;
  by_identity_.at(identity_of(file, path)) = file_id;
  by_path_.at(key_of(path)) = file_id;
  return true;
}

void FileIndex::add_described(const decode::FileEvent& file, const std::string& path) {
  const uint32_t file_id = file_under(path, strings_->text(file.path), file);
  open_files_.add(file.number, {file_id, file.origin == MLRUN_ORIGIN_FOUND, (file.flags & O_APPEND) != 0});
}

uint32_t FileIndex::file_under(const std::string& path, std::string_view raw, const decode::FileEvent& file) {
  const uint32_t* known = by_identity_.find(identity_of(file, path));
  if (known) return *known;
  const std::string resolved = is_nameless(path) ? path : symlinks_.resolve(path, file.device, file.inode);
  known = by_identity_.find(identity_of(file, resolved));
  const uint32_t file_id = known ? *known : make_file(resolved, raw, file);
  if (file_id == 0) return 0;
  by_identity_.at(identity_of(file, path)) = file_id;
  by_identity_.at(identity_of(file, resolved)) = file_id;
  note_path(path, file_id);
  note_path(resolved, file_id);
  return file_id;
}

void FileIndex::note_path(const std::string& path, uint32_t file_id) {
  bool made = false;
  uint32_t& place = by_path_.at(key_of(path), &made);
  if (made) place = file_id;
}

uint32_t FileIndex::make_file(const std::string& path, std::string_view raw, const decode::FileEvent& file) {
  if (files_->size() >= decode::kFilesMax || files_->texts().kept_bytes() > decode::kStringBytesMax) {
    ++left_out_;
    return 0;
  }
  model::TextArena& texts = files_->texts();
  const std::string escaped = util::escaped_utf8(path);
  const std::string escaped_raw = util::escaped_utf8(raw);
  // `texts` already contains the raw name, unless it had to be escaped.
  const std::string_view kept_raw = escaped_raw == raw ? raw : texts.keep(escaped_raw);
  const std::string_view kept_path = escaped == raw ? kept_raw : texts.keep(escaped);
  uint16_t mount = 0;
  if (path.starts_with('[') || (path.starts_with('/') && !is_nameless(path))) {
    const bool lies_elsewhere = util::names_descriptor(path) || path.starts_with('[');
    const Mount* found = lies_elsewhere ? mounts_.of_device(file.device) : mounts_.find(file.device, path);
    if (found) mount = files_->mount(found->file_system, found->point);
  }
  const int64_t file_id = files_->add_packed({.path = kept_path.data(),
                                              .raw_path = kept_raw.data(),
                                              .ino = file.inode,
                                              .path_bytes = static_cast<uint32_t>(kept_path.size()),
                                              .raw_path_bytes = static_cast<uint32_t>(kept_raw.size()),
                                              .dev = file.device,
                                              .mount = mount,
                                              .kind = kind_of(file, path)});
  if (escaped != path) files_->set_bytes(static_cast<size_t>(file_id - 1), path);
  return static_cast<uint32_t>(file_id);
}

std::string FileIndex::path_of(uint32_t file_id) const {
  const model::FileTable::Packed& file = files_->packed(file_id - 1);
  std::string bytes = files_->bytes(file_id - 1);
  return bytes.empty() ? std::string(file.path, file.path_bytes) : bytes;
}

// Adds pending files whose names are known now. A directory may be relative to another pending one, so this repeats
// until it adds none, at most kFolderDepthMax times.
void FileIndex::find_pending() {
  size_t found = pending_files_.size();
  for (int round = 0; found != 0 && round < kFolderDepthMax; ++round) {
    found = std::erase_if(pending_files_, [&](const decode::FileEvent& file) { return try_add(file); });
  }
}

// Gives the file the path of another open file of the trace (`file_id`), or of a standard stream of the command, with
// the same device and inode; else a made-up name if it is a pipe, a regular file or a directory, and `path` if not.
void FileIndex::add_alias(const decode::FileEvent& file, const std::string& path, uint32_t file_id) {
  if (file_id == 0) {
    const auto known = std::find_if(inherited_.begin(), inherited_.end(), [&](const NamedInode& inherited) {
      return inherited.device == file.device && inherited.inode == file.inode;
    });
    const uint32_t kind = file.mode & S_IFMT;
    const std::string name = known != inherited_.end()            ? known->path
                             : kind == S_IFIFO                    ? "pipe:[" + std::to_string(file.inode) + "]"
                             : kind == S_IFREG || kind == S_IFDIR ? nameless(file)
                                                                  : path;
    file_id = file_under(name, strings_->text(file.path), file);
  }
  open_files_.add(file.number, {file_id, false, (file.flags & O_APPEND) != 0});
}

void FileIndex::find_aliases() {
  if (aliases_.empty()) return;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> by_inode;
  for (const auto& [file, path] : aliases_) by_inode[{file.device, file.inode}] = 0;
  for (size_t i = 0; i < files_->size(); ++i) {
    const model::FileTable::Packed& file = files_->packed(i);
    const auto wanted = by_inode.find({file.dev, file.ino});
    const bool has_name =
        file.path_bytes != 0 && file.path[0] != '[' && !util::names_descriptor({file.path, file.path_bytes});
    if (wanted != by_inode.end() && wanted->second == 0 && has_name) wanted->second = static_cast<uint32_t>(i) + 1;
  }
  for (const auto& [file, path] : aliases_) add_alias(file, path, by_inode[{file.device, file.inode}]);
  aliases_ = {};
}

void FileIndex::finish() {
  find_pending();
  find_aliases();
  find_pending();  // files relative to directories found as aliases
  for (const decode::FileEvent& file : pending_files_) {
    const auto raw = strings_->find(file.path);
    add_described(file, raw ? std::string(*raw) : nameless(file));
  }
  pending_files_ = {};
  for (const decode::GivenName& given : pending_names_) try_name(given);
  pending_names_ = {};
  for (const mlrun_same_file& same : same_) {
    const OpenFile described = open_files_.find(same.described);
    if (described.file_id != 0) open_files_.add(same.number, described);
  }
  same_ = {};
  for (const PathRef& path : pending_paths_) file_of_ref_.push_back(resolve_path(path));
  pending_paths_ = {};
  for (Map* map : {&by_identity_, &by_event_, &by_path_}) map->clear();
}

// 0: the name is unknown.
uint32_t FileIndex::resolve_path(const PathRef& ref) {
  count_look_up();
  std::optional<std::string> path = absolute(ref);
  if (!path) {
    const auto raw = strings_->find(ref.path);
    if (!raw) return 0;
    path = std::string(*raw);
  }
  uint32_t* known = by_path_.find(key_of(*path));
  if (!known) known = by_path_.find(key_of(symlinks_.with_resolved_folder(*path)));
  const uint32_t file_id = known ? *known : make_file(*path, strings_->text(ref.path), {});
  if (file_id != 0) note_path(*path, file_id);
  return file_id;
}

uint32_t FileIndex::file_of(const PathRef& path) {
  if (path.path == 0) return 0;
  const uint32_t* place = by_ref_.find(path.key());
  count_look_up();
  return place ? file_of_ref_[*place] : 0;
}

}  // namespace mlrun::trace
