// SPDX-License-Identifier: Apache-2.0
// Runs the fuzz target without libFuzzer on spools that once failed.  Usage: replay FILE...
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr rlim_t kSecondsMax = 60;

void limit_time() {
  const rlimit limit{kSecondsMax, kSecondsMax};
  ::setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  limit_time();
  for (int i = 1; i < argc; ++i) {
    std::printf("%s\n", argv[i]);
    std::fflush(stdout);
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
}
