// SPDX-License-Identifier: Apache-2.0
#include "runner/symbols/stack_walker.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "runner/events/record.h"
#include "runner/util/unique_fd.h"

namespace mlrun::symbols {

namespace {

constexpr pid_t kThread = 1;  // any thread id: libdw requires one, but only reads our copies

// Prevents libdw from searching for or downloading files: it uses only the mapped files themselves.
int find_no_elf(Dwfl_Module* /*module*/, void** /*user*/, const char* /*name*/, Dwarf_Addr /*base*/, char** /*path*/,
                Elf** /*elf*/) {
  return -1;
}
int find_no_debug_file(Dwfl_Module* /*module*/, void** /*user*/, const char* /*name*/, Dwarf_Addr /*base*/,
                       const char* /*path*/, const char* /*link*/, GElf_Word /*sum*/, char** /*found*/) {
  return -1;
}
const Dwfl_Callbacks kMappingCallbacks = {.find_elf = find_no_elf,
                                          .find_debuginfo = find_no_debug_file,
                                          .section_address = dwfl_offline_section_address,
                                          .debuginfo_path = nullptr};

// Difference between the mapping's addresses and those in the file; nullopt: the file has no code at the mapping.
std::optional<uint64_t> bias_of(int fd, const CodeMapping& mapping) {
  if (elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr), elf_end);
  size_t count = 0;
  if (!elf || elf_getphdrnum(elf.get(), &count) != 0) return std::nullopt;
  for (size_t i = 0; i < count && i < INT32_MAX; ++i) {
    GElf_Phdr header{};
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &header) == nullptr) return std::nullopt;
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    constexpr uint64_t kPage = 4096;
    const uint64_t begin = header.p_offset / kPage * kPage;
    if (mapping.file_offset < begin || mapping.file_offset >= header.p_offset + header.p_filesz) continue;
    return mapping.start - mapping.file_offset - (header.p_vaddr - header.p_offset);
  }
  return std::nullopt;
}

}  // namespace

struct StackWalker::Walk {
  struct File {
    CodeMapping mapping;
    bool is_opened = false;
    Dwfl_Module* module = nullptr;  // nullptr: the file is missing
    uint64_t bias = 0;
    std::string path, build_id;
  };

  std::unique_ptr<Dwfl, void (*)(Dwfl*)> session{dwfl_begin(&kMappingCallbacks), dwfl_end};
  std::vector<File> files;  // by start
  bool is_attached = false;
  // State of the current walk:
  const StackCopy* copy = nullptr;
  size_t depth = 0;
  bool has_left_copy = false, is_first = true;
  uint64_t left_at = 0;  // offset from the copy's start
  std::optional<uint8_t> end;
  WalkedStack walked;

  File* file_at(uint64_t address) {
    auto next = std::upper_bound(files.begin(), files.end(), address,
                                 [](uint64_t value, const File& file) { return value < file.mapping.start; });
    if (next == files.begin()) return nullptr;
    File& file = *std::prev(next);
    return address < file.mapping.end ? &file : nullptr;
  }

  void open(File& file) {
    file.is_opened = true;
    util::UniqueFd fd(::open(file.mapping.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    // The device is not compared: on overlayfs and btrfs, /proc/PID/maps shows another device than stat.
    const bool is_same =
        fd.valid() && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == file.mapping.inode;
    file.path = file.mapping.path;
    if (fd.valid() && !is_same) file.path += " (another file)";
    const auto bias = is_same ? bias_of(fd.get(), file.mapping) : std::nullopt;
    if (!bias) return;
    file.bias = *bias;
    report(file, fd.get());
  }

  void report(File& file, int fd) {
    const int kept = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (kept < 0) return;
    const std::string name = file.path + " " + std::to_string(file.mapping.start);
    dwfl_report_begin_add(session.get());
    file.module = dwfl_report_elf(session.get(), name.c_str(), file.path.c_str(), kept, file.bias, true);
    dwfl_report_end(session.get(), nullptr, nullptr);
    if (file.module == nullptr) ::close(kept);  // otherwise the module closes it
    if (file.module == nullptr) return;
    GElf_Addr bias = 0;
    const unsigned char* bits = nullptr;
    if (dwfl_module_getelf(file.module, &bias) == nullptr || bias != file.bias) file.module = nullptr;
    if (file.module == nullptr) return;
    const int bytes = dwfl_module_build_id(file.module, &bits, &bias);
    if (bytes > 0) file.build_id.assign(reinterpret_cast<const char*>(bits), static_cast<size_t>(bytes));
  }

  // Without an unwind table libdw would follow the frame pointer, which most code does not maintain.
  [[nodiscard]] static bool has_table(const File& file, uint64_t pc) {
    if (file.module == nullptr) return false;
    Dwarf_Addr bias = 0;
    Dwarf_CFI* table = dwfl_module_eh_cfi(file.module, &bias);
    Dwarf_Frame* frame = nullptr;
    if (table == nullptr || dwarf_cfi_addrframe(table, pc - bias, &frame) != 0) return false;
    std::free(frame);
    return true;
  }

  // Adds a frame by its return address `goes_on`, or, if a signal interrupted it, by the interrupted address. `code` is inside the call,
  // since a return address may be after the end of the function.
  bool add(uint64_t goes_on, bool is_interrupted) {
    const uint64_t code = goes_on - (is_interrupted ? 0 : 1);
    if (walked.frames.size() >= depth) {
      end = MLRUN_STACK_DEPTH;
      return false;
    }
    File* file = file_at(code);
    if (file == nullptr) {
      walked.frames.push_back({0, goes_on, is_interrupted});
      end = MLRUN_STACK_UNKNOWN_CODE;
      return false;
    }
    if (!file->is_opened) open(*file);
    const uint64_t offset =
        file->module != nullptr ? goes_on - file->bias : goes_on - file->mapping.start + file->mapping.file_offset;
    walked.frames.push_back({static_cast<size_t>(file - files.data()) + 1, offset, is_interrupted});
    if (has_table(*file, code)) return true;
    end = MLRUN_STACK_NO_TABLE;
    return false;
  }

  // libdw knows whether a signal interrupted a frame only after stepping to the next one. That step needs the file of the frame itself.
  static int take_frame(Dwfl_Frame* frame, void* argument) {
    auto& self = *static_cast<Walk*>(argument);
    Dwarf_Addr pc = 0;
    bool is_interrupted = false;
    if (!dwfl_frame_pc(frame, &pc, nullptr)) return DWARF_CB_ABORT;
    if (pc == 0) {  // the outermost frame, or the return address could not be read
      if (!self.has_left_copy) self.end = MLRUN_STACK_ROOT;
      return DWARF_CB_ABORT;
    }
    self.has_left_copy = false;
    if (File* file = self.file_at(pc - 1); file != nullptr && !file->is_opened) self.open(*file);
    if (!dwfl_frame_pc(frame, &pc, &is_interrupted)) return DWARF_CB_ABORT;
    if (self.is_first) {  // run() has added it already; here its address is inside the call, not after it
      self.is_first = false;
      return DWARF_CB_OK;
    }
    return self.add(pc, is_interrupted) ? DWARF_CB_OK : DWARF_CB_ABORT;
  }

  static pid_t next_thread(Dwfl* /*session*/, void* argument, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = argument;
    return kThread;
  }
  static bool get_thread(Dwfl* /*session*/, pid_t /*tid*/, void* argument, void** thread) {
    *thread = argument;
    return true;
  }
  static bool read_memory(Dwfl* /*session*/, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
    auto& self = *static_cast<Walk*>(argument);
    const uint64_t offset = address - self.copy->address;
    const size_t bytes = self.copy->bytes.size();
    if (offset >= bytes || bytes - offset < sizeof *word || self.copy->is_hole(offset)) {
      self.has_left_copy = true;
      self.left_at = offset;
      return false;
    }
    std::memcpy(word, self.copy->bytes.data() + offset, sizeof *word);
    return true;
  }
  // Registers by DWARF number.
  static bool set_registers(Dwfl_Thread* thread, void* argument) {
    const auto& copy = *static_cast<Walk*>(argument)->copy;
    const auto& from = copy.registers;
    const std::array<Dwarf_Word, 1> bx{from[MLRUN_STACK_BX]};
    const std::array<Dwarf_Word, 2> frame{from[MLRUN_STACK_BP], from[MLRUN_STACK_SP]};
    const std::array<Dwarf_Word, 5> others{from[MLRUN_STACK_R12], from[MLRUN_STACK_R13], from[MLRUN_STACK_R14],
                                           from[MLRUN_STACK_R15], from[MLRUN_STACK_PC] - 1};
    constexpr int kBx = 3, kBp = 6, kR12 = 12;
    return dwfl_thread_state_registers(thread, kBx, bx.size(), bx.data()) &&
           dwfl_thread_state_registers(thread, kBp, frame.size(), frame.data()) &&
           dwfl_thread_state_registers(thread, kR12, others.size(), others.data());
  }

  // libdw takes the architecture from the first module that exists.
  bool attach() {
    static constexpr Dwfl_Thread_Callbacks kThreadCallbacks = {.next_thread = next_thread,
                                                               .get_thread = get_thread,
                                                               .memory_read = read_memory,
                                                               .set_initial_registers = set_registers,
                                                               .detach = nullptr,
                                                               .thread_detach = nullptr};
    if (!is_attached) is_attached = dwfl_attach_state(session.get(), nullptr, kThread, &kThreadCallbacks, this);
    return is_attached;
  }

  void run() {
    if (!session || !add(copy->registers[MLRUN_STACK_PC], false)) return;
    is_first = true;
    const int ended = attach() ? dwfl_getthread_frames(session.get(), kThread, take_frame, this) : -1;
    if (end) return;
    if (has_left_copy) {
      constexpr uint64_t kStackMax = 8 << 20;  // an address farther behind the requested bytes is not on the stack
      const bool is_behind = left_at >= copy->asked_bytes && left_at - copy->asked_bytes < kStackMax;
      end = is_behind ? MLRUN_STACK_DEPTH : MLRUN_STACK_BROKEN;
    } else {
      end = ended == 0 ? MLRUN_STACK_ROOT : MLRUN_STACK_NO_TABLE;
    }
  }
};

StackWalker::StackWalker(std::vector<CodeMapping> mappings) : walk_(std::make_unique<Walk>()) {
  std::stable_sort(mappings.begin(), mappings.end(),
                   [](const CodeMapping& a, const CodeMapping& b) { return a.start < b.start; });
  for (CodeMapping& mapping : mappings) {
    walk_->files.emplace_back();
    walk_->files.back().mapping = std::move(mapping);
  }
}

StackWalker::~StackWalker() = default;

bool StackWalker::knows(uint64_t address) const { return walk_->file_at(address) != nullptr; }

WalkedStack StackWalker::walk(const StackCopy& copy, size_t depth) {
  walk_->copy = &copy;
  walk_->depth = depth;
  walk_->has_left_copy = false;
  walk_->end.reset();
  walk_->walked = {};
  walk_->run();
  walk_->walked.end = walk_->end.value_or(MLRUN_STACK_NO_TABLE);
  return std::exchange(walk_->walked, {});
}

const std::string& StackWalker::path(size_t mapping) const { return walk_->files[mapping - 1].path; }

const std::string& StackWalker::build_id(size_t mapping) const { return walk_->files[mapping - 1].build_id; }

}  // namespace mlrun::symbols
