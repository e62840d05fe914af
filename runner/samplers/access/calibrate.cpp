// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/calibrate.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

#include "runner/samplers/access/event_rung.h"
#include "runner/samplers/access/page_bits.h"
#include "runner/util/clock.h"

namespace mlrun::access {

namespace {

constexpr size_t kTryPages = 8192, kTryPage = 4096, kTryBytes = kTryPages * kTryPage;
constexpr size_t kScratchBytes = 1024 * kTryPage;  // larger than a second-level cache
constexpr size_t kTryStep = 5003;                  // odd, so each page is touched once and never after its neighbour
constexpr int kTryRounds = 3;

// Memory shared with the child, which touches each page of `block` when `asked` is increased.
struct Trial {
  int asked, done;
  bool writes;
  uint64_t touch_ns;
  char *block, *scratch;
};

char* fresh_block(size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  ::madvise(at, bytes, MADV_NOHUGEPAGE);
  return static_cast<char*>(at);
}

// Runs in the forked child: makes only system calls, since locks may be held. The child ends when mlrun does, even by SIGKILL.
[[noreturn]] void serve(Trial& trial, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  for (int turn = 1;; turn++) {
    while (__atomic_load_n(&trial.asked, __ATOMIC_ACQUIRE) != turn) ::usleep(50);
    // Changes the rights of many pages, so that the kernel flushes the TLB: the CPU sets no accessed bit while a translation is cached.
    ::mprotect(trial.scratch, kScratchBytes, PROT_READ);
    ::mprotect(trial.scratch, kScratchBytes, PROT_READ | PROT_WRITE);
    // Fills the cache with other data: the page tables of a large program are not in the cache either.
    for (size_t at = 0; at < kScratchBytes; at += 64) {
      volatile char* const byte = trial.scratch + at;
      *byte = 1;
    }
    // Measures CPU time: another program may use the processor meanwhile.
    const uint64_t began_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (size_t page = 0; page < kTryPages; page++) {
      volatile char* const byte = trial.block + page * kTryStep % kTryPages * kTryPage;
      if (trial.writes) {
        *byte = 1;
      } else {
        static_cast<void>(*byte);
      }
    }
    trial.touch_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
    __atomic_store_n(&trial.done, turn, __ATOMIC_RELEASE);
  }
}

class TrialProcess {
 public:
  explicit TrialProcess(bool writes) {
    void* at = ::mmap(nullptr, sizeof(Trial), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char* block = fresh_block(kTryBytes);
    if (at == MAP_FAILED || block == nullptr) return;
    trial_ = static_cast<Trial*>(at);
    trial_->block = block;
    trial_->scratch = fresh_block(kScratchBytes);
    if (trial_->scratch == nullptr) return;
    std::fill_n(trial_->scratch, kScratchBytes, 1);
    trial_->writes = true;
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ == 0) serve(*trial_, parent);
    if (child_ > 0) touch();  // writes, so that the pages are resident
    trial_->writes = writes;
  }
  TrialProcess(const TrialProcess&) = delete;
  TrialProcess& operator=(const TrialProcess&) = delete;
  ~TrialProcess() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    if (trial_ == nullptr) return;
    ::munmap(trial_->block, kTryBytes);
    if (trial_->scratch != nullptr) ::munmap(trial_->scratch, kScratchBytes);
    ::munmap(trial_, sizeof(Trial));
  }

  [[nodiscard]] pid_t child() const { return child_; }
  [[nodiscard]] Mapping block() const {
    return {.start = reinterpret_cast<uint64_t>(trial_->block),
            .end = reinterpret_cast<uint64_t>(trial_->block) + kTryBytes};
  }
  // Lets the child touch the block; returns the time. 0: the child has ended, for example by a container's memory limit.
  uint64_t touch() {
    if (child_ < 0) return 0;
    __atomic_store_n(&trial_->asked, trial_->asked + 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&trial_->done, __ATOMIC_ACQUIRE) != trial_->asked) {
      ::usleep(50);
      if (::waitpid(child_, nullptr, WNOHANG) == 0) continue;
      child_ = -1;
      return 0;
    }
    return trial_->touch_ns;
  }

 private:
  Trial* trial_ = nullptr;
  pid_t child_ = -1;
};

int clear(PageBits bits, const TrialProcess& process, uint64_t& longest_ns) {
  const Mapping block = process.block();
  if (bits == PageBits::kCold) return make_cold(process.child(), block.start, block.end, longest_ns);
  return clear_refs(process.child(), bits == PageBits::kClearRefs ? Refs::kAccessed : Refs::kSoftDirty, longest_ns);
}

// Bytes of the block that are touched according to the bits.
uint64_t seen_bytes(PageBits bits, const TrialProcess& process) {
  uint64_t bytes = 0;
  if (bits == PageBits::kSoftDirty) {
    for (const Run& run : written_runs(process.child(), process.block()).runs) bytes += run.bytes;
    return bytes;
  }
  const Mapping block = process.block();
  uint64_t ignored_ns = 0;
  for (const Mapping& mapping : read_smaps(process.child(), ignored_ns)) {  // the block may be merged with neighbours
    if (mapping.start <= block.start && mapping.end >= block.end) bytes = mapping.referenced_bytes;
  }
  return bytes;
}

uint64_t in_ps(uint64_t ns, uint64_t pages = kTryPages) { return ns * 1000 / std::max<uint64_t>(pages, 1); }

// Evicts the CPU's caches. Clearing writes a word of the kernel for each page: in a large process these words are not in a cache, for our small
// block they would be.
class CacheSweep {
 public:
  CacheSweep() : bytes_(kSweepBytes, 1) {}
  void sweep() {
    for (size_t at = 0; at < bytes_.size(); at += 64) {
      volatile char* const byte = &bytes_[at];
      *byte = static_cast<char>(*byte + 1);
    }
  }

 private:
  static constexpr size_t kSweepBytes = 16 << 20;
  std::vector<char> bytes_;
};

}  // namespace

PageCost calibrate_pages(PageBits bits) {
  PageCost cost;
  TrialProcess process(bits == PageBits::kSoftDirty);
  cost.error = process.child() < 0 ? ENOMEM : 0;
  if (cost.error != 0) return cost;
  const uint64_t plain_ns = std::min(process.touch(), process.touch());
  // Number of pages cleared. clear_refs clears accessed bits in all memory of the child, a copy of ours. Only the block's pages count for the
  // other two: soft-dirty bits are set only on written pages, and MADV_COLD clears only the block.
  const uint64_t cleared = bits == PageBits::kClearRefs ? resident_pages(process.child()) : kTryPages;
  std::array<uint64_t, kTryRounds> clears{}, reads{}, touches{};
  CacheSweep cache;
  for (int round = 0; round < kTryRounds; round++) {
    cache.sweep();
    uint64_t clear_ns = 0;
    const uint64_t began_ns = util::monotonic_ns();
    cost.error = clear(bits, process, clear_ns);
    if (cost.error != 0) return cost;
    clears[round] = util::monotonic_ns() - began_ns;
    const uint64_t before = seen_bytes(bits, process);
    touches[round] = process.touch();
    cost.error = process.child() < 0 ? ENOMEM : 0;
    if (cost.error != 0) return cost;
    const uint64_t read_ns = util::monotonic_ns();
    const uint64_t after = seen_bytes(bits, process);
    reads[round] = util::monotonic_ns() - read_ns;
    cost.works = cost.works || after >= before + kTryBytes / 4;
  }
  for (auto* values : {&clears, &reads, &touches}) std::sort(values->begin(), values->end());
  cost.clear_ps = in_ps(clears[1], cleared);
  cost.read_ps = in_ps(reads[1]);
  cost.touch_ps = in_ps(touches[0] - std::min(touches[0], plain_ns));  // minimum: disturbances only add time
  return cost;
}

Result<uint64_t> calibrate_fault_ns() {
  constexpr size_t kFaults = 1024;
  const auto faults_ns = [] {
    char* block = fresh_block(kFaults * kTryPage);
    if (block == nullptr) return uint64_t{0};
    const uint64_t began_ns = util::monotonic_ns();
    for (size_t at = 0; at < kFaults * kTryPage; at += kTryPage) *const_cast<volatile char*>(block + at) = 1;
    const uint64_t took_ns = util::monotonic_ns() - began_ns;
    ::munmap(block, kFaults * kTryPage);
    return took_ns;
  };
  // Takes the minimum of each: disturbances only add time.
  uint64_t plain_ns = faults_ns(), sampled_ns = std::numeric_limits<uint64_t>::max();
  for (int round = 0; round < 2 * kTryRounds; round++) {
    plain_ns = std::min(plain_ns, faults_ns());
    PerfEvents events;
    if (const auto problems = events.open({page_fault_event()}, 0, false); !problems.empty())
      return fail(problems.front());
    sampled_ns = std::min(sampled_ns, faults_ns());
  }
  if (std::min(plain_ns, sampled_ns) == 0) return fail("there is not enough memory to try it");
  return std::max<uint64_t>((std::max(sampled_ns, plain_ns) - plain_ns) / kFaults, 1);
}

uint64_t calibrate_thread_ns(const std::vector<AccessEvent>& events) {
  constexpr int kThreads = 16;
  // CPU time: the kernel removes a thread's events after its join() has returned. The minimum: disturbances only add time.
  const auto fastest_ns = [] {
    uint64_t fastest_ns = std::numeric_limits<uint64_t>::max();
    for (int round = 0; round < 2 * kTryRounds; round++) {
      const uint64_t began_ns = util::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
      for (int i = 0; i < kThreads; i++) std::thread([] {}).join();
      fastest_ns = std::min(fastest_ns, (util::clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began_ns) / kThreads);
    }
    return fastest_ns;
  };
  try {
    const uint64_t plain_ns = fastest_ns();
    PerfEvents opened;
    opened.open(events, 0, false);
    if (!opened.is_open()) return 0;
    opened.enable(false);  // as in a pause; what samples cost is calibrated apart
    const uint64_t inherited_ns = fastest_ns();
    return std::max<uint64_t>(std::max(inherited_ns, plain_ns) - plain_ns, 1);
  } catch (const std::system_error&) {
    return 0;
  }
}

}  // namespace mlrun::access
