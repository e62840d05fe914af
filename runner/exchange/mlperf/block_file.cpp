// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include <fmt/format.h>

#include "runner/exchange/each_row.h"
#include "runner/exchange/mlperf/text_files.h"
#include "runner/exchange/ordered_rows.h"
#include "runner/exchange/output_file.h"

namespace mlrun::exchange {

namespace {

// The disk of a partition: sda of sda1, nvme0n1 of nvme0n1p2.
std::string disk_of(std::string name) {
  const bool is_numbered = name.starts_with("nvme") || name.starts_with("mmcblk") || name.starts_with("loop");
  const size_t end = name.find_last_not_of("0123456789");
  if (end == std::string::npos || end + 1 == name.size()) return name;
  if (is_numbered) return name[end] == 'p' && end > 0 ? name.substr(0, end) : name;
  return name.substr(0, end + 1);
}

}  // namespace

// The script prints a line for each request. Here a line is the share of one process in a request, since each line names a process.
Status write_block_file(Export& job, std::vector<std::string>& missing) {
  std::unordered_map<int64_t, std::string> disks;
  const auto read = each_row(job, "device", {"dev", "name"},
                             [&](const Row& row) { disks[row.number(0)] = disk_of(one_word(row.text(1))); });
  if (!read) return tl::make_unexpected(read.error());
  auto rows =
      OrderedRows::open(job, "block_part", {"pid", "comm", "dev", "op", "bytes", "sector", "ts_issue", "req_id"});
  if (!rows) return tl::make_unexpected(rows.error());
  auto file = OutputFile::create(job.output() + "/trace_bio.out");
  if (!file) return tl::make_unexpected(file.error());
  file->write(fmt::format("{:<17} {:<8} {:<14} {:<4} {:<1} {:<12} {} {}\n", "TIMESTAMP", "PID", "COMM", "DISK", "T",
                          "BYTES", "SECTOR", "LAT(ns)"));
  int64_t written = 0, others = 0, stacked = 0;
  for (;;) {
    const auto more = rows->next();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    const std::string_view op = rows->text(3);
    if (op != "read" && op != "write") {
      ++others;
      continue;
    }
    if (rows->is_null(7)) {
      ++stacked;
      continue;
    }
    const auto disk = disks.find(rows->number(2));
    const int64_t issued = rows->is_null(6) ? rows->ts() : rows->number(6);
    file->write(fmt::format("{:<17} {:<8} {:<14} {:<4} {:<1} {:<12} {:<12} {}\n", rows->end(), rows->number(0),
                            rows->text(1).empty() ? "-" : one_word(rows->text(1)),
                            disk == disks.end() ? "-" : disk->second, op == "read" ? "R" : "W", rows->number(4),
                            rows->number(5), rows->end() - issued));
    ++written;
  }
  if (written == 0)
    missing.emplace_back("trace_bio.out has no lines: no block I/O was recorded (--kprobes=block records it)");
  job.account().wrote("block_part", written, written);
  job.account().left_out("block_part", "flushes, discards and the like, which the script took for reads", others);
  job.account().left_out("block_part", "fragments on stacked devices, which have no requests", stacked);
  job.account().left_out("block_part", kNotWanted, rows->unwanted());
  return file->close();
}

}  // namespace mlrun::exchange
