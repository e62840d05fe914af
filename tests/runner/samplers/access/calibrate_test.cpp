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

}  // namespace
}  // namespace mlrun::access
