// SPDX-License-Identifier: Apache-2.0
// Trainings in C++ whose loop waits for producer threads: cxx PROGRAM FILE SECONDS. Prints its truth as truth.py does.
//
//   condition, timed    two producers, a queue under std::condition_variable; timed: the loop waits in pieces
//   condition_cpu       as condition, but the producer (one) computes in no call at all
//   future              std::async makes the next batch while the loop waits for it
//   atomic              one producer, std::atomic::wait
//   ok                  as condition, with a short batch and a long step
//
// A batch takes 40 ms (two producers: 80 ms each) of reads past the page cache, a step 10 ms: 75 % of the loop without a batch. future and
// ok say themselves.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::int64_t clock_ns(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}
std::int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

// Computes until the clock (wall time, or the thread's processor time) has gone on by so much.
void compute(double seconds, clockid_t clock = CLOCK_MONOTONIC) {
  const std::int64_t end = clock_ns(clock) + static_cast<std::int64_t>(seconds * 1e9);
  volatile double x = 1;
  while (clock_ns(clock) < end) {
    for (int i = 0; i < 2000; ++i) {
      x = x * 1.0000001;
    }
  }
}

struct Free {
  void operator()(void* block) const { std::free(block); }
};

void read_direct(const char* path, int seed, double seconds) {
  constexpr std::size_t request = 256 << 10;
  const int fd = open(path, O_RDONLY | O_DIRECT);
  std::unique_ptr<void, Free> buffer(std::aligned_alloc(4096, request));
  const off_t places = fd < 0 ? 0 : lseek(fd, 0, SEEK_END) / static_cast<off_t>(request);
  if (places <= 0 || !buffer) {
    std::perror(path);
    std::exit(1);
  }
  const std::int64_t end = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
  for (unsigned place = seed * 2654435761U; now_ns() < end; place = place * 1664525U + 1013904223U) {
    if (pread(fd, buffer.get(), request, (place >> 8) % places * static_cast<off_t>(request)) < 0) {
      std::perror(path);
      std::exit(1);
    }
  }
  close(fd);
}

class Queue {
 public:
  explicit Queue(bool timed) : timed_(timed) {}
  void put(int batch) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return batches_.size() < 4; });
    batches_.push_back(batch);
    lock.unlock();
    filled_.notify_one();
  }
  int get() {
    std::unique_lock lock(mutex_);
    const auto there = [&] { return !batches_.empty(); };
    if (timed_) {
      while (!filled_.wait_for(lock, std::chrono::seconds(1), there)) {
      }
    } else {
      filled_.wait(lock, there);
    }
    const int batch = batches_.front();
    batches_.pop_front();
    lock.unlock();
    room_.notify_one();
    return batch;
  }

 private:
  const bool timed_;
  std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<int> batches_;
};

struct Truth {
  std::int64_t began = now_ns(), ended = 0, waited = 0, first = 0, computed = 0, shut = 0;
  std::vector<std::int64_t> steps;

  template <typename Get>
  void step(Get get, double step_s) {
    const std::int64_t asked = now_ns();
    get();
    const std::int64_t got = now_ns();
    waited += got - asked;
    first = steps.empty() ? got - asked : first;
    steps.push_back(got);
    compute(step_s);
    computed += now_ns() - got;
  }
  template <typename Shut>
  void end(Shut close_loader) {
    const std::int64_t from = now_ns();
    close_loader();
    ended = now_ns();
    shut = ended - from;
  }
  void print(const std::string& program, const char* expect) const {
    const bool ok = program == "ok";
    std::printf(R"({"truth": "%s", "expect": "%s", "accept": [], "then": [], "planted": "%s", "imports_ns": 0, )",
                (ok ? "ok_cxx" : "cxx_" + program).c_str(), expect, ok ? "compute_ns" : "without_batch_ns");
    std::printf(
        R"("begin_ns": %lld, "end_ns": %lld, "loop_ns": %lld, "without_batch_ns": %lld, "first_batch_ns": %lld, )",
        static_cast<long long>(began), static_cast<long long>(ended), static_cast<long long>(ended - began),
        static_cast<long long>(waited), static_cast<long long>(first));
    std::printf(
        R"("compute_ns": %lld, "checkpoint_ns": 0, "logging_ns": 0, "loader_end_ns": %lld, "steps": %zu, "step_begin_ns": [)",
        static_cast<long long>(computed), static_cast<long long>(shut), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      std::printf("%s%lld", i == 0 ? "" : ", ", static_cast<long long>(steps[i]));
    }
    std::printf("]}\n");
  }
};

template <typename Produce>
void by_queue(Truth& truth, bool timed, int producers, int steps, double step_s, Produce produce) {
  Queue queue(timed);
  std::vector<std::thread> threads;
  for (int k = 0; k < producers; ++k) {
    threads.emplace_back([&, k] {
      for (int i = k; i < steps; i += producers) {
        produce(i);
        queue.put(i);
      }
    });
  }
  for (int i = 0; i < steps; ++i) {
    truth.step([&] { queue.get(); }, step_s);
  }
  truth.end([&] {
    for (std::thread& thread : threads) {
      thread.join();
    }
  });
}

// The batch takes 30 ms from the moment that the loop asks for the next one, which it then waits for after a step of 10 ms: 67 %.
void by_future(Truth& truth, int steps, const char* path) {
  const auto produce = [path](int i) { read_direct(path, i, 0.03); };
  std::future<void> next = std::async(std::launch::async, produce, 0);
  for (int i = 0; i < steps; ++i) {
    truth.step([&] { next.get(); }, 0.01);
    next = std::async(std::launch::async, produce, i + 1);
  }
  truth.end([&] { next.get(); });
}

void by_atomic(Truth& truth, int steps, const char* path) {
  std::atomic<int> made{0};
  std::thread producer([&] {
    for (int i = 0; i < steps; ++i) {
      read_direct(path, i, 0.04);
      made.store(i + 1);
      made.notify_one();
    }
  });
  for (int i = 0; i < steps; ++i) {
    truth.step(
        [&] {
          for (int seen = made.load(); seen <= i; seen = made.load()) {
            made.wait(seen);
          }
        },
        0.01);
  }
  truth.end([&] { producer.join(); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "Usage: %s condition|condition_cpu|timed|future|atomic|ok FILE SECONDS\n", argv[0]);
    return 2;
  }
  const std::string program = argv[1];
  const char* path = argv[2];
  const int steps = std::max(8, static_cast<int>(std::atof(argv[3]) / 0.04));
  const auto reads = [path](int i) { read_direct(path, i, 0.08); };
  Truth truth;
  if (program == "condition" || program == "timed") {
    by_queue(truth, program == "timed", 2, steps, 0.01, reads);
  } else if (program == "condition_cpu") {
    by_queue(truth, false, 1, steps, 0.01, [](int) { compute(0.04, CLOCK_THREAD_CPUTIME_ID); });
  } else if (program == "ok") {
    by_queue(truth, false, 2, steps, 0.04, [path](int i) { read_direct(path, i, 0.01); });
  } else if (program == "future") {
    by_future(truth, steps, path);
  } else if (program == "atomic") {
    by_atomic(truth, steps, path);
  } else {
    std::fprintf(stderr, "%s: no such program\n", argv[1]);
    return 2;
  }
  truth.print(program, program == "ok"              ? "compute_bound"
                       : program == "condition_cpu" ? "data_transform_cpu"
                                                    : "data_device");
  return 0;
}
