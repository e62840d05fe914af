// SPDX-License-Identifier: Apache-2.0
// atomic_waits: std::atomic::wait and std::condition_variable between known threads; prints "NAME WAITER POSTER".
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace {

std::atomic<int> value{0};
std::mutex mutex;
std::condition_variable condition;
bool ready = false;

int own_tid() { return static_cast<int>(syscall(SYS_gettid)); }

void until_it_sleeps(int tid) {
  for (int seen = 0; seen < 3;) {
    std::string text;
    std::getline(std::ifstream("/proc/self/task/" + std::to_string(tid) + "/stat"), text);
    if (text.size() > text.rfind(')') + 2 && text[text.rfind(')') + 2] == 'S') ++seen;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

template <typename Wait, typename Post>
void one(const char* name, Wait wait, Post post) {
  std::atomic<int> waiter{0};
  int poster = 0;
  std::thread waits([&] {
    waiter = own_tid();
    wait();
  });
  while (waiter == 0) std::this_thread::yield();
  until_it_sleeps(waiter);
  std::thread posts([&] {
    poster = own_tid();
    post();
  });
  waits.join();
  posts.join();
  std::printf("%s %d %d\n", name, waiter.load(), poster);
}

}  // namespace

int main() {
  for (int i = 0; i < 20; ++i) {
    one(
        "futex", [i] { value.wait(i); },
        [] {
          ++value;
          value.notify_one();
        });
  }
  one(
      "pthread_cond_wait",
      [] {
        std::unique_lock lock(mutex);
        condition.wait(lock, [] { return ready; });
      },
      [] {
        const std::lock_guard lock(mutex);
        ready = true;
        condition.notify_all();
      });
}
