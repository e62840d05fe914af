// SPDX-License-Identifier: Apache-2.0
// Runs the fuzz target without libFuzzer on kept inputs, and says of each whether it was accepted.  Usage: replay [--some] FILE...
// --some: fails with exit status 3 if none was.
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/fuzz/accepted.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr rlim_t kSecondsMax = 60;
constexpr int kNoneAccepted = 3;

void limit_time() {
  const rlimit limit{kSecondsMax, kSecondsMax};
  ::setrlimit(RLIMIT_CPU, &limit);
}

bool run(const char* path) {
  std::printf("%s: ", path);
  std::fflush(stdout);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const bool accepted = mlrun::testing::was_accepted();
  std::printf("%s\n", accepted ? "accepted" : "refused or empty");
  return accepted;
}

}  // namespace

int main(int argc, char** argv) {
  limit_time();
  const bool needs_some = argc > 1 && std::string_view(argv[1]) == "--some";
  int accepted = 0;
  for (int i = needs_some ? 2 : 1; i < argc; ++i) accepted += run(argv[i]) ? 1 : 0;
  if (!needs_some || accepted > 0) return 0;
  std::fprintf(stderr, "none of these inputs was accepted: the target saw nothing of them\n");
  return kNoneAccepted;
}
