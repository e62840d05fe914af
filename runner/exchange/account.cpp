// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/account.h"

#include <fmt/format.h>

#include "runner/util/text.h"

namespace mlrun::exchange {

int64_t Account::rows_written() const {
  int64_t rows = 0;
  for (const auto& [table, written] : written_) rows += written.rows;
  return rows;
}

int64_t Account::events_written() const {
  int64_t events = 0;
  for (const auto& [table, written] : written_) events += written.events;
  return events;
}

std::string Account::text() const {
  std::string text;
  for (const auto& [table, written] : written_) {
    if (written.rows == 0) continue;
    text += fmt::format("  {}: {} rows, {} events\n", util::printable(table), written.rows, written.events);
  }
  for (const auto& [what, rows] : left_out_) {
    text += fmt::format("  not written: {} rows of {}: {}\n", rows, util::printable(what.first), what.second);
  }
  for (const std::string& note : notes_) text += fmt::format("  {}\n", note);
  return text;
}

}  // namespace mlrun::exchange
