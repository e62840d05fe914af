// SPDX-License-Identifier: Apache-2.0
// Prints an input for the fuzz target made from a recorded run: the frames of its spool that fit, then those of its
// other files (kept.bin, kernel.bin, sums.bin).
// Usage: spool_seed SPOOL [FILE]... >SEED
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/spool_pieces.h"

namespace {

constexpr size_t kSpoolBytesMax = 128 << 10, kOtherBytesMax = 32 << 10;

std::string shortened(const char* path, size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  auto pieces = mlrun::testing::split_spool(bytes);
  return mlrun::testing::join_spool(pieces, bytes_max);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string seed = shortened(argv[1], kSpoolBytesMax);
  for (int i = 2; i < argc; ++i) seed += shortened(argv[i], kOtherBytesMax);
  return std::fwrite(seed.data(), 1, seed.size(), stdout) == seed.size() && std::fflush(stdout) == 0 ? 0 : 1;
}
