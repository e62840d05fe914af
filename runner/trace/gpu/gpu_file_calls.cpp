// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/gpu_file_calls.h"

#include <algorithm>

#include "runner/decode/func_class.h"
#include "runner/decode/limits.h"
#include "runner/events/cufile_calls.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

using decode::kOffsetMax;
using events::CufileRole;

constexpr size_t kLookedAtMax = 4096;  // calls in progress that are searched for one read or write

int64_t cut(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, kOffsetMax)); }

}  // namespace

// A handle is a pointer: its value is reused after the handle is deregistered.
uint32_t GpuFileCalls::file_of_new_handle(const mlrun_cufile_call& record) {
  if (record.result != 0) return 0;
  if (handles_.size() >= decode::kGpuFileHandlesMax || files_.size() >= decode::kJoinedGpuFilesMax) {
    ++left_out_;
    handles_.erase({record.head.pid, record.read[0]});  // the value is now the handle of a file that is not kept
    return 0;
  }
  files_.push_back({record.fd, record.device, record.inode, TraceClock::from_monotonic(record.head.time_ns)});
  const auto file = static_cast<uint32_t>(files_.size() - 1);
  if ((record.unread & MLRUN_CUFILE_READS_HANDLE) == 0) handles_[{record.head.pid, record.read[0]}] = file;
  return file;
}

uint32_t GpuFileCalls::file_of_handle(const mlrun_cufile_call& record, uint64_t handle, bool is_gone) {
  const auto known = handles_.find({record.head.pid, handle});
  if (known == handles_.end()) return 0;
  const uint32_t file = known->second;
  const auto pid = static_cast<int32_t>(record.head.pid);
  const bool is_stale = has_exec(pid, files_[file].ns, TraceClock::from_monotonic(record.begin_ns));
  if (is_stale || is_gone) handles_.erase(known);
  return is_stale ? 0 : file;
}

uint32_t GpuFileCalls::file_of(const mlrun_cufile_call& record) {
  const events::CufileCall* what = events::cufile_call_of(record.function);
  if (what == nullptr || events::is_about_batch(what->role)) return 0;
  if (what->role == CufileRole::kRegister) return file_of_new_handle(record);
  return file_of_handle(record, record.arguments[0], what->role == CufileRole::kDeregister);
}

void GpuFileCalls::add_exec(int32_t pid, int64_t ns) {
  if (execs_.size() < decode::kGpuFileExecsMax) execs_.insert({pid, ns});
}

bool GpuFileCalls::has_exec(int32_t pid, int64_t after_ns, int64_t before_ns) const {
  const auto next = execs_.upper_bound({pid, after_ns});
  return next != execs_.end() && next->first == pid && next->second <= before_ns;
}

// When the call was, and its thread.
GpuFileCalls::Entry GpuFileCalls::entry_of(const mlrun_cufile_call& record) {
  Entry entry;
  entry.end_ns = TraceClock::from_monotonic(record.head.time_ns);
  entry.begin_ns = std::min(TraceClock::from_monotonic(record.begin_ns), entry.end_ns);
  entry.pid = static_cast<int32_t>(record.head.pid);
  entry.tid = static_cast<int32_t>(record.head.tid);
  return entry;
}

void GpuFileCalls::add(const mlrun_cufile_call& record, std::string_view array) {
  if (entries_.size() >= decode::kJoinedGpuFilesMax) {
    ++left_out_;
    return;
  }
  Entry entry = entry_of(record);
  entry.file = file_of(record);
  const events::CufileCall* what = events::cufile_call_of(record.function);
  if (what != nullptr && (what->role == CufileRole::kTransfer || what->role == CufileRole::kVector)) {
    entry.is_transfer = true;
    entry.is_write = what->is_write;
    entry.moved = std::clamp<int64_t>(record.result, 0, kOffsetMax);
    entry.offset = cut(record.arguments[3]);
    const int64_t length = what->role == CufileRole::kTransfer ? cut(record.arguments[2]) : entry.moved;
    entry.length = std::min(length, kOffsetMax - entry.offset);
  }
  entries_.push_back(entry);
  if (what != nullptr && events::is_about_batch(what->role)) add_of_batch(record, array);
}

void GpuFileCalls::add_of_batch(const mlrun_cufile_call& record, std::string_view array) {
  const CufileRole role = events::cufile_call_of(record.function)->role;
  if (record.result != 0 && !events::returns_nothing(role)) return;
  const GpuFileBatches::Batch batch{record.head.pid, record.arguments[0]};
  const int64_t begin_ns = entries_.back().begin_ns, end_ns = entries_.back().end_ns;
  // If the process has executed another program since, the batch's handle belongs to another batch.
  if (has_exec(static_cast<int32_t>(record.head.pid), batches_.since(batch), begin_ns)) batches_.forget(batch);
  if (role == CufileRole::kBatch) {
    for (const auto& operation : events::cufile_entries<events::CufileOperation>(array)) {
      add_operation(record, operation);
    }
  } else if (role == CufileRole::kResults) {
    end_operations(batches_.results(batch, end_ns, events::cufile_entries<events::CufileResult>(array)));
  } else if (role == CufileRole::kCancel) {
    batches_.cancel(batch, end_ns);
  } else {
    end_operations(batches_.destroy(batch, end_ns));
  }
}

void GpuFileCalls::add_operation(const mlrun_cufile_call& record, const events::CufileOperation& operation) {
  if (entries_.size() >= decode::kJoinedGpuFilesMax) {
    ++left_out_;
    return;
  }
  Entry entry = entry_of(record);  // ends with the submission until a result arrives
  entry.file = file_of_handle(record, operation.handle, false);
  entry.is_transfer = true;
  entry.is_write = events::cufile_call_of(events::cufile_operation_number(operation.opcode))->is_write;
  entry.offset = cut(static_cast<uint64_t>(operation.file_offset));
  entry.length = std::min(cut(operation.bytes), kOffsetMax - entry.offset);
  entry.status = model::BatchStatus::kUnknown;
  const auto number = static_cast<uint32_t>(entries_.size());
  batches_.hand_in({record.head.pid, record.arguments[0]}, entry.begin_ns, number, operation);
  entries_.push_back(entry);
}

void GpuFileCalls::end_operations(const std::vector<BatchEnd>& ends) {
  for (const BatchEnd& end : ends) {
    Entry& entry = entries_[end.entry];
    entry.end_ns = std::max(end.end_ns, entry.begin_ns);
    entry.status = end.status;
    entry.result = end.result;
    if (end.status == model::BatchStatus::kComplete) entry.moved = std::clamp<int64_t>(end.result, 0, kOffsetMax);
  }
}

// On overlayfs, stat() returns a device number per layer, but the kernel side records that of the whole mount. Files
// then match by inode number, as in FilesByInode.
void GpuFileCalls::find_devices(const model::FileTable& files) {
  struct OnOverlay {
    size_t files = 0;
    uint32_t device = 0;
  };
  std::unordered_map<uint64_t, OnOverlay> by_inode;
  std::set<std::pair<uint32_t, uint64_t>> known;
  for (const File& file : files_) by_inode[file.inode] = {};
  for (const model::FileRow& file : files) {
    const Identity identity{static_cast<uint32_t>(file.dev), static_cast<uint64_t>(file.ino)};
    identities_.push_back(identity);
    const auto wanted = by_inode.find(identity.inode);
    if (wanted == by_inode.end() || identity.inode == 0) continue;
    known.insert({identity.device, identity.inode});
    if (file.file_system == "overlay") wanted->second = {wanted->second.files + 1, identity.device};
  }
  for (const File& file : files_) {
    const auto device = static_cast<uint32_t>(stat_device(file.device));
    const OnOverlay& above = by_inode[file.inode];
    devices_.push_back(above.files == 1 && !known.contains({device, file.inode}) ? above.device : device);
  }
}

void GpuFileCalls::finish(const model::FileTable& files) {
  end_operations(batches_.finish());
  handles_.clear();
  execs_.clear();
  if (entries_.empty()) return;
  find_devices(files);
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].is_transfer) continue;
    if (entries_[i].status == model::BatchStatus::kNone) by_thread_[entries_[i].tid].push_back(i);
    by_process_[entries_[i].pid].entries.push_back(i);
  }
  const auto begins_before = [&](uint32_t a, uint32_t b) { return entries_[a].begin_ns < entries_[b].begin_ns; };
  for (auto& [tid, entries] : by_thread_) std::stable_sort(entries.begin(), entries.end(), begins_before);
  for (auto& [pid, of_process] : by_process_) {
    std::stable_sort(of_process.entries.begin(), of_process.entries.end(), begins_before);
    int64_t last_ns = INT64_MIN;
    for (const uint32_t i : of_process.entries) {
      last_ns = std::max(last_ns, entries_[i].end_ns);
      of_process.ends_ns.push_back(last_ns);
    }
  }
}

int64_t GpuFileCalls::call(const model::CallRow& row) {
  if (entries_.empty() || !decode::transfers(row.func) || row.file_id <= 0) return 0;
  if (static_cast<size_t>(row.file_id) > identities_.size()) return 0;
  const Identity& file = identities_[static_cast<size_t>(row.file_id - 1)];
  Transfer transfer{row.origin.ts_ns, row.dur_ns, row.origin.pid, row.origin.tid};
  transfer.is_call = true;
  transfer.is_write = decode::class_of_func(row.func) == MLRUN_CLASS_WRITE;
  transfer.device = file.device;
  transfer.inode = file.inode;
  transfer.offset = row.offset;
  transfer.bytes = std::max<int64_t>(row.ret, 0);
  return place(transfer, below_ == Below::kCalls);
}

int64_t GpuFileCalls::operation(const mlrun_file_op& record) {
  const bool is_write = record.op == MLRUN_FILE_WRITE;
  if (entries_.empty() || (!is_write && record.op != MLRUN_FILE_READ)) return 0;
  Transfer transfer;
  transfer.ts_ns = TraceClock::from_monotonic(std::min<uint64_t>(record.begin_ns, record.head.time_ns));
  transfer.dur_ns = TraceClock::from_monotonic(record.head.time_ns) - transfer.ts_ns;
  transfer.pid = static_cast<int32_t>(record.head.pid);
  transfer.tid = static_cast<int32_t>(record.head.tid);
  transfer.is_write = is_write;
  transfer.device = static_cast<uint32_t>(stat_device(record.device));
  transfer.inode = record.inode;
  transfer.offset = record.offset > kOffsetMax ? -1 : static_cast<int64_t>(record.offset);
  transfer.bytes = std::clamp<int64_t>(record.result, 0, kOffsetMax);
  return place(transfer, below_ == Below::kOperations && record.outer == 0);
}

// The clocks of the kernel side and of `call` rows may differ by a microsecond, so the middle of the read or write must
// be inside the libcufile call.
int64_t GpuFileCalls::place(const Transfer& transfer, bool counts) {
  Entry* entry = in_same_thread(transfer);
  if (entry == nullptr) entry = in_other_thread(transfer);
  if (entry == nullptr) return 0;
  if (counts) {
    ++entry->posix.calls;
    entry->posix.bytes += std::min(common_bytes(*entry, transfer), entry->moved - entry->posix.bytes);
    if (entry->tid == transfer.tid) util::add_to(entry->posix.own_thread_ns, std::max<int64_t>(transfer.dur_ns, 0));
  }
  return entry - entries_.data() + 1;
}

GpuFileCalls::Entry* GpuFileCalls::in_same_thread(const Transfer& transfer) {
  const auto thread = by_thread_.find(transfer.tid);
  if (thread == by_thread_.end()) return nullptr;
  const size_t after = first_after(thread->second, transfer.middle_ns());
  if (after == 0) return nullptr;
  Entry& entry = entries_[thread->second[after - 1]];  // a thread is in one call at a time
  const bool is_in = entry.end_ns >= transfer.middle_ns() && entry.is_write == transfer.is_write;
  return is_in && (files_[entry.file].inode == 0 || is_on_file(entry, transfer)) ? &entry : nullptr;
}

// If several calls have the range, prefers one that moved more bytes than the reads and writes matched to it so far.
GpuFileCalls::Entry* GpuFileCalls::in_other_thread(const Transfer& transfer) {
  const auto process = by_process_.find(transfer.pid);
  if (process == by_process_.end() || transfer.offset < 0) return nullptr;
  const auto& [entries, ends_ns] = process->second;
  Entry* found = nullptr;
  size_t i = first_after(entries, transfer.middle_ns());
  for (size_t looked = 0; i > 0 && looked < kLookedAtMax && ends_ns[i - 1] >= transfer.middle_ns(); --i, ++looked) {
    Entry& entry = entries_[entries[i - 1]];
    if (entry.end_ns < transfer.middle_ns() || entry.is_write != transfer.is_write) continue;
    if (!is_on_file(entry, transfer) || common_bytes(entry, transfer) == 0) continue;
    found = &entry;
    if (entry.posix.bytes < entry.moved) return found;
  }
  return found;
}

bool GpuFileCalls::is_on_file(const Entry& entry, const Transfer& transfer) const {
  const File& file = files_[entry.file];
  const uint32_t device = transfer.is_call ? devices_[entry.file] : static_cast<uint32_t>(stat_device(file.device));
  return file.inode != 0 && file.inode == transfer.inode && device == transfer.device;
}

int64_t GpuFileCalls::common_bytes(const Entry& entry, const Transfer& transfer) {
  if (transfer.offset < 0) return transfer.bytes;
  const int64_t offset = std::min(transfer.offset, kOffsetMax);
  const int64_t begin = std::max(entry.offset, offset);
  const int64_t end = std::min(entry.offset + entry.length, offset + std::min(transfer.bytes, kOffsetMax - offset));
  return std::max<int64_t>(end - begin, 0);
}

size_t GpuFileCalls::first_after(const std::vector<uint32_t>& entries, int64_t ns) const {
  const auto after = std::upper_bound(entries.begin(), entries.end(), ns,
                                      [&](int64_t moment, uint32_t i) { return moment < entries_[i].begin_ns; });
  return static_cast<size_t>(after - entries.begin());
}

GpuFileCalls::File GpuFileCalls::file(int64_t number) const {
  return static_cast<size_t>(number) <= entries_.size() ? files_[entries_[static_cast<size_t>(number) - 1].file]
                                                        : File{};
}

BatchEnd GpuFileCalls::end(int64_t number) const {
  if (static_cast<size_t>(number) > entries_.size()) return {};
  const Entry& entry = entries_[static_cast<size_t>(number) - 1];
  return {static_cast<uint32_t>(number - 1), entry.end_ns, entry.status, entry.result};
}

model::PosixPart GpuFileCalls::posix(int64_t number) const {
  return static_cast<size_t>(number) <= entries_.size() ? entries_[static_cast<size_t>(number) - 1].posix
                                                        : model::PosixPart{};
}

}  // namespace mlrun::trace
