// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/activities.h"

#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "runner/decode/func_names.h"
#include "runner/parquet/table_batches.h"

namespace mlrun::idle {

namespace {

constexpr int64_t kBlockedNs = 20'000;  // a call on a pipe or socket that took as long has waited for the other end

struct Func {
  std::string_view name;  // static string
  mlrun_call_class call_class = MLRUN_CLASS_META;
  bool polls = false, locks = false, accepts = false, makes_sockets = false;
};

// Properties of functions by name. A name that is not found, of a later version, counts as a call on a file.
const std::unordered_map<std::string_view, Func>& funcs() {
  static const auto kFuncs = [] {
    std::unordered_map<std::string_view, Func> all;
    decode::for_each_func([&](const decode::FuncInfo& info) {
      const std::string_view name = info.name;
      const bool waits = info.call_class == MLRUN_CLASS_WAIT;
      all[name] = {
          name,
          info.call_class,
          waits && (name.find("poll") != std::string_view::npos || name.find("select") != std::string_view::npos),
          waits && (name.starts_with("sem_") || name.starts_with("pthread_") || name == "futex"),
          name == "accept" || name == "accept4",
          name == "socket"};
    });
    return all;
  }();
  return kFuncs;
}

Func func_of(std::string_view name) {
  const auto found = funcs().find(name);
  return found == funcs().end() ? Func{} : found->second;
}

Doing doing_of(const Func& func, bool is_channel, int64_t dur_ns) {
  if (func.polls) return Doing::kPoll;
  if (func.locks) return Doing::kLock;
  if (func.call_class == MLRUN_CLASS_WAIT) return Doing::kWait;
  return is_channel && dur_ns >= kBlockedNs ? Doing::kChannel : Doing::kFile;
}

tables::TableQuery rows_in(Stretch window, std::vector<std::string> columns) {
  return {.columns = std::move(columns), .from_ns = window.start_ns, .to_ns = window.end_ns};
}

bool overlaps(const Stretch& stretch, const Stretch& window) {
  return stretch.start_ns < window.end_ns && stretch.end_ns > window.start_ns;
}

template <typename T>
void sort_list(std::vector<T>& list) {
  std::sort(list.begin(), list.end(), [](const Stretch& a, const Stretch& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
}

template <typename Rows>
void sort_by_start(Rows& rows) {
  for (auto& [who, list] : rows) sort_list(list);
}

// Removes calls nested in a call of the same thread (by another preload library or a signal handler): the outer call
// covers their time. Requires: sorted by start.
void drop_inner(std::vector<Activity>& calls) {
  int64_t end_ns = INT64_MIN;
  std::erase_if(calls, [&end_ns](const Activity& call) {
    if (call.start_ns < end_ns && call.end_ns <= end_ns) return true;
    end_ns = call.end_ns;
    return false;
  });
}

bool is_channel(model::FileKind kind) {
  return kind == model::FileKind::kPipe || kind == model::FileKind::kFifo || kind == model::FileKind::kSocket;
}

// Value for a null thread_id: rows from CUPTI have it if the thread is unknown.
constexpr int32_t kNobody = 0;

}  // namespace

Activities::Activities(std::string folder, const model::TraceInfo& info, Recorded recorded)
    : folder_(std::move(folder)), info_(info), recorded_(recorded) {}

model::FileKind Activities::kind(int64_t file_id) const {
  const bool is_known = file_id > 0 && static_cast<size_t>(file_id) <= info_.files.size();
  return is_known ? info_.files.kind(static_cast<size_t>(file_id - 1)) : model::FileKind::kUnknown;
}

bool Activities::has_room(size_t& rows) {
  if (rows == kRowsMax) {
    ++left_out_;
    return false;
  }
  ++rows;
  return true;
}

void Activities::clear() {
  calls_.clear();
  cuda_.clear();
  gpu_files_.clear();
  sleeps_.clear();
  messages_.clear();
  socket_messages_.clear();
  splits_.clear();
}

void Activities::add_message(int64_t file_id, const Message& message) {
  messages_[file_id].push_back(message);
  if (kind(file_id) == model::FileKind::kSocket) socket_messages_.push_back(message);
}

void Activities::add_local_socket(int64_t file_id) {
  if (local_sockets_.size() < kRowsMax) local_sockets_.insert(file_id);
}

Status Activities::load(Stretch window) {
  clear();
  if (Status loaded = load_calls(window); !loaded) return loaded;
  if (Status loaded = load_cuda(window); !loaded) return loaded;
  if (recorded_.kernel_side) {
    if (Status loaded = load_sleeps(window); !loaded) return loaded;
  }
  if (recorded_.gpu_files) {
    if (Status loaded = load_gpu_files(window); !loaded) return loaded;
  }
  sort();
  return {};
}

Status Activities::load_calls(Stretch window) {
  std::vector<std::string> columns = {"ts", "dur", "thread_id", "call_id", "func", "file_id", "arg2"};
  static constexpr std::pair<const char*, int64_t model::CallSplit::*> kParts[] = {
      {"own_ns", &model::CallSplit::own_ns},       {"runq_ns", &model::CallSplit::runq_ns},
      {"vfs_ns", &model::CallSplit::vfs_ns},       {"queue_ns", &model::CallSplit::queue_ns},
      {"device_ns", &model::CallSplit::device_ns}, {"remote_ns", &model::CallSplit::remote_ns},
      {"wait_ns", &model::CallSplit::wait_ns}};
  if (recorded_.kernel_side) {
    for (const auto& part : kParts) columns.emplace_back(part.first);
  }
  const size_t split_columns = recorded_.kernel_side ? std::size(kParts) : 0;
  size_t rows = 0;
  return tables::for_each_batch(
      folder_, "call", rows_in(window, std::move(columns)), [&](const arrow::RecordBatch& batch) {
        const tables::Numbers ts(batch, "ts"), dur(batch, "dur"), thread(batch, "thread_id"), id(batch, "call_id");
        const tables::Numbers file(batch, "file_id"), arg2(batch, "arg2");
        const tables::Texts name(batch, "func");
        std::vector<tables::Numbers> parts;
        for (size_t i = 0; i < split_columns; ++i) parts.emplace_back(batch, kParts[i].first);
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          Activity call{{ts[row], ts[row] + dur[row]}, id[row], file[row], Doing::kFile, false, -1, {}};
          if (!overlaps(call, window) || !has_room(rows)) continue;
          const Func func = func_of(name[row]);
          const bool channel = is_channel(kind(call.file_id));
          call.doing = doing_of(func, channel, dur[row]);
          call.writes = func.call_class == MLRUN_CLASS_WRITE;
          call.func = func.name;
          const auto thread_id = static_cast<int32_t>(thread[row]);
          if (func.makes_sockets && arg2[row] == AF_UNIX) add_local_socket(call.file_id);
          if (channel && (call.writes || func.accepts)) {
            add_message(call.file_id, {{call.start_ns, call.end_ns}, thread_id});
          }
          if (!parts.empty() && !parts[0].is_null(row)) {
            call.split = static_cast<int32_t>(splits_.size());
            model::CallSplit& split = splits_.emplace_back();
            for (size_t i = 0; i < parts.size(); ++i) split.*kParts[i].second = parts[i][row];
          }
          add_call(thread_id, call);
        }
      });
}

template <typename Column, typename Add>
Status Activities::load_of_threads(const char* table, const char* column, Stretch window, Add add) {
  size_t rows = 0;
  return tables::for_each_batch(folder_, table, rows_in(window, {"ts", "dur", "thread_id", column}),
                                [&](const arrow::RecordBatch& batch) {
                                  const tables::Numbers ts(batch, "ts"), dur(batch, "dur"), thread(batch, "thread_id");
                                  const Column values(batch, column);
                                  for (int64_t row = 0; row < batch.num_rows(); ++row) {
                                    const Stretch when{ts[row], ts[row] + dur[row]};
                                    const auto thread_id = static_cast<int32_t>(thread[row]);
                                    if (thread_id == kNobody || !overlaps(when, window) || !has_room(rows)) continue;
                                    add(thread_id, when, values[row]);
                                  }
                                });
}

Status Activities::load_cuda(Stretch window) {
  return load_of_threads<tables::Texts>(
      "gpu_api", "func", window, [&](int32_t thread_id, Stretch when, std::string_view name) {
        const bool waits = name.find("Synchronize") != std::string_view::npos;
        add_cuda(thread_id, {when, 0, 0, waits ? Doing::kSync : Doing::kCuda, false, -1});
      });
}

// libcufile's own reads and writes have `call` rows in the same thread. Blame prefers these, as they are more detailed.
Status Activities::load_gpu_files(Stretch window) {
  return load_of_threads<tables::Numbers>("gpu_file", "file_id", window,
                                          [&](int32_t thread_id, Stretch when, int64_t file_id) {
                                            add_gpu_file(thread_id, {when, 0, file_id, Doing::kFile, false, -1});
                                          });
}

Status Activities::load_sleeps(Stretch window) {
  size_t rows = 0;
  return tables::for_each_batch(
      folder_, "wait", rows_in(window, {"ts", "dur", "thread_id", "runq_ns", "waker_tid"}),
      [&](const arrow::RecordBatch& batch) {
        const tables::Numbers ts(batch, "ts"), dur(batch, "dur"), thread(batch, "thread_id"), runq(batch, "runq_ns");
        const tables::Numbers waker(batch, "waker_tid");
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          const int64_t end_ns = ts[row] + dur[row];
          const int64_t wake_ns = runq.is_null(row) ? ts[row] : end_ns - runq[row];  // null: it was preempted
          const Sleep sleep{{ts[row], end_ns}, wake_ns, static_cast<int32_t>(waker[row])};
          const auto thread_id = static_cast<int32_t>(thread[row]);
          if (thread_id != kNobody && overlaps(sleep, window) && has_room(rows)) add_sleep(thread_id, sleep);
        }
      });
}

void Activities::sort() {
  sort_by_start(calls_);
  for (auto& [who, calls] : calls_) drop_inner(calls);
  sort_by_start(cuda_);
  sort_by_start(gpu_files_);
  sort_by_start(sleeps_);
  sort_by_start(messages_);
  sort_list(socket_messages_);
}

}  // namespace mlrun::idle
