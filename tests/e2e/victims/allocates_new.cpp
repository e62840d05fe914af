// SPDX-License-Identifier: Apache-2.0
// allocates_new: operator new twenty times, for blocks of a size that nothing else asks for.
#include <cstdio>

char* volatile blocks[20];

int main() {
  for (auto& block : blocks) block = new char[3000017];
  for (auto& block : blocks) delete[] block;
  std::puts("done");
}
