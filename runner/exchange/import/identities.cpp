// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/identities.h"

#include <algorithm>
#include <limits>

#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kNamesMax = 262'144;

// False: the text is no plain decimal number, or is too large.
bool as_number(std::string_view text, int32_t& number) {
  number = util::whole_number<int32_t>(text).value_or(-1);
  return number >= 0;
}

}  // namespace

int32_t Identities::process(std::string_view pid) {
  Recent& last = recent(pid, kNoThread);
  if (last.id != 0 && last.proc_id == kNoThread && pid == last.text) return last.id;
  std::string key = std::to_string(space_) + "/";
  key += pid;
  const auto [found, made] = processes_.try_emplace(std::move(key), static_cast<int32_t>(info_.processes.size()) + 1);
  const int32_t proc_id = found->second;
  last = {std::string(pid), kNoThread, proc_id};
  if (!made) return proc_id;
  model::ProcessRow& row = info_.processes.emplace_back();
  row.proc_id = proc_id;
  if (!as_number(pid, row.pid)) {
    row.pid = --unnumbered_;
    row.command = util::escaped_utf8(pid);
  }
  row.ns_pid = row.pid;
  row.first_ns = std::numeric_limits<int64_t>::max();
  row.last_ns = std::numeric_limits<int64_t>::min();
  model::ImageRow& image = info_.images.emplace_back();
  image.image_id = image.proc_id = row.proc_id;
  return proc_id;
}

int32_t Identities::thread(int32_t proc_id, std::string_view tid) {
  Recent& last = recent(tid, proc_id);
  if (last.id != 0 && last.proc_id == proc_id && tid == last.text) return last.id;
  std::string key = std::to_string(proc_id) + "/";
  key += tid;
  const auto [found, made] = threads_.try_emplace(std::move(key), static_cast<int32_t>(info_.threads.size()) + 1);
  const int32_t thread_id = found->second;
  last = {std::string(tid), proc_id, thread_id};
  if (!made) return thread_id;
  model::ThreadRow& row = info_.threads.emplace_back();
  row.thread_id = thread_id;
  row.proc_id = row.image_id = proc_id;
  if (!as_number(tid, row.tid)) {
    row.tid = --unnumbered_;
    row.comm = util::escaped_utf8(tid);
  }
  row.first_ns = std::numeric_limits<int64_t>::max();
  row.last_ns = std::numeric_limits<int64_t>::min();
  return thread_id;
}

int32_t Identities::find_thread(int32_t tid) const {
  const auto found = std::find_if(info_.threads.begin(), info_.threads.end(),
                                  [&](const model::ThreadRow& row) { return row.tid == tid && tid >= 0; });
  return found == info_.threads.end() ? 0 : found->thread_id;
}

int32_t Identities::process_of(int32_t thread_id) const {
  return info_.threads[static_cast<size_t>(thread_id) - 1].proc_id;
}

model::Origin Identities::origin(int64_t ts_ns, int32_t proc_id, int32_t thread_id) const {
  model::Origin origin;
  origin.ts_ns = ts_ns;
  origin.proc_id = origin.image_id = proc_id;
  origin.thread_id = thread_id;
  if (proc_id != 0) origin.pid = info_.processes[static_cast<size_t>(proc_id) - 1].pid;
  if (thread_id != 0) origin.tid = info_.threads[static_cast<size_t>(thread_id) - 1].tid;
  return origin;
}

void Identities::lived(const model::Origin& origin, int64_t end_ns) {
  const auto extend = [&](auto& row) {
    row.first_ns = std::min(row.first_ns, origin.ts_ns);
    row.last_ns = std::max(row.last_ns, end_ns);
  };
  if (origin.proc_id != 0) extend(info_.processes[static_cast<size_t>(origin.proc_id) - 1]);
  if (origin.thread_id != 0) extend(info_.threads[static_cast<size_t>(origin.thread_id) - 1]);
}

void Identities::name_process(int32_t proc_id, std::string_view name) {
  if (!name.empty()) info_.processes[static_cast<size_t>(proc_id) - 1].command = util::escaped_utf8(name);
}
void Identities::name_thread(int32_t thread_id, std::string_view name) {
  if (!name.empty()) info_.threads[static_cast<size_t>(thread_id) - 1].comm = util::escaped_utf8(name);
}
void Identities::set_rank(int32_t proc_id, int64_t rank, int64_t world_size) {
  model::ProcessRow& row = info_.processes[static_cast<size_t>(proc_id) - 1];
  row.rank = static_cast<int32_t>(rank);
  row.world_size = static_cast<int32_t>(world_size);
}
void Identities::set_parent(int32_t proc_id, int32_t parent) {
  model::ProcessRow& row = info_.processes[static_cast<size_t>(proc_id) - 1];
  if (proc_id == parent) return;
  row.parent_proc_id = parent;
  row.ppid = info_.processes[static_cast<size_t>(parent) - 1].pid;
}

int32_t Identities::gpu(int64_t number, std::string_view name) {
  const auto [found, made] = gpus_.try_emplace({space_, number}, static_cast<int32_t>(info_.gpus.size()) + 1);
  if (made) {
    model::GpuRow& row = info_.gpus.emplace_back();
    row.gpu_id = found->second;
    row.kind = "gpu";
    row.index = static_cast<int32_t>(std::clamp<int64_t>(number, -1, std::numeric_limits<int32_t>::max()));
  }
  if (!name.empty()) info_.gpus[static_cast<size_t>(found->second) - 1].name = util::escaped_utf8(name);
  return found->second;
}

int64_t Identities::file(std::string_view path, model::FileKind kind) {
  if (const auto found = files_.find(path); found != files_.end()) return found->second;
  model::FileRow row;
  row.path = util::escaped_utf8(path);
  row.raw_path = row.path;
  if (row.path != path) row.path_bytes = path;
  row.kind = model::FileTable::kind_name(kind);
  info_.files.push_back(row);
  const auto id = static_cast<int64_t>(info_.files.size());
  files_.emplace(info_.files.texts().keep(path), id);
  return id;
}

void Identities::name_file(int64_t file_id, std::string_view path) {
  const auto index = static_cast<size_t>(file_id) - 1;
  const std::string valid = util::escaped_utf8(path);
  const std::string_view kept = info_.files.texts().keep(valid);
  model::FileTable::Packed& row = info_.files.packed(index);
  row.path = row.raw_path = kept.data();
  row.path_bytes = row.raw_path_bytes = static_cast<uint32_t>(kept.size());
  if (valid != path) info_.files.set_bytes(index, std::string(path));
}

int64_t Identities::name(std::string_view name) {
  if (const auto found = names_.find(name); found != names_.end()) return found->second;
  if (info_.names.size() >= kNamesMax) return 0;
  const auto id = static_cast<int64_t>(info_.names.size()) + 1;
  info_.names.push_back({id, util::escaped_utf8(name)});
  names_.emplace(name, id);
  return id;
}

}  // namespace mlrun::exchange
