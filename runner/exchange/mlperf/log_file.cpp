// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "runner/exchange/each_row.h"
#include "runner/exchange/export.h"
#include "runner/exchange/json_text.h"
#include "runner/exchange/mlperf/text_files.h"
#include "runner/exchange/ordered_rows.h"
#include "runner/exchange/output_file.h"
#include "runner/util/time_units.h"

namespace mlrun::exchange {

namespace {

constexpr const char* kLogName = "app.log";

// The MLPerf lines of a program's log, restored from marks and sorted by time: an interval is one mark but two lines.
class LogFile {
 public:
  explicit LogFile(Export& job) : job_(job) {}

  Status run(std::vector<std::string>& missing) {
    if (auto read = read_metadata(); !read) return read;
    if (auto read = read_marks(); !read) return read;
    job_.account().wrote("import_event", metadata_used_, metadata_used_);
    job_.account().left_out("import_event", "no file of mlperf-traces has them", metadata_rows_ - metadata_used_);
    if (lines_.empty()) {
      missing.push_back(fmt::format("{} is missing: no lines of MLLOG were recorded (--mllog)", kLogName));
      return {};
    }
    std::sort(lines_.begin(), lines_.end());
    auto file = OutputFile::create(job_.output() + "/" + kLogName);
    if (!file) return tl::make_unexpected(file.error());
    for (const auto& [at, number, text] : lines_) file->write(text);
    return file->close();
  }

 private:
  Status read_metadata() {
    const auto read = each_row(job_, "import_event", {"ts", "kind", "name", "args", "id"}, [&](const Row& row) {
      if (row.text(1) == "mllog")
        metadata_.emplace(std::pair(row.number(0), row.text(2)),
                          About{std::string(row.text(4)), std::string(row.text(3))});
    });
    if (!read) return tl::make_unexpected(read.error());
    metadata_rows_ = *read;
    return {};
  }

  Status read_marks() {
    enum MarkColumn : size_t { kDomain, kName, kText, kValue, kOpen };
    const auto names = job_.names("name_id");
    if (!names) return tl::make_unexpected(names.error());
    auto rows = OrderedRows::open(job_, "mark", {"domain", "name_id", "text", "value", "open"});
    if (!rows) return tl::make_unexpected(rows.error());
    int64_t marks = 0, others = 0;
    for (;;) {
      const auto more = rows->next();
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) break;
      if (rows->text(kDomain) != "mllog") {
        ++others;
        continue;
      }
      ++marks;
      std::string key((*names)->name(rows->number(kName)));
      if (key.empty()) key = rows->text(kText);
      const std::string_view value = rows->text(kValue);
      const bool is_interval = rows->has_duration();
      add(rows->ts(), is_interval ? "INTERVAL_START" : "POINT_IN_TIME", key, value);
      if (is_interval && !rows->values(kOpen).boolean(rows->row()))
        add(rows->end(), "INTERVAL_END", end_key(rows->end(), key), {});
    }
    job_.account().wrote("mark", marks, static_cast<int64_t>(lines_.size()));
    job_.account().left_out("mark", "marks that are no lines of an MLPerf log", others);
    job_.account().left_out("mark", kNotWanted, rows->unwanted());
    return {};
  }

  // The key of an interval's end line: the mark has only the key of the begin.
  [[nodiscard]] std::string end_key(int64_t end_ns, const std::string& key) const {
    std::string stem = key, usual = key;
    for (const auto& [begin, end] : {std::pair("_start", "_stop"), std::pair("_begin", "_end")}) {
      if (!key.ends_with(begin)) continue;
      stem = key.substr(0, key.size() - std::string_view(begin).size());
      usual = stem + end;
    }
    for (const std::string& name : {usual, stem + "_stop", stem + "_end", stem}) {
      if (metadata_.contains({end_ns, name})) return name;
    }
    return usual;
  }

  void add(int64_t at_ns, std::string_view type, const std::string& key, std::string_view value) {
    const auto found = metadata_.find({at_ns, key});
    // The metadata has the line's type: an interval that never ended is a mark without a duration, like a point in time.
    if (found != metadata_.end() && !found->second.type.empty()) type = found->second.type;
    std::string text = fmt::format(":::MLLOG {{\"namespace\": \"\", \"time_ms\": {}, \"event_type\": \"{}\", \"key\": ",
                                   (at_ns + job_.realtime_offset_ns() + util::kNsPerMs / 2) / util::kNsPerMs, type);
    append_json(text, key);
    text += ", \"value\": ";
    text += value.empty() ? "null" : value;
    text += ", \"metadata\": ";
    text += found == metadata_.end() ? "{}" : found->second.metadata;
    text += "}\n";
    if (found != metadata_.end()) {
      ++metadata_used_;
      metadata_.erase(found);
    }
    lines_.emplace_back(at_ns, lines_.size(), std::move(text));
  }

  Export& job_;
  struct About {
    std::string type, metadata;  // JSON
  };
  std::multimap<std::pair<int64_t, std::string>, About> metadata_;  // by time and key of the line
  int64_t metadata_rows_ = 0, metadata_used_ = 0;
  std::vector<std::tuple<int64_t, size_t, std::string>> lines_;
};

}  // namespace

Status write_log_file(Export& job, std::vector<std::string>& missing) { return LogFile(job).run(missing); }

}  // namespace mlrun::exchange
