// SPDX-License-Identifier: Apache-2.0
#include "runner/report/streams.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "runner/util/kernel_streams.h"

namespace mlrun::report {
namespace {

template <auto kPart>
const std::string& problem_of(const model::Run& run) {
  return (run.*kPart).problem;
}

bool contains(const model::Texts& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

struct Kind {
  const char* name;
  const char* text;
  const char* option;
  const char* signal;  // name of the stream's signal in run.json's kernel_side; null: none
  // Gives the problem of the stream's sampler; null: it has no sampler.
  const std::string& (*problem)(const model::Run&);
};

constexpr std::array<Kind, 21> kKinds = {{
    {"files", "files", "", nullptr, nullptr},
    {"allocs", "allocations", "", nullptr, nullptr},
    {"marks", "marks", "", nullptr, nullptr},
    {"gpu", "GPU work", "--cupti", nullptr, nullptr},
    {"gpu_samples", "GPU samples", "--sample", nullptr, &problem_of<&model::Run::gpu_sampler>},
    {"thread_samples", "thread samples", "--sample", nullptr, &problem_of<&model::Run::sampler>},
    {"machine_samples", "machine samples", "--sample", nullptr, &problem_of<&model::Run::sampler>},
    {"cpu_samples", "samples of processors", "--sample=cpu", nullptr, &problem_of<&model::Run::machine_sampler>},
    {"disk_samples", "samples of disks", "--sample=disk", nullptr, &problem_of<&model::Run::machine_sampler>},
    {"net_samples", "samples of network interfaces", "--sample=net", nullptr,
     &problem_of<&model::Run::machine_sampler>},
    {"memory_samples", "samples of memory", "--sample=memory", nullptr, &problem_of<&model::Run::machine_sampler>},
    {"process_samples", "samples of processes", "--sample=process", nullptr, &problem_of<&model::Run::machine_sampler>},
    {"python_stacks", "Python stacks", "--python-stacks", nullptr, &problem_of<&model::Run::python_stacks>},
    {"access", "accesses to memory", "--access", nullptr, &problem_of<&model::Run::access>},
    {"block", "block I/O", "--kprobes", "block I/O", nullptr},
    {"wait", "waits of the kernel", "--kprobes", "waits", nullptr},
    {"vfs", "file operations of the kernel", "--kprobes", "file operations", nullptr},
    {"syscalls", "system calls", "--kprobes=syscalls", "system calls", nullptr},
    {"cuda", "GPU memory of what runs already", "--kprobes=cuda", nullptr, nullptr},
    {"cufile", "cuFile", "--kprobes=cufile", nullptr, nullptr},
    {"torch", "PyTorch's GPU memory", "--kprobes=torch", nullptr, nullptr},
}};

constexpr bool has_every_kernel_stream() {
  bool has_all = true;
  util::KernelStreams::visit(util::KernelStreams{}, [&](std::string_view name, bool) {
    has_all = has_all && std::ranges::any_of(kKinds, [&](const Kind& kind) { return kind.name == name; });
  });
  return has_all;
}
static_assert(has_every_kernel_stream(), "each stream of KernelStreams has a line in kKinds");

bool is_of_kernel(const Kind& kind) { return std::string_view(kind.option).starts_with("--kprobes"); }

// Why a stream of the kernel was not recorded. std::nullopt: it was recorded.
std::optional<std::string> kernel_problem(const model::KernelSide& side, const Kind& kind) {
  if (side.state.empty() || side.state == "refused") return side.reason;
  if (!kind.signal) return std::nullopt;
  for (const model::KernelSide::Signal& signal : side.signals) {
    if (signal.signal == kind.signal && signal.mechanism.empty()) return "see KERNEL SIDE";
  }
  return std::nullopt;
}

// Why a stream's counters were not sampled. std::nullopt: they were sampled.
std::optional<std::string> missing_counters(const model::Texts& absent, std::string_view name) {
  const std::string word(name.substr(0, name.find('_')));
  return contains(absent, word) ? std::optional("the kernel has no counters of " + word) : std::nullopt;
}

std::optional<std::string> problem(const model::Run& run, const Kind& kind) {
  const std::string_view name = kind.name;
  if (is_of_kernel(kind)) return kernel_problem(run.kernel_side, kind);
  if (kind.problem != nullptr) {
    if (const std::string& why = kind.problem(run); !why.empty()) return why;
    const bool is_of_machine = std::string_view(kind.option).starts_with("--sample=");
    return is_of_machine ? missing_counters(run.machine_sampler.absent, name) : std::nullopt;
  }
  if (name == "gpu") {
    return run.collector.gpu_processes == 0 ? std::optional<std::string>("no process started CUDA") : std::nullopt;
  }
  return run.collector.channels == 0 ? std::optional<std::string>("no process loaded the library") : std::nullopt;
}

}  // namespace

std::vector<Stream> streams(const model::Run& run) {
  std::vector<Stream> all;
  if (!run.options.streams) return all;
  for (const Kind& kind : kKinds) {
    Stream& stream = all.emplace_back(Stream{kind.name, kind.text, kind.option, StreamState::kOff, false, {}});
    if (!run.has_stream(kind.name)) continue;
    stream.asked = contains(run.options.asked_streams, kind.name);
    const auto why = problem(run, kind);
    stream.state = why ? StreamState::kNotAvailable : StreamState::kOn;
    stream.reason = why.value_or("");
  }
  return all;
}

}  // namespace mlrun::report
