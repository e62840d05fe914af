// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/interpreter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "runner/samplers/python/line_table.h"
#include "runner/samplers/python/remote_memory.h"
#include "runner/util/proc_files.h"
#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

namespace mlrun::python {

namespace {

constexpr size_t kInterpretersMax = 64, kThreadsMax = 4096, kFilesMax = 1000;
constexpr size_t kVisitedMax = 2 * kFramesMax;  // including C frames and frames that have not begun
constexpr uint64_t kWindowBytes = 16 << 10, kChunkBytesMax = 1 << 24;
constexpr int kTries = 5;

// Not libpython3.so, which only forwards calls.
bool is_library(std::string_view name) {
  constexpr std::string_view kPrefix = "libpython3.";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() && name[kPrefix.size()] >= '0' &&
         name[kPrefix.size()] <= '9';
}

// "python", "python3", "python3.12"; "python3.14t" has no global lock, "python3.14d" is a debug build
bool is_program_name(std::string_view name) {
  constexpr std::string_view kPrefix = "python";
  return name.starts_with(kPrefix) && name.find_first_not_of("0123456789.td", kPrefix.size()) == std::string_view::npos;
}

bool is_of_access(int error) { return error == EACCES || error == EPERM; }

// Does the process exist, but we may not read it? Which of these two files is refused depends on the kernel.
bool is_refused(uint32_t pid) {
  const util::UniqueFd maps(::open(fmt::format("/proc/{}/maps", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!maps.valid() && is_of_access(errno)) return true;
  char byte = 0;
  return ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), &byte, 1) < 0 && is_of_access(errno);
}

// Where CPython may be: in libpython if it is mapped, else in the program itself, whatever its name.
const util::Module* find_module(const std::vector<util::Module>& modules, const std::string& program) {
  const util::Module* found = nullptr;
  for (const util::Module& module : modules) {
    if (is_library(util::base_name(module.path))) return &module;
    if (module.path == program && !found) found = &module;
  }
  return found;
}

}  // namespace

std::shared_ptr<const InterpreterFile> InterpreterFiles::find(const std::string& path, bool thorough) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return nullptr;
  const std::tuple key(uint64_t{about.st_dev}, uint64_t{about.st_ino}, int64_t{about.st_mtim.tv_sec});
  const auto found = files_.find(key);
  if (found != files_.end()) return found->second;
  if (files_.size() >= kFilesMax) files_.clear();
  return files_[key] = std::make_shared<const InterpreterFile>(read_interpreter_file(path, thorough));
}

Result<std::unique_ptr<Interpreter>> Interpreter::find(uint32_t pid, InterpreterFiles& files) {
  const std::string program = util::read_exe(pid);
  const std::vector<util::Module> modules = util::read_modules(pid);
  const util::Module* module = find_module(modules, program);
  if (!module && is_refused(pid)) return fail(kRefused);
  if (!module) return nullptr;
  const bool is_program = module->path == program;
  const bool named = !is_program || is_program_name(util::base_name(program));
  const std::string path =
      is_program ? fmt::format("/proc/{}/exe", pid) : fmt::format("/proc/{}/root{}", pid, module->path);
  const auto file = files.find(path, named);
  if (!file && !is_program)
    return fail(fmt::format("the file of {} was not found; it may have been deleted or replaced",
                            util::base_name(module->path)));
  const bool is_python = file && file->is_python();
  if (!is_python && !named) return nullptr;
  if (!is_python || file->version == 0)
    return fail(fmt::format("Python before 3.11 is not supported, only {}", kKnownVersions));
  bool placed = false;
  const uint64_t bias = file->bias(module->start, module->file_offset, placed);
  const bool typed = file->code_type != 0 && file->text_type != 0 && file->bytes_type != 0;
  if (!placed || !typed)
    return fail(fmt::format("{} has no symbols of its object types", util::base_name(module->path)));
  RemoteMemory memory(pid);
  const auto version = memory.get<uint32_t>(bias + file->version);
  if (!version && memory.last_error() == EPERM) return fail(kRefused);
  if (!version) return nullptr;
  const auto layout = layout_of(*version, bias + file->runtime, memory);
  if (!layout) return tl::make_unexpected(layout.error());
  const Types types{bias + file->code_type, bias + file->text_type, bias + file->bytes_type};
  LoopTypes loop_types;
  if (layout->has_loops && file->loop_types.all_known()) {
    loop_types = file->loop_types;
    for (uint64_t* type : {&loop_types.range, &loop_types.enumerate, &loop_types.list, &loop_types.tuple,
                           &loop_types.generator, &loop_types.zip, &loop_types.map})
      *type += bias;
  }
  return std::unique_ptr<Interpreter>(new Interpreter(pid, bias + file->runtime, *layout, types, loop_types));
}

Interpreter::Interpreter(uint32_t pid, uint64_t runtime, const Layout& layout, const Types& types,
                         const LoopTypes& loop_types)
    : memory_(pid), runtime_(runtime), layout_(layout), codes_(layout_, types) {
  if (loop_types.all_known()) loops_ = std::make_unique<LoopReader>(loop_types, memory_, codes_);
}

std::vector<Interpreter::Thread> Interpreter::threads() {
  std::vector<Thread> threads;
  size_t visited = 0;  // total over all interpreters; the limit ends a cycle in corrupt memory
  memory_.forget_error();
  uint64_t interpreter = memory_.get<uint64_t>(runtime_ + layout_.interpreters_head).value_or(0);
  for (size_t i = 0; interpreter != 0 && i < kInterpretersMax; ++i) {
    uint64_t state = memory_.get<uint64_t>(interpreter + layout_.threads_head).value_or(0);
    for (; state != 0 && visited < kThreadsMax; ++visited) {
      uint64_t next = 0, native_id = 0;
      const RemotePiece pieces[] = {{state + layout_.thread_next, &next, sizeof next},
                                    {state + layout_.thread_native_id, &native_id, sizeof native_id}};
      if (!memory_.read(pieces)) break;
      if (native_id != 0 && native_id <= INT32_MAX) threads.push_back({state, static_cast<uint32_t>(native_id)});
      state = next;
    }
    interpreter = memory_.get<uint64_t>(interpreter + layout_.interpreter_next).value_or(0);
  }
  return threads;
}

bool Interpreter::read_top(uint64_t state, Top& top) {
  uint64_t at = state + layout_.thread_frame;
  if (layout_.has_c_frame) {
    const auto c_frame = memory_.get<uint64_t>(at);
    if (!c_frame || *c_frame == 0) return false;
    top.c_frame = *c_frame;
    at = *c_frame + layout_.c_frame_frame;
  }
  const RemotePiece pieces[] = {{at, &top.frame, sizeof top.frame},
                                {state + layout_.thread_chunk, &top.chunk, sizeof top.chunk},
                                {state + layout_.thread_native_id, &top.native_id, sizeof top.native_id}};
  return memory_.read(pieces);
}

// Reads the newest frames in one piece. The same call then reads again which frame is innermost, to detect changes.
bool Interpreter::load_window(uint64_t state, const Top& top, Top& after) {
  const uint64_t end = top.frame + layout_.frame_bytes;
  const bool in_chunk = top.chunk != 0 && top.frame > top.chunk && top.frame - top.chunk < kChunkBytesMax;
  window_address_ = in_chunk ? std::max(top.chunk, end - std::min(end, kWindowBytes)) : top.frame;
  window_.resize(end - window_address_);
  after = top;
  std::array<RemotePiece, 3> pieces;
  size_t count = 0;
  pieces[count++] = {window_address_, window_.data(), window_.size()};
  const uint64_t frame_pointer_at =
      layout_.has_c_frame ? top.c_frame + layout_.c_frame_frame : state + layout_.thread_frame;
  pieces[count++] = {frame_pointer_at, &after.frame, sizeof after.frame};
  if (layout_.has_c_frame) pieces[count++] = {state + layout_.thread_frame, &after.c_frame, sizeof after.c_frame};
  return memory_.read(std::span(pieces.data(), count));
}

// The frame at `address`, valid until the next call. Null: unreadable.
const char* Interpreter::frame_at(uint64_t address) {
  if (address >= window_address_ && window_.size() >= layout_.frame_bytes &&
      address - window_address_ <= window_.size() - layout_.frame_bytes) {
    return window_.data() + (address - window_address_);
  }
  left_window_ = true;
  single_.resize(layout_.frame_bytes);
  return memory_.read(address, single_.data(), single_.size()) ? single_.data() : nullptr;
}

// Collects raw_ from the innermost frame outwards.
bool Interpreter::walk(uint64_t address) {
  raw_.clear();
  cut_ = left_window_ = false;
  for (size_t visited = 0; address != 0; ++visited) {
    if (raw_.size() > kFramesMax || visited == kVisitedMax) break;
    const char* frame = frame_at(address);
    if (!frame) return false;
    const auto owner = value_at<uint8_t>(frame, layout_.frame_owner);
    if (owner < layout_.owner_c) {
      const auto code = value_at<uint64_t>(frame, layout_.frame_code) & ~layout_.frame_code_tags;
      raw_.push_back({address, code, value_at<uint64_t>(frame, layout_.frame_instruction), owner});
    }
    address = value_at<uint64_t>(frame, layout_.frame_previous);
  }
  cut_ = address != 0 || raw_.size() > kFramesMax;
  return true;
}

// Fills in functions and lines of all frames. False: a frame is invalid.
bool Interpreter::name(Stack& stack) {
  std::vector<uint64_t> addresses;
  for (const RawFrame& frame : raw_) addresses.push_back(frame.code);
  std::vector<std::shared_ptr<const Code>>& codes = raw_codes_;
  if (!codes_.find(memory_, addresses, codes)) return false;
  stack.frames.clear();
  for (size_t i = 0; i < raw_.size(); ++i) {
    const Code& code = *codes[i];
    const uint64_t instruction = raw_[i].instruction;
    const bool has_begun = raw_[i].owner == layout_.owner_generator || instruction >= code.traceable;
    if (instruction + 2 < code.instructions || instruction >= code.instructions + code.instruction_bytes) return false;
    if (!has_begun) continue;  // the function has not begun, so its frame is left out
    const uint64_t offset = instruction < code.instructions ? 0 : instruction - code.instructions;
    stack.frames.push_back({codes[i], line_at(code.lines, code.first_line, offset)});
  }
  stack.cut = cut_ || stack.frames.size() > kFramesMax;
  if (stack.frames.size() > kFramesMax) stack.frames.resize(kFramesMax);
  return true;
}

// Checks the thread id: when a thread has ended, its state's memory may be reused for another thread.
Interpreter::Outcome Interpreter::try_stack(const Thread& thread, Stack& stack) {
  const uint64_t state = thread.state;
  Top top, after;
  if (!read_top(state, top)) return Outcome::kChanged;
  if (top.frame == 0 || top.native_id != thread.tid) return Outcome::kEmpty;
  if (!load_window(state, top, after) || after != top) return Outcome::kChanged;
  if (!walk(top.frame)) return Outcome::kChanged;
  if (left_window_ && (!read_top(state, after) || after != top)) return Outcome::kChanged;
  if (!name(stack)) return Outcome::kChanged;
  return stack.frames.empty() ? Outcome::kEmpty : Outcome::kRead;
}

// Reads loops only in the outermost frames, where the loop of a training is.
void Interpreter::read_loops(Stack& stack) {
  constexpr size_t kOutermost = 24;
  stack.loops.clear();
  if (!loops_ || cut_) return;
  std::vector<LoopReader::Frame> frames;
  for (size_t i = raw_.size(); i-- > 0 && frames.size() < kOutermost;)
    frames.push_back(
        {raw_[i].address + layout_.frame_bytes, raw_codes_[i].get(), raw_[i].owner == layout_.owner_generator});
  stack.loops = loops_->read(frames);
}

bool Interpreter::read_stack(const Thread& thread, bool loops, Stack& stack, bool& discarded) {
  Outcome outcome = Outcome::kChanged;
  for (int i = 0; i < kTries && outcome == Outcome::kChanged; ++i) outcome = try_stack(thread, stack);
  discarded = outcome == Outcome::kChanged;
  if (outcome == Outcome::kRead && loops) read_loops(stack);
  return outcome == Outcome::kRead;
}

}  // namespace mlrun::python
