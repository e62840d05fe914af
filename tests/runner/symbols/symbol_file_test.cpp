// SPDX-License-Identifier: Apache-2.0
// Functions by name, in this program itself.
#include "runner/symbols/symbol_file.h"

#include <link.h>

#include <gtest/gtest.h>

#include "runner/symbols/demangle.h"

namespace mlrun::symbols {

[[gnu::noinline]] int marked(int value) { return value * 3 + 1; }
template <typename Value>
[[gnu::noinline]] Value marked_template(Value value) {
  return value * 5;
}
template int marked_template<int>(int);

namespace {

[[gnu::noinline]] int marked_inside(int value) { return value * 7 + 2; }

uint64_t bias() {
  uint64_t first = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        *static_cast<uint64_t*>(result) = info->dlpi_addr;
        return 1;
      },
      &first);
  return first;
}

uint64_t address_of(int (*function)(int)) { return reinterpret_cast<uint64_t>(function) - bias(); }

TEST(SymbolFile, FunctionsAreFoundByName) {
  SymbolFile file("/proc/self/exe", "another build", 0);
  EXPECT_EQ(file.identity(), Identity::kChanged);
  EXPECT_FALSE(file.build_id().empty());
  const char* const inside = "mlrun::symbols::(anonymous namespace)::marked_inside(int)";
  const char* const generic = "int mlrun::symbols::marked_template<int>(int)";
  const char* const plain = "mlrun::symbols::marked(int)";
  const auto found =
      file.find_functions({plain, inside, generic, "mlrun::symbols::absent(int)", "operator new(unsigned long)"});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found.at(plain).start, address_of(marked));
  EXPECT_EQ(found.at(inside).start, address_of(marked_inside));
  EXPECT_EQ(found.at(generic).start, address_of(marked_template<int>));
  for (const auto& [name, range] : found) {
    EXPECT_GT(range.end, range.start) << name;
  }
}

TEST(SymbolFile, AFileThatIsNotAProgramHasNoFunctions) {
  SymbolFile missing("/nowhere/lib.so", "id", 0), text("/proc/self/cmdline", "id", 0);
  EXPECT_EQ(missing.build_id(), "");
  EXPECT_TRUE(missing.find_functions({"main"}).empty());
  EXPECT_EQ(text.build_id(), "");
  EXPECT_TRUE(text.find_functions({"main"}).empty());
}

}  // namespace
}  // namespace mlrun::symbols
