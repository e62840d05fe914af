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
  const decode::RecordView record{static_cast<uint16_t>(view.kind()), view.units(), view.arg(), view.words};
  switch (decode::class_of(record.kind)) {
    case decode::EventClass::kCall: {
      RecordedCall call;
      decode::decode(record, call.event);
      const decode::FuncInfo* info = decode::find_func(call.event.func);
      call.func = info == nullptr ? "?" : info->name;
      call.pid = view.descriptor->pid;
      call.tid = view.descriptor->tid;
      calls_.push_back(call);
      break;
    }
    case decode::EventClass::kString: {
      decode::StringEvent fragment;
      decode::decode(record, fragment);
      if (fragment.fragment == 0) strings_[fragment.id].clear();
      decode::append_text(fragment, strings_[fragment.id]);
      break;
    }
    case decode::EventClass::kFile: {
      FileDefinition definition;
      decode::decode(record, definition.event);
      definitions_.push_back(definition);
      break;
    }
    case decode::EventClass::kAlloc:
    case decode::EventClass::kFreeTime:
    case decode::EventClass::kProcess:
    case decode::EventClass::kEnd:
    case decode::EventClass::kChildEnd:
    case decode::EventClass::kRing:
    case decode::EventClass::kSocket:
    case decode::EventClass::kComm:
    case decode::EventClass::kStack:
    case decode::EventClass::kModule:
    case decode::EventClass::kMark:
    case decode::EventClass::kGpuWork:
    case decode::EventClass::kGpuDevice:
    case decode::EventClass::kGpuNote:
    case decode::EventClass::kUnknown: break;
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
