// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/timeline/call_use.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_map>

#include "runner/decode/func_names.h"

namespace mlrun::blame {

namespace {

bool is_any(std::string_view name, std::initializer_list<std::string_view> of) {
  return std::find(of.begin(), of.end(), name) != of.end();
}

WaitKind wait_kind(std::string_view name) {
  if (name.find("poll") != std::string_view::npos || name.find("select") != std::string_view::npos)
    return WaitKind::kPoll;
  if (name.starts_with("pthread_") && name.find("join") != std::string_view::npos) return WaitKind::kChild;
  if (name.starts_with("wait")) return WaitKind::kChild;
  if (name.find("sleep") != std::string_view::npos) return WaitKind::kSleep;
  const bool locks =
      name.starts_with("sem") || name.starts_with("pthread_") || name.starts_with("cnd_") || name == "futex";
  return locks ? WaitKind::kLock : WaitKind::kOther;
}

CallGroup group_of(mlrun_call_class call_class) {
  switch (call_class) {
    case MLRUN_CLASS_READ: return CallGroup::kRead;
    case MLRUN_CLASS_COPY:  // copies one file to another: a checkpoint, or a data set copied to a local disk
    case MLRUN_CLASS_WRITE: return CallGroup::kWrite;
    case MLRUN_CLASS_SYNC: return CallGroup::kSync;
    case MLRUN_CLASS_OPEN:
    case MLRUN_CLASS_CLOSE:
    case MLRUN_CLASS_SEEK:
    case MLRUN_CLASS_META: return CallGroup::kNames;
    case MLRUN_CLASS_MAP:
    case MLRUN_CLASS_FD:
    case MLRUN_CLASS_PROCESS:
    case MLRUN_CLASS_WAIT: return CallGroup::kOther;
  }
  return CallGroup::kOther;
}

const std::unordered_map<std::string_view, Use>& uses() {
  static const auto kUses = [] {
    std::unordered_map<std::string_view, Use> all;
    decode::for_each_func([&](const decode::FuncInfo& info) {
      const std::string_view name = info.name;
      Use use;
      use.group = group_of(info.call_class);
      use.waits = info.call_class == MLRUN_CLASS_WAIT;
      use.wait = wait_kind(name);
      use.joins = name.starts_with("pthread_") && use.wait == WaitKind::kChild;
      use.condition =
          name == "pthread_cond_timedwait" || name == "pthread_cond_clockwait" || name == "pthread_cond_wait";
      use.timed = use.condition && name != "pthread_cond_wait";
      if (is_any(name, {"posix_fadvise", "posix_fadvise64", "readahead"})) use.group = CallGroup::kRead;
      if (is_any(name, {"flock", "lockf"})) use = {.wait = WaitKind::kFileLock, .waits = true};
      use.moves_in = info.call_class == MLRUN_CLASS_READ;
      use.moves_out = info.call_class == MLRUN_CLASS_WRITE;
      use.opens = is_any(name, {"open", "openat", "fopen", "creat", "freopen"});
      use.stats = info.call_class == MLRUN_CLASS_META;
      use.connects = name == "connect";
      use.accepts = name == "accept" || name == "accept4";
      use.pairs = name == "socketpair";
      use.flushes = name == "fflush";
      use.maps = is_any(name, {"mmap", "mmap64"});
      use.controls = is_any(name, {"fcntl", "fcntl64"});
      use.may_block =
          !is_any(name, {"close", "fcntl", "ioctl", "pipe", "pipe2", "socket", "socketpair", "dup", "dup2", "dup3"});
      all[name] = use;
    });
    return all;
  }();
  return kUses;
}

}  // namespace

Use use_of(std::string_view name) {
  const auto found = uses().find(name);
  return found == uses().end() ? Use{} : found->second;
}

}  // namespace mlrun::blame
