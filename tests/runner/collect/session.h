// SPDX-License-Identifier: Apache-2.0
// An arena, a spool and a collector in a folder of their own, for one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "runner/collect/recording.h"
#include "tests/runner/collect/recording_thread.h"
#include "tests/runner/collect/spool_frames.h"

namespace mlrun::collect::testing {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/mlrun-test-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path;
};

// The smallest arena that mlrun allows has 29 segments or so.
constexpr uint64_t kSmallBuffer = 4 << 20;

class Session {
 public:
  explicit Session(uint64_t buffer_bytes = kSmallBuffer, uint64_t max_spool_bytes = uint64_t{1} << 30) {
    RecordingOptions options;
    options.trace_folder = folder.path;
    options.buffer_bytes = buffer_bytes;
    options.buffer_exact = true;
    options.max_spool_bytes = max_spool_bytes;
    auto made = Recording::create(options);
    if (!made) throw std::runtime_error(made.error().text);
    recording = std::move(*made);
    recording->collector().start();
  }

  ~Session() { recording->discard(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Arena& arena() { return recording->arena(); }
  Collector& collector() { return recording->collector(); }

  // Ends the recording and reads what came of it.
  SpoolFrames finish() {
    const Status finished = recording->finish();
    if (!finished) return {{}, finished.error().text};
    return read_spool(spool_path(folder.path));
  }

  Folder folder;
  std::unique_ptr<Recording> recording;
};

inline std::vector<uint64_t> count_up(uint64_t from, uint64_t to) {
  std::vector<uint64_t> numbers;
  for (uint64_t i = from; i < to; i++) numbers.push_back(i);
  return numbers;
}

}  // namespace mlrun::collect::testing
