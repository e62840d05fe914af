// SPDX-License-Identifier: Apache-2.0
#include "runner/run_texts.h"

#include <fmt/format.h>

namespace mlrun {

namespace {

constexpr const char* kRunFooter =
    "COMMAND and its arguments follow; `--` may stand between. A SIZE takes K, M or G, a TIME us, ms, s, min or h.\n"
    "A GLOB is for names in any folder (*.npy), or with a slash for paths (/data/**/x?.npy, out/); * stops at a\n"
    "slash, ** does not, and a folder stands for all that is in it. --exclude wins.\n"
    "\n"
    "Examples:\n"
    "  mlrun --preload --include /data --exclude '*.json' python train.py\n"
    "  mlrun --preload --fold 10us python train.py\n"
    "  mlrun --preload --stacks=16 --alloc-min 64K python train.py   which functions allocate and read most\n"
    "  mlrun --preload --alloc-sample 512K python train.py\n"
    "  mlrun --preload --python-stacks python train.py   the lines of Python that take the time\n"
    "  mlrun --cupti python train.py   kernels and copies of NVIDIA GPUs as well\n"
    "  mlrun --preload --last 10min --max-spool 8G python train.py\n"
    "  mlrun --preload --summary-only --mllog train.log python train.py   a week in a few megabytes\n"
    "  mlrun --preload --kprobes python train.py   where the time of each call went: device, queue, server, waiting\n"
    "  mlrun --kprobes --pid 4711 --duration 30   the block I/O, waits and file operations of a training that runs\n"
    "  mlrun --kprobes --cgroup system.slice/loader.service\n"
    "  mlrun --kprobes=block --system --duration 1min\n"
    "  mlrun --kprobes=cuda --pid 4711            the GPU memory that it asks for from now on, and does not release";

// An option that may be given again, each time with one text.
CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& texts, const char* does) {
  return app.add_option(name, texts, does)
      ->expected(1)
      ->allow_extra_args(false)  // else the command's words would be taken for more of them
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_recording_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const std::string group =
      "What is recorded (with no stream named: calls and marks, and a look at the GPUs; the others when named)";
  app.add_flag(
         "--preload{all}", texts.preload,
         "calls of the C library and marks; =files (with waits), =allocs, =marks: only those; =auto, =require, =off")
      ->option_text("[=WHAT]")
      ->group(group);
  app.add_flag(
         "--kprobes{all}", texts.kprobes,
         "below the calls, as root: block I/O, waits, file operations of the kernel; =block, =block,wait, ...: "
         "only those; =syscalls: system calls counted (slows all programs of this machine while it lasts, as vfs does "
         "without --preload where the kernel's functions cannot be probed: =block,wait leaves it out); "
         "=cuda: with --pid, --cgroup, --system, GPU memory (each allocation, release and wait takes 2 us more, "
         "on some virtual machines up to 80); =cufile: what GPUDirect Storage moves between files and GPUs; "
         "=torch: GPU memory that PyTorch gives to tensors; =auto, =require")
      ->option_text("[=WHAT]")
      ->group(group);
  app.add_flag("--sample{all}", texts.sample, "look at the GPUs: use, memory, power, processes; =auto, =require, =off")
      ->option_text("[=gpu]")
      ->group(group);
  app.add_flag("--cupti{on}", texts.cupti,
               "what the GPUs do, by CUPTI, beside the rest: calls of CUDA, kernels, copies; =auto, =require, =off")
      ->option_text(" ")
      ->group(group);
  app.add_option("--sample-hz", options.sample_hz, "so often a second (10)")
      ->check(between(0.1, 100.0))
      ->option_text("NUMBER")
      ->group(group);
  for (size_t i = 0; i < kAbsentStreams.size(); i++) {
    app.add_flag(fmt::format("--{}{{on}}", kAbsentStreams[i].first), texts.absent[i])->group("");
  }
  app.add_option("--alloc-min", texts.alloc_min, "list allocations of this size and more, count the others (1024)")
      ->option_text("SIZE")
      ->group(group);
  app.add_flag(
         "--alloc-dur", options.alloc_times,
         "how long each listed allocation and free took, not only those of 128 KiB and more: up to 10 ns more each")
      ->group(group);
  app.add_flag(
         "--stacks{32}", texts.stacks,
         "who called: a stack with each recorded call and allocation, of GPU memory too, DEPTH frames at most "
         "(32, up to 128); with --kprobes=cuda and --pid, --cgroup or --system, of each allocation of GPU memory, "
         "by a copy of up to 32 KiB of its thread's stack")
      ->option_text("[=DEPTH]")
      ->group(group);
  app.add_flag("--python-stacks{20}", texts.python_stacks,
               "where Python is: its stacks with their lines, HZ looks a second (20) from outside, in at most 2 % of a "
               "processor; CPython 3.11 to 3.15")
      ->option_text("[=HZ]")
      ->group(group);
  add_list(app, "--mllog", options.mllog, "a file that the command writes MLLOG lines to; may be given again")
      ->option_text("FILE")
      ->group(group);
}

void add_observe_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const std::string group = "Without a command: attach to what runs already (with --kprobes alone, as root)";
  app.add_option("--pid", texts.pid, "these processes, all their threads, and the children that they start from now on")
      ->option_text("PID[,PID...]")
      ->group(group);
  app.add_option("--cgroup", texts.cgroup,
                 "all processes in this cgroup (v2) and below, those that come later too; absolute or below "
                 "/sys/fs/cgroup")
      ->option_text("PATH")
      ->group(group);
  app.add_flag("--system", options.observe.system, "everything on this machine")->group(group);
  app.add_option("--duration", texts.duration, "end after so long; else by Ctrl-C, or when all of --pid have ended")
      ->option_text("SECONDS")
      ->group(group);
  app.add_option("--live", texts.live,
                 "with --kprobes=cuda: every TIME a table of the GPU memory that each process has asked for and holds, "
                 "on standard output")
      ->option_text("TIME")
      ->group(group);
}

void add_less_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const std::string group = "Less of it (what is left out is counted)";
  app.add_flag("--cupti-whole-graphs", options.whole_graphs,
               "of CUDA graphs each launch as a whole and not its kernels: mlrun --cupti --cupti-whole-graphs python "
               "serve.py")
      ->group(group);
  app.add_option("--cupti-graph-nodes", options.graph_nodes_per_s,
                 "of CUDA graphs the kernels and copies, up to RATE of them a second in each process; beyond that each "
                 "launch as one row (100000; 0: always)")
      ->option_text("RATE")
      ->check(CLI::Range(0u, 1000000000u))
      ->group(group);
  add_list(app, "--include", options.path_rules.include, "record calls on these files alone; may be given again")
      ->option_text("GLOB")
      ->group(group);
  add_list(app, "--exclude", options.path_rules.exclude, "leave out calls on these files; may be given again")
      ->option_text("GLOB")
      ->group(group);
  app.add_option("--alloc-sample", texts.alloc_sample,
                 "list allocations by chance, one in SIZE bytes, with their weight; count the others exactly")
      ->option_text("SIZE")
      ->group(group);
  app.add_option("--fold", texts.fold, "list calls shorter than TIME as sums by process, file and function")
      ->option_text("TIME")
      ->group(group);
  app.add_flag("--summary-only", options.summary_only,
               "list nothing: add everything up by process, phase, file, function and site; for runs of any length")
      ->group(group);
  app.add_option("--last", texts.last, "keep the events of the last TIME alone; with --max-spool: as many as fit")
      ->option_text("TIME")
      ->group(group);
}

void add_place_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const std::string group = "Where it goes";
  app.add_option("-o,--output", options.output, "trace folder, a new one (mlrun-NAME-N)")
      ->option_text("DIR")
      ->group(group);
  app.add_option("--buffer", texts.buffer, "memory between the command and mlrun (256M)")
      ->option_text("SIZE")
      ->group(group);
  app.add_option("--max-spool", texts.max_spool, "stop recording at this size (half of the free space, at most 64G)")
      ->option_text("SIZE")
      ->group(group);
  add_list(app, "--keep-environment", texts.keep_environment,
           "store these environment variables as they are; without it secrets in them are masked (***)")
      ->option_text("NAME[,NAME...]")
      ->group(group);
  app.add_flag("--lossless", options.lossless, "with the buffer full, let the command wait rather than drop records")
      ->group(group);
}

void add_end_options(CLI::App& app, RunOptions& options) {
  const std::string group = "How it ends";
  app.add_flag("--wait-all", options.wait_all, "record until all descendants have ended, not only the command")
      ->group(group);
  app.add_flag("--defer-merge", options.defer_merge, "make no trace now; `mlrun recover` does it later")->group(group);
  app.add_flag("--keep-raw", options.keep_raw, "keep the raw events beside the trace")->group(group);
  app.add_flag("--quiet", options.quiet, "no summary")->group(group);
  app.add_flag("--verbose", options.verbose, "say more about the recording")->group(group);
}

}  // namespace

void add_run_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  app.footer(kRunFooter);
  add_recording_options(app, texts, options);
  add_observe_options(app, texts, options);
  add_less_options(app, texts, options);
  add_place_options(app, texts, options);
  add_end_options(app, options);
}

}  // namespace mlrun
