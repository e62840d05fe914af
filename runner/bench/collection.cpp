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
constexpr uint64_t kSpoolBytes = uint64_t{1} << 30;

Result<std::string> make_folder() {
  const char* parent = std::getenv("TMPDIR");
  std::string name = std::string(parent != nullptr && *parent == '/' ? parent : "/tmp") + "/mlrun-bench-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return fail_errno("make the folder " + name, errno);
  return name;
}

}  // namespace

Collection::Collection(std::string folder, std::unique_ptr<collect::Recording> recording)
    : folder_(std::move(folder)), recording_(std::move(recording)) {}

Result<std::unique_ptr<Collection>> Collection::start(const cpu_set_t& cpus) {
  auto folder = make_folder();
  if (!folder) return tl::make_unexpected(folder.error());
  collect::RecordingOptions options;
  options.trace_folder = *folder;
  options.buffer_bytes = kBufferBytes;
  options.max_spool_bytes = kSpoolBytes;
  options.lossless = true;
  auto recording = collect::Recording::create(options);
  if (!recording) {
    ::rmdir(folder->c_str());
    return tl::make_unexpected(recording.error());
  }
  std::unique_ptr<Collection> collection(new Collection(*std::move(folder), *std::move(recording)));
  collection->recording_->collector().start();
  collection->thread_ = std::thread([&self = *collection] { self.collect(); });
  pthread_setaffinity_np(collection->thread_.native_handle(), sizeof cpus, &cpus);
  return collection;
}

void Collection::collect() {
  collect::Collector& collector = recording_->collector();
  collect::Pace pace(recording_->arena().control());
  while (!enough_) {
    pace.begin_pass();
    const uint32_t released = collector.pass();
    if (!enough_) pace.sleep(released, collector.pool(), false);
  }
  cpu_ns_ = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
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

Result<Collected> Collection::finish() {
  stop_thread();
  finished_ = true;
  if (const Status done = recording_->finish(); !done) {
    recording_->discard();
    return tl::make_unexpected(done.error());
  }
  const collect::Collector& collector = recording_->collector();
  return Collected{collector.drained().records, collector.channels().counted, collector.channels().drops, cpu_ns_};
}

Collection::~Collection() {
  stop_thread();
  recording_->discard();  // after finish() only the spool is left of it
  ::rmdir(folder_.c_str());
}

}  // namespace mlrun::bench
