// SPDX-License-Identifier: Apache-2.0
#include "runner/util/memory_shortage.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <new>
#include <system_error>

namespace mlrun::util {

namespace {

constexpr size_t kSignalStackBytes = 64 << 10;

volatile sig_atomic_t is_silent = 0;

void on_terminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    if (is_memory_shortage(error)) end_for_want_of_memory();
  } catch (...) {
    std::abort();  // some other exception
  }
  std::abort();
}

bool is_limited(__rlimit_resource_t resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Handles the signals of C libraries that do not check malloc's result, and of stacks that cannot grow.
void end_on_faults() {
  static std::array<char, kSignalStackBytes> memory;
  const stack_t stack{memory.data(), 0, memory.size()};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) { end_for_want_of_memory(); };
  action.sa_flags = SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT}) ::sigaction(number, &action, nullptr);
}

}  // namespace

bool is_memory_shortage(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr &&
      (system->code() == std::errc::resource_unavailable_try_again || system->code() == std::errc::not_enough_memory)) {
    return true;
  }
  return is_memory_shortage(std::string_view(error.what()));
}

bool is_memory_shortage(std::string_view error_text) {
  return error_text.find("Out of memory") != std::string_view::npos ||  // Arrow
         error_text.find("out of memory") != std::string_view::npos ||  // from util/in_order.h
         error_text.find("Cannot allocate memory") != std::string_view::npos;
}

void end_for_want_of_memory() {
  static constexpr std::string_view kText =
      "mlrun: not enough memory; raise the limit of memory (ulimit -v, -d), of threads (-u) or of the cgroup\n";
  if (is_silent == 0) (void)!::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(is_silent != 0 ? kMemoryShortStatus : 125);
}

void end_when_memory_is_short(bool parent_says) {
  is_silent = parent_says ? 1 : 0;
  std::set_new_handler(end_for_want_of_memory);
  std::set_terminate(on_terminate);
  if (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA)) return;
  end_on_faults();
}

}  // namespace mlrun::util
