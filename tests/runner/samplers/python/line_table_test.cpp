// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/line_table.h"

#include <stdio.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun {
namespace {

using Table = std::vector<uint8_t>;

std::vector<int32_t> lines(const Table& table, int32_t first_line, size_t units) {
  std::vector<int32_t> found;
  for (size_t i = 0; i < units; ++i) found.push_back(python::line_at(table, first_line, i * 2));
  return found;
}

TEST(LineTable, EveryKindOfEntryAdvancesByItsOwnNumber) {
  constexpr uint8_t kShort = 0x80 | 3 << 3 | 1, kPlus2 = 0x80 | 12 << 3, kNoColumns = 0x80 | 13 << 3;
  constexpr uint8_t kLong = 0x80 | 14 << 3, kNone = 0x80 | 15 << 3;
  const Table table = {
      kShort,     0x11,                       // two units on the first line
      kPlus2,     0x05,        0x06,          // 2 further
      kNoColumns, 0x03,                       // 1 back
      kNone,                                  // no line
      kLong,      0x40 | 0x14, 0x03, 1, 2, 3  // (0x14 | 3 << 6) / 2 = 106 further
  };
  EXPECT_EQ(lines(table, 10, 7), (std::vector<int32_t>{10, 10, 12, 11, 0, 117, 0}));
}

TEST(LineTable, DamagedTablesGiveNoLine) {
  EXPECT_EQ(python::line_at({}, 1, 0), 0);
  const Table without_head = {0x01, 0x02}, cut_number = {0x80 | 13 << 3, 0x7f, 0x7f};
  EXPECT_EQ(python::line_at(without_head, 1, 0), 0);
  python::line_at(cut_number, 1, 0);
  const Table far_back = {0x80 | 13 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x3f};
  EXPECT_EQ(python::line_at(far_back, 1, 0), 0);
  Table endless(100'000, 0x7f);
  endless[0] = 0x80 | 14 << 3;
  python::line_at(endless, INT32_MAX, 0);
}

// What CPython itself says of all code of some of its own modules: "first table line line ...", a line per code unit.
constexpr const char* kTells = R"(
import argparse, asyncio.tasks, dataclasses, inspect, json.decoder, logging, tarfile, typing, types
def tell(code):
    lines = {}
    for begin, end, line in code.co_lines():
        for at in range(begin, end, 2):
            lines[at] = line or 0
    units = range(0, len(code.co_code), 2)
    print(code.co_firstlineno, code.co_linetable.hex(), *[lines.get(at, 0) for at in units])
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            tell(const)
for module in (argparse, asyncio.tasks, dataclasses, inspect, json.decoder, logging, tarfile, typing):
    tell(compile(open(module.__file__).read(), module.__file__, 'exec'))
)";

TEST(LineTable, LinesAreThoseThatPythonReports) {
  const std::string command = std::string("'" MLRUN_PYTHON "' -c \"") + kTells + "\"";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "re"), ::pclose);
  ASSERT_TRUE(pipe);
  std::string text;
  std::vector<char> part(1 << 16);
  for (size_t got = 0; (got = ::fread(part.data(), 1, part.size(), pipe.get())) > 0;) text.append(part.data(), got);
  std::istringstream rows(text);
  size_t codes = 0, units = 0;
  for (std::string row; std::getline(rows, row); ++codes) {
    std::istringstream words(row);
    int32_t first_line = 0, line = 0;
    std::string hex;
    words >> first_line >> hex;
    Table table;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
      table.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    }
    for (uint64_t offset = 0; words >> line; offset += 2, ++units) {
      ASSERT_EQ(python::line_at(table, first_line, offset), line) << row.substr(0, 100) << " at " << offset;
    }
  }
  EXPECT_GT(codes, 500u);
  EXPECT_GT(units, 50'000u);
}

}  // namespace
}  // namespace mlrun
