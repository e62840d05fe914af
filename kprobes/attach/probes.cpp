// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/probes.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kprobes/attach/file_op_trial.h"
#include "kprobes/attach/file_ops.h"
#include "kprobes/attach/layout_types.h"
#include "kprobes/attach/open_paths.h"
#include "kprobes/attach/pid_namespace.h"
#include "kprobes/attach/privilege.h"
#include "kprobes/attach/program_targets.h"
#include "kprobes/attach/tracepoint_programs.h"
#include "kprobes/rings/whole_records.h"
#include "probes.skel.h"

namespace mlrun::probes {

namespace {

constexpr std::string_view kNoNumbers =
    "--system records all processes, but most have no id in the PID namespace of mlrun; run mlrun outside of the "
    "container";
constexpr uint32_t kEntriesOfProcessor = 256;

std::string last_warning;  // of libbpf; global because libbpf's callback has no context

int keep_warning(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  std::array<char, 512> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  const std::string_view text(line.data());
  // Keeps the first warning, which says what failed. Later ones include the verifier's whole log as one message.
  if (last_warning.empty()) last_warning = text.substr(0, text.find('\n'));
  return 0;
}

ProgramState state_of(const FileOps::Function& function) {
  ProgramState state{"on_file_op", std::string(function.what.name), function.mechanism.empty() ? function.reason : ""};
  state.mechanism = function.mechanism;
  if (function.mechanism == "kprobe") state.why_kprobe = function.reason;
  state.file_op = static_cast<int>(function.what.op);
  state.file_system = function.file_system;
  state.since_ns = function.since_ns;
  return state;
}

void make_room_for_processors(const mlrun_probes& skeleton) {
  const auto processors = static_cast<uint32_t>(std::max(1, ::libbpf_num_possible_cpus()));
  // In an LRU map each processor reserves some free entries for itself.
  for (bpf_map* map : {skeleton.maps.writers, skeleton.maps.places}) {
    ::bpf_map__set_max_entries(map, ::bpf_map__max_entries(map) + processors * kEntriesOfProcessor);
  }
  ::bpf_map__set_max_entries(skeleton.maps.losses, processors * MLRUN_PROBE_LOSSES);
}

// For tests: sets the size of maps from an environment variable. secure_getenv ignores it where this program has rights
// that its caller lacks.
void limit(const char* variable, std::initializer_list<bpf_map*> maps) {
  const char* asked = ::secure_getenv(variable);
  const long most = asked == nullptr ? 0 : std::strtol(asked, nullptr, 10);
  if (most <= 0 || most > UINT16_MAX) return;
  for (bpf_map* map : maps) ::bpf_map__set_max_entries(map, static_cast<uint32_t>(most));
}

struct BtfDeleter {
  void operator()(btf* types) const { ::btf__free(types); }
};
struct SkeletonDeleter {
  void operator()(mlrun_probes* skeleton) const { mlrun_probes::destroy(skeleton); }
};

}  // namespace

struct Probes::State {
  std::unique_ptr<btf, BtfDeleter> types;  // of the kernel, without its modules
  std::optional<FunctionTypes> functions;
  std::unique_ptr<mlrun_probes, SkeletonDeleter> skeleton;
  std::vector<Link> links;
  std::optional<Rings> rings;
  MappedArray losses, cuda_hits, cufile_hits;
  FileOps file_ops;
  FileSyscalls file_calls;
  OpenPaths open_paths;
  std::optional<ProbeLayouts> torch_layouts;
  WholeRecords whole;
  Take take;
};
struct Probes::Trial {
  FileOps::Seen file_ops{};
  int paths = 0;
};

Probes::Probes() : state_(std::make_unique<State>()) {}
Probes::~Probes() = default;

Result<std::unique_ptr<Probes>> Probes::load(const Streams& streams, Take take) {
  ::libbpf_set_print(keep_warning);
  std::unique_ptr<Probes> probes(new Probes);
  Status opened = probes->open(streams);
  if (!opened && probes->loads_fentry_) {
    // libbpf loads all programs or none. Try again without fentry programs, which an untested verifier may refuse.
    probes.reset(new Probes);
    probes->refused_fentry_ = std::exchange(last_warning, {});
    opened = probes->open(streams);
  }
  if (!opened) return tl::make_unexpected(opened.error());
  probes->state_->take = std::move(take);
  if (Status attached = probes->attach(); !attached) return tl::make_unexpected(attached.error());
  probes->attach_file_ops();
  probes->attach_file_calls();
  probes->attach_open_paths();
  return probes;
}

Status Probes::open(const Streams& streams) {
  if (streams.scope == MLRUN_SCOPE_SYSTEM && own_pid_namespace() != 0) return fail(std::string(kNoNumbers));
  const auto& types = state_->types;
  state_->types.reset(::btf__load_vmlinux_btf());
  if (!types) return fail_errno("read the kernel's BTF types", errno);
  FunctionTypes& events = state_->functions.emplace(types.get());
  set_program_targets(events);
  const util::UniqueFd layouts(::memfd_create("mlrun-probes", MFD_CLOEXEC));
  if (!layouts.valid()) return fail_errno("make a file in memory for the kernel's BTF types", errno);
  const std::string layouts_path = fmt::format("/proc/self/fd/{}", layouts.get());
  bpf_object_open_opts options{};
  options.sz = sizeof options;
  options.btf_custom_path = layouts_path.c_str();
  state_->skeleton.reset(mlrun_probes::open(&options));
  if (!state_->skeleton) return fail_errno("open the BPF programs", errno);
  programs_ = choose_tracepoint_programs(state_->skeleton->obj, streams, events);
  choose_function_programs(streams);
  choose_library_programs(streams);
  state_->skeleton->rodata->with_waits = streams.wait;
  state_->skeleton->rodata->cuda_has_stacks = streams.stacks;
  has_syscalls_ = streams.syscalls;
  observes_ = streams.observes;
  is_command_ = streams.is_command;
  has_calls_ = streams.has_calls;
  if (!has_syscalls_) ::bpf_map__set_max_entries(state_->skeleton->maps.syscalls, 1);
  if (!observes_) ::bpf_map__set_max_entries(state_->skeleton->maps.emitted_paths, 1);
  make_room_for_processors(*state_->skeleton);
  const auto& maps = state_->skeleton->maps;
  limit(kInFlightVariable, {maps.bios, maps.requests, maps.handed_ins, maps.remote_requests});
  limit(kKeptVariable, {maps.writers, maps.places});
  state_->skeleton->rodata->scope = streams.scope;
  state_->skeleton->rodata->own_only = !is_root();
  state_->skeleton->rodata->own_uid = ::getuid();
  state_->skeleton->rodata->pid_namespace = own_pid_namespace();
  ::bpf_program__set_autoload(state_->skeleton->progs.find_pid_level, own_pid_namespace() != 0);
  state_->rings.emplace(state_->skeleton->maps.ring, state_->skeleton->maps.rings, streams.ring_bytes);
  state_->skeleton->rodata->has_rings = state_->rings->has_table();
  (void)events.find("btrfs_sync_file", "btrfs");  // makes its types available (bpf/inode_device.h)
  Status written =
      write_layout_types(::bpf_object__btf(state_->skeleton->obj), state_->functions->all(), layouts.get());
  if (!written) return written;
  if (const int error = mlrun_probes::load(state_->skeleton.get()); error != 0) {
    return fail(fmt::format("the kernel refused the BPF programs: {} ({})", std::strerror(-error), last_warning));
  }
  if (Status mapped = map_arrays(); !mapped) return mapped;
  if (Status found = find_pid_level(state_->skeleton->progs.find_pid_level); !found) return found;
  state_->skeleton->bss->stay_observed = streams.scope == MLRUN_SCOPE_FLAGGED && is_root();
  return state_->rings->open();
}

Status Probes::map_arrays() {
  const auto& maps = state_->skeleton->maps;
  const std::pair<const bpf_map*, MappedArray*> arrays[] = {
      {maps.losses, &state_->losses}, {maps.cuda_hits, &state_->cuda_hits}, {maps.cufile_hits, &state_->cufile_hits}};
  for (const auto& [map, array] : arrays) {
    auto mapped = MappedArray::map(map);
    if (!mapped) return tl::make_unexpected(mapped.error());
    *array = std::move(*mapped);
  }
  return {};
}

Status Probes::attach() {
  size_t i = 0;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, state_->skeleton->obj) {
    if (!is_for_tracepoint(program)) continue;
    if (programs_[i].name != ::bpf_program__name(program)) continue;  // not requested
    ProgramState& state = programs_[i++];
    if (state.reason.empty()) {
      Link link(::bpf_program__attach_trace(program));
      if (!link) state.reason = std::string("cannot be attached: ") + std::strerror(errno);
      state_->links.push_back(std::move(link));
    }
    if (!state.reason.empty() && is_needed(state.name)) {
      return fail(fmt::format("{}: {}", state.event, state.reason));
    }
    const bool is_of_dirtying = state.name == "on_dirty_folio" || state.name == "on_dirty_page";
    if (is_of_dirtying && state.reason.empty()) state_->skeleton->bss->sees_dirtying = true;
  }
  return {};
}

// Chooses the programs on kernel functions: those that are asked for and that this kernel accepts, since libbpf loads
// all or none.
void Probes::choose_function_programs(const Streams& streams) {
  mlrun_probes& skeleton = *state_->skeleton;
  FunctionTypes& types = *state_->functions;
  const bool wants_any = streams.vfs || streams.observes;
  const Status asked = wants_any ? Status() : fail(std::string(kNotAskedFor));
  const Status fentry = !asked                    ? asked
                        : refused_fentry_.empty() ? can_trace_functions(types)
                                                  : fail("fentry: " + refused_fentry_);
  const Status kprobe = wants_any ? can_probe_functions() : fail(std::string(kNotAskedFor));
  for (bpf_program* program : {skeleton.progs.on_file_op_entry, skeleton.progs.on_file_op_exit,
                               skeleton.progs.on_iteration_entry, skeleton.progs.on_iteration_exit}) {
    ::bpf_program__set_autoload(program, streams.vfs && fentry);
  }
  for (bpf_program* program : {skeleton.progs.on_file_op_call, skeleton.progs.on_file_op_return}) {
    ::bpf_program__set_autoload(program, streams.vfs && kprobe);
  }
  loads_fentry_ = wants_any && fentry;
  without_fentry_ = fentry ? "" : fentry.error().text;
  const std::string why_none = fentry || kprobe ? "" : fentry.error().text + ", " + kprobe.error().text;
  state_->open_paths.choose({streams.observes && fentry ? skeleton.progs.on_open : nullptr,
                             streams.observes && kprobe ? skeleton.progs.on_open_call : nullptr},
                            types, why_none);
  for (bpf_program* program : {skeleton.progs.on_open, skeleton.progs.on_open_call}) {
    ::bpf_program__set_autoload(program, state_->open_paths.needs(program));
  }
  FileSyscalls& calls = state_->file_calls;
  calls.choose(skeleton.progs.on_file_call, skeleton.progs.on_file_call_end, types, streams.vfs && streams.file_calls);
  const CastTypes cast = calls.read_by_loads(state_->types.get(), types);
  skeleton.rodata->type_of_file = cast.file;
  skeleton.rodata->type_of_slot = cast.slot;
  without_file_ops_ = streams.vfs ? why_none : kNotAskedFor;
}

void Probes::choose_library_programs(const Streams& streams) {
  const auto& programs = state_->skeleton->progs;
  const bool has_cookies = streams.any_library() && has_probe_cookies();
  for (bpf_program* of_cuda : {programs.on_cuda_call, programs.on_cuda_return}) {
    ::bpf_program__set_autoload(of_cuda, streams.cuda && has_cookies);
  }
  for (bpf_program* of_cufile : {programs.on_cufile_call, programs.on_cufile_return}) {
    ::bpf_program__set_autoload(of_cufile, streams.cufile && has_cookies);
  }
  ::bpf_program__set_autoload(programs.on_torch_memory, streams.torch && has_cookies);
  if (!streams.torch) ::bpf_map__set_max_entries(state_->skeleton->maps.torch_layouts, 1);
}

// Does the trial's operations and counts their records. No other process is traced yet, so all records come from it.
Result<Probes::Trial> Probes::try_operations() {
  Trial trial;
  Take take = std::exchange(state_->take, [&](const void* data, size_t bytes) {
    mlrun_kernel_head head{};
    mlrun_file_op record{};
    __builtin_memcpy(&head, data, sizeof head);
    if (head.kind == MLRUN_KERNEL_FILE_PATH) ++trial.paths;
    if (head.kind != MLRUN_KERNEL_FILE_OP || bytes < sizeof record) return;
    __builtin_memcpy(&record, data, sizeof record);
    if (record.op < trial.file_ops.size()) ++trial.file_ops[record.op];
  });
  const Status tried = try_file_ops([&](int pidfd) { return follow(pidfd, MLRUN_OBSERVED_LAUNCHER); });
  drain();
  state_->take = std::move(take);
  if (!tried) return tl::make_unexpected(tried.error());
  return trial;
}

Result<FileOps::Seen> Probes::try_file_operations() {
  return try_operations().map([](const Trial& trial) { return trial.file_ops; });
}

void Probes::attach_file_ops() {
  if (!without_file_ops_.empty()) return;
  const auto loaded = [](bpf_program* program) { return ::bpf_program__fd(program) >= 0 ? program : nullptr; };
  const auto& programs = state_->skeleton->progs;
  const FileOpPrograms of_functions{loaded(programs.on_file_op_entry),
                                    loaded(programs.on_file_op_exit),
                                    loaded(programs.on_iteration_entry),
                                    loaded(programs.on_iteration_exit),
                                    loaded(programs.on_file_op_call),
                                    loaded(programs.on_file_op_return),
                                    without_fentry_};
  state_->file_ops.attach(of_functions, *state_->functions, mounted_types(), [&] { return try_file_operations(); });
  for (const FileOps::Function& function : state_->file_ops.functions()) programs_.push_back(state_of(function));
}

// Attaches the system-call fallback, only if no function is probed: with both, each operation would be recorded twice.
void Probes::attach_file_calls() {
  FileSyscalls& calls = state_->file_calls;
  const auto& functions = state_->file_ops.functions();
  const bool has_functions = std::any_of(functions.begin(), functions.end(),
                                         [](const FileOps::Function& function) { return !function.mechanism.empty(); });
  if (!calls.is_wanted() || has_functions) return;
  calls.attach([&] { return try_file_operations(); });
  for (const char* event : {"sys_enter", "sys_exit"}) {
    ProgramState state{"on_file_call", event, calls.reason()};
    state.is_of_file_calls = true;
    programs_.push_back(std::move(state));
  }
}

void Probes::add_file_systems(const FileSystemTypes& mounted) {
  if (without_file_ops_.empty() && !state_->file_calls.works()) state_->file_ops.add(mounted);
}

bool Probes::attach_next(bool is_late) {
  const FileOps::Function* function = state_->file_ops.attach_next(is_late);
  if (function != nullptr) programs_.push_back(state_of(*function));
  return function != nullptr;
}

void Probes::attach_open_paths() {
  if (!observes_) return;
  OpenPaths& paths = state_->open_paths;
  paths.attach([&] { return try_operations().map([](const Trial& trial) { return trial.paths; }); });
  ProgramState state{"on_open", kOpenFunction, paths.reason()};
  state.mechanism = paths.mechanism();
  const bool by_calls = paths.mechanism().empty() && state_->file_calls.works();
  if (by_calls) {
    state.mechanism = "tracepoint";
    state.reason.clear();
  }
  programs_.push_back(std::move(state));
}

// A child of mlrun's gets the launcher flag: its system calls are not counted before it executes the command. Processes that run already
// do not wait for an exec.
int Probes::follow(int pidfd) {
  const bool waits_for_exec = !observes_ || (is_command_ && has_syscalls_);
  return follow(pidfd, waits_for_exec ? MLRUN_OBSERVED_LAUNCHER : MLRUN_OBSERVED);
}

int Probes::follow(int pidfd, uint32_t how) {
  return ::bpf_map_update_elem(::bpf_map__fd(state_->skeleton->maps.observed), &pidfd, &how, BPF_ANY) == 0 ? 0 : errno;
}

void Probes::unfollow(int pidfd) {
  (void)::bpf_map_delete_elem(::bpf_map__fd(state_->skeleton->maps.observed), &pidfd);
}

int Probes::follow_cgroup(int folder) {
  const uint32_t first = 0;
  const int map = ::bpf_map__fd(state_->skeleton->maps.observed_cgroup);
  return ::bpf_map_update_elem(map, &first, &folder, BPF_ANY) == 0 ? 0 : errno;
}

void Probes::follow_system() { state_->skeleton->bss->observes_all = true; }

void Probes::drain() {
  state_->rings->drain([&state = *state_](const void* record, size_t bytes) {
    const std::string_view whole = state.whole.next(record, bytes);
    if (!whole.empty()) state.take(whole.data(), whole.size());
  });
}

uint64_t Probes::unknown_operations() const { return state_->whole.unknown(); }

const Rings& Probes::rings() const { return *state_->rings; }

void Probes::detach() {
  state_->skeleton->bss->is_over = true;
  state_->skeleton->bss->stay_observed = false;
  state_->links.clear();
  state_->file_calls.detach();
}

void Probes::unload() {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, state_->skeleton->obj)::bpf_program__unload(program);
}

LibraryPrograms Probes::cuda_programs() const {
  return {state_->skeleton->progs.on_cuda_call, state_->skeleton->progs.on_cuda_return, &state_->cuda_hits,
          &state_->skeleton->bss->cuda_epoch};
}

LibraryPrograms Probes::cufile_programs() const {
  return {state_->skeleton->progs.on_cufile_call, state_->skeleton->progs.on_cufile_return, &state_->cufile_hits,
          &state_->skeleton->bss->cufile_epoch};
}

LibraryPrograms Probes::torch_programs() {
  auto& layouts = state_->torch_layouts;
  if (!layouts) layouts.emplace(::bpf_map__fd(state_->skeleton->maps.torch_layouts));
  return {state_->skeleton->progs.on_torch_memory, nullptr, nullptr, nullptr, &*layouts};
}

std::vector<DeviceTotal> Probes::devices() const {
  std::vector<DeviceTotal> devices;
  const int map = ::bpf_map__fd(state_->skeleton->maps.devices);
  const mlrun_device_key* before = nullptr;
  DeviceTotal device;
  mlrun_device_key key{};
  while (::bpf_map_get_next_key(map, before, &key) == 0) {
    device.key = key;
    if (::bpf_map_lookup_elem(map, &key, &device.total) == 0) devices.push_back(device);
    before = &device.key;
  }
  return devices;
}

void Probes::for_each_syscall(const std::function<void(const mlrun_syscall_sum&)>& take) const {
  if (!has_syscalls_) return;
  const int map = ::bpf_map__fd(state_->skeleton->maps.syscalls);
  mlrun_syscall_key key{};
  mlrun_syscall_counts counts{};
  for (const mlrun_syscall_key* before = nullptr; ::bpf_map_get_next_key(map, before, &key) == 0; before = &key) {
    if (::bpf_map_lookup_elem(map, &key, &counts) != 0) continue;
    mlrun_syscall_sum sum{};
    sum.head.kind = MLRUN_KERNEL_SYSCALL;
    sum.head.bytes = sizeof sum;
    sum.head.pid = key.pid;
    sum.head.time_ns = counts.last_ns;
    sum.calls = counts.calls;
    sum.errors = counts.errors;
    sum.total_ns = counts.total_ns;
    sum.number = key.number & ~uint32_t{MLRUN_SYSCALL_KEY_32BIT};
    sum.flags = (key.number & MLRUN_SYSCALL_KEY_32BIT) != 0 ? MLRUN_SYSCALL_32BIT : 0;
    std::copy_n(static_cast<const char*>(counts.comm), sizeof sum.comm, static_cast<char*>(sum.comm));
    std::copy_n(static_cast<const __u64*>(counts.buckets), std::size(counts.buckets), static_cast<__u64*>(sum.buckets));
    take(sum);
  }
}

const FileSyscalls& Probes::file_calls() const { return state_->file_calls; }

uint64_t Probes::unrecorded_32bit_calls() const { return state_->skeleton->bss->unrecorded_32bit_calls; }

uint64_t Probes::unobserved_at_exec() const { return state_->skeleton->bss->unobserved_at_exec; }

std::vector<SkippedProgram> Probes::skipped() const {
  std::vector<SkippedProgram> skipped;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, state_->skeleton->obj) {
    const uint64_t times = times_skipped(::bpf_program__fd(program));
    if (times != 0) skipped.push_back({::bpf_program__name(program), times});
  }
  for (const FileOps::Function& function : state_->file_ops.functions()) {
    const uint64_t times = function.probe ? function.probe->skipped() : 0;
    if (times != 0) skipped.push_back({fmt::format("on_file_op of {}", function.what.name), times});
  }
  return skipped;
}

uint64_t Probes::open_bios() const {
  const int map = ::bpf_map__fd(state_->skeleton->maps.bios);
  uint64_t count = 0, key = 0;
  for (const uint64_t* before = nullptr; ::bpf_map_get_next_key(map, before, &key) == 0; before = &key) count++;
  return count;
}

const MappedArray& Probes::losses() const { return state_->losses; }

}  // namespace mlrun::probes
