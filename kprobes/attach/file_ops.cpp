// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/file_ops.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "runner/util/clock.h"

namespace mlrun::probes {

namespace {

// Two threads: the kernel verifies a program of one while it patches a function for the other. It patches one at a
// time.
constexpr size_t kThreadsMax = 2;
constexpr const char* kRecordedNothing = "attached, but a test of it recorded nothing";

// nullopt: this kernel has no such function.
std::optional<FileOps::Function> function_of(const FileFunction& what, FunctionTypes& types) {
  const auto place = types.find(what.name, what.module);
  if (!place && !types.may_exist(what.module)) return std::nullopt;
  return FileOps::Function{what, {}, {}, {}, place, {}, 0};
}

}  // namespace

bool is_tried(uint32_t op) { return op != MLRUN_FILE_FAULT && op != MLRUN_FILE_CLONE && op != MLRUN_FILE_COMPLETION; }

void FileOps::attach_by_kprobe(Function& function) const {
  function.mechanism.clear();
  function.probe.reset();
  if (programs_.call == nullptr) return;
  auto probe = FunctionProbe::by_kprobe(programs_, function.what);
  if (!probe) {
    function.reason = "kprobe: " + probe.error().text;
    return;
  }
  function.probe = *std::move(probe);
  function.mechanism = "kprobe";
}

void FileOps::attach_by_fentry(Function& function) const {
  if (programs_.entry == nullptr || !function.place) {
    function.reason =
        programs_.entry == nullptr ? programs_.why_no_entry : "fentry: the function is not in this kernel's BTF";
    return;
  }
  auto probe = FunctionProbe::by_fentry(programs_, function.what, *function.place);
  if (!probe) {
    function.reason = "fentry: " + probe.error().text;
    return;
  }
  function.probe = *std::move(probe);
  function.mechanism = "fentry";
}

// Attaches all functions by fentry, with up to kThreadsMax threads.
void FileOps::attach_all_by_fentry() {
  std::atomic<size_t> next = 0;
  const auto take_turns = [&] {
    for (size_t i = next++; i < functions_.size(); i = next++) attach_by_fentry(functions_[i]);
  };
  std::vector<std::jthread> others;
  const size_t wanted = std::min<size_t>(std::thread::hardware_concurrency(), kThreadsMax);
  try {
    while (others.size() + 1 < wanted) others.emplace_back(take_turns);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): without a second thread this one does the work
  }
  take_turns();
}

// Calls `then` for attached functions whose trial was not recorded. If no trial at all was recorded, then also for
// functions that the trial does not include.
void FileOps::doubt(const Seen& seen, const std::function<void(Function&)>& then) {
  const bool none = std::all_of(seen.begin(), seen.end(), [](int records) { return records == 0; });
  for (Function& function : functions_) {
    if (function.mechanism.empty() || !(is_tried(function.what.op) || none) || seen[function.what.op] != 0) continue;
    function.reason = function.mechanism + ": " + kRecordedNothing;
    then(function);
  }
}

void FileOps::attach(const FileOpPrograms& programs, FunctionTypes& types, const FileSystemTypes& mounted,
                     const std::function<Result<Seen>()>& try_all) {
  programs_ = programs;
  types_ = &types;
  known_ = mounted;
  std::vector<Function> fallbacks;
  for (const FileFunction& what : file_functions(mounted)) {
    if (auto function = function_of(what, types))
      (what.is_fallback ? fallbacks : functions_).push_back(*std::move(function));
  }
  attach_all_by_fentry();
  for (Function& function : functions_) {
    if (function.mechanism.empty()) attach_by_kprobe(function);
  }
  settle(try_all);
  add_fallbacks(std::move(fallbacks), try_all);
}

// Does the trial. A function whose trial was not recorded is attached by the next mechanism, or detached.
void FileOps::settle(const std::function<Result<Seen>()>& try_all) {
  bool by_kprobe = false;
  if (const auto seen = try_all()) {
    doubt(*seen, [&](Function& function) {
      const bool has_other = function.mechanism == "fentry";
      function.mechanism.clear();
      function.probe.reset();
      if (has_other) attach_by_kprobe(function);
      by_kprobe = by_kprobe || !function.mechanism.empty();
    });
  }
  if (!by_kprobe) return;
  if (const auto seen = try_all()) {
    doubt(*seen, [](Function& function) {
      function.mechanism.clear();
      function.probe.reset();
    });
  }
}

void FileOps::settle_fallback(Function& function, const std::function<Result<Seen>()>& try_all) const {
  attach_by_fentry(function);
  if (function.mechanism.empty()) attach_by_kprobe(function);
  while (!function.mechanism.empty()) {
    const auto seen = try_all();
    if (!seen || (*seen)[function.what.op] != 0) return;
    function.reason = function.mechanism + ": " + kRecordedNothing;
    const bool has_other = function.mechanism == "fentry";
    function.mechanism.clear();
    function.probe.reset();
    if (has_other) attach_by_kprobe(function);
  }
}

// Attaches the fallback functions of operations without another function. Does nothing if no function at all works.
void FileOps::add_fallbacks(std::vector<Function> fallbacks, const std::function<Result<Seen>()>& try_all) {
  const auto works = [](const Function& function) { return !function.mechanism.empty(); };
  if (std::none_of(functions_.begin(), functions_.end(), works)) return;
  for (Function& function : fallbacks) {
    const bool is_listed = std::any_of(functions_.begin(), functions_.end(), [&](const Function& other) {
      return works(other) && other.what.op == function.what.op;
    });
    if (is_listed) continue;
    settle_fallback(function, try_all);
    functions_.push_back(std::move(function));
  }
}

void FileOps::add(const FileSystemTypes& mounted) {
  const auto is_known = [](const auto& functions, const FileFunction& what) {
    return std::any_of(functions.begin(), functions.end(),
                       [&](const Function& function) { return function.what.name == what.name; });
  };
  if (waiting_.empty() && types_ != nullptr) types_->forget_modules();  // the mount may have loaded a module
  for (const std::string& type : mounted) {
    if (!known_.insert(type).second) continue;
    for (const FileFunction& what : file_functions({type})) {
      if (what.is_fallback || is_known(functions_, what) || is_known(waiting_, what)) continue;
      auto function = function_of(what, *types_);
      if (!function) continue;
      function->file_system = type;
      waiting_.push_back(*std::move(function));
    }
  }
}

const FileOps::Function* FileOps::attach_next(bool is_late) {
  if (waiting_.empty()) return nullptr;
  functions_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  Function& function = functions_.back();
  attach_by_fentry(function);
  if (function.mechanism.empty()) attach_by_kprobe(function);
  if (is_late) function.since_ns = util::monotonic_ns();
  return &function;
}

}  // namespace mlrun::probes
