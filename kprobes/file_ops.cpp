// SPDX-License-Identifier: Apache-2.0
#include "kprobes/file_ops.h"

#include <algorithm>
#include <utility>

#include "runner/util/clock.h"

namespace mlrun::probes {

namespace {

constexpr const char* kSilent = "attached, but a test of it recorded nothing";

// Memory has no pages to wait for, no blocks to share and nothing that is over later.
bool is_tried(uint32_t op) { return op != MLRUN_FILE_FAULT && op != MLRUN_FILE_CLONE && op != MLRUN_FILE_COMPLETION; }

bool exists(const FileFunction& function, FunctionTypes& types) {
  return types.find(function.name, function.module) || types.may_exist(function.module);
}

}  // namespace

void FileOps::attach_by_kprobe(Function& function, const FileOpPrograms& programs) {
  function.way.clear();
  function.probe.reset();
  if (programs.call == nullptr) return;
  auto probe = FunctionProbe::by_kprobe(programs, function.what);
  if (!probe) {
    function.reason = "kprobe: " + probe.error().text;
    return;
  }
  function.probe = *std::move(probe);
  function.way = "kprobe";
}

void FileOps::attach(Function& function, const FileOpPrograms& programs, FunctionTypes& types) {
  const auto place = types.find(function.what.name, function.what.module);
  if (programs.entry != nullptr && place) {
    auto probe = FunctionProbe::by_fentry(programs, function.what, *place);
    if (probe) {
      function.probe = *std::move(probe);
      function.way = "fentry";
      return;
    }
    function.reason = "fentry: " + probe.error().text;
  }
  attach_by_kprobe(function, programs);
}

// What was attached and has shown nothing of an operation that was tried; if nothing did, the rest is no better.
void FileOps::doubt(const Seen& seen, const std::function<void(Function&)>& then) {
  const bool none = std::all_of(seen.begin(), seen.end(), [](int records) { return records == 0; });
  for (Function& function : functions_) {
    if (function.way.empty() || !(is_tried(function.what.op) || none) || seen[function.what.op] != 0) continue;
    function.reason = function.way + ": " + kSilent;
    then(function);
  }
}

void FileOps::attach(const FileOpPrograms& programs, const btf* kernel, const FileSystemTypes& mounted,
                     const std::function<Result<Seen>()>& try_all) {
  programs_ = programs;
  kernel_ = kernel;
  known_ = mounted;
  FunctionTypes types(kernel);
  for (const FileFunction& what : file_functions(mounted)) {
    if (!exists(what, types)) continue;
    functions_.push_back({what, {}, {}, {}, {}, 0});
    attach(functions_.back(), programs, types);
  }
  bool by_kprobe = false;
  if (const auto seen = try_all()) {
    doubt(*seen, [&](Function& function) {
      const bool has_other = function.way == "fentry";
      function.way.clear();
      function.probe.reset();
      if (has_other) attach_by_kprobe(function, programs_);
      by_kprobe = by_kprobe || !function.way.empty();
    });
  }
  if (!by_kprobe) return;
  if (const auto seen = try_all()) {
    doubt(*seen, [](Function& function) {
      function.way.clear();
      function.probe.reset();
    });
  }
}

void FileOps::add(const FileSystemTypes& mounted) {
  const auto is_known = [](const auto& functions, const FileFunction& what) {
    return std::any_of(functions.begin(), functions.end(),
                       [&](const Function& function) { return function.what.name == what.name; });
  };
  for (const std::string& type : mounted) {
    if (!known_.insert(type).second) continue;
    if (!types_) types_.emplace(kernel_);
    for (const FileFunction& what : file_functions({type})) {
      if (is_known(functions_, what) || is_known(waiting_, what) || !exists(what, *types_)) continue;
      waiting_.push_back({what, {}, {}, {}, type, 0});
    }
  }
}

const FileOps::Function* FileOps::attach_next(bool is_late) {
  if (waiting_.empty()) {
    types_.reset();
    return nullptr;
  }
  functions_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  Function& function = functions_.back();
  attach(function, programs_, *types_);
  if (is_late) function.since_ns = util::monotonic_ns();
  return &function;
}

}  // namespace mlrun::probes
