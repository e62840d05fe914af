// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/io_handles.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "runner/exchange/call_classes.h"

namespace mlrun::exchange {

bool is_stdio(std::string_view func) {
  constexpr std::array<std::string_view, 14> kNames = {"fopen",   "fdopen",  "freopen", "fclose", "fread",
                                                       "fwrite",  "fflush",  "fseek",   "fgets",  "fputs",
                                                       "getline", "tmpfile", "popen",   "pclose"};
  return std::find(kNames.begin(), kNames.end(), func) != kNames.end() || func.starts_with("stdio");
}

int64_t Otf2IoHandles::begin(const Otf2Call& call, Otf2Lane& lane, int64_t ts) {
  const mlrun_call_class* call_class = class_of_name(call.func);
  if (call_class == nullptr || (call.ofd_id == 0 && call.file_id == 0)) return 0;
  const auto at_end = [&](const Otf2IoEnd& end) {
    lane.at_end(end);
    return end.what == Otf2IoEnd::What::kNothing ? 0 : 1;
  };
  const auto operation = [&](OTF2_IoOperationMode mode) {
    Otf2IoEnd end{.what = call.err == 0 ? Otf2IoEnd::What::kComplete : Otf2IoEnd::What::kCancel,
                  .handle = use(call),
                  .matching_id = ++operations_,
                  .bytes = uint64_t(std::max<int64_t>(call.ret, 0))};
    if (mode == OTF2_IO_OPERATION_MODE_FLUSH) end.bytes = 0;
    if (lane.events() != nullptr) {
      lane.check(OTF2_EvtWriter_IoOperationBegin(lane.events(), nullptr, lane.moment(ts), end.handle, mode,
                                                 OTF2_IO_OPERATION_FLAG_NONE,
                                                 uint64_t(std::max<int64_t>(call.requested, 0)), end.matching_id));
    }
    lane.at_end(end);
    return 2;
  };
  switch (*call_class) {
    case MLRUN_CLASS_READ: return operation(OTF2_IO_OPERATION_MODE_READ);
    case MLRUN_CLASS_WRITE: return operation(OTF2_IO_OPERATION_MODE_WRITE);
    case MLRUN_CLASS_SYNC: return call.ofd_id != 0 ? operation(OTF2_IO_OPERATION_MODE_FLUSH) : 0;
    case MLRUN_CLASS_OPEN:
      if (call.err != 0 || call.ofd_id == 0 || call.func == "fdopen") return 0;
      return at_end({.what = Otf2IoEnd::What::kCreate, .handle = add(call, false), .flags = uint32_t(call.flags)});
    case MLRUN_CLASS_CLOSE: return call.err == 0 && call.ofd_id != 0 ? at_end(close(call)) : 0;
    case MLRUN_CLASS_SEEK:
      if (call.err != 0 || call.whence < 0 || call.whence > SEEK_HOLE) return 0;
      return at_end({.what = Otf2IoEnd::What::kSeek,
                     .handle = use(call),
                     .bytes = uint64_t(std::max<int64_t>(call.ret, 0)),
                     .requested = call.position,
                     .flags = uint32_t(call.whence)});
    case MLRUN_CLASS_FD:
      if (call.err == 0 && call.func.starts_with("dup")) {
        const auto found = known_.find(key_of(call));
        if (found != known_.end()) ++found->second.descriptors;
      }
      return 0;
    case MLRUN_CLASS_META:
    case MLRUN_CLASS_MAP:
    case MLRUN_CLASS_PROCESS:
    case MLRUN_CLASS_COPY:
    case MLRUN_CLASS_WAIT: return 0;
  }
  return 0;
}

OTF2_IoHandleRef Otf2IoHandles::use(const Otf2Call& call) {
  const auto found = known_.find(key_of(call));
  return found != known_.end() ? found->second.handle : add(call, true);
}

OTF2_IoHandleRef Otf2IoHandles::add(const Otf2Call& call, bool existed) {
  // All passes number the handles alike; only the first pass defines them.
  const OTF2_IoHandleRef handle = next_++;
  if (handle == definitions_.handles()) {
    definitions_.add_handle({
        .name = definitions_.text(call.path),
        .file = call.file_id > 0 ? OTF2_IoFileRef(call.file_id - 1) : OTF2_UNDEFINED_IO_FILE,
        .is_stdio = is_stdio(call.func),
        .existed = existed,
        .group = call.group,
    });
  }
  known_[key_of(call)] = {handle, 1, existed};
  return handle;
}

// The handle ends unless other descriptors share it, or it was open before the first call of it that is exported.
Otf2IoEnd Otf2IoHandles::close(const Otf2Call& call) {
  const auto found = known_.find(key_of(call));
  if (found == known_.end() || found->second.existed || --found->second.descriptors > 0) return {};
  const OTF2_IoHandleRef handle = found->second.handle;
  known_.erase(found);
  return {.what = Otf2IoEnd::What::kDestroy, .handle = handle};
}

}  // namespace mlrun::exchange
