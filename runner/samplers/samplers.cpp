// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/samplers.h"

#include <algorithm>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/collect/sample_frames.h"
#include "runner/collect/shared_word.h"
#include "runner/model/run_keys.h"
#include "runner/samplers/gpu/gpu_frames.h"
#include "runner/samplers/gpu/gpu_sampler.h"
#include "runner/samplers/machine/machine_sampler.h"
#include "runner/samplers/rounds/round_frames.h"
#include "runner/samplers/rounds/sampler.h"
#include "runner/util/clock.h"
#include "runner/util/log.h"
#include "runner/util/text.h"

namespace mlrun::samplers {

namespace {

using nlohmann::json;

class GpuPart : public SamplerPart {
 public:
  GpuPart(const RunOptions& options, collect::Recording& recording)
      : recording_(recording),
        said_to_sample_(options.sample == Wish::kOn),
        asks_which_gpus_(!options.samples_gpus() && options.cupti != Wish::kOff) {
    if (options.samples_gpus()) start(options.sample_hz);
  }

  void collect() override {
    ask_which_gpus();
    if (frames_) frames_->write(false);
  }

  void finish(json& session) override {
    ask_which_gpus();
    if (!gpus_) return;
    gpus_->stop();
    frames_->write(true);
    model::GpuSampler state = gpus_->state();
    if (!asks_which_gpus_ && !state.problem.empty() && said_to_sample_)
      util::say("no GPU was sampled: " + state.problem);
    state.problem = util::escaped_utf8(state.problem);
    if (asks_which_gpus_)
      session["gpu_list"] = {{"gpus", state.gpus}, {"problem", state.problem}};
    else
      session["gpu_sampler"] = model::json_of(state);
  }

 private:
  void start(double samples_per_second) {
    gpus_ = std::make_unique<gpu::GpuSampler>(samples_per_second, samples_per_second > 0);
    frames_ = std::make_unique<gpu::GpuFrames>(*gpus_, recording_.spool(), recording_.arena().clock_kind());
  }

  // CUPTI does not report PCI address, index or parent of a GPU, so NVML is queried. This is done while a traced program has
  // the driver loaded, since the query is fast then.
  void ask_which_gpus() {
    if (!asks_which_gpus_ || gpus_ || collect::load(recording_.arena().control().gpu_processes) == 0) return;
    start(0);
  }

  collect::Recording& recording_;
  bool said_to_sample_, asks_which_gpus_;
  std::unique_ptr<gpu::GpuSampler> gpus_;
  std::unique_ptr<gpu::GpuFrames> frames_;
};

rounds::SamplerOptions rounds_options(const RunOptions& options, size_t command_cpus) {
  rounds::SamplerOptions sampler;
  sampler.python_hz = options.python_stacks == Wish::kOff ? 0 : options.python_stacks_hz;
  sampler.python_by_name = options.python_stacks == Wish::kOn;
  sampler.threads = options.sample != Wish::kOff && options.sample_threads;
  sampler.machine = options.sample != Wish::kOff && options.sample_machine;
  sampler.command_cpus = command_cpus;
  return sampler;
}

// Python stacks, threads and the machine once a second.
class RoundsPart : public SamplerPart {
 public:
  RoundsPart(const rounds::SamplerOptions& options, collect::Recording& recording)
      : options_(options),
        sampler_(options),
        frames_(sampler_, recording.collector(), recording.spool(), recording.arena().clock_kind()) {}

  void collect() override {
    frames_.watch();
    frames_.write(false);
  }

  void finish(json& session) override {
    sampler_.stop();
    frames_.write(true);
    rounds::SamplerState state = sampler_.state();
    state.problem = state.python.problem = util::escaped_utf8(state.problem);
    state.share_max = options_.python_by_name ? rounds::kShareByName : rounds::kShareByDefault;
    session["sampler"] = model::json_of<model::RoundsSampler>(state);
    if (options_.python_hz <= 0) return;
    state.python.by_name = options_.python_by_name;
    for (auto& problem : state.python.problems) problem.text = util::escaped_utf8(problem.text);
    session["python_stacks"] = model::json_of(state.python);
  }

 private:
  rounds::SamplerOptions options_;
  rounds::Sampler sampler_;
  rounds::RoundFrames frames_;
};

// Counters of the machine and of the command's processes, as --sample names them.
class MachinePart : public SamplerPart {
 public:
  MachinePart(const RunOptions& options, collect::Recording& recording, const collect::DescendantWatch& watch)
      : collector_(recording.collector()),
        watch_(watch),
        wants_processes_(std::find(options.sample_counters.begin(), options.sample_counters.end(), "process") !=
                         options.sample_counters.end()),
        sampler_({options.sample_hz, options.sample_counters}, {}),
        frames_(recording.spool(), recording.arena().clock_kind()) {}

  void collect() override {
    constexpr uint64_t kWatchNs = 50'000'000, kWriteNs = 1'000'000'000;
    const uint64_t now_ns = util::monotonic_ns();
    if (wants_processes_ && now_ns >= next_watch_ns_) {
      next_watch_ns_ = now_ns + kWatchNs;
      watch();
    }
    if (now_ns < next_write_ns_) return;
    next_write_ns_ = now_ns + kWriteNs;
    write();
  }

  bool command_ends(uint32_t host_pid) override {
    constexpr uint64_t kPatienceNs = 200'000'000;  // the sampler may be in a sample of thousands of threads
    if (!wants_processes_) return true;
    if (end_due_ns_ == 0) {
      end_due_ns_ = util::monotonic_ns() + kPatienceNs;
      sampler_.ask_for_end(host_pid);
    }
    return sampler_.has_answered() || util::monotonic_ns() >= end_due_ns_;
  }

  void finish(json& session) override {
    sampler_.stop();
    write();
    machine::MachineState state = sampler_.state();
    if (end_due_ns_ != 0 && state.problem.empty() && !state.has_end)
      state.not_sampled.push_back(
          {"process",
           "the end of the command was not sampled in time: its rows lack what it used since its last sample"});
    for (auto* list : {&state.not_sampled, &state.remarks})
      for (auto& line : *list) line.text = util::escaped_utf8(line.text);
    state.problem = util::escaped_utf8(state.problem);
    state.share_max = machine::kMachineShare;
    session["machine_sampler"] = model::json_of<model::MachineSampler>(state);
  }

 private:
  // Passes on the recording processes and the command's descendants in /proc.
  void watch() {
    std::vector<uint32_t> pids = watch_.alive();
    for (const collect::WatchedProcess& process : collector_.processes()) pids.push_back(process.host_pid);
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    sampler_.watch(std::move(pids));
  }

  void write() {
    const machine::Batch batch = sampler_.fetch();
    for (const machine::Batch::Table& table : batch.tables())
      frames_.put_rows(table.table, table.row_bytes, table.rows.data(), table.rows.size());
  }

  const collect::Collector& collector_;
  const collect::DescendantWatch& watch_;
  bool wants_processes_;
  machine::MachineSampler sampler_;
  collect::SampleFrames frames_;
  uint64_t next_watch_ns_ = 0, next_write_ns_ = 0;
  uint64_t end_due_ns_ = 0;  // when the command is reaped at the latest; 0: it has not ended
};

}  // namespace

Samplers::Samplers(const RunOptions& options, size_t command_cpus, collect::Recording& recording,
                   const collect::DescendantWatch& watch, std::unique_ptr<AccessStart> access) {
  if (access) parts_.push_back(std::make_unique<AccessPart>(std::move(*access), recording, watch));
  if (const rounds::SamplerOptions rounds = rounds_options(options, command_cpus); rounds.any())
    parts_.push_back(std::make_unique<RoundsPart>(rounds, recording));
  if (options.sample != Wish::kOff && !options.sample_counters.empty())
    parts_.push_back(std::make_unique<MachinePart>(options, recording, watch));
  parts_.push_back(std::make_unique<GpuPart>(options, recording));
}

}  // namespace mlrun::samplers
