// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/gpu_side.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runner/events/session.h"
#include "runner/launch/environment.h"
#include "runner/samplers/gpu/nvml.h"
#include "runner/samplers/machine/machine_sampler.h"
#include "runner/util/log.h"

namespace mlrun::commands {

bool has_gpu_driver() {
  static constexpr std::array<const char*, 3> kPlaces = {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"};
  return std::any_of(kPlaces.begin(), kPlaces.end(), [](const char* place) { return ::access(place, F_OK) == 0; });
}

void settle_gpu_side(RunOptions& options, const session::Installation& installation) {
  options.cupti_was_auto = options.cupti == Wish::kAuto;
  if (!options.cupti_was_auto) return;
  const bool works = has_gpu_driver() && session::check_preload_library(installation.cupti_library) &&
                     launch::other_cuda_injection(environ).empty();
  options.cupti = works ? Wish::kOn : Wish::kOff;
}

Status check_cupti(const RunOptions& options, const session::Installation& installation) {
  if (options.cupti == Wish::kOff) return {};
  if (auto usable = session::check_preload_library(installation.cupti_library); !usable) return usable;
  const std::string other = launch::other_cuda_injection(environ);
  if (other.empty()) return {};
  const std::string problem =
      fmt::format("{} is set to {}, so CUDA loads that library instead of mlrun's: no GPU work is recorded",
                  MLRUN_CUDA_INJECTION, other);
  if (options.cupti == Wish::kRequire) return fail(problem + "; unset it");
  util::say(problem);
  return {};
}

Status check_samples(const RunOptions& options) {
  if (options.sample == Wish::kRequire && !options.sample_counters.empty()) {
    const machine::MachineState state = machine::check_sources(options.sample_counters, {});
    if (!state.absent.empty())
      return fail(fmt::format("--sample={}: {}", state.absent.front(), state.not_sampled.front().text));
  }
  const bool is_only_stream = options.sample == Wish::kAuto && options.preload == Wish::kOff &&
                              options.cupti == Wish::kOff && options.kprobes == Wish::kOff &&
                              options.access.wish == Wish::kOff && !options.places();
  if (!options.sample_gpu || (options.sample != Wish::kRequire && !is_only_stream)) return {};
  const std::string what =
      is_only_stream ? "nothing to record: --preload=off leaves only samples of GPUs, and " : "no GPU can be sampled: ";
  const auto nvml = gpu::Nvml::open();
  if (!nvml) return fail(what + nvml.error().text);
  if ((*nvml)->devices().empty()) return fail(what + "the NVIDIA driver has none");
  return {};
}

bool say_if_no_gpu_work(const RunOptions& options, uint32_t gpu_processes) {
  if (options.cupti == Wish::kOff || options.cupti_was_auto || gpu_processes != 0) return true;
  util::say(
      "--cupti recorded nothing: no process of the command started CUDA, or CUPTI could not be used (the summary "
      "says which)");
  return options.cupti != Wish::kRequire;
}

std::string gpu_library(const RunOptions& options, const session::Installation& installation) {
  return options.cupti == Wish::kOff ? std::string() : installation.cupti_library;
}

}  // namespace mlrun::commands
