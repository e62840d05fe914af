// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/timeline/call_loader.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "runner/blame/timeline/call_use.h"
#include "runner/parquet/batch_columns.h"
#include "runner/parquet/table_batches.h"

namespace mlrun::blame {

namespace {

using tables::Numbers;
using tables::Texts;

constexpr Ns kBlockedNs = 20'000;  // a call on a pipe that took longer has blocked
constexpr Ns kBinMinNs = 1'000'000;
constexpr int64_t kBinsMost = 400'000;
// Most waits that are kept; the same limit for messages and reads of channels together.
constexpr size_t kRowsMost = 2'000'000;
constexpr int64_t kSmallBytes = 16'384;
constexpr Ns kImportGapNs = 100'000'000;
constexpr Ns kPollsNs = 5'000'000;

bool is_message_channel(model::FileKind kind) {
  return kind == model::FileKind::kPipe || kind == model::FileKind::kFifo || kind == model::FileKind::kSocket ||
         kind == model::FileKind::kEventfd;
}

// One row of table `call`.
struct Row {
  Ns start_ns, end_ns;
  int64_t call_id, file_id, ofd_id, offset, ret, argument;
  int32_t thread_id, fd, err, flags, poster;
  std::array<Ns, kCallStates> states;
};

class CallLoader {
 public:
  CallLoader(const std::vector<uint8_t>& modules, Timeline& timeline) : modules_(modules), timeline_(timeline) {
    const auto threads = static_cast<int64_t>(timeline.threads.size());
    const double run_ns = static_cast<double>(timeline.end_ns) - static_cast<double>(timeline.start_ns);
    width_ns_ =
        std::max(kBinMinNs, static_cast<Ns>(run_ns * static_cast<double>(threads) / static_cast<double>(kBinsMost)));
    timeline.bin_ns = width_ns_;
    here_.resize(timeline.threads.size());
  }

  void add(const Row& row, const Use& use);
  void finish();

 private:
  // State of a thread while its rows are read in order of time.
  struct Here {
    size_t sample = 0;
    int64_t ofd_id = 0, end_offset = 0;  // of the thread's last read
    int64_t file_id = 0;
    Ns refused_ns = 0;                           // end of its last failed attempt to take a lock shared by processes
    FileTotals* file = nullptr;                  // of the file file_id
    std::unordered_map<int64_t, Saving> writes;  // by open file (ofd_id)
  };
  void add_wait(const Row& row, const Use& use, WaitKind kind, Thread& thread);
  void add_channel(const Row& row, const Use& use, Thread& thread);
  void add_file(const Row& row, const Use& use, Thread& thread, Here& here);
  void add_saving(const Row& row, const Use& use, Here& here);
  void add_module_call(const Row& row);
  void mark_samples(const Row& row, Thread& thread, Here& here) const;
  [[nodiscard]] bool is_module(int64_t file_id) const {
    return static_cast<size_t>(file_id) < modules_.size() && modules_[static_cast<size_t>(file_id)] != 0;
  }
  void pair_sockets();

  const std::vector<uint8_t>& modules_;
  Timeline& timeline_;
  Ns width_ns_;
  std::vector<Here> here_;
  std::unordered_set<int64_t> direct_;  // ofd_id of files opened with O_DIRECT
  size_t waits_ = 0, messages_ = 0;
  struct Connection {
    Ns start_ns, end_ns;
    int64_t file_id;
  };
  std::vector<Connection> connects_, accepts_;
};

void CallLoader::add_wait(const Row& row, const Use& use, WaitKind kind, Thread& thread) {
  if (waits_ == kRowsMost) {
    ++timeline_.left_out;
    return;
  }
  ++waits_;
  Wait wait;
  wait.start_ns = row.start_ns;
  wait.end_ns = row.end_ns;
  wait.call_id = row.call_id;
  wait.file_id = row.file_id;
  wait.argument = row.argument;
  wait.ret = row.ret;
  wait.err = row.err;
  wait.fd = row.fd;
  wait.poster = row.poster;
  wait.kind = kind;
  wait.joins_thread = use.joins;
  wait.accepts = use.accepts;
  wait.condition = use.condition;
  wait.timed = use.timed;
  thread.waits.push_back(wait);
  timeline_.has_posts |= row.poster != 0;
}

void CallLoader::add_channel(const Row& row, const Use& use, Thread& thread) {
  if (!use.moves_in && !(use.moves_out && row.ret > 0)) return;
  if (messages_ == kRowsMost) {
    ++timeline_.left_out;
    return;
  }
  ++messages_;
  if (use.moves_in) thread.reads.push_back({row.start_ns, row.end_ns, row.file_id, row.ret});
  if (use.moves_out) timeline_.messages[row.file_id].push_back({row.start_ns, row.end_ns, row.thread_id, row.ret});
}

// Notes when a thread has a file open that it writes: a checkpoint or a log.
void CallLoader::add_saving(const Row& row, const Use& use, Here& here) {
  if (row.ofd_id == 0) return;
  const bool writes = (use.moves_out || use.flushes) && row.ret > 0;
  const auto found = here.writes.find(row.ofd_id);
  if (found == here.writes.end()) {
    const bool opens_to_write = use.opens && (row.flags & O_ACCMODE) != O_RDONLY;
    if (!writes && !opens_to_write) return;
    Saving& saving =
        here.writes[row.ofd_id] = {row.start_ns, row.end_ns, writes ? row.ret : 0, row.file_id, 0, writes ? 1 : 0};
    saving.unsynced_ns = writes ? row.start_ns : 0;
    saving.appends = use.opens && (row.flags & O_APPEND) != 0;
    return;
  }
  Saving& saving = found->second;
  saving.end_ns = std::max(saving.end_ns, row.end_ns);
  if (writes) {
    saving.bytes += row.ret;
    ++saving.writes;
    if (saving.unsynced_ns == 0) saving.unsynced_ns = row.start_ns;
  }
  if (use.group == CallGroup::kSync) {
    ++saving.syncs;
    saving.bursts.emplace_back(saving.unsynced_ns != 0 ? saving.unsynced_ns : row.start_ns, row.end_ns);
    saving.unsynced_ns = 0;
  }
}

void CallLoader::add_file(const Row& row, const Use& use, Thread& thread, Here& here) {
  FileUse& files = thread.files;
  const Ns dur_ns = row.end_ns - row.start_ns;
  if (use.opens && row.err == 0) {
    ++files.opens;
    if ((row.flags & O_DIRECT) != 0) direct_.insert(row.ofd_id);
  }
  if (use.group == CallGroup::kNames) {
    files.names_ns += dur_ns;
    files.names += use.stats ? 1 : 0;
  }
  if (use.group == CallGroup::kSync) ++files.syncs;
  files.maps += use.maps && row.err == 0 ? 1 : 0;
  if (use.moves_out && row.ret > 0) {
    ++files.writes;
    files.written_bytes += row.ret;
  }
  if (!use.moves_in || row.ret <= 0) return;
  ++files.reads;
  files.read_bytes += row.ret;
  files.read_ns += dur_ns;
  if (row.ret < kSmallBytes) ++files.small_reads;
  if (!direct_.empty() && direct_.contains(row.ofd_id)) files.direct_ns += dur_ns;
  if (here.file == nullptr || here.file_id != row.file_id) {
    here.file_id = row.file_id;
    here.file = &timeline_.data_files[row.file_id];
  }
  FileTotals& file = *here.file;
  ++file.reads;
  file.bytes += row.ret;
  if (row.offset >= 0) {
    const bool follows = here.ofd_id == row.ofd_id ? row.offset == here.end_offset : row.offset == 0;
    files.jumps += follows ? 0 : 1;
    here.ofd_id = row.ofd_id;
    here.end_offset = row.offset + row.ret;
    file.end_offset = std::max(file.end_offset, here.end_offset);
  }
}

void CallLoader::add_module_call(const Row& row) {
  auto& stretches = timeline_.module_calls[row.thread_id];
  if (!stretches.empty() && row.start_ns - stretches.back().second <= kImportGapNs) {
    stretches.back().second = std::max(stretches.back().second, row.start_ns);
  } else {
    stretches.emplace_back(row.start_ns, row.start_ns);
  }
}

void CallLoader::mark_samples(const Row& row, Thread& thread, Here& here) const {
  auto& samples = thread.samples;
  while (here.sample < samples.size() && samples[here.sample].start_ns < row.start_ns) ++here.sample;
  for (size_t at = here.sample; at < samples.size() && samples[at].start_ns < row.end_ns; ++at)
    samples[at].in_call = true;
}

// Whether the call failed to take a file lock, or to create a lock file that already exists.
bool is_refused_lock(const Row& row, const Use& use) {
  if (use.opens) return row.err == EEXIST && (row.flags & O_EXCL) != 0;
  const bool locks =
      use.wait == WaitKind::kFileLock || (use.controls && (row.flags == F_SETLK || row.flags == F_OFD_SETLK));
  return locks && (row.err == EAGAIN || row.err == EACCES);
}

void CallLoader::add(const Row& row, const Use& use) {
  if (row.thread_id <= 0 || static_cast<size_t>(row.thread_id) >= timeline_.threads.size()) return;
  Thread& thread = timeline_.threads[static_cast<size_t>(row.thread_id)];
  Here& here = here_[static_cast<size_t>(row.thread_id)];
  const model::FileKind kind = timeline_.kind(row.file_id);
  const bool channel = is_message_channel(kind);
  if (channel) add_channel(row, use, thread);
  if (use.connects || use.accepts) {
    (use.connects ? connects_ : accepts_).push_back({row.start_ns, row.end_ns, row.file_id});
    if (row.end_ns - row.start_ns >= kBlockedNs) return add_wait(row, use, WaitKind::kConnection, thread);
  }
  if (is_refused_lock(row, use)) here.refused_ns = row.end_ns;
  // A sleep that begins soon after a failed attempt is part of the wait for the lock: SQLite and others poll their locks.
  const bool polls_lock = use.wait == WaitKind::kSleep && row.start_ns - here.refused_ns < kPollsNs;
  const bool locks = use.controls && (row.flags == F_SETLKW || row.flags == F_OFD_SETLKW);
  if (locks) return add_wait(row, use, WaitKind::kFileLock, thread);
  if (use.waits) return add_wait(row, use, polls_lock ? WaitKind::kFileLock : use.wait, thread);
  if (channel && use.may_block && row.end_ns - row.start_ns >= kBlockedNs) {
    return add_wait(row, use, use.moves_out ? WaitKind::kChannelWrite : WaitKind::kChannelRead, thread);
  }
  if (!thread.samples.empty()) mark_samples(row, thread, here);
  const bool of_module = row.file_id != 0 && is_module(row.file_id);
  if (of_module) {
    add_module_call(row);
  } else if (kind == model::FileKind::kRegular || kind == model::FileKind::kDirectory ||
             kind == model::FileKind::kUnknown) {
    add_file(row, use, thread, here);
    if (kind == model::FileKind::kRegular) add_saving(row, use, here);
  }
  const CallGroup group = channel ? CallGroup::kChannel : row.file_id == 0 ? CallGroup::kOther : use.group;
  thread.calls.add(row.start_ns, row.end_ns, group, row.states, width_ns_);
  if (of_module || kind != model::FileKind::kRegular || row.err != 0) return;
  const bool opens = use.opens && (row.flags & O_ACCMODE) == O_RDONLY;
  const int64_t bytes = use.moves_in ? std::max<int64_t>(0, row.ret) : 0;
  if (opens || bytes != 0) thread.calls.note_data(opens, bytes);
}

// Pairs the two ends of a connection, which are two files. Pairs that the tables lack are found by matching connect and accept in order of time.
void CallLoader::pair_sockets() {
  constexpr Ns kLaterNs = 200'000'000;
  const auto by_end = [](const Connection& a, const Connection& b) { return a.end_ns < b.end_ns; };
  const auto by_start = [](const Connection& a, const Connection& b) { return a.start_ns < b.start_ns; };
  std::sort(accepts_.begin(), accepts_.end(), by_end);
  std::sort(connects_.begin(), connects_.end(), by_start);
  std::erase_if(accepts_, [&](const Connection& one) { return timeline_.peers.contains(one.file_id); });
  std::vector<bool> used(accepts_.size());
  size_t from = 0;
  for (const Connection& connect : connects_) {
    if (timeline_.peers.contains(connect.file_id)) continue;
    while (from < accepts_.size() && (used[from] || accepts_[from].end_ns < connect.start_ns)) ++from;
    for (size_t i = from; i < accepts_.size() && accepts_[i].start_ns <= connect.end_ns + kLaterNs; ++i) {
      if (used[i] || accepts_[i].end_ns < connect.start_ns) continue;
      used[i] = true;
      timeline_.peers[connect.file_id] = accepts_[i].file_id;
      timeline_.peers[accepts_[i].file_id] = connect.file_id;
      break;
    }
  }
}

// Drops waits inside another wait of the thread: they were made by a signal handler.
void drop_inner(std::vector<Wait>& waits) {
  std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.start_ns < b.start_ns; });
  Ns end_ns = INT64_MIN;
  std::erase_if(waits, [&](const Wait& wait) {
    if (wait.start_ns < end_ns) return true;
    end_ns = wait.end_ns;
    return false;
  });
}

void CallLoader::finish() {
  for (size_t number = 0; number < here_.size(); ++number) {
    Thread& thread = timeline_.threads[number];
    drop_inner(thread.waits);
    std::stable_sort(thread.reads.begin(), thread.reads.end(),
                     [](const Read& a, const Read& b) { return a.start_ns < b.start_ns; });
    for (const auto& [ofd_id, saving] : here_[number].writes) {
      if (saving.bytes > 0) timeline_.savings[static_cast<int32_t>(number)].push_back(saving);
    }
    auto& savings = timeline_.savings[static_cast<int32_t>(number)];
    std::sort(savings.begin(), savings.end(), [](const Saving& a, const Saving& b) { return a.start_ns < b.start_ns; });
  }
  for (auto& [file_id, list] : timeline_.messages) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Message& a, const Message& b) { return a.start_ns < b.start_ns; });
  }
  pair_sockets();
}

constexpr const char* kStateColumns[kCallStates][2] = {
    {"runq_ns", nullptr}, {"device_ns", "queue_ns"}, {"remote_ns", nullptr}, {"wait_ns", nullptr}};

// Typed access to the columns of one Arrow batch.
class CallBatch {
 public:
  CallBatch(const arrow::RecordBatch& batch, bool has_states)
      : ts_(batch, "ts"),
        dur_(batch, "dur"),
        thread_(batch, "thread_id"),
        file_(batch, "file_id"),
        ofd_(batch, "ofd_id"),
        offset_(batch, "offset"),
        ret_(batch, "ret"),
        argument_(batch, "arg2"),
        fd_(batch, "fd"),
        err_(batch, "err"),
        flags_(batch, "flags"),
        poster_(batch, "poster_thread_id"),
        file2_(batch, "file2_id"),
        func_(batch, "func") {
    for (size_t i = 0; has_states && i < kCallStates; ++i) {
      for (const char* column : kStateColumns[i]) {
        if (column != nullptr) states_[i].emplace_back(batch, column);
      }
    }
  }
  // Assigned field by field: for an aggregate assignment g++ clears the row with a slow instruction, which took 40 % of the loader's time.
  void read(int64_t at, int64_t call_id, Row& row) const {
    row.start_ns = ts_[at];
    row.end_ns = row.start_ns + dur_[at];
    row.call_id = call_id;
    row.thread_id = static_cast<int32_t>(thread_[at]);
    row.file_id = file_[at];
    row.ofd_id = ofd_[at];
    row.offset = offset_.is_null(at) ? -1 : offset_[at];
    row.ret = ret_[at];
    row.argument = argument_[at];
    row.fd = static_cast<int32_t>(fd_[at]);
    row.err = static_cast<int32_t>(err_[at]);
    row.flags = static_cast<int32_t>(flags_[at]);
    row.poster = static_cast<int32_t>(poster_[at]);
    for (size_t i = 0; i < kCallStates; ++i) {
      row.states[i] = 0;
      for (const Numbers& column : states_[i]) row.states[i] += column[at];
    }
  }
  [[nodiscard]] std::string_view func(int64_t at) const { return func_[at]; }
  [[nodiscard]] int64_t file2(int64_t at) const { return file2_[at]; }

 private:
  Numbers ts_, dur_, thread_, file_, ofd_, offset_, ret_, argument_, fd_, err_, flags_, poster_, file2_;
  Texts func_;
  std::array<std::vector<Numbers>, kCallStates> states_;
};

// Tables of earlier versions lack the column of the poster.
bool has_column(const tables::TableReader& reader, const char* name) {
  return reader.schema()->GetFieldIndex(name) >= 0;
}

}  // namespace

Status load_calls(const std::string& folder, const std::vector<uint8_t>& modules, Timeline& timeline) {
  if (!tables::has_table(folder + "/tables", "call")) return {};
  std::vector<std::string> columns = {"ts", "dur",    "thread_id", "func", "file_id", "file2_id", "ofd_id",
                                      "fd", "offset", "ret",       "err",  "flags",   "arg2"};
  {
    auto all = tables::TableReader::open(folder, "call");
    if (!all) return tl::make_unexpected(all.error());
    if (has_column(*all, "poster_thread_id")) columns.emplace_back("poster_thread_id");
  }
  const bool has_states = timeline.has_kernel_side;
  for (const auto& names : kStateColumns) {
    for (const char* name : names) {
      if (has_states && name != nullptr) columns.emplace_back(name);
    }
  }
  tables::TableQuery query;
  query.columns = std::move(columns);
  query.dictionaries = {"func"};
  query.read_ahead = true;
  CallLoader loader(modules, timeline);
  int64_t call_id = 0;
  const auto add = [&](const arrow::RecordBatch& rows) {
    const CallBatch batch(rows, has_states);
    std::string_view last_name;
    Use use;
    Row row;
    for (int64_t at = 0; at < rows.num_rows(); ++at) {
      const std::string_view name = batch.func(at);
      if (name.data() != last_name.data()) {
        use = use_of(name);
        last_name = name;
      }
      batch.read(at, ++call_id, row);
      const int64_t file2 = batch.file2(at);
      if ((use.pairs || use.connects || use.accepts) && file2 != 0 && row.file_id != 0) {
        timeline.peers[row.file_id] = file2;
        timeline.peers[file2] = row.file_id;
      }
      loader.add(row, use);
    }
  };
  if (Status read = tables::for_each_batch(folder, "call", std::move(query), add); !read) return read;
  loader.finish();
  return {};
}

}  // namespace mlrun::blame
