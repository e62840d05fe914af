// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/exchange/each_row.h"
#include "runner/exchange/mlperf/text_files.h"
#include "runner/exchange/ordered_rows.h"
#include "runner/exchange/output_file.h"
#include "runner/util/json_at.h"
#include "runner/util/time_units.h"

namespace mlrun::exchange {

namespace {

constexpr double kMiB = 1 << 20;

// The end of the second of the wall clock that contains the time `at_ns`: mpstat, pmon and iostat print once a second.
int64_t second_of(const Export& job, int64_t at_ns) {
  const int64_t offset = job.realtime_offset_ns();
  return ((at_ns + offset - 1) / util::kNsPerS + 1) * util::kNsPerS - offset;
}

// Calls take(row) for each row, and print(second) when all rows of a second have been taken.
template <typename Take, typename Print>
Status each_second(Export& job, const std::string& table, const std::vector<std::string>& columns, Take take,
                   Print print) {
  auto rows = OrderedRows::open(job, table, columns);
  if (!rows) return tl::make_unexpected(rows.error());
  int64_t second = 0, count = 0;
  for (;;) {
    const auto more = rows->next();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    const int64_t of_row = second_of(job, rows->end());
    if (of_row > second) {
      if (second != 0) print(second);
      second = of_row;
    }
    take(*rows);
    ++count;
  }
  if (second != 0) print(second);
  job.account().wrote(table, count, count);
  job.account().left_out(table, kNotWanted, rows->unwanted());
  return {};
}

std::string banner(const Export& job) {
  return fmt::format("Linux {} ({}) \t{} \t_x86_64_\t({} CPU)\n", job.run().host.kernel, job.run().host.name,
                     local_time(job, job.start_ns(), "%m/%d/%Y"), job.run().host.cores.value_or(0));
}

// mpstat 1: all processors together.
Status write_cpu(Export& job, std::vector<std::string>& missing) {
  static const std::vector<std::string> kColumns = {"user_ns",    "nice_ns",  "system_ns", "iowait_ns",     "irq_ns",
                                                    "softirq_ns", "steal_ns", "guest_ns",  "guest_nice_ns", "idle_ns"};
  std::array<int64_t, 10> sums{};
  std::string text =
      banner(job) + fmt::format(
                        "\n{:<8}     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  "
                        "%gnice   %idle\n",
                        local_time(job, job.start_ns(), "%H:%M:%S"));
  bool has_lines = false;
  auto written = each_second(
      job, "sample_cpu", kColumns,
      [&](const OrderedRows& row) {
        for (size_t i = 0; i < sums.size(); ++i) sums[i] += row.number(i);
      },
      [&](int64_t second) {
        int64_t all = 0;
        for (const int64_t sum : sums) all += sum;
        if (all == 0) return;
        text += fmt::format("{:<8}     all", local_time(job, second, "%H:%M:%S"));
        for (const int64_t sum : sums) text += fmt::format(" {:7.2f}", 100.0 * double(sum) / double(all));
        text += '\n';
        sums = {};
        has_lines = true;
      });
  if (!written) return written;
  if (!has_lines) {
    missing.emplace_back("cpu.out is missing: processors were not sampled (--sample=cpu samples them)");
    return {};
  }
  auto file = OutputFile::create(job.output() + "/cpu.out");
  if (!file) return tl::make_unexpected(file.error());
  file->write(text);
  return file->close();
}

struct PmonLine {
  std::string type, command;
  int64_t samples = 0, sm = 0, mem = 0, fb_bytes = 0;
};

// nvidia-smi pmon -s um -o DT. Readers take the date of all files from this one, so it has a line also without any GPU.
Status write_gpu(Export& job, std::vector<std::string>& missing) {
  std::unordered_map<int64_t, int64_t> indices;
  std::unordered_map<int64_t, std::string> commands;
  auto read =
      each_row(job, "gpu", {"gpu_id", "nvml_index"}, [&](const Row& row) { indices[row.number(0)] = row.number(1); });
  if (!read) return tl::make_unexpected(read.error());
  read = each_row(job, "process", {"pid", "command"}, [&](const Row& row) {
    const std::string_view program = row.text(1).substr(0, row.text(1).find(' '));
    commands[row.number(0)] = base_name(program).substr(0, 14);
  });
  if (!read) return tl::make_unexpected(read.error());
  auto file = OutputFile::create(job.output() + "/gpu.out");
  if (!file) return tl::make_unexpected(file.error());
  file->write(
      "#Date       Time        gpu        pid  type    sm   mem   enc   dec    fb   command\n"
      "#YYYYMMDD   HH:MM:SS    Idx          #   C/G     %     %     %     %    MB   name\n");
  std::map<std::pair<int64_t, int64_t>, PmonLine> lines;  // by GPU and pid
  bool has_lines = false;
  const auto idle_line = [&](int64_t at, int64_t index) {
    file->write(fmt::format(" {}   {} {:>6}          -     -     -     -     -     -     -   -              \n",
                            local_time(job, at, "%Y%m%d"), local_time(job, at, "%H:%M:%S"), index));
    has_lines = true;
  };
  auto written = each_second(
      job, "sample_gpu_process", {"gpu_id", "pid", "type", "sm_percent", "mem_percent", "fb_used_bytes", "driver_pid"},
      [&](const OrderedRows& row) {
        const int64_t pid = row.is_null(1) ? row.number(6) : row.number(1);
        PmonLine& line = lines[{indices[row.number(0)], pid}];
        line.type = row.text(2).empty() ? "C" : one_word(row.text(2));
        ++line.samples;
        line.sm += row.number(3);
        line.mem += row.number(4);
        line.fb_bytes = std::max(line.fb_bytes, row.number(5));
      },
      [&](int64_t second) {
        for (const auto& [id, index] : indices) {
          const auto at = lines.lower_bound({index, 0});
          if (at == lines.end() || at->first.first != index) idle_line(second, index);
        }
        for (const auto& [key, line] : lines) {
          const auto command = commands.find(key.second);
          file->write(fmt::format(" {}   {} {:>6} {:>10} {:>5} {:>5} {:>5}     -     - {:>5}   {:<14} \n",
                                  local_time(job, second, "%Y%m%d"), local_time(job, second, "%H:%M:%S"), key.first,
                                  key.second, line.type, line.sm / line.samples, line.mem / line.samples,
                                  line.fb_bytes >> 20, command == commands.end() ? "-" : command->second));
          has_lines = true;
        }
        lines.clear();
      });
  if (!written) return written;
  if (!has_lines) {
    idle_line(job.start_ns(), 0);
    missing.emplace_back("gpu.out has only the date: no process on a GPU was sampled (--sample=gpu samples them)");
  }
  return file->close();
}

struct DiskSums {
  int64_t ns = 0;
  std::array<int64_t, 16> sums{};
};

// iostat -mdxty 1 -o JSON, of sysstat 12, with the time stamp that the preprocessing of the traces reads.
class IostatFile {
 public:
  explicit IostatFile(Export& job) : job_(job) {}

  Status run(std::vector<std::string>& missing) {
    static const std::vector<std::string> kColumns = {
        "device",        "reads",         "reads_merged", "read_bytes", "read_ns",         "writes",
        "writes_merged", "written_bytes", "write_ns",     "discards",   "discards_merged", "discarded_bytes",
        "discard_ns",    "flushes",       "flush_ns",     "busy_ns",    "queue_ns"};
    auto written = each_second(
        job_, "sample_disk", kColumns,
        [&](const OrderedRows& row) {
          DiskSums& disk = disks_[std::string(row.text(0))];
          disk.ns += row.end() - row.ts();
          for (size_t i = 0; i < disk.sums.size(); ++i) disk.sums[i] += row.number(i + 1);
        },
        [&](int64_t second) { end_second(second); });
    if (!written) return written;
    if (statistics_.empty()) {
      missing.emplace_back("iostat.json is missing: disks were not sampled (--sample=disk samples them)");
      return {};
    }
    const std::string host = fmt::format(
        "{{\"sysstat\": {{\n\t\"hosts\": [\n\t\t{{\n\t\t\t\"nodename\": {},\n\t\t\t\"sysname\": "
        "\"Linux\",\n\t\t\t\"release\": {},\n"
        "\t\t\t\"machine\": \"x86_64\",\n\t\t\t\"number-of-cpus\": {},\n\t\t\t\"date\": \"{}\",\n\t\t\t\"statistics\": "
        "[\n",
        util::json_text(nlohmann::json(job_.run().host.name)), util::json_text(nlohmann::json(job_.run().host.kernel)),
        job_.run().host.cores.value_or(0), local_time(job_, job_.start_ns(), "%Y-%m-%d"));
    auto file = OutputFile::create(job_.output() + "/iostat.json");
    if (!file) return tl::make_unexpected(file.error());
    file->write(host + statistics_ + "\n\t\t\t]\n\t\t}\n\t]\n}}\n");
    return file->close();
  }

 private:
  static double ratio(double of, double by) { return by > 0 ? of / by : 0; }

  static std::string line(const std::string& name, const DiskSums& disk) {
    const auto& [r, rm, rb, rns, w, wm, wb, wns, d, dm, db, dns, f, fns, busy, queue] = disk.sums;
    const double seconds = util::in_seconds(disk.ns);
    const auto rate = [&](int64_t value) { return ratio(double(value), seconds); };
    const auto percent = [](int64_t merged, int64_t done) {
      return 100 * ratio(double(merged), double(merged + done));
    };
    const auto wait = [](int64_t ns, int64_t count) { return ratio(double(ns) / 1e6, double(count)); };
    const auto size = [](int64_t bytes, int64_t count) { return ratio(double(bytes) / 1024, double(count)); };
    return fmt::format(
        "{{\"disk_device\": {}, \"r/s\": {:.2f}, \"w/s\": {:.2f}, \"d/s\": {:.2f}, \"f/s\": {:.2f}, \"rMB/s\": {:.2f}, "
        "\"wMB/s\": {:.2f}, \"dMB/s\": {:.2f}, \"rrqm/s\": {:.2f}, \"wrqm/s\": {:.2f}, \"drqm/s\": {:.2f}, \"rrqm\": "
        "{:.2f}, "
        "\"wrqm\": {:.2f}, \"drqm\": {:.2f}, \"r_await\": {:.2f}, \"w_await\": {:.2f}, \"d_await\": {:.2f}, "
        "\"f_await\": "
        "{:.2f}, \"rareq-sz\": {:.2f}, \"wareq-sz\": {:.2f}, \"dareq-sz\": {:.2f}, \"aqu-sz\": {:.2f}, \"util\": "
        "{:.2f}}}",
        util::json_text(nlohmann::json(name)), rate(r), rate(w), rate(d), rate(f), rate(rb) / kMiB, rate(wb) / kMiB,
        rate(db) / kMiB, rate(rm), rate(wm), rate(dm), percent(rm, r), percent(wm, w), percent(dm, d), wait(rns, r),
        wait(wns, w), wait(dns, d), wait(fns, f), size(rb, r), size(wb, w), size(db, d),
        ratio(double(queue), double(disk.ns)), 100 * ratio(double(busy), double(disk.ns)));
  }

  void end_second(int64_t second) {
    if (!statistics_.empty()) statistics_ += ",\n";
    statistics_ += fmt::format("\t\t\t\t{{\n\t\t\t\t\t\"timestamp\": \"{}\",\n\t\t\t\t\t\"disk\": [\n",
                               local_time(job_, second, "%Y-%m-%d %I:%M:%S %p"));
    bool is_first = true;
    for (const auto& [name, disk] : disks_) {
      statistics_ += fmt::format("{}\t\t\t\t\t\t{}", is_first ? "" : ",\n", line(name, disk));
      is_first = false;
    }
    statistics_ += "\n\t\t\t\t\t]\n\t\t\t\t}";
    disks_.clear();
  }

  Export& job_;
  std::map<std::string, DiskSums> disks_;
  std::string statistics_;
};

}  // namespace

Status write_sample_files(Export& job, std::vector<std::string>& missing) {
  if (auto written = write_cpu(job, missing); !written) return written;
  if (auto written = write_gpu(job, missing); !written) return written;
  return IostatFile(job).run(missing);
}

}  // namespace mlrun::exchange
