// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/samples/python_stacks.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "runner/decode/limits.h"
#include "runner/events/python_sample.h"
#include "runner/parquet/row_columns.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/samples/sample_rows.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;

constexpr uint8_t kEndRoot = 0, kEndDepth = 1;  // enum mlrun_stack_end

// The arrays of one spool frame of Python stacks, with their bounds checked.
class Payload {
 public:
  explicit Payload(const SpoolFrame& frame) {
    if (!frame.read(head_)) return;
    const char* at = reinterpret_cast<const char*>(frame.payload) + sizeof head_;
    size_t left = frame.header.payload_bytes - sizeof head_;
    is_sound_ = take_samples(at, left) && take(at, left, head_.stacks, stacks) && take(at, left, head_.steps, steps) &&
                take(at, left, head_.frames, frames) && take(at, left, head_.texts, texts) && head_.text_bytes <= left;
    if (is_sound_) bytes_ = {at, head_.text_bytes};
  }

  [[nodiscard]] bool is_sound() const { return is_sound_; }
  [[nodiscard]] uint32_t rows() const { return head_.samples; }
  // The text with this number; empty: the frame has none.
  [[nodiscard]] std::string_view text(uint32_t number) const {
    if (number >= texts.size()) return {};
    const mlrun_python_text& text = texts[number];
    if (text.first > bytes_.size() || text.bytes > bytes_.size() - text.first) return {};
    return bytes_.substr(text.first, text.bytes);
  }

  std::vector<mlrun_python_sample> samples;
  std::vector<mlrun_python_stack> stacks;
  std::vector<__u32> steps;
  std::vector<mlrun_python_frame> frames;
  std::vector<mlrun_python_text> texts;

 private:
  template <typename T>
  static bool take(const char*& at, size_t& left, uint32_t count, std::vector<T>& items) {
    const size_t bytes = size_t{count} * sizeof(T);
    if (bytes > left) return false;
    items.resize(count);
    if (bytes > 0) std::memcpy(items.data(), at, bytes);
    at += bytes;
    left -= bytes;
    return true;
  }

  // Samples of another version may be shorter or longer: missing fields are 0 (unknown), further ones are ignored.
  bool take_samples(const char*& at, size_t& left) {
    const size_t each = head_.sample_bytes == 0 ? size_t{MLRUN_PYTHON_SAMPLE_SHORT} : head_.sample_bytes;
    if (each < MLRUN_PYTHON_SAMPLE_SHORT || head_.samples > left / each) return false;
    samples.resize(head_.samples);
    for (mlrun_python_sample& sample : samples) {
      sample = {};
      std::memcpy(&sample, at, std::min(each, sizeof sample));
      at += each;
    }
    left -= head_.samples * each;
    return true;
  }

  mlrun_frame_python head_{};
  std::string_view bytes_;
  bool is_sound_ = false;
};

// Adds Python stacks to the stack table of the trace; equal stacks are stored once.
class Interner {
 public:
  explicit Interner(model::StackTable& table) : table_(table) {}

  // Id of a stack; 0: it is beyond the limits or malformed.
  int32_t stack(const Payload& payload, uint32_t number) {
    if (number >= payload.stacks.size()) return 0;
    const mlrun_python_stack& stack = payload.stacks[number];
    const bool fits = stack.first <= payload.steps.size() && stack.frames <= payload.steps.size() - stack.first &&
                      stack.frames > 0 && stack.frames <= UINT8_MAX;
    if (!fits) return 0;
    std::vector<int32_t> ids;
    for (uint32_t i = 0; i < stack.frames; ++i) ids.push_back(frame(payload, payload.steps[stack.first + i]));
    if (std::find(ids.begin(), ids.end(), 0) != ids.end()) return 0;
    const uint8_t end = stack.cut != 0 ? kEndDepth : kEndRoot;
    const auto known = stacks_.find({ids, end});
    if (known != stacks_.end()) return known->second;
    if (table_.stacks.size() >= decode::kStacksMax || table_.frame_ids.size() >= decode::kFramesMax) return 0;
    table_.stacks.push_back({static_cast<uint32_t>(table_.frame_ids.size()), static_cast<uint8_t>(ids.size()), end});
    table_.frame_ids.insert(table_.frame_ids.end(), ids.begin(), ids.end());
    const auto id = static_cast<int32_t>(table_.stacks.size());
    stacks_.emplace(std::pair(std::move(ids), end), id);
    return id;
  }

 private:
  // Id of a stack frame; 0: it is beyond the limits or malformed. The bytes of names are limited too: many frames may refer
  // to one long text, and each stores a copy.
  int32_t frame(const Payload& payload, uint32_t number) {
    if (number >= payload.frames.size()) return 0;
    const mlrun_python_frame& frame = payload.frames[number];
    const std::string_view function = payload.text(frame.function), file = payload.text(frame.file);
    if (function.size() > decode::kPythonNameMax || file.size() > decode::kPythonNameMax) return 0;
    std::tuple key(util::escaped_utf8(file), util::escaped_utf8(function), std::max(0, frame.line));
    if (const auto known = frames_.find(key); known != frames_.end()) return known->second;
    model::FrameRow row;
    std::tie(row.source, row.function, row.line) = key;
    row.state = model::FrameState::kPython;
    const size_t bytes = 2 * (row.source.size() + row.function.size());  // in the key and in the row
    if (table_.frames.size() >= decode::kStacksMax || bytes > decode::kPythonNameBytesMax - name_bytes_) return 0;
    name_bytes_ += bytes;
    table_.frames.push_back(std::move(row));
    return frames_[std::move(key)] = static_cast<int32_t>(table_.frames.size());
  }

  model::StackTable& table_;
  std::map<std::tuple<std::string, std::string, int32_t>, int32_t> frames_;
  std::map<std::pair<std::vector<int32_t>, uint8_t>, int32_t> stacks_;
  size_t name_bytes_ = 0;
};

// Finds the process and thread of a sample, which has the process number of the channels and the process's own tid.
class Owners {
 public:
  Owners(const SpoolIndex& index, const model::TraceInfo& info) : finder_(info) {
    for (const Channel& channel : index.channels().all()) {
      if (!channel.described) continue;
      const mlrun_frame_channel& about = channel.about;
      Process& process = processes_[about.process];
      process.pid = about.host_pid != 0 ? about.host_pid : about.pid;
      if (about.host_tid != 0) process.threads[about.tid] = about.host_tid;
    }
  }

  [[nodiscard]] model::Origin find(const mlrun_python_sample& sample) const {
    const int64_t ts_ns = TraceClock::from_monotonic(sample.first_ns);
    const auto process = processes_.find(sample.process);
    if (process == processes_.end()) return {};
    const auto thread = process->second.threads.find(sample.tid);
    const uint32_t tid = thread == process->second.threads.end() ? sample.tid : thread->second;
    return finder_.find(ts_ns, process->second.pid, tid);
  }

 private:
  struct Process {
    uint32_t pid = 0;
    std::unordered_map<uint32_t, uint32_t> threads;  // tid in the process's own namespace -> tid in mlrun's
  };
  ThreadFinder finder_;
  std::unordered_map<uint32_t, Process> processes_;
};

struct PythonRow {
  mlrun_python_sample sample{};
  model::Origin who;
  int32_t stack_id = 0;
  std::string line;
  std::string loops;
  char state = 0;  // 0: unknown
};

struct PythonColumns {
  static constexpr const char* kTable = "python_stack";
  static void visit(auto& visitor, const PythonRow& row) {
    const mlrun_python_sample& sample = row.sample;
    visitor("ts", TraceClock::from_monotonic(sample.first_ns), kDelta);
    visitor("dur", TraceClock::from_monotonic(sample.last_ns - std::min(sample.first_ns, sample.last_ns)));
    visitor.optional("proc_id", row.who.proc_id, 0);
    visitor.optional("thread_id", row.who.thread_id, 0);
    visitor.optional("pid", row.who.pid, 0);
    visitor.optional("tid", row.who.tid, 0);
    visitor("samples", static_cast<int32_t>(std::min<uint32_t>(sample.samples, INT32_MAX)));
    visitor.optional("running", std::clamp(sample.running, -1, 1), -1);
    visitor.optional("state", std::string_view(&row.state, row.state == 0 ? 0 : 1));
    visitor.optional("period_ns", TraceClock::from_monotonic(sample.period_ns), 0);
    visitor.optional("stack_id", row.stack_id, 0);
    visitor.optional("python_line", row.line);
    visitor.optional("loops", row.loops);
  }
};

using PythonTable = tables::RowTable<PythonColumns, PythonRow>;

class PythonReader {
 public:
  PythonReader(const SpoolIndex& index, model::TraceInfo& info, summary::PythonMeter& meter, idle::PythonLines& lines)
      : index_(index), info_(info), meter_(meter), lines_(lines), owners_(index, info), stacks_(info.stacks) {}

  Result<PythonTotals> write(const std::string& folder) {
    if (auto opened = table_.open_in(folder); !opened) return tl::make_unexpected(opened.error());
    for (const uint64_t offset : index_.python_frames()) {
      const Status read = visit_frame(index_, offset, [&](const SpoolFrame& frame) { return add(frame); });
      if (!read) return tl::make_unexpected(read.error());
    }
    if (auto closed = table_.close(); !closed) return tl::make_unexpected(closed.error());
    return totals_;
  }

 private:
  Status add(const SpoolFrame& frame) {
    const Payload payload(frame);
    if (!payload.is_sound()) {
      totals_.damaged_rows += std::max(1u, payload.rows());
      return {};
    }
    for (const mlrun_python_sample& sample : payload.samples) {
      add(payload, sample);
      if (Status ended = table_.end_full_group(); !ended) return ended;
    }
    return {};
  }

  void add(const Payload& payload, const mlrun_python_sample& sample) {
    const model::Origin who = owners_.find(sample);
    const int32_t stack_id = stacks_.stack(payload, sample.stack);
    const int32_t frame_id = stack_id == 0 ? 0 : info_.stacks.frames_of(stack_id).front();
    if (stack_id == 0) ++totals_.left_out;
    const bool is_letter = sample.state > ' ' && sample.state < 0x7f;
    const std::string_view loops = sample.loops == 0 ? std::string_view() : payload.text(sample.loops - 1);
    table_.add({sample, who, stack_id, frame_id == 0 ? "" : model::python_line(info_.stacks.frame(frame_id)),
                util::escaped_utf8(loops.substr(0, decode::kPythonNameMax)),
                is_letter ? static_cast<char>(sample.state) : '\0'});
    ++totals_.rows;
    if (frame_id == 0) return;
    meter_.add({who.proc_id, who.thread_id, summary::own_frame(info_.stacks, stack_id), sample.samples,
                TraceClock::from_monotonic(sample.period_ns), sample.running});
    const int64_t first_ns = TraceClock::from_monotonic(sample.first_ns);
    const int64_t last_ns = TraceClock::from_monotonic(sample.last_ns);
    const int64_t apart_ns = sample.samples > 1 ? (last_ns - first_ns) / (int64_t{sample.samples} - 1) : 0;
    lines_.add(who.thread_id, {first_ns, last_ns, stack_id, frame_id, apart_ns});
  }

  const SpoolIndex& index_;
  model::TraceInfo& info_;
  summary::PythonMeter& meter_;
  idle::PythonLines& lines_;
  Owners owners_;
  Interner stacks_;
  PythonTable table_;
  PythonTotals totals_;
};

}  // namespace

Result<PythonTotals> write_python_stacks(const SpoolIndex& index, model::TraceInfo& info,
                                         const std::string& tables_folder, summary::PythonMeter& meter,
                                         idle::PythonLines& lines) {
  auto totals = PythonReader(index, info, meter, lines).write(tables_folder);
  lines.sort();
  return totals;
}

Status visit_python_table(const tables::TableVisit& visit) { return tables::visit_empty<PythonTable>(visit); }

std::vector<model::CoverageRow> python_coverage(const model::Run& session, const SpoolIndex& index) {
  std::vector<model::CoverageRow> rows;
  const auto add = [&](int32_t proc_id, std::string detail) {
    rows.push_back({.proc_id = proc_id, .subject = "Python stacks", .detail = std::move(detail)});
  };
  const model::PythonSampler& sampler = session.python_stacks;
  if (!sampler.is_reported) {
    if (session.asked_for("python_stacks"))
      add(0, "mlrun died before it reported how many rounds were incomplete, and which processes have no stacks");
    return rows;
  }
  if (!sampler.problem.empty()) add(0, sampler.problem);
  std::unordered_map<uint32_t, int32_t> proc_ids;
  for (const Channel& channel : index.channels().all()) proc_ids[channel.about.process] = channel.origin.proc_id;
  for (const auto& problem : sampler.problems) {
    for (const int64_t process : problem.processes) {
      const auto known = proc_ids.find(static_cast<uint32_t>(process));
      add(known == proc_ids.end() ? 0 : known->second, problem.text);
    }
  }
  if (sampler.rounds_left_out > 0 && sampler.by_name) {
    add(0, fmt::format("{} of {} rounds were without some of the threads: with all threads they would have taken more "
                       "than 2 % of a "
                       "processor",
                       sampler.rounds_left_out, sampler.rounds));
  }
  return rows;
}

}  // namespace mlrun::trace
