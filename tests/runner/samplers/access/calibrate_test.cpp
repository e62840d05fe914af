// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/calibrate.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runner/samplers/access/event_rung.h"
#include "runner/util/file_io.h"

namespace mlrun::access {
namespace {

// As where a container has no memory for the child that touches the pages to be tried: the kernel kills it.
TEST(Calibrate, AChildThatIsKilledIsAnErrorAndNoWaitForEver) {
  const std::string children = fmt::format("/proc/self/task/{}/children", ::gettid());
  if (::access(children.c_str(), R_OK) != 0) GTEST_SKIP() << "this kernel does not list children";
  std::atomic<bool> done = false;
  std::thread killer([&] {
    while (!done) {
      const std::string text = util::read_text(children, 64);
      pid_t child = 0;
      std::from_chars(text.data(), text.data() + text.size(), child);
      if (child > 0) ::kill(child, SIGKILL);
    }
  });
  const PageCost cost = calibrate_pages(PageBits::kClearRefs);
  done = true;
  killer.join();
  EXPECT_EQ(cost.error, ENOMEM);
  EXPECT_FALSE(cost.works);
}

TEST(Calibrate, TheCostOfInheritedEventsIsInTheFacts) {
  EXPECT_EQ(calibrate_thread_ns({}), 0u) << "nothing is inherited";
  const AccessEvent event = page_fault_event();
  const auto problems = PerfEvents().open({event}, 0, false);
  if (!problems.empty()) GTEST_SKIP() << problems.front();
  const uint64_t thread_ns = calibrate_thread_ns({event});
  EXPECT_GE(thread_ns, 1u);
  const std::string cost =
      make_event_rung(MLRUN_ACCESS_FAULTS, {event}, {.sample_ns = 700, .thread_ns = thread_ns}, "")->facts().cost;
  EXPECT_NE(cost.find("a page fault takes 700 ns longer"), std::string::npos) << cost;
  EXPECT_NE(cost.find(fmt::format("each thread or process takes {} ns more to start and end", thread_ns)),
            std::string::npos)
      << cost;
}

}  // namespace
}  // namespace mlrun::access
