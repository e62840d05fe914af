// SPDX-License-Identifier: Apache-2.0
#include "runner/report/streams.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runner/report/run_json_values.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

bool has(const json* list, std::string_view name) {
  return list && list->is_array() && std::find(list->begin(), list->end(), name) != list->end();
}

bool is_zero(const json& run, const char* pointer) {
  const json* found = find(run, pointer);
  return found && found->is_number() && *found == 0;
}

struct Kind {
  const char* name;
  const char* text;
  const char* option;
  const char* signal;  // name of its signal in the kernel side's report; null: none
};

constexpr std::array<Kind, 20> kKinds = {{
    {"files", "files", "", nullptr},
    {"allocs", "allocations", "", nullptr},
    {"marks", "marks", "", nullptr},
    {"gpu", "GPU work", "--cupti", nullptr},
    {"gpu_samples", "GPU samples", "--sample", nullptr},
    {"thread_samples", "thread samples", "--sample", nullptr},
    {"machine_samples", "machine samples", "--sample", nullptr},
    {"cpu_samples", "samples of processors", "--sample=cpu", nullptr},
    {"disk_samples", "samples of disks", "--sample=disk", nullptr},
    {"net_samples", "samples of network interfaces", "--sample=net", nullptr},
    {"memory_samples", "samples of memory", "--sample=memory", nullptr},
    {"process_samples", "samples of processes", "--sample=process", nullptr},
    {"python_stacks", "Python stacks", "--python-stacks", nullptr},
    {"block", "block I/O", "--kprobes", "block I/O"},
    {"wait", "waits of the kernel", "--kprobes", "waits"},
    {"vfs", "file operations of the kernel", "--kprobes", "file operations"},
    {"syscalls", "system calls", "--kprobes=syscalls", "system calls"},
    {"cuda", "GPU memory of what runs already", "--kprobes=cuda", nullptr},
    {"cufile", "cuFile", "--kprobes=cufile", nullptr},
    {"torch", "PyTorch's GPU memory", "--kprobes=torch", nullptr},
}};

bool is_of_kernel(const Kind& kind) { return std::string_view(kind.option).starts_with("--kprobes"); }

// Why a stream of the kernel side was not recorded. nullopt: it was.
std::optional<std::string> kernel_problem(const json& run, const Kind& kind) {
  const std::string state = text(run, "/kernel_side/state");
  if (state.empty() || state == "refused") return text(run, "/kernel_side/reason");
  const json* signals = find(run, "/kernel_side/signals");
  if (!kind.signal || !signals || !signals->is_array()) return std::nullopt;
  for (const json& signal : *signals) {
    if (!signal.is_object() || signal.value("signal", json()) != kind.signal) continue;
    const auto way = signal.find("way");
    if (way == signal.end() || !way->is_string() || way->get_ref<const std::string&>().empty())
      return "see KERNEL SIDE";
  }
  return std::nullopt;
}

// Why there are no samples of the counters of a stream. nullopt: there are some.
std::optional<std::string> missing_counters(const json& run, std::string_view name) {
  const json* absent = find(run, "/machine_sampler/absent");
  const std::string word(name.substr(0, name.find('_')));
  return has(absent, word) ? std::optional("the kernel has no counters of " + word) : std::nullopt;
}

std::optional<std::string> problem(const json& run, const Kind& kind) {
  const std::string_view name = kind.name;
  if (is_of_kernel(kind)) return kernel_problem(run, kind);
  if (name == "gpu_samples") {
    const std::string why = text(run, "/gpu_sampler/problem");
    return why.empty() ? std::nullopt : std::optional(why);
  }
  if (name == "thread_samples" || name == "machine_samples") {
    const std::string why = text(run, "/sampler/problem");
    return why.empty() ? std::nullopt : std::optional(why);
  }
  if (std::string_view(kind.option).starts_with("--sample=")) {
    const std::string why = text(run, "/machine_sampler/problem");
    return why.empty() ? missing_counters(run, name) : std::optional(why);
  }
  if (name == "python_stacks") {
    const std::string why = text(run, "/python_stacks/problem");
    return why.empty() ? std::nullopt : std::optional(why);
  }
  if (name == "gpu") {
    return is_zero(run, "/collector/gpu_processes") ? std::optional<std::string>("no process started CUDA")
                                                    : std::nullopt;
  }
  return is_zero(run, "/collector/channels") ? std::optional<std::string>("no process loaded the library")
                                             : std::nullopt;
}

}  // namespace

std::vector<Stream> streams(const json& run) {
  std::vector<Stream> all;
  const json* wanted = find(run, "/options/streams");
  if (!wanted || !wanted->is_array()) return all;
  const json* asked = find(run, "/options/asked_streams");
  for (const Kind& kind : kKinds) {
    Stream& stream = all.emplace_back(Stream{kind.name, kind.text, kind.option, StreamState::kOff, false, {}});
    if (!has(wanted, kind.name)) continue;
    stream.asked = has(asked, kind.name);
    const auto why = problem(run, kind);
    stream.state = why ? StreamState::kNotAvailable : StreamState::kOn;
    stream.reason = why.value_or("");
  }
  return all;
}

}  // namespace mlrun::summary
