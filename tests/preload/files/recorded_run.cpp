// SPDX-License-Identifier: Apache-2.0
#include "tests/preload/files/recorded_run.h"

#include <linux/close_range.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "runner/decode/func_names.h"

namespace mlrun::preload_test {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "mlrun-test.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

RunOptions file_calls_only() {
  RunOptions options;
  options.arena.streams = MLRUN_STREAM_FILES;
  return options;
}

RecordedRun::RecordedRun(const std::vector<std::string>& command, RunOptions options) {
  ::close_range(3, ~0u,
                CLOSE_RANGE_CLOEXEC);  // so that the command's first descriptor is 3, whatever descriptors we inherited
  options.on_record = [this](const RecordView& record) { take(record); };
  totals_ = run_traced(command, options);
  join();
}

void RecordedRun::take(const RecordView& view) {
  const events::RecordView record{static_cast<uint16_t>(view.kind()), view.units(), view.arg(), view.words};
  switch (events::class_of(record.kind)) {
    case events::EventClass::kCall: {
      RecordedCall call;
      events::decode(record, call.event);
      const events::FuncInfo* info = events::find_func(call.event.func);
      call.func = info == nullptr ? "?" : info->name;
      call.pid = view.descriptor->pid;
      call.tid = view.descriptor->tid;
      calls_.push_back(call);
      break;
    }
    case events::EventClass::kString: {
      events::StringEvent fragment;
      events::decode(record, fragment);
      if (fragment.fragment == 0) strings_[fragment.id].clear();
      events::append_text(fragment, strings_[fragment.id]);
      break;
    }
    case events::EventClass::kFile: {
      FileDefinition definition;
      events::decode(record, definition.event);
      definitions_.push_back(definition);
      break;
    }
    case events::EventClass::kAlloc:
    case events::EventClass::kFreeTime:
    case events::EventClass::kProcess:
    case events::EventClass::kEnd:
    case events::EventClass::kChildEnd:
    case events::EventClass::kRing:
    case events::EventClass::kSocket:
    case events::EventClass::kComm:
    case events::EventClass::kStack:
    case events::EventClass::kModule:
    case events::EventClass::kMark:
    case events::EventClass::kGpuWork:
    case events::EventClass::kGpuDevice:
    case events::EventClass::kGpuNote:
    case events::EventClass::kUnknown: break;
  }
}

void RecordedRun::join() {
  const auto text = [this](uint64_t id) { return id == 0 ? std::string() : strings_.at(id); };
  std::map<uint32_t, const FileDefinition*> by_number;
  for (FileDefinition& definition : definitions_) {
    definition.path = text(definition.event.path);
    by_number[definition.event.number] = &definition;
  }
  for (RecordedCall& call : calls_) {
    call.path = text(call.event.path);
    call.second_path = text(call.event.second_path);
    call.cwd = text(call.event.cwd);
    const auto found = by_number.find(call.event.open_file);
    if (found != by_number.end()) call.file = found->second;
  }
  std::stable_sort(calls_.begin(), calls_.end(),
                   [](const RecordedCall& a, const RecordedCall& b) { return a.event.start < b.event.start; });
}

std::vector<RecordedCall> RecordedRun::calls_of(const std::set<std::string>& functions) const {
  std::vector<RecordedCall> found;
  std::copy_if(calls_.begin(), calls_.end(), std::back_inserter(found),
               [&](const RecordedCall& call) { return functions.count(call.func) != 0; });
  return found;
}

std::vector<RecordedCall> RecordedRun::calls_on(const std::string& part) const {
  std::vector<RecordedCall> found;
  std::copy_if(calls_.begin(), calls_.end(), std::back_inserter(found), [&](const RecordedCall& call) {
    return call.path.find(part) != std::string::npos || call.file_path().find(part) != std::string::npos;
  });
  return found;
}

}  // namespace mlrun::preload_test
