// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/chrome_gpu.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "runner/exchange/import/decimal_time.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr int64_t kLatestNs = INT64_MAX / 4;

uint64_t number_of(std::string_view text) {
  uint64_t number = 0;
  if (text.starts_with("0x")) {
    std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
    return number;
  }
  return static_cast<uint64_t>(json_integer(text));
}

// Parts of "[x, y, z]".
std::array<uint32_t, 3> dimensions(std::string_view text) {
  std::array<uint32_t, 3> sizes{};
  size_t at = 0;
  for (uint32_t& size : sizes) {
    at = text.find_first_of("0123456789", at);
    if (at == std::string_view::npos) break;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
    at = static_cast<size_t>(end - text.data());
  }
  return sizes;
}

uint32_t memory_kind(std::string_view text) {
  for (size_t i = 1; i < model::kGpuMemories.size(); ++i) {
    const std::string_view name = model::kGpuMemories[i];
    if (text.size() == name.size() && (text[0] | 0x20) == name[0] && text.substr(1) == name.substr(1))
      return static_cast<uint32_t>(i);
  }
  return 0;
}

// True: the event may be GPU work of Kineto or rocprofiler. Most events are neither, and their arguments need not be read.
bool may_be_of_gpu(const ChromeEvent& event) {
  if (event.category.empty()) return event.args.find("\"BeginNs\"") != std::string_view::npos;
  const std::string_view category = event.category;
  switch (category.size()) {
    case 6: return category == "kernel" || category == "Kernel" || category == "Memcpy" || category == "Memset";
    case 7: return category == "Runtime";
    case 10: return category == "gpu_memcpy" || category == "gpu_memset";
    case 11: return category == "cuda_driver";
    case 12: return category == "cuda_runtime";
    default: return false;
  }
}

// The kinds of the copy and of both memories in a name such as "Memcpy HtoD (Pageable -> Device)".
uint32_t copy_detail(std::string_view name) {
  const size_t open = name.find('('), arrow = name.find(" -> ");
  uint32_t source = 0, target = 0;
  if (open != std::string_view::npos && arrow != std::string_view::npos && arrow > open) {
    source = memory_kind(name.substr(open + 1, arrow - open - 1));
    const std::string_view rest = name.substr(arrow + 4);
    target = memory_kind(rest.substr(0, rest.find(')')));
  }
  return copy_kind(name) | source << 8 | target << 16;
}

}  // namespace

uint32_t copy_kind(std::string_view text) {
  constexpr std::array kNames = {"", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
  for (uint32_t i = 1; i < kNames.size(); ++i) {
    if (text.find(kNames[i]) != std::string_view::npos) return i;
  }
  if (text.find("HostToDevice") != std::string_view::npos) return 1;
  if (text.find("DeviceToHost") != std::string_view::npos) return 2;
  if (text.find("DeviceToDevice") != std::string_view::npos) return 8;
  return 0;
}

struct ChromeGpu::Fields {
  std::optional<int64_t> device;
  uint64_t stream = 0, context = 0, correlation = 0;
  std::array<uint32_t, 3> grid{}, block{};
  int64_t bytes = 0, registers = 0, shared = 0, begin_ns = -1, end_ns = -1;
  std::string pid, tid, name;  // of rocprofiler
  bool is_rocprofiler = false, has_bytes = false;
  std::string rest;
};

// False: the arguments are damaged.
bool ChromeGpu::read(const ChromeEvent& event, Fields& fields) {
  const bool is_sound = members_.visit_padded(event.args, [&](const JsonMember& member) {
    const std::string_view key = member.key, text = member.text;
    const auto add_rest = [&] { add_json_member(fields.rest, key, member.raw); };
    // A number that its column cannot hold stays among the other arguments.
    const auto take = [&](uint64_t& place) {
      place = number_of(text);
      if (place > UINT32_MAX) add_rest();
    };
    if (util::is_one_of(key, {"device", "dev-id"})) {
      fields.device = json_integer(text, -1);
    } else if (util::is_one_of(key, {"stream", "stream-id"})) {
      take(fields.stream);
    } else if (key == "context") {
      take(fields.context);
    } else if (key == "correlation") {
      fields.correlation = number_of(text);
    } else if (key == "grid") {
      fields.grid = dimensions(text);
    } else if (key == "block") {
      fields.block = dimensions(text);
    } else if (key == "bytes") {
      fields.bytes = json_integer(text);
      fields.has_bytes = true;
    } else if (key == "registers per thread") {
      fields.registers = json_integer(text);
    } else if (key == "shared memory") {
      fields.shared = json_integer(text);
    } else if (key == "BeginNs") {
      fields.begin_ns = json_integer(text, -1);
    } else if (key == "EndNs") {
      fields.end_ns = json_integer(text, -1);
    } else if (key == "pid") {
      fields.pid = text;
    } else if (key == "tid") {
      fields.tid = text;
    } else if (!util::is_one_of(key, {"DurationNs", "Name"})) {
      add_rest();
    }
  });
  fields.is_rocprofiler =
      fields.begin_ns >= 0 && fields.end_ns >= fields.begin_ns && fields.end_ns < kLatestNs && !fields.pid.empty();
  return is_sound;
}

bool ChromeGpu::find_kind(const ChromeEvent& event, const Fields& fields, model::GpuWorkRow& row) {
  const std::string_view category = event.category;
  if (fields.is_rocprofiler) {
    const bool is_work = fields.device.has_value();
    row.kind = !is_work                     ? model::GpuKind::kApi
               : copy_kind(event.name) != 0 ? model::GpuKind::kMemcpy
                                            : model::GpuKind::kKernel;
    row.runtime = event.name.starts_with("hip") ? 1 : 0;
    return is_work || event.name.starts_with("hip") || event.name.starts_with("hsa");
  }
  if (fields.correlation > UINT32_MAX) return false;
  if (util::is_one_of(category, {"cuda_runtime", "Runtime"})) {
    row.kind = model::GpuKind::kApi;
    row.runtime = 1;
    return true;
  }
  if (category == "cuda_driver") {
    row.kind = model::GpuKind::kApi;
    return true;
  }
  if (!fields.device) return false;
  if (util::is_one_of(category, {"kernel", "Kernel"})) {
    row.kind = model::GpuKind::kKernel;
  } else if (util::is_one_of(category, {"gpu_memcpy", "Memcpy"})) {
    row.kind = model::GpuKind::kMemcpy;
  } else if (util::is_one_of(category, {"gpu_memset", "Memset"})) {
    row.kind = model::GpuKind::kMemset;
  } else {
    return false;
  }
  return true;
}

// Sets the time, process, thread, GPU and stream of a row.
void ChromeGpu::place(const ChromeEvent& event, const Fields& fields, int64_t ts_ns, model::GpuWorkRow& row) {
  const int32_t proc_id = to_.ids().process(fields.is_rocprofiler ? std::string_view(fields.pid) : event.pid);
  const bool is_call = row.kind == model::GpuKind::kApi;
  int32_t thread_id = 0;
  if (is_call || fields.is_rocprofiler)
    thread_id = to_.ids().thread(proc_id, fields.is_rocprofiler ? std::string_view(fields.tid) : event.tid);
  row.origin = to_.ids().origin(fields.is_rocprofiler ? fields.begin_ns : ts_ns, proc_id, thread_id);
  row.correlation = static_cast<uint32_t>(fields.correlation);
  if (is_call) return;
  row.gpu_id = to_.ids().gpu(*fields.device);
  row.context = static_cast<uint32_t>(fields.context);
  row.stream = static_cast<uint32_t>(fields.stream);
}

void ChromeGpu::set_detail(const ChromeEvent& event, const Fields& fields, model::GpuWorkRow& row) {
  row.grid = fields.grid;
  row.block = fields.block;
  row.bytes = fields.bytes;
  switch (row.kind) {
    case model::GpuKind::kKernel:
      row.detail = static_cast<uint32_t>(fields.registers);
      row.static_shared = static_cast<uint32_t>(fields.shared);
      break;
    case model::GpuKind::kMemcpy: row.detail = copy_detail(event.name); break;
    case model::GpuKind::kMemset: row.detail = event.name.find("Device") != std::string_view::npos ? 3 : 0; break;
    case model::GpuKind::kApi:
    case model::GpuKind::kSync:
    case model::GpuKind::kMemory:
    case model::GpuKind::kGraph: break;
  }
}

// Adds the arguments without columns to import_event. `rest`: members of a JSON object.
Status ChromeGpu::add_rest(const ChromeEvent& event, std::string rest, const model::GpuWorkRow& row) {
  if (!event.other.empty()) rest += (rest.empty() ? "" : ",") + event.other;
  if (!event.id.empty()) add_json_member(rest, "id", quoted_json(event.id));
  const bool has_name_column = row.kind == model::GpuKind::kKernel || row.kind == model::GpuKind::kApi;
  if (rest.empty() && (event.name.empty() || has_name_column)) return {};
  const std::string args = "{" + rest + "}", id = std::to_string(row.correlation);
  model::OtherEventRow other;
  other.origin = row.origin;
  other.kind = "gpu";
  other.name = has_name_column ? std::string_view() : event.name;
  other.category = event.category;
  other.id = id;
  other.args = args;
  return to_.add(other, 0);
}

Status ChromeGpu::add(const ChromeEvent& event, int64_t ts_ns, int64_t dur_ns, uint32_t join, bool& taken) {
  taken = false;
  if (!may_be_of_gpu(event)) return {};
  Fields fields;
  if (!event.args.empty() && !read(event, fields)) return {};
  model::GpuWorkRow row;
  if (!find_kind(event, fields, row)) return {};
  taken = true;
  place(event, fields, ts_ns, row);
  row.dur_ns = fields.is_rocprofiler ? fields.end_ns - fields.begin_ns : dur_ns;
  set_detail(event, fields, row);
  if (Status added = to_.add(row, event.name, join); !added) return added;
  return add_rest(event, std::move(fields.rest), row);
}

}  // namespace mlrun::exchange
