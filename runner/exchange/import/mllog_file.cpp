// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/mllog_file.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "runner/exchange/import/decimal_time.h"
#include "runner/exchange/import/file_lines.h"
#include "runner/exchange/import/json_members.h"
#include "runner/trace/marks/mllog.h"

namespace mlrun::exchange {

namespace {

constexpr std::string_view kMarkerOfLine = ":::MLLOG", kTimeMember = "\"time_ms\"";
constexpr int kDigitsOfMillisecond = 6;
constexpr size_t kLogBytesMax = size_t{128} << 20;  // of lines with events, which are in memory

// Adds the metadata of lines, for which marks have no column, to import_event. `line`: a line's JSON object.
class MetadataOfLines {
 public:
  explicit MetadataOfLines(TraceMaker& to) : to_(to) {}

  Status add(std::string_view line) {
    std::optional<int64_t> ts_ns;
    std::string key, type, metadata;
    const bool is_sound = members_.visit(line, [&](const JsonMember& member) {
      if (member.key == "time_ms") ts_ns = decimal_ns(member.text, kDigitsOfMillisecond);
      if (member.key == "key") key = member.text;
      if (member.key == "event_type") type = member.text;
      if (member.key == "metadata") metadata = member.raw;
    });
    const bool has_any = metadata.starts_with('{') && metadata.find('"') != std::string::npos;
    if (!is_sound || !ts_ns || key.empty() || !has_any) return {};
    model::OtherEventRow row;
    row.origin = to_.ids().origin(*ts_ns, 0, 0);
    row.kind = "mllog";
    row.name = key;
    row.id = type;
    row.args = metadata;
    return to_.add(row, 0);
  }

 private:
  TraceMaker& to_;
  JsonMembers members_;
};

}  // namespace

Status read_mllog(const std::string& path, TraceMaker& to) {
  std::string events;
  int64_t count = 0, last_ns = 0;
  MetadataOfLines metadata(to);
  const auto see = [&](std::string_view text, int64_t offset) -> Status {
    const size_t marker = text.find(kMarkerOfLine);
    if (marker == std::string_view::npos) return {};
    if (events.size() + text.size() > kLogBytesMax) return bad_input(path, "more than 128 MiB of MLLOG lines", offset);
    events.append(text.substr(marker)).append("\n");
    ++count;
    if (const size_t at = text.find(kTimeMember); at != std::string_view::npos) {
      std::string_view number = text.substr(at + kTimeMember.size());
      number.remove_prefix(std::min(number.find_first_not_of(" :"), number.size()));
      last_ns = std::max(
          last_ns,
          decimal_ns(number.substr(0, number.find_first_not_of("0123456789.")), kDigitsOfMillisecond).value_or(0));
    }
    return metadata.add(text.substr(marker + kMarkerOfLine.size()));
  };
  if (Status read = for_each_line(path, to, see); !read) return read;
  // The clock of the trace is that of the log.
  const auto clock = trace::TraceClock::make({{0, 0, 0, 0, 0}}, false);
  if (!clock) return tl::make_unexpected(clock.error());
  trace::MllogReader reader(*clock);
  std::istringstream stream(events);
  reader.read(stream);
  trace::Mllog log = reader.finish(0, last_ns + 1'000'000);
  FileAccount& file = to.file();
  file.clock = FileClock::kRealtime;
  file.has_offset = true;
  for (const model::MarkRow& mark : log.marks) {
    if (Status added = to.add(mark); !added) return added;
  }
  const auto unreadable = static_cast<int64_t>(log.unreadable_lines),
             unmatched = static_cast<int64_t>(log.unmatched_ends), outside = static_cast<int64_t>(log.outside);
  if (unreadable != 0) file.leave_out("an MLLOG line without key or time_ms, or not JSON", unreadable);
  if (unmatched != 0) file.leave_out("an end without a beginning", unmatched);
  if (outside != 0) file.leave_out("a time beyond the year 2043", outside);
  file.keep("mark", 0,
            count - unreadable - unmatched - outside - static_cast<int64_t>(log.marks.size()));  // ends of intervals
  for (model::PhaseRow phase : log.phases) {
    phase.phase_id = static_cast<int32_t>(to.info().phases.size()) + 1;
    to.info().phases.push_back(phase);
  }
  return {};
}

}  // namespace mlrun::exchange
