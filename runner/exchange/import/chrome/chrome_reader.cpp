// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/chrome_reader.h"

#include <cmath>

#include <fmt/format.h>

#include "runner/util/number.h"

namespace mlrun::exchange {

namespace {

constexpr const char* kArrowName = "bind_id";

bool is_annotation(std::string_view category) { return category == "user_annotation"; }

// Whether an event belongs to the process whose profile it is, rather than to its GPUs or to groups of tracks.
bool is_of_profiled_process(std::string_view category) {
  return category == "cpu_op" || category == "Operator" || category == "cuda_runtime" || category == "Runtime";
}

std::string_view scope_of(std::string_view scope) {
  if (scope == "g") return "run";
  return scope == "p" ? "process" : "thread";
}

// Members of an event for which some tables have columns, as flags of rest_of().
constexpr unsigned kId = 1, kBinding = 2, kInstantScope = 4, kScope = 8, kFrame = 16, kWeight = 32, kStack = 64,
                   kDuration = 128;

constexpr std::pair<std::string_view, std::string_view ChromeEvent::*> kScalars[] = {
    {"id", &ChromeEvent::id},       {"bp", &ChromeEvent::binding},     {"s", &ChromeEvent::instant_scope},
    {"scope", &ChromeEvent::scope}, {"sf", &ChromeEvent::stack_frame}, {"weight", &ChromeEvent::weight}};

std::string json_scalar(std::string_view text) {
  constexpr size_t kDigitsMax = 18;
  const bool is_number = !text.empty() && text.size() <= kDigitsMax && (text.size() == 1 || text.front() != '0') &&
                         text.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? std::string(text) : quoted_json(text);
}

// Members of the event that its row has no columns for, without braces.
std::string rest_of(const ChromeEvent& event, unsigned used) {
  std::string rest = event.other;
  for (unsigned i = 0; i < std::size(kScalars); ++i) {
    const auto& [key, place] = kScalars[i];
    if ((used >> i & 1) != 0 || (event.*place).empty()) continue;
    if (place == &ChromeEvent::id && event.id_is_local) {
      add_json_member(rest, "id2", "{\"local\":" + json_scalar(event.id) + "}");
    } else {
      add_json_member(rest, key, json_scalar(event.*place));
    }
  }
  if ((used & kStack) == 0 && !event.stack.empty()) add_json_member(rest, "stack", event.stack);
  if ((used & kDuration) == 0 && event.dur_ns)
    add_json_member(rest, "dur",
                    fmt::format("{}{}.{:03}", *event.dur_ns < 0 ? "-" : "", std::abs(*event.dur_ns / 1000),
                                std::abs(*event.dur_ns % 1000)));
  return rest;
}

// The member that ChromeStacks reads.
unsigned stack_member(const ChromeEvent& event) { return event.stack.empty() ? kFrame : kStack; }

std::string in_braces(std::string members) { return members.empty() ? std::move(members) : "{" + members + "}"; }

// The arguments as they are, or, if there is a rest, a JSON object of the rest with the arguments as its member `args`.
std::string args_and(std::string_view args, const std::string& rest) {
  if (rest.empty()) return std::string(args);
  std::string members;
  if (!args.empty()) add_json_member(members, "args", args);
  return "{" + members + (members.empty() ? "" : ",") + rest + "}";
}

std::string local_id(const ChromeEvent& event, const model::Origin& origin) {
  return std::string(event.id) + (event.id_is_local ? "@" + std::to_string(origin.proc_id) : "");
}

}  // namespace

ChromeReader::ChromeReader(TraceMaker& to, std::string path)
    : to_(to),
      path_(std::move(path)),
      join_(static_cast<uint32_t>(to.files())),
      ranges_(to),
      gpu_(to),
      dftracer_(to),
      torch_memory_(to),
      stacks_(to) {
  to_.ids().begin_space();
}

Status ChromeReader::element(std::string_view text, int64_t offset) {
  ++elements_;
  switch (parser_.parse(text, event_)) {
    case ChromeEventParser::Outcome::kEvent: return take(event_);
    case ChromeEventParser::Outcome::kMended:
      ++to_.file().remarks["bytes that JSON does not allow, mended"];
      return take(event_);
    case ChromeEventParser::Outcome::kNoObject: to_.file().leave_out("an element that is no object"); return {};
    case ChromeEventParser::Outcome::kEmpty: to_.file().leave_out("an empty object"); return {};
    case ChromeEventParser::Outcome::kBad: break;
  }
  return bad_input(path_, "an event that is not JSON (" + parser_.problem() + ")", offset);
}

Result<size_t> ChromeReader::object(std::string_view bytes) {
  const size_t size = ChromeEventParser::parse_plain(bytes, event_);
  if (size == 0) return 0;
  ++elements_;
  if (Status taken = take(event_); !taken) return tl::make_unexpected(taken.error());
  return size;
}

Status ChromeReader::take(ChromeEvent& event) {
  if (event.phase == 0 && !event.stack_frame.empty()) event.phase = 'P';
  if (event.phase == 0) {
    to_.file().leave_out("an event without a phase");
    return {};
  }
  has_phases_ = true;
  if (part_ == Part::kSystem) return system(event);
  const int32_t proc_id = to_.ids().process(event.pid);
  if (event.phase == 'M') return metadata(event, proc_id);
  if (!event.ts_ns) {
    to_.file().leave_out(event.has_ts ? "a time that is no number, or out of range" : "an event without a time");
    return {};
  }
  const int32_t thread_id = event.tid.empty() ? 0 : to_.ids().thread(proc_id, event.tid);
  const model::Origin origin = to_.ids().origin(*event.ts_ns, proc_id, thread_id);
  if (!event.bind_id.empty() || !event.flow_in.empty() || !event.flow_out.empty()) {
    if (Status added = add_arrow(event, origin); !added) return added;
  }
  if (ChromeRanges::is_one(event.phase)) {
    const unsigned used = event.phase == 'B' || event.phase == 'E' ? 0 : kId | kScope;
    if (!ChromeRanges::is_end(event.phase))
      return ranges_.add(event, origin, stacks_.of(event), rest_of(event, used | stack_member(event)));
    // The stack at an end is kept under the name that it has in an X event, which is begin and end in one.
    if (!event.stack_frame.empty()) add_json_member(event.other, "esf", json_scalar(event.stack_frame));
    if (!event.stack.empty()) add_json_member(event.other, "estack", event.stack);
    return ranges_.add(event, origin, 0, rest_of(event, used | kFrame | kStack));
  }
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

Status ChromeReader::complete(ChromeEvent& event, const model::Origin& origin) {
  const int64_t dur_ns = event.dur_ns.value_or(-1);
  if (dur_ns < 0 && event.dur_ns) {
    to_.file().leave_out("a negative duration");
    return {};
  }
  if (profiled_proc_ == 0 && is_of_profiled_process(event.category)) profiled_proc_ = origin.proc_id;
  event.other = rest_of(event, kId | kDuration | stack_member(event));
  if (dur_ns >= 0) {
    bool taken = false;
    Status added = gpu_.add(event, origin.ts_ns, dur_ns, join_, taken);
    if (added && !taken) added = dftracer_.add(event, origin, dur_ns, taken);
    if (!added) return added;
    if (taken) return add_stack(event, origin);
  }
  if (is_annotation(event.category) && dur_ns >= 0 && event.other.empty() && event.id.empty()) {
    model::MarkRow row;
    row.origin = origin;
    row.dur_ns = dur_ns;
    row.domain = event.category;
    row.name = event.name;
    row.value = event.args;
    row.scope = "thread";
    if (Status added = to_.add(row); !added) return added;
    return add_stack(event, origin);
  }
  const std::string rest = in_braces(std::move(event.other)), track = local_id(event, origin);
  model::SliceRow row;
  row.origin = origin;
  row.dur_ns = dur_ns;
  row.name = event.name;
  row.category = event.category;
  row.track = track;
  row.args = event.args;
  row.other = rest;
  row.stack_id = stacks_.of(event);
  if (dur_ns < 0) ++to_.file().remarks["no duration"];
  return to_.add(row);
}

Status ChromeReader::instant(const ChromeEvent& event, const model::Origin& origin) {
  if (event.name == "[memory]") {
    bool taken = false;
    if (Status added = torch_memory_.add(event, origin, rest_of(event, kInstantScope), taken); !added || taken)
      return added;
  }
  model::MarkRow row;
  row.origin = origin;
  row.domain = event.category.empty() ? "chrome" : event.category;
  row.name = event.name;
  row.value = args_and(event.args, rest_of(event, kInstantScope | stack_member(event)));
  row.scope = event.phase == 'R' ? "process" : scope_of(event.instant_scope);
  if (Status added = to_.add(row); !added) return added;
  return add_stack(event, origin);
}

Status ChromeReader::counter(const ChromeEvent& event, const model::Origin& origin) {
  std::string name(event.name);
  if (!event.id.empty()) name += "[" + local_id(event, origin) + "]";
  int64_t rows = 0;
  Status done;
  std::string rest;
  const bool is_sound = members_.visit_padded(event.args, [&](const JsonMember& member) {
    const auto value = util::real_number(member.text);
    if (!value || !std::isfinite(*value)) {
      add_json_member(rest, member.key, member.raw);
      return;
    }
    constexpr double kExactMax = 9'007'199'254'740'992;
    if (std::abs(*value) >= kExactMax) ++to_.file().remarks["a counter's value beyond 2^53, rounded"];
    model::CounterRow row;
    row.origin = origin;
    row.name = name;
    row.series = member.key;
    row.category = event.category;
    row.value = *value;
    if (done) done = to_.add(row, rows++ == 0 ? 1 : 0);
  });
  // Damaged arguments cannot be split into members, so they are also kept as a whole.
  if (!is_sound && !event.args.empty()) add_json_member(rest, "args", event.args);
  if (const std::string more = rest_of(event, kId); !more.empty()) rest += (rest.empty() ? "" : ",") + more;
  if (!done || (rows != 0 && rest.empty())) return done;
  const std::string args = "{" + rest + "}";
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
  const bool is_hex = id.starts_with("0x") || id.starts_with("0X");
  const std::string_view digits = is_hex ? id.substr(2) : id;
  const int64_t number = util::whole_number<int64_t>(digits, is_hex ? 16 : 10).value_or(-1);
  is_text = number < 0;
  if (!is_text) return number;
  constexpr size_t kTextsMax = 2'000'000;
  if (text_ids_.size() >= kTextsMax) return INT64_MIN;
  return text_ids_.try_emplace(std::string(id), -1 - static_cast<int64_t>(text_ids_.size())).first->second;
}

Status ChromeReader::flow(const ChromeEvent& event, const model::Origin& origin) {
  bool is_text = false;
  const std::string rest = in_braces(rest_of(event, kId | kBinding | stack_member(event))),
                    id = local_id(event, origin);
  model::FlowRow row;
  row.origin = origin;
  row.flow_id = flow_id(id, is_text);
  row.step = event.phase == 's'   ? model::FlowStep::kStart
             : event.phase == 't' ? model::FlowStep::kStep
                                  : model::FlowStep::kEnd;
  row.binds_enclosing = event.phase != 'f' || event.binding == "e";
  row.name = event.name;
  row.category = event.category;
  row.id_text = is_text ? std::string_view(id) : std::string_view();
  row.args = event.args.empty() ? std::string_view(rest) : event.args;
  if (Status added = to_.add(row); !added) return added;
  if (Status added = add_stack(event, origin); !added || rest.empty() || event.args.empty()) return added;
  model::OtherEventRow more;
  more.origin = origin;
  more.kind = "flow";
  more.name = event.name;
  more.id = event.id;
  more.args = rest;
  return to_.add(more, 0);
}

// An arrow by `bind_id`: from an event with `flow_out` to events with `flow_in`, whatever their names. Members that give no arrow stay with
// the event.
Status ChromeReader::add_arrow(ChromeEvent& event, const model::Origin& origin) {
  const bool is_in = event.flow_in == "true", is_out = event.flow_out == "true";
  const bool is_place = !ChromeRanges::is_end(event.phase) && event.phase != 'C';
  if (!is_place || event.bind_id.empty() || (!is_in && !is_out)) {
    for (const auto& [key, value] : {std::pair("bind_id", event.bind_id), std::pair("flow_in", event.flow_in),
                                     std::pair("flow_out", event.flow_out)}) {
      if (!value.empty()) add_json_member(event.other, key, value);
    }
    return {};
  }
  std::string_view id = event.bind_id;
  if (id.size() > 1 && id.starts_with('"')) id = id.substr(1, id.size() - 2);
  bool is_text = false;
  model::FlowRow row;
  row.origin = origin;
  row.flow_id = flow_id(id, is_text);
  row.step = !is_in ? model::FlowStep::kStart : is_out ? model::FlowStep::kStep : model::FlowStep::kEnd;
  row.binds_enclosing = true;
  row.name = kArrowName;
  row.id_text = is_text ? id : std::string_view();
  return to_.add(row, 0);
}

Status ChromeReader::add_stack(const ChromeEvent& event, const model::Origin& origin) {
  const int32_t stack_id = stacks_.of(event);
  if (stack_id == 0) return {};
  model::OtherEventRow row;
  row.stack_id = stack_id;
  row.origin = origin;
  row.kind = "stack";
  row.name = event.name;
  row.category = event.category;
  return to_.add(row, 0);
}

// An event at one time of an asynchronous operation.
Status ChromeReader::async_point(const ChromeEvent& event, const model::Origin& origin) {
  const std::string more = rest_of(event, kId | kScope | stack_member(event));
  const std::string rest = fmt::format("{{\"ph\":\"{}\"{}{}}}", event.phase, more.empty() ? "" : ",", more);
  const std::string track =
      (event.scope.empty() ? std::string() : std::string(event.scope) + ":") + local_id(event, origin);
  model::SliceRow row;
  row.origin = origin;
  row.dur_ns = 0;
  row.kind = model::SliceKind::kAsync;
  row.name = event.name;
  row.category = event.category;
  row.track = track;
  row.args = event.args;
  row.other = rest;
  row.stack_id = stacks_.of(event);
  return to_.add(row);
}

Status ChromeReader::metadata(const ChromeEvent& event, int32_t proc_id) {
  std::string name;
  if (event.name == "process_name" || event.name == "thread_name") {
    members_.visit_padded(event.args, [&](const JsonMember& member) {
      if (member.key == "name") name = member.text;
    });
  }
  int32_t thread_id = 0;
  if (event.name == "process_name") to_.ids().name_process(proc_id, name);
  if (event.name == "thread_name") to_.ids().name_thread(thread_id = to_.ids().thread(proc_id, event.tid), name);
  if (event.category == "dftracer") dftracer_.learn(event);
  const std::string args = args_and(event.args, rest_of(event, 0));
  model::OtherEventRow row;
  row.origin = to_.ids().origin(event.ts_ns.value_or(0), proc_id, thread_id);
  row.has_time = event.ts_ns.has_value();
  row.kind = "metadata";
  row.name = event.name;
  row.category = event.category;
  row.id = event.tid;
  row.args = args;
  return to_.add(row);
}

Status ChromeReader::other(const ChromeEvent& event, const model::Origin& origin) {
  const std::string args = args_and(event.args, rest_of(event, kId | stack_member(event)));
  const std::string kind(1, event.phase);
  model::OtherEventRow row;
  row.stack_id = stacks_.of(event);
  row.origin = origin;
  row.kind = kind;
  row.name = event.name;
  row.category = event.category;
  row.id = event.id;
  row.args = args;
  return to_.add(row);
}

Status ChromeReader::sample(const ChromeEvent& event, const model::Origin& origin) {
  const int64_t period = json_integer(event.weight, -1);
  std::string rest = rest_of(event, stack_member(event) | (period >= 0 ? kWeight : 0u));
  if (!event.name.empty() && !event.category.empty()) add_json_member(rest, "cat", quoted_json(event.category));
  const std::string args = args_and(event.args, rest);
  model::StackSampleRow row;
  row.origin = origin;
  row.period = period;
  row.stack_id = stacks_.of(event);
  row.event = event.name.empty() ? event.category : event.name;
  row.args = args;
  return to_.add(row);
}

// Phases of Fuchsia's kernel. `p` and `t` name a process or thread.
Status ChromeReader::system(const ChromeEvent& event) {
  const bool is_thread = event.phase == 't';
  const int32_t proc_id = is_thread || event.phase == 'p' ? to_.ids().process(event.pid) : 0;
  const int32_t thread_id = is_thread ? to_.ids().thread(proc_id, event.tid) : 0;
  if (event.phase == 'p') to_.ids().name_process(proc_id, event.name);
  if (is_thread) to_.ids().name_thread(thread_id, event.name);
  const std::string kind = std::string("system ") + event.phase, args = args_and(event.args, rest_of(event, 0));
  model::OtherEventRow row;
  row.origin = to_.ids().origin(event.ts_ns.value_or(0), proc_id, thread_id);
  row.has_time = event.ts_ns.has_value();
  row.kind = kind;
  row.name = event.name;
  row.args = args;
  return to_.add(row);
}

}  // namespace mlrun::exchange
