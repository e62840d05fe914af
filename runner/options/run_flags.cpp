// SPDX-License-Identifier: Apache-2.0
#include "runner/options/run_flags.h"

#include <fmt/format.h>

#include "runner/util/memory_kinds.h"

namespace mlrun {

namespace {

constexpr const char* kRunFooter =
    "COMMAND and its arguments follow, optionally after `--`. A SIZE takes K, M or G, a TIME ns, us, ms, s, min, h or "
    "d.\n"
    "A GLOB is for names in any folder (*.npy), or with a slash for paths (/data/**/x?.npy, out/); * stops at a slash, "
    "** does not, and a folder means everything in it. --exclude takes precedence.\n"
    "\n"
    "Examples:\n"
    "  mlrun python train.py                               what is recorded by default\n"
    "  mlrun --preload=files -o trace ./app                only file calls of what the library records\n"
    "  mlrun --sample=off python train.py                  no samples of GPUs, threads and the machine\n"
    "  mlrun --include /data --exclude '*.json' python train.py\n"
    "  mlrun --fold 10us python train.py\n"
    "  mlrun --stacks=16 --alloc-min 64K python train.py   which functions allocate and read most\n"
    "  mlrun --alloc-sample 512K python train.py\n"
    "  mlrun --python-stacks python train.py               lines of Python, all threads twenty times a second\n"
    "  mlrun --cupti python train.py                       kernels and copies of NVIDIA GPUs as well\n"
    "  mlrun --last 10min --max-spool 8G python train.py\n"
    "  mlrun --summary-only --mllog train.log python train.py   a week in a few megabytes\n"
    "  mlrun --cpu-node 0 --mem-node 1 python train.py     with memory of another NUMA node\n"
    "  mlrun --kprobes python train.py                     where the time of each call went\n"
    "  mlrun --kprobes --pid 4711 --duration 30            a training that runs already\n"
    "  mlrun --kprobes --cgroup system.slice/loader.service\n"
    "  mlrun --kprobes=block --system --duration 1min\n"
    "  mlrun --kprobes=cuda --pid 4711                     the GPU memory that it asks for and does not release\n";

// Adds an option that may be repeated, with one value each time.
CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& texts, const char* does) {
  return app.add_option(name, texts, does)
      ->expected(1)
      ->allow_extra_args(false)  // else the command's words would be taken as more values
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// Adds options to a group of the help page, each with the name of its value.
struct Shown {
  std::string group;

  void operator()(CLI::Option* option, const char* value = "") const { option->option_text(value)->group(group); }
};

void add_samples(CLI::App& app, RunTexts& texts, const Shown& shown) {
  shown(app.add_flag("--sample{all}", texts.sample,
                     "samples, taken from outside the program; with no value gpu, threads and machine (default: auto)\n"
                     "=gpu: use, memory, power and processes of NVIDIA GPUs\n"
                     "=threads: CPU time, waits for a processor and major faults of each thread, once a second\n"
                     "=machine: use of the processors, and pressure (PSI), once a second\n"
                     "Off unless named, ten times a second (--sample-hz):\n"
                     "=cpu: times of each processor, as mpstat; =disk: of each device, as iostat -x; =net: of each "
                     "network interface; =memory: use, nodes, paging, pressure, bandwidth; =process: times, memory, "
                     "faults, switches and I/O of each process and thread of the command\n"
                     "=off, =auto, =all, =require"),
        "[=WHAT,...]");
  shown(app.add_option("--sample-hz", texts.sample_hz,
                       "samples a second of GPUs, and of cpu, disk, net, memory and process if named, from 0.1 "
                       "to 100 (default: 10)")
            ->check(between(0.1, 100.0)),
        "NUMBER");
}

void add_access(CLI::App& app, RunTexts& texts, const Shown& shown) {
  shown(app.add_flag(
            "--access{on}", texts.access,
            "which memory is read and written, and which allocated block it is in (default: off). With no value by the "
            "first of these that works here; mlrun doctor says which, and what each costs\n"
            "=precise: events of the processor, with latencies; =hint-faults: page faults of NUMA balancing; =cold and "
            "=clear-refs: accessed bits, in windows of a second or more; =damon: regions, by the kernel, as root; "
            "=soft-dirty: what was written, and =faults: the first access to each page, alone or beside another, and "
            "only if named\n"
            "=HZ: with precise, samples a second of each processor (default: 1000, or the kernel's limit); else "
            "windows a second, at most 1\n"
            "=off, =require"),
        "[=HZ|WHAT,...]");
  shown(app.add_option(
            "--access-read-event", texts.access_read_event,
            "raw number of a precise event for loads, as in r1cd of perf, instead of this processor's usual one "
            "(default: none)"),
        "NUMBER");
  shown(app.add_option("--access-write-event", texts.access_write_event,
                       "raw number of a precise event for stores (default: none)"),
        "NUMBER");
}

void add_streams(CLI::App& app, RunTexts& texts) {
  const Shown shown{
      "What is recorded\t"
      "Naming a stream adds it to the default ones, and a list selects within its stream; only =off removes a stream. "
      "=all: the same as the name alone. =auto: if available, else silently not. =require: exit "
      "status 125 if it is unavailable or recorded nothing; with the name alone that is reported, and the command "
      "runs"};
  shown(app.add_flag("--preload{all}", texts.preload,
                     "recorded by a library in the processes (default: auto)\n"
                     "=files: calls of the C library on files, and waits\n"
                     "=allocs: allocations and frees\n"
                     "=marks: ranges that the program names (NVTX, mlrun_mark)\n"
                     "=off, =auto, =all, =require"),
        "[=WHAT,...]");
  add_samples(app, texts, shown);
  shown(app.add_flag("--cupti{on}", texts.cupti,
                     "what NVIDIA GPUs do, by CUPTI: calls of CUDA, kernels, copies (default: off)\n"
                     "=off, =auto, =all, =require"),
        "[=WHEN]");
  shown(
      app.add_flag(
          "--kprobes{all}", texts.kprobes,
          "recorded in the kernel, as root (default: off; with no value block, wait and vfs). Every value "
          "includes block I/O:\n"
          "=block: block I/O, page-cache misses\n"
          "=wait: waits\n"
          "=vfs: file operations of the kernel; without --preload, where its functions cannot be probed, by system "
          "calls, which slows all programs of this machine\n"
          "=syscalls: system calls, counted; slows all programs of this machine\n"
          "=cuda: with --pid, --cgroup or --system, GPU memory; each allocation, release and wait takes 2 us more, on "
          "some virtual machines up to 80\n"
          "=cufile: what GPUDirect Storage moves between files and GPUs\n"
          "=torch: GPU memory that PyTorch gives to tensors\n"
          "=off, =auto, =all (block,wait,vfs), =require"),
      "[=WHAT,...]");
  add_access(app, texts, shown);
  shown(app.add_flag("--python-stacks{20}", texts.python_stacks,
                     "Python stacks with lines, read from outside; CPython 3.11 to 3.15. By default the thread that "
                     "drives the training 20 times a second and the others in turn, in at most 0.5 % of a CPU; by name "
                     "all of them HZ times (20 without a value), in at most 2 % (default: auto)\n"
                     "=off, =auto"),
        "[=HZ]");
}

void add_details(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const Shown shown{"Details of what is recorded"};
  shown(
      app.add_flag(
          "--stacks{32}", texts.stacks,
          "a stack with each recorded call and allocation, of GPU memory too, DEPTH frames at most (32 "
          "without a value, up to 128); with --kprobes=cuda and --pid, --cgroup or --system, of each allocation of GPU "
          "memory, by a copy of up to 32 KiB of its thread's stack (default: off)"),
      "[=DEPTH]");
  shown(
      app.add_option("--alloc-min", texts.alloc_min,
                     "list allocations of this size and more, count the others; 0 lists all (default: 1024 bytes, with "
                     "--alloc-sample 0)"),
      "SIZE");
  shown(app.add_flag(
      "--alloc-dur", options.alloc_times,
      "duration of each listed allocation and free, not only of those of 128 KiB and more; costs up to 10 ns each "
      "(default: off)"));
  shown(add_list(
            app, "--mllog", options.mllog,
            "a file with MLLOG lines that the command writes; they become phases; may be given again (default: none)"),
        "FILE");
}

void add_observe_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const Shown shown{"Without a command: attach to what runs already (needs --kprobes)"};
  shown(app.add_option(
            "--pid", texts.pid,
            "these processes, all their threads, and the children that they start from now on (default: none)"),
        "PID[,PID...]");
  shown(app.add_option(
            "--cgroup", texts.cgroup,
            "all processes in this cgroup (v2) and below, those that come later too; absolute or below /sys/fs/cgroup "
            "(default: none)"),
        "PATH");
  shown(app.add_flag("--system", options.observe.system, "everything on this machine (default: off)"));
  shown(
      app.add_option("--duration", texts.duration,
                     "end after TIME; a plain number is seconds (default: at Ctrl-C, or when all of --pid have ended)"),
      "TIME");
  shown(app.add_option(
            "--live", texts.live,
            "with --kprobes=cuda: every TIME a table of the GPU memory that each process has asked for and holds, on "
            "standard output; at least 100ms (default: none)"),
        "TIME");
}

void add_less_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const Shown shown{"Record less (what is left out is counted)"};
  shown(add_list(app, "--include", options.path_rules.include,
                 "record calls on these files alone; may be given again (default: all files)"),
        "GLOB");
  shown(add_list(app, "--exclude", options.path_rules.exclude,
                 "leave out calls on these files; may be given again (default: none)"),
        "GLOB");
  shown(app.add_option(
            "--fold", texts.fold,
            "list calls shorter than TIME as sums by process, file and function (default: every call has a row)"),
        "TIME");
  shown(app.add_option("--alloc-sample", texts.alloc_sample,
                       "list a random sample of allocations, one in SIZE bytes, with their weight; count the others "
                       "exactly (default: all of --alloc-min are listed)"),
        "SIZE");
  shown(
      app.add_flag("--summary-only", options.summary_only,
                   "list nothing: add everything up by process, phase, file, function and site; for runs of any length "
                   "(default: off)"));
  shown(app.add_option(
            "--last", texts.last,
            "keep only the events of the last TIME, as far as they fit into --max-spool (default: all are kept)"),
        "TIME");
  shown(app.add_flag("--cupti-whole-graphs", options.whole_graphs,
                     "with --cupti: one row for each launch of a CUDA graph, without its kernels (default: off)"));
  shown(
      app.add_option(
             "--cupti-graph-nodes", options.graph_nodes_per_s,
             "with --cupti: the kernels and copies of CUDA graphs, up to RATE of them a second in each process; beyond "
             "that each launch as one row (default: 100000; 0: always one row)")
          ->check(is_number_to(1000000000)),
      "RATE");
}

void add_placement_options(CLI::App& app, RunOptions& options) {
  const Shown shown{
      "Where the command runs\t"
      "A LIST is like 0-3,8. All that the command starts inherits it"};
  shown(app.add_option("--cpus", options.cpus, "on these CPUs (default: those that mlrun may use)"), "LIST");
  shown(app.add_option("--cpu-node", options.cpu_node, "on the CPUs of these NUMA nodes (default: of all)"), "LIST");
  shown(
      app.add_option(
          "--mem-node", options.mem_node,
          "with memory of these NUMA nodes only, also for the pages of the page cache that it fills (default: of all)"),
      "LIST");
  shown(
      app.add_option("--preferred", options.preferred, "with memory of these nodes first (default: of the CPU's own)"),
      "LIST");
  shown(app.add_option("--interleave", options.interleave,
                       "with memory of these nodes, page by page in turn (default: none)"),
        "LIST");
  shown(app.add_option("--weighted-interleave", options.weighted_interleave,
                       "the same, by this machine's weights, since Linux 6.9 (default: none)"),
        "LIST");
  shown(
      add_list(
          app, "--place", options.place,
          "where blocks of memory go, by rules such as 'size >= 1M -> node 1'; an argument without -> is a file of "
          "such rules (TOML). The first rule that fits a block and has room for it places it; may be given again "
          "(default: none)\n"
          "conditions: size >= SIZE, size A..B, mmap size >= SIZE, library GLOB, function GLOB, main, worker, command "
          "GLOB, joined by and; without a size 64K and more. A function is an exported one, by the linker's name (in "
          "C++ "
          "the mangled one, such as _ZN5torch*)\n"
          "targets: node N, interleave N,M, 3:1 node N,M, huge, near gpu N (as nvidia-smi numbers them; "
          "CUDA_VISIBLE_DEVICES is not read), a kind of --mem-kind, pmem, and default: the same heap without a policy, "
          "as the control of a comparison\n"
          "after the target: huge, huge pages for blocks of 2 MiB and more and for mappings; budget SIZE: at most so "
          "much in one process, both copies of a block that realloc copies included; heap memkind: memkind's heap, in "
          "a region of the budget, for comparison; strict: no other node, and the kernel ends the program when that "
          "one is full"),
      "RULE");
  shown(app.add_option("--mem-kind", options.mem_kind,
                       "as --place '-> KIND'; kinds: " + util::memory_kind_names() + " (default: none)"),
        "KIND");
  shown(app.add_option("--pmem", options.pmem,
                       "folder of persistent memory (ext4 or XFS with -o dax) for rules with the target pmem; SIZE "
                       "limits the blocks of one rule and process, and further blocks are placed as without the rule. "
                       "A forked child has copies in ordinary memory (default: none)"),
        "DIR[:SIZE]");
}

void add_place_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const Shown shown{"Where the trace goes"};
  shown(
      app.add_option("-o,--output", options.output,
                     "trace folder, a new one (default: mlrun-NAME-N here, NAME being that of the script or program)"),
      "DIR");
  shown(app.add_option("--buffer", texts.buffer, "buffer between the command and mlrun (default: 256M)"), "SIZE");
  shown(app.add_option(
            "--max-spool", texts.max_spool,
            "stop recording when the raw events have this size (default: half of the free space, at most 64G)"),
        "SIZE");
  shown(add_list(app, "--keep-environment", texts.keep_environment,
                 "store these environment variables unmasked; repeatable (default: none; secrets are masked: ***)"),
        "NAME[,NAME...]");
  shown(app.add_flag("--lossless", options.lossless,
                     "with the buffer full, let the command wait rather than drop records (default: off)"));
}

void add_end_options(CLI::App& app, RunOptions& options) {
  const Shown shown{"How the recording ends"};
  shown(app.add_flag(
      "--wait-all", options.wait_all,
      "record until all descendants have ended, not only the command (default: off: waits up to 2 s for them)"));
  shown(app.add_flag("--defer-merge", options.defer_merge,
                     "make no trace now; `mlrun recover` does it later (default: off)"));
  shown(app.add_flag("--keep-raw", options.keep_raw, "keep the raw events beside the trace (default: off)"));
  shown(app.add_flag("--quiet", options.quiet, "no summary (default: off)"));
  shown(app.add_flag("--verbose", options.verbose, "say more about the recording (default: off)"));
}

}  // namespace

void add_run_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  app.footer(kRunFooter);
  add_streams(app, texts);
  add_details(app, texts, options);
  add_observe_options(app, texts, options);
  add_less_options(app, texts, options);
  add_placement_options(app, options);
  add_place_options(app, texts, options);
  add_end_options(app, options);
}

}  // namespace mlrun
