// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/chrome_reader.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "runner/exchange/import/chrome/chrome.h"
#include "runner/exchange/import/chrome/chrome_stacks.h"
#include "runner/exchange/import/chrome/json_splitter.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr int64_t kYear2000Ns = 946'684'800'000'000'000;

bool is_annotation(std::string_view category) { return category == "user_annotation"; }

std::string_view scope_of(std::string_view scope) {
  if (scope == "g") return "run";
  return scope == "p" ? "process" : "thread";
}

}  // namespace

ChromeReader::ChromeReader(TraceMaker& to, std::string path)
    : to_(to),
      path_(std::move(path)),
      join_(static_cast<uint32_t>(to.files())),
      ranges_(to),
      gpu_(to),
      dftracer_(to),
      samples_(to.staging(), size_t{16} << 20) {
  to_.ids().begin_space();
}

std::string ChromeReader::other_json(const ChromeEvent& event) const {
  return event.other.empty() ? std::string() : "{" + event.other + "}";
}

Status ChromeReader::element(std::string_view text, int64_t offset) {
  switch (parser_.parse(text, event_)) {
    case ChromeEventParser::Outcome::kEvent: return take(event_);
    case ChromeEventParser::Outcome::kMended:
      ++to_.file().remarks["bytes that JSON does not allow, mended"];
      return take(event_);
    case ChromeEventParser::Outcome::kNoObject: to_.file().leave_out("no object"); return {};
    case ChromeEventParser::Outcome::kEmpty: to_.file().leave_out("an empty object"); return {};
    case ChromeEventParser::Outcome::kBad: break;
  }
  return bad_input(path_, "an event that is no JSON (" + parser_.problem() + ")", offset);
}

Status ChromeReader::take(ChromeEvent& event) {
  if (event.phase == 0 && !event.stack_frame.empty()) event.phase = 'P';
  const int32_t proc_id = to_.ids().process(event.pid);
  if (event.phase == 'M') return metadata(event, proc_id);
  if (event.phase == 0) {
    to_.file().leave_out("no phase");
    return {};
  }
  if (!event.ts_ns) {
    to_.file().leave_out(event.has_ts ? "a time that is no number, or out of range" : "no time");
    return {};
  }
  const int32_t thread_id = event.tid.empty() ? 0 : to_.ids().thread(proc_id, event.tid);
  const model::Origin origin = to_.ids().origin(*event.ts_ns, proc_id, thread_id);
  if (ChromeRanges::is_one(event.phase)) return ranges_.add(event, origin);
  switch (event.phase) {
    case 'X': return complete(event, origin);
    case 'i':
    case 'I':
    case 'R': return instant(event, origin);
    case 'C': return counter(event, origin);
    case 's':
    case 't':
    case 'f': return flow(event, origin);
    case 'n':
    case 'T':
    case 'p': return async_point(event, origin);
    case 'P': return sample(event, origin);
    default: return other(event, origin);
  }
}

Status ChromeReader::complete(const ChromeEvent& event, const model::Origin& origin) {
  const int64_t dur_ns = event.dur_ns.value_or(-1);
  if (dur_ns < 0 && event.dur_ns) {
    to_.file().leave_out("a negative duration");
    return {};
  }
  if (dur_ns >= 0) {
    bool taken = false;
    if (Status added = gpu_.add(event, origin.ts_ns, dur_ns, join_, taken); !added || taken) return added;
    if (Status added = dftracer_.add(event, origin, dur_ns, taken); !added || taken) return added;
  }
  if (is_annotation(event.category) && dur_ns >= 0 && event.other.empty()) {
    model::MarkRow row;
    row.origin = origin;
    row.dur_ns = dur_ns;
    row.domain = event.category;
    row.name = event.name;
    row.value = event.args;
    row.scope = "thread";
    return to_.add(row);
  }
  const std::string rest = other_json(event);
  model::SliceRow row;
  row.origin = origin;
  row.dur_ns = dur_ns;
  row.name = event.name;
  row.category = event.category;
  row.track = event.id;
  row.args = event.args;
  row.other = rest;
  if (dur_ns < 0) ++to_.file().remarks["no duration"];
  return to_.add(row);
}

Status ChromeReader::instant(const ChromeEvent& event, const model::Origin& origin) {
  model::MarkRow row;
  row.origin = origin;
  row.domain = event.category.empty() ? "chrome" : event.category;
  row.name = event.name;
  row.value = event.args;
  if (!event.other.empty())
    row.value = event.args.empty() ? other_json(event) : "{\"args\":" + row.value + "," + event.other + "}";
  row.scope = event.phase == 'R' ? "process" : scope_of(event.instant_scope);
  return to_.add(row);
}

Status ChromeReader::counter(const ChromeEvent& event, const model::Origin& origin) {
  std::string name(event.name);
  if (!event.id.empty()) name += "[" + std::string(event.id) + "]";
  int64_t rows = 0;
  Status done;
  std::string rest;
  members_.visit(event.args, [&](const JsonMember& member) {
    double value = 0;
    const auto [end, error] = std::from_chars(member.text.data(), member.text.data() + member.text.size(), value);
    const bool is_number =
        error == std::errc() && end == member.text.data() + member.text.size() && std::isfinite(value);
    if (!is_number) {
      if (!rest.empty()) rest += ',';
      rest.append(quoted_json(member.key)).append(":").append(member.raw);
      return;
    }
    model::CounterRow row;
    row.origin = origin;
    row.name = name;
    row.series = member.key;
    row.category = event.category;
    row.value = value;
    if (done) done = to_.add(row, rows++ == 0 ? 1 : 0);
  });
  if (!done || (rows != 0 && rest.empty() && event.other.empty())) return done;
  const std::string args = "{" + rest + (rest.empty() || event.other.empty() ? "" : ",") + event.other + "}";
  model::OtherEventRow row;
  row.origin = origin;
  row.kind = "counter";
  row.name = name;
  row.category = event.category;
  row.args = args;
  return to_.add(row, rows == 0 ? 1 : 0);
}

// A number is its own id; other ids get negative numbers.
int64_t ChromeReader::flow_id(std::string_view id, bool& is_text) {
  int64_t number = 0;
  const bool is_hex = id.starts_with("0x") || id.starts_with("0X");
  const std::string_view digits = is_hex ? id.substr(2) : id;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, is_hex ? 16 : 10);
  is_text = error != std::errc() || end != digits.data() + digits.size() || number < 0;
  if (!is_text) return number;
  constexpr size_t kTextsMax = 2'000'000;
  if (text_ids_.size() >= kTextsMax) return INT64_MIN;
  return text_ids_.try_emplace(std::string(id), -1 - static_cast<int64_t>(text_ids_.size())).first->second;
}

Status ChromeReader::flow(const ChromeEvent& event, const model::Origin& origin) {
  bool is_text = false;
  const std::string rest = other_json(event);
  model::FlowRow row;
  row.origin = origin;
  row.flow_id = flow_id(event.id, is_text);
  row.step = event.phase == 's'   ? model::FlowStep::kStart
             : event.phase == 't' ? model::FlowStep::kStep
                                  : model::FlowStep::kEnd;
  row.binds_enclosing = event.phase != 'f' || event.binding == "e";
  row.name = event.name;
  row.category = event.category;
  row.id_text = is_text ? event.id : std::string_view();
  row.args = event.args.empty() ? std::string_view(rest) : event.args;
  if (Status added = to_.add(row); !added || rest.empty() || event.args.empty()) return added;
  model::OtherEventRow more;
  more.origin = origin;
  more.kind = "flow";
  more.name = event.name;
  more.id = event.id;
  more.args = rest;
  return to_.add(more, 0);
}

// A moment of an asynchronous operation.
Status ChromeReader::async_point(const ChromeEvent& event, const model::Origin& origin) {
  const std::string rest =
      fmt::format("{{\"ph\":\"{}\"{}{}}}", event.phase, event.other.empty() ? "" : ",", event.other);
  const std::string track = (event.scope.empty() ? std::string() : std::string(event.scope) + ":") +
                            std::string(event.id) + (event.id_is_local ? "@" + std::to_string(origin.proc_id) : "");
  model::SliceRow row;
  row.origin = origin;
  row.dur_ns = 0;
  row.kind = model::SliceKind::kAsync;
  row.name = event.name;
  row.category = event.category;
  row.track = track;
  row.args = event.args;
  row.other = rest;
  return to_.add(row);
}

Status ChromeReader::metadata(const ChromeEvent& event, int32_t proc_id) {
  std::string name;
  if (event.name == "process_name" || event.name == "thread_name") {
    members_.visit(event.args, [&](const JsonMember& member) {
      if (member.key == "name") name = member.text;
    });
  }
  int32_t thread_id = 0;
  if (event.name == "process_name") to_.ids().name_process(proc_id, name);
  if (event.name == "thread_name") to_.ids().name_thread(thread_id = to_.ids().thread(proc_id, event.tid), name);
  if (event.category == "dftracer") dftracer_.learn(event);
  model::OtherEventRow row;
  row.origin = to_.ids().origin(event.ts_ns.value_or(0), proc_id, thread_id);
  row.has_time = event.ts_ns.has_value();
  row.kind = "metadata";
  row.name = event.name;
  row.category = event.category;
  row.id = event.tid;
  row.args = event.args;
  return to_.add(row);
}

Status ChromeReader::other(const ChromeEvent& event, const model::Origin& origin) {
  std::string args(event.args);
  if (!event.other.empty()) args = "{" + (args.empty() ? std::string() : "\"args\":" + args + ",") + event.other + "}";
  const std::string kind(1, event.phase);
  model::OtherEventRow row;
  row.origin = origin;
  row.kind = kind;
  row.name = event.name;
  row.category = event.category;
  row.id = event.id;
  row.args = args;
  return to_.add(row);
}

Status ChromeReader::sample(const ChromeEvent& event, const model::Origin& origin) {
  const std::string rest = other_json(event);
  const std::string_view stack = event.stack.empty() ? event.stack_frame : event.stack;
  return samples_.add(origin.ts_ns, {origin, json_integer(event.weight, -1)},
                      {event.name, event.category, stack, rest});
}

// The frames may follow behind the samples, so that the stacks are made last.
Status ChromeReader::write_samples() {
  ChromeStacks stacks(to_, document_["stackFrames"]);
  return samples_.for_each([&](int64_t, const Sample& sample, const auto& texts) {
    model::StackSampleRow row;
    row.origin = sample.origin;
    row.period = sample.period;
    row.stack_id = stacks.stack(texts[2]);
    row.event = texts[0].empty() ? texts[1] : texts[0];
    row.args = texts[3];
    return to_.add(row);
  });
}

Status ChromeReader::member(std::string_view key, std::string_view value) {
  constexpr size_t kMembersMax = 1000;
  if (value.empty()) {
    ++to_.file()
          .remarks["a member of the document of more than 1 MiB, left out: " + util::escaped_utf8(key.substr(0, 100))];
  } else if (document_.size() < kMembersMax) {
    document_[std::string(key)] = value;
  }
  return {};
}

void ChromeReader::read_members() {
  FileAccount& file = to_.file();
  for (const auto& [key, value] : document_) {
    if (key != "stackFrames") file.metadata[key] = nlohmann::json::parse(mended_json(value, false), nullptr, false);
    if (file.metadata.contains(key) && file.metadata[key].is_discarded())
      file.metadata[key] = mended_json(value, false);
  }
  if (const int64_t base = json_integer(document_["baseTimeNanoseconds"], -1); base >= 0) {
    file.realtime_offset_ns = base;
    file.has_offset = true;
  } else if (to_.first_ns() > kYear2000Ns && to_.first_ns() != INT64_MAX) {
    file.clock = FileClock::kRealtime;
    file.has_offset = true;
  }
  if (file.metadata.contains("deviceProperties") && file.metadata["deviceProperties"].is_array()) {
    for (const auto& device : file.metadata["deviceProperties"]) {
      if (!device.is_object() || !device.contains("id") || !device["id"].is_number_integer()) continue;
      const std::string name =
          device.contains("name") && device["name"].is_string() ? device["name"].get<std::string>() : "";
      to_.ids().gpu(device["id"].get<int64_t>(), name);
    }
  }
}

Status ChromeReader::finish() {
  if (Status done = ranges_.finish(); !done) return done;
  if (Status done = write_samples(); !done) return done;
  read_members();
  return {};
}

Status read_chrome(Input& input, const std::string& path, TraceMaker& to) {
  ChromeReader reader(to, path);
  JsonSplitter splitter(input, path);
  JsonSplitter::Visitor visitor;
  visitor.element = [&](std::string_view text, int64_t offset) { return reader.element(text, offset); };
  visitor.member = [&](std::string_view key, std::string_view value) { return reader.member(key, value); };
  int64_t shown = 0;
  visitor.progress = [&](int64_t at) {
    if (at == shown) return;
    shown = at;
    to.progress().reached(static_cast<size_t>(at), static_cast<size_t>(input.file_size()));
  };
  if (Status read = splitter.run(visitor); !read) return read;
  if (splitter.has_partial_event()) to.file().leave_out("the last event, in which the file ends");
  if (splitter.is_cut()) to.file().remarks["the file ends before its end: read up to there"] = 1;
  return reader.finish();
}

}  // namespace mlrun::exchange
