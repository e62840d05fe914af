// SPDX-License-Identifier: Apache-2.0
#include "runner/model/run.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runner/model/run_keys.h"
#include "runner/util/damaged_trace.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"

namespace mlrun::model {

using nlohmann::json;

namespace {

// Takes the values of keys from an object. take() returns whether a value has the right type.
class KeyReader {
 public:
  explicit KeyReader(const json& from) : from_(from) {}

  template <class Value, class... Rest>
  void operator()(const char* key, Value& to, Rest&... rest) {
    if (const auto found = from_.find(key); found != from_.end()) take(*found, to);
    if constexpr (sizeof...(rest) != 0) (*this)(rest...);
  }
  void optional(const char* key, auto& to) { (*this)(key, to); }
  void earlier(auto&&... keys) { (*this)(keys...); }

  static bool take(const json& from, std::string& to) { return take_if(from.is_string(), from, to); }
  static bool take(const json& from, bool& to) { return take_if(from.is_boolean(), from, to); }
  static bool take(const json& from, int64_t& to) { return take_if(from.is_number_integer(), from, to); }
  static bool take(const json& from, uint64_t& to) { return take_if(from.is_number_unsigned(), from, to); }
  static bool take(const json& from, double& to) { return take_if(from.is_number(), from, to); }
  static bool take(const json& from, std::pair<int64_t, int64_t>& to) {
    return from.is_array() && from.size() == 2 && take(from[0], to.first) && take(from[1], to.second);
  }
  template <class Value>
  static bool take(const json& from, std::map<std::string, Value>& to) {
    if (!from.is_object()) return false;
    for (const auto& [key, value] : from.items()) {
      if (Value taken{}; take(value, taken)) to[key] = std::move(taken);
    }
    return true;
  }
  template <class Value>
  static bool take(const json& from, std::vector<Value>& to) {
    if (!from.is_array()) return false;
    for (const json& entry : from) {
      if (Value value{}; take(entry, value)) to.push_back(std::move(value));
    }
    return true;
  }
  template <class Value>
  static bool take(const json& from, std::optional<Value>& to) {
    if (Value value{}; take(from, value)) to = std::move(value);
    return to.has_value();
  }
  template <class Object>
  static bool take(const json& from, Object& to) {
    if (!from.is_object()) return false;
    KeyReader keys(from);
    visit_keys(keys, to);
    return true;
  }

 private:
  template <class Value>
  static bool take_if(bool has_type, const json& from, Value& to) {
    if (has_type) to = from.get<Value>();
    return has_type;
  }

  const json& from_;
};

}  // namespace

int64_t Collector::failed(const std::string& how) const {
  const auto found = failures.find(how);
  return found == failures.end() ? 0 : found->second;
}

std::string KernelSide::attached_by(std::string_view signal) const {
  for (const Signal& entry : signals) {
    if (entry.signal == signal && !entry.mechanism.empty()) return entry.mechanism;
  }
  return {};
}

bool KernelSide::has_program(std::string_view event) const {
  return std::any_of(programs.begin(), programs.end(),
                     [&](const Program& program) { return program.event == event && !program.missing; });
}

bool KernelSide::lacks_program(std::string_view event) const {
  return std::any_of(programs.begin(), programs.end(),
                     [&](const Program& program) { return program.event == event && program.missing; });
}

std::string Run::command_text() const { return fmt::format("{}", fmt::join(command, " ")); }

Number Run::begin_ns() const { return start_ns ? start_ns : clock.start.monotonic_ns; }

Number Run::duration_ns() const {
  if (wall_ns || !begin_ns() || !end_ns) return wall_ns;
  return *end_ns - *begin_ns();
}

Number Run::total(const char* name) const {
  const auto found = totals.find(name);
  return found == totals.end() ? Number() : found->second;
}

bool Run::has_stream(std::string_view name) const {
  return options.streams && std::find(options.streams->begin(), options.streams->end(), name) != options.streams->end();
}

bool Run::asked_for(std::string_view name) const {
  return std::find(options.asked_streams.begin(), options.asked_streams.end(), name) != options.asked_streams.end();
}

std::string Run::recorded_by(std::string_view signal) const {
  return kernel_side.has_recorded() ? kernel_side.attached_by(signal) : std::string();
}

Run run_of(json document) {
  Run run;
  KeyReader::take(document, run);
  std::string command;
  if (run.command.empty() && KeyReader::take(util::json_at(document, "/command"), command) && !command.empty())
    run.command = {command};
  run.python_stacks.is_reported = util::json_at(document, "/python_stacks").is_object();
  run.frames_left_out = util::integer_at(document, "/spool/frames_left_out");
  run.unwatched_processes = util::integer_at(document, "/watched/left_out");
  run.folded_nodes = util::integer_at(document, "/gpu_work/folded_nodes");
  run.is_merged = document.contains("merged");
  run.document = std::move(document);
  return run;
}

Result<Run> read_run(const std::string& trace_folder) {
  const std::string path = trace_folder + "/run.json";
  const auto text = util::read_file(path);
  if (!text) return tl::make_unexpected(text.error());
  json document = util::parse_json(*text);
  if (!document.is_object()) return util::damaged_trace(trace_folder, "run.json holds no JSON object");
  return run_of(std::move(document));
}

Status write_run(const json& document, const std::string& trace_folder) {
  return util::write_atomically(trace_folder + "/run.json", util::json_text(document, 2) + "\n", 0600);
}

}  // namespace mlrun::model
