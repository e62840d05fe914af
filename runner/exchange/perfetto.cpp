// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/perfetto.h"

#include "runner/exchange/merged_rows.h"
#include "runner/exchange/output_file.h"

namespace mlrun::exchange {

Status write_perfetto(Export& job) {
  std::vector<OrderedRows> tables;
  for (const char* name : {"mark", "call", "vfs", "alloc"}) {
    auto rows = OrderedRows::open(job, name, {"ts", "func"});
    if (!rows) return tl::make_unexpected(rows.error());
    tables.push_back(*std::move(rows));
  }
  auto file = OutputFile::create(job.output());
  if (!file) return tl::make_unexpected(file.error());
  MergedRows merged(std::move(tables));
  for (;;) {
    auto table = merged.next();
    if (!table) return tl::make_unexpected(table.error());
    if (*table == nullptr) break;
    job.account().wrote((*table)->table(), 1, 1);
  }
  return file->close();
}

}  // namespace mlrun::exchange
