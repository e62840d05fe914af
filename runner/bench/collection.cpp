// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/collection.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "runner/collect/pace.h"
#include "runner/collect/shared_word.h"
#include "runner/util/clock.h"

namespace mlrun::bench {

namespace {

constexpr uint64_t kBufferBytes = 64 << 20;
constexpr uint64_t kSpoolBytes = 256 << 20;  // about ten rounds

Result<std::string> make_folder() {
  const char* parent = std::getenv("TMPDIR");
  std::string name = std::string(parent != nullptr && *parent == '/' ? parent : "/tmp") + "/mlrun-bench-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return fail_errno("create the folder " + name, errno);
  return name;
}

}  // namespace

Result<std::unique_ptr<Collection>> Collection::start(const cpu_set_t& cpus) {
  auto folder = make_folder();
  if (!folder) return tl::make_unexpected(folder.error());
  std::unique_ptr<Collection> collection(new Collection(*std::move(folder), cpus));
  if (Status begun = collection->begin(); !begun) return tl::make_unexpected(begun.error());
  return collection;
}

Status Collection::begin() {
  collect::RecordingOptions options;
  options.trace_folder = folder_;
  options.buffer_bytes = kBufferBytes;
  options.max_spool_bytes = kSpoolBytes;
  options.lossless = true;
  auto recording = collect::Recording::create(options);
  if (!recording) return tl::make_unexpected(recording.error());
  recording_ = *std::move(recording);
  recording_->collector().start();
  enough_ = false;
  spool_bytes_ = 0;
  thread_ = std::thread([this] { collect(); });
  pthread_setaffinity_np(thread_.native_handle(), sizeof cpus_, &cpus_);
  return {};
}

void Collection::collect() {
  collect::Collector& collector = recording_->collector();
  collect::Pace pace(recording_->arena().control());
  while (!enough_) {
    pace.begin_pass();
    const uint32_t released = collector.pass();
    spool_bytes_ = recording_->spool().bytes();
    if (!enough_) pace.sleep(released, collector.pool(), false);
  }
  collected_.cpu_ns += util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void Collection::set_paused(bool paused) {
  collect::store(recording_->arena().control().state, uint32_t{paused ? MLRUN_PAUSE : MLRUN_RUN});
}

void Collection::stop_thread() {
  if (!thread_.joinable()) return;
  enough_ = true;
  mlrun_control& control = recording_->arena().control();
  collect::add(control.wake, 1u);
  collect::futex_wake_all(control.wake);
  thread_.join();
}

// Ends the current recording: adds its counts to collected_ and removes its files.
Status Collection::end() {
  stop_thread();
  const Status done = recording_->finish();
  if (done) {
    const collect::Collector& collector = recording_->collector();
    collected_.records += collector.drained().records;
    collected_.counted += collector.channels().counted;
    collected_.drops += collector.channels().drops;
  }
  recording_->discard();
  recording_.reset();
  return done;
}

Status Collection::make_room() {
  if (spool_bytes_ < kSpoolBytes / 2) return {};
  if (Status ended = end(); !ended) return ended;
  return begin();
}

Result<Collected> Collection::finish() {
  if (Status ended = end(); !ended) return tl::make_unexpected(ended.error());
  return collected_;
}

Collection::~Collection() {
  stop_thread();
  if (recording_) recording_->discard();
  ::rmdir(folder_.c_str());
}

}  // namespace mlrun::bench
