// SPDX-License-Identifier: Apache-2.0
#include "runner/symbols/demangle.h"

#define HAVE_DECL_BASENAME 1  // libiberty's headers would declare basename unlike libc's
#include <libiberty/demangle.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <mutex>

#include "runner/util/unique_fd.h"

namespace mlrun::symbols {

namespace {

// Demangling a name can take forever: the alarm ends the child even if its parent has been killed.
constexpr unsigned kAlarmS = 2 * kAnswerMs / 1000;

constexpr rlim_t kStackBytes = rlim_t{8} << 20;  // set even if there is no limit

// First byte of an answer; the text follows kReadable.
enum : char { kUnchanged = 'u', kReadable = 'r' };

struct Work {
  std::array<char, 1 + kDemangledBytesMax> answer{};
  size_t bytes = 1;
  std::jmp_buf too_long{};
};

// libiberty keeps its state on the stack, so longjmp is safe (a Rust name leaks a buffer).
void add(const char* piece, size_t bytes, void* opaque) {
  Work& work = *static_cast<Work*>(opaque);
  if (bytes > work.answer.size() - work.bytes)
    std::longjmp(work.too_long, 1);  // NOLINT(cert-err52-cpp): over C's frames
  std::copy_n(piece, bytes, work.answer.data() + work.bytes);
  work.bytes += bytes;
}

// libstdc++'s __cxa_demangle rejects names of more than 1,024 bytes, which heavily templated kernels have.
bool demangle(const char* name, Work& work) {
  constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;
  if (setjmp(work.too_long) != 0) return false;  // NOLINT(cert-err52-cpp): as above
  // Older Rust names are C++ names with a hash at the end, which only the Rust demangler omits.
  work.bytes = 1;
  if (::rust_demangle_callback(name, kOptions, add, &work) != 0) return true;
  work.bytes = 1;
  return ::cplus_demangle_v3_callback(name, kOptions, add, &work) != 0;
}

// The child process: answers each message with one until the socket closes.
[[noreturn]] void answer(int socket) {
  // Closes descriptors that other processes may wait to see closed. If a name crashes the child, it leaves no core and no message.
  if (socket > 0) ::close_range(0, static_cast<unsigned>(socket) - 1, 0);
  ::close_range(static_cast<unsigned>(socket) + 1, ~0U, 0);
  const rlimit no_core{}, some_stack{kStackBytes, kStackBytes};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_STACK, &some_stack);
  ::prctl(PR_SET_NAME, "mlrun-demangle");
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGABRT, SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  static Work work;
  static std::array<char, kMangledBytesMax + 1> name;
  while (true) {
    const ssize_t got = ::recv(socket, name.data(), name.size() - 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ::_exit(0);
    name.at(static_cast<size_t>(got)) = '\0';
    ::alarm(kAlarmS);
    const bool is_readable = demangle(name.data(), work);
    ::alarm(0);
    work.answer[0] = is_readable ? kReadable : kUnchanged;
    if (::send(socket, work.answer.data(), is_readable ? work.bytes : 1, MSG_NOSIGNAL) < 0) ::_exit(0);
  }
}

class Reader {
 public:
  ~Reader() { end(); }

  // Returns false if the process could not be started and a retry would not help.
  bool begin() {
    if (socket_.valid()) return true;
    if (failures_ >= kFailuresMax) return false;
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
    util::UniqueFd ours(ends[0]);
    const util::UniqueFd theirs(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) answer(theirs.get());
    if (pid_ < 0) return false;
    socket_ = std::move(ours);
    return true;
  }

  std::string ask(std::string_view name) {
    if (!begin()) {
      ++given_up_;
      return std::string(name);
    }
    ssize_t got = -1;
    if (::send(socket_.get(), name.data(), name.size(), MSG_NOSIGNAL) >= 0 && has_answer()) {
      got = ::recv(socket_.get(), answer_.data(), answer_.size(), 0);
    }
    if (got <= 0) {
      ++failures_;
      ++given_up_;
      end();
    }
    const bool is_readable = got > 1 && answer_[0] == kReadable;
    return is_readable ? std::string(answer_.data() + 1, static_cast<size_t>(got) - 1) : std::string(name);
  }

  [[nodiscard]] size_t given_up() const { return given_up_; }

 private:
  bool has_answer() const {
    pollfd waits{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    int ready = -1;
    do {
      ready = ::poll(&waits, 1, kAnswerMs);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
  }

  void end() {
    if (!socket_.valid()) return;
    socket_.reset();
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  util::UniqueFd socket_;  // invalid: no process
  pid_t pid_ = -1;
  int failures_ = 0;
  size_t given_up_ = 0;  // number of names that were given up
  std::array<char, 1 + kDemangledBytesMax> answer_{};
};

// One child for all threads of a merge, which demangle names at the same time.
struct Shared {
  std::mutex mutex;
  Reader reader;
};
Shared& shared() {
  static Shared shared;
  return shared;
}

}  // namespace

void prepare_demangling() {
  const std::lock_guard lock(shared().mutex);
  shared().reader.begin();
}

size_t names_given_up() {
  const std::lock_guard lock(shared().mutex);
  return shared().reader.given_up();
}

std::string demangled(std::string_view name) {
  const bool is_mangled = name.starts_with("_Z") || name.starts_with("_R");
  if (!is_mangled || name.size() > kMangledBytesMax) return std::string(name);
  const std::lock_guard lock(shared().mutex);
  return shared().reader.ask(name);
}

}  // namespace mlrun::symbols
