// SPDX-License-Identifier: Apache-2.0
#include "runner/report/streams.h"

#include <array>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

bool is_zero(const json& run, const char* where) { return util::json_at(run, where) == 0; }

struct Kind {
  const char* name;
  const char* text;
  const char* option;
  const char* signal;   // name of its signal in the kernel side's report; null: none
  const char* problem;  // where run.json has the problem of its sampler; null: it has none
};

constexpr std::array<Kind, 21> kKinds = {{
    {"files", "files", "", nullptr, nullptr},
    {"allocs", "allocations", "", nullptr, nullptr},
    {"marks", "marks", "", nullptr, nullptr},
    {"gpu", "GPU work", "--cupti", nullptr, nullptr},
    {"gpu_samples", "GPU samples", "--sample", nullptr, "/gpu_sampler/problem"},
    {"thread_samples", "thread samples", "--sample", nullptr, "/sampler/problem"},
    {"machine_samples", "machine samples", "--sample", nullptr, "/sampler/problem"},
    {"cpu_samples", "samples of processors", "--sample=cpu", nullptr, "/machine_sampler/problem"},
    {"disk_samples", "samples of disks", "--sample=disk", nullptr, "/machine_sampler/problem"},
    {"net_samples", "samples of network interfaces", "--sample=net", nullptr, "/machine_sampler/problem"},
    {"memory_samples", "samples of memory", "--sample=memory", nullptr, "/machine_sampler/problem"},
    {"process_samples", "samples of processes", "--sample=process", nullptr, "/machine_sampler/problem"},
    {"python_stacks", "Python stacks", "--python-stacks", nullptr, "/python_stacks/problem"},
    {"access", "accesses to memory", "--access", nullptr, "/access/problem"},
    {"block", "block I/O", "--kprobes", "block I/O", nullptr},
    {"wait", "waits of the kernel", "--kprobes", "waits", nullptr},
    {"vfs", "file operations of the kernel", "--kprobes", "file operations", nullptr},
    {"syscalls", "system calls", "--kprobes=syscalls", "system calls", nullptr},
    {"cuda", "GPU memory of what runs already", "--kprobes=cuda", nullptr, nullptr},
    {"cufile", "cuFile", "--kprobes=cufile", nullptr, nullptr},
    {"torch", "PyTorch's GPU memory", "--kprobes=torch", nullptr, nullptr},
}};

bool is_of_kernel(const Kind& kind) { return std::string_view(kind.option).starts_with("--kprobes"); }

// Why a stream of the kernel side was not recorded. nullopt: it was.
std::optional<std::string> kernel_problem(const json& run, const Kind& kind) {
  const std::string state = util::text_at(run, "/kernel_side/state");
  if (state.empty() || state == "refused") return util::text_at(run, "/kernel_side/reason");
  if (!kind.signal) return std::nullopt;
  for (const json& signal : util::list_at(run, "/kernel_side/signals")) {
    const bool is_it = util::text_at(signal, "/signal") == kind.signal;
    if (is_it && util::text_at(signal, "/way").empty()) return "see KERNEL SIDE";
  }
  return std::nullopt;
}

// Why there are no samples of the counters of a stream. nullopt: there are some.
std::optional<std::string> missing_counters(const json& run, std::string_view name) {
  const std::string word(name.substr(0, name.find('_')));
  return util::has_text_at(run, "/machine_sampler/absent", word)
             ? std::optional("the kernel has no counters of " + word)
             : std::nullopt;
}

std::optional<std::string> problem(const json& run, const Kind& kind) {
  const std::string_view name = kind.name;
  if (is_of_kernel(kind)) return kernel_problem(run, kind);
  if (kind.problem != nullptr) {
    std::string why = util::text_at(run, kind.problem);
    if (!why.empty()) return why;
    return std::string_view(kind.option).starts_with("--sample=") ? missing_counters(run, name) : std::nullopt;
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
  constexpr const char* kWanted = "/options/streams";
  if (!util::json_at(run, kWanted).is_array()) return all;
  for (const Kind& kind : kKinds) {
    Stream& stream = all.emplace_back(Stream{kind.name, kind.text, kind.option, StreamState::kOff, false, {}});
    if (!util::has_text_at(run, kWanted, kind.name)) continue;
    stream.asked = util::has_text_at(run, "/options/asked_streams", kind.name);
    const auto why = problem(run, kind);
    stream.state = why ? StreamState::kNotAvailable : StreamState::kOn;
    stream.reason = why.value_or("");
  }
  return all;
}

}  // namespace mlrun::summary
