// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/pprof.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <map>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "runner/exchange/call_classes.h"
#include "runner/exchange/each_row.h"
#include "runner/exchange/ordered_rows.h"
#include "runner/exchange/stacks.h"

namespace mlrun::exchange {

namespace {

// Indexes of a sample's values, and of their types in kSampleTypes.
enum PprofValue : size_t {
  kSamples,
  kSampledTime,
  kRunningTime,
  kCalls,
  kCallTime,
  kCallBytes,
  kAllocs,
  kAllocBytes,
  kGpuAllocs,
  kGpuBytes,
  kProfiled,
  kProfiledPeriods,
  kPprofValues
};

struct SampleType {
  const char* type;
  const char* unit;
};
constexpr std::array<SampleType, kPprofValues> kSampleTypes = {{
    {"python_samples", "count"},
    {"python_time", "nanoseconds"},
    {"python_running_time", "nanoseconds"},
    {"calls", "count"},
    {"call_time", "nanoseconds"},
    {"call_bytes", "bytes"},
    {"allocations", "count"},
    {"allocated", "bytes"},
    {"gpu_allocations", "count"},
    {"gpu_allocated", "bytes"},
    {"samples", "count"},  // of another profiler, imported
    {"periods", "count"},
}};

using Sums = std::array<int64_t, kPprofValues>;

// Numbers of fields in profile.proto.
enum Field : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kTime = 9,
  kDuration = 10,
  kComment = 13,
  kDefaultType = 14
};

class PprofExport {
 public:
  PprofExport(Export& job, gzFile file) : job_(job), file_(file) {
    text("");  // the format requires that text 0 is empty
  }

  Status run() {
    auto stacks = Stacks::load(job_);
    if (!stacks) return tl::make_unexpected(stacks.error());
    stacks_ = std::make_unique<Stacks>(*std::move(stacks));
    if (auto summed = sum_tables(); !summed) return summed;
    const auto read = each_row(job_, "process", {"proc_id", "pid", "role"}, [&](const Row& row) {
      processes_[row.number(0)] = {row.number(1), text(row.text(2))};
    });
    if (!read) return tl::make_unexpected(read.error());
    write_all();
    const auto frames = rows_in(job_, "frame");
    if (!frames) return tl::make_unexpected(frames.error());
    const auto used = int64_t(locations_.size());
    job_.account().wrote("frame", used, used);
    job_.account().left_out("frame", "frames of stacks without a sample", *frames - used);
    return leave_out_others(job_, {"call", "alloc", "python_stack", "gpu_memory", "stack_sample", "frame"},
                            "a profile has only stacks and their sums");
  }

 private:
  // Adds each row of a table with a stack to the sums of the stack.
  template <typename Add>
  Status sum_table(const char* table, std::vector<std::string> columns, Add add) {
    auto rows = OrderedRows::open(job_, table, std::move(columns));
    if (!rows) return tl::make_unexpected(rows.error());
    int64_t written = 0, without = 0;
    for (;;) {
      const auto more = rows->next();
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) break;
      if (rows->is_null(0) || stacks_->frames_of(rows->number(0)).empty()) {
        ++without;
        continue;
      }
      add(*rows, sums_[{rows->number(0), rows->number(1)}]);
      ++written;
    }
    job_.account().wrote(table, written, written);
    job_.account().left_out(table, "no stack (--stacks and --python-stacks record them)", without);
    job_.account().left_out(table, kNotWanted, rows->unwanted());
    return {};
  }

  Status sum_tables() {
    auto summed = sum_table("python_stack", {"stack_id", "proc_id", "samples", "period_ns", "running"},
                            [](const OrderedRows& row, Sums& sums) {
                              sums[kSamples] += row.number(2);
                              sums[kSampledTime] += row.number(3);
                              if (row.number(4) == 1) sums[kRunningTime] += row.number(3);
                            });
    if (!summed) return summed;
    summed = sum_table("call", {"stack_id", "proc_id", "func", "ret"}, [](const OrderedRows& row, Sums& sums) {
      ++sums[kCalls];
      sums[kCallTime] += row.end() - row.ts();
      const mlrun_call_class* of_call = class_of_name(row.text(2));
      const bool moves = of_call != nullptr && (*of_call == MLRUN_CLASS_READ || *of_call == MLRUN_CLASS_WRITE ||
                                                *of_call == MLRUN_CLASS_COPY);
      if (moves && row.number(3) > 0) sums[kCallBytes] += row.number(3);
    });
    if (!summed) return summed;
    summed = sum_table("alloc", {"stack_id", "proc_id", "size", "weight"}, [](const OrderedRows& row, Sums& sums) {
      const double weight = row.is_null(3) ? 1 : row.values(3).real(row.row());
      sums[kAllocs] += std::llround(weight);
      sums[kAllocBytes] += std::llround(weight * double(row.number(2)));
    });
    if (!summed) return summed;
    summed = sum_table("gpu_memory", {"stack_id", "proc_id", "bytes"}, [](const OrderedRows& row, Sums& sums) {
      ++sums[kGpuAllocs];
      sums[kGpuBytes] += row.number(2);
    });
    if (!summed) return summed;
    return sum_table("stack_sample", {"stack_id", "proc_id", "period"}, [](const OrderedRows& row, Sums& sums) {
      ++sums[kProfiled];
      sums[kProfiledPeriods] += std::max<int64_t>(row.number(2), 0);
    });
  }

  int64_t text(std::string_view value) {
    const auto [known, is_new] = texts_.try_emplace(std::string(value), int64_t(texts_.size()));
    if (is_new) texts_in_order_.push_back(&known->first);
    return known->second;
  }

  // Writes one field of the profile.
  template <typename Fill>
  void message(Field field, Fill fill) {
    std::string body, whole;
    protozero::pbf_writer inner(body);
    fill(inner);
    protozero::pbf_writer(whole).add_message(field, body);
    put(whole);
  }
  void put(const std::string& bytes) {
    if (gzwrite(file_, bytes.data(), unsigned(bytes.size())) != int(bytes.size())) failed_ = true;
  }

  void write_all() {
    for (const SampleType& type : kSampleTypes) {
      message(kSampleType, [&](protozero::pbf_writer& to) {
        to.add_int64(1, text(type.type));
        to.add_int64(2, text(type.unit));
      });
    }
    for (const auto& [key, sums] : sums_) write_sample(key.first, key.second, sums);
    for (const int32_t frame : locations_) write_location(frame);
    for (const auto& mapping : mappings_) {
      message(kMapping, [&](protozero::pbf_writer& to) {
        to.add_uint64(1, mapping.second);
        to.add_int64(5, mapping.first);
        to.add_bool(7, true);  // has functions, file names and lines: pprof need not look for the binary
        to.add_bool(8, true);
        to.add_bool(9, true);
      });
    }
    for (const auto& function : functions_) {
      message(kFunction, [&](protozero::pbf_writer& to) {
        to.add_uint64(1, function.second);
        to.add_int64(2, function.first.first);
        to.add_int64(3, function.first.first);
        to.add_int64(4, function.first.second);
      });
    }
    std::string rest;
    protozero::pbf_writer to(rest);
    to.add_int64(kTime, job_.start_ns() + job_.realtime_offset_ns());
    to.add_int64(kDuration, job_.run().wall_ns.value_or(0));
    to.add_int64(kDefaultType, text(kSampleTypes[sampled_ ? kSampledTime : profiled_ ? kProfiled : kAllocBytes].type));
    to.add_int64(kComment, text("mlrun " MLRUN_VERSION));
    for (const std::string* value : texts_in_order_) to.add_string(kString, *value);
    put(rest);
  }

  void write_sample(int64_t stack_id, int64_t proc_id, const Sums& sums) {
    std::vector<uint64_t> places;
    for (const int32_t frame : stacks_->frames_of(stack_id)) {
      locations_.insert(frame);
      places.push_back(uint64_t(frame));
    }
    sampled_ = sampled_ || sums[kSamples] != 0;
    profiled_ = profiled_ || sums[kProfiled] != 0;
    message(kSample, [&](protozero::pbf_writer& to) {
      to.add_packed_uint64(1, places.begin(), places.end());
      to.add_packed_int64(2, sums.begin(), sums.end());
      const auto process = processes_.find(proc_id);
      if (process == processes_.end()) return;
      add_label(to, "pid", process->second.first, false);
      add_label(to, "role", process->second.second, true);
    });
  }
  void add_label(protozero::pbf_writer& to, const char* key, int64_t value, bool is_text) {
    std::string label;
    protozero::pbf_writer inner(label);
    inner.add_int64(1, text(key));
    inner.add_int64(is_text ? 2 : 3, value);
    to.add_message(3, label);
  }

  // A location is a frame; it has the number of the frame.
  void write_location(int32_t frame_id) {
    const StackFrame& frame = stacks_->frame(frame_id);
    const int64_t name = text(frame.function.empty() ? frame.label : frame.function);
    const uint64_t function = functions_.try_emplace({name, text(frame.source)}, functions_.size() + 1).first->second;
    const bool is_in_library = !frame.library.empty();
    const uint64_t mapping =
        is_in_library ? mappings_.try_emplace(text(frame.library), mappings_.size() + 1).first->second : 0;
    message(kLocation, [&](protozero::pbf_writer& to) {
      to.add_uint64(1, uint64_t(frame_id));
      if (is_in_library) to.add_uint64(2, mapping);
      to.add_uint64(3, uint64_t(frame.offset));
      std::string line;
      protozero::pbf_writer inner(line);
      inner.add_uint64(1, function);
      inner.add_int64(2, frame.line);
      to.add_message(4, line);
    });
  }

 public:
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  Export& job_;
  gzFile file_;
  std::unique_ptr<Stacks> stacks_;
  std::map<std::pair<int64_t, int64_t>, Sums> sums_;                    // by stack and process
  std::unordered_map<int64_t, std::pair<int64_t, int64_t>> processes_;  // pid, role
  std::unordered_map<std::string, int64_t> texts_;
  std::vector<const std::string*> texts_in_order_;
  std::unordered_set<int32_t> locations_;
  std::map<std::pair<int64_t, int64_t>, uint64_t> functions_;  // by name and source
  std::map<int64_t, uint64_t> mappings_;                       // by name
  bool sampled_ = false, profiled_ = false, failed_ = false;
};

}  // namespace

Status write_pprof(Export& job) {
  const gzFile file = gzopen(job.output().c_str(), "wb6");
  if (file == nullptr) return fail_errno("make " + job.output(), errno);
  PprofExport profile(job, file);
  Status written = profile.run();
  const bool closed = gzclose(file) == Z_OK;
  if (!written) return written;
  if (!closed || profile.failed())
    return fail(fmt::format("cannot write {}: the disk is full or has an error", job.output()));
  return {};
}

}  // namespace mlrun::exchange
