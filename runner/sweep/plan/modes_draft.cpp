// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/modes_draft.h"

#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "runner/util/text.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

namespace {

constexpr std::array<const char*, 6> kColumns = {"mode", "hms", "mem", "cpu", "dry", "freq"};
enum Column { kMode, kHms, kMem, kCpu, kDry, kFreq };

using Fields = std::vector<std::string_view>;

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }
bool is_zero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

void check_numbers(const Fields& fields, const Place& line, const ModesVariables& variables, Faults& faults) {
  const auto place = [&](Column column) { return Place{line.file, line.line, kColumns[column]}; };
  for (const Column column : {kHms, kDry}) {
    if (fields[column] == "0" || fields[column] == "1") continue;
    faults.add(place(column), fmt::format("'{}' is neither 0 nor 1", fields[column]));
  }
  const bool is_dry = fields[kDry] == "1";
  if (fields[kHms] == "1" && (is_dry || variables.pmem_folder.empty())) {
    faults.add(place(kHms), fmt::format("{} asks for persistent memory, {}", fields[kMode],
                                        is_dry ? "but a dry run is the command alone; set hms or dry to 0"
                                               : "and HEIMDALLR_PMEMDIR does not name its folder, such as /mnt/pmem"));
  }
  if (!is_number(fields[kFreq])) {
    faults.add(place(kFreq),
               fmt::format("'{}' is no whole number (samples of memory accesses a second)", fields[kFreq]));
  } else if (is_dry && !is_zero(fields[kFreq])) {
    faults.add(place(kFreq), fmt::format("{} asks for samples of memory accesses, but a dry run is the command alone; "
                                         "set freq or dry to 0",
                                         fields[kMode]));
  }
}

// The older script read the number with strtoull: hexadecimal is allowed, and 0 is no limit. --pmem reports text that is not a number.
std::string size_suffix(const std::string& bytes) {
  char* end = nullptr;
  const uint64_t number = std::strtoull(bytes.c_str(), &end, 0);
  if (*end != '\0') return ":" + bytes;
  return number == 0 ? "" : fmt::format(":{}", number);
}

// As --access-read-event and --access-write-event take it: perf's precision (r4003E:ppp) is always asked for.
std::string raw_event(std::string_view text) { return std::string(text.substr(0, text.find(':'))); }

Words options_of(const Fields& fields, const ModesVariables& variables) {
  Words options;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) options.insert(options.end(), {name, value});
  };
  if (fields[kHms] == "1") {
    add("--pmem", variables.pmem_folder + size_suffix(variables.pmem_bytes));
    add("--place", "size >= 4K -> pmem");
  }
  if (!is_zero(fields[kFreq])) {
    options.push_back(fmt::format("--access={}", fields[kFreq]));
    add("--access-read-event", raw_event(variables.read_event));
    add("--access-write-event", raw_event(variables.write_event));
  }
  return options;
}

void read_line(const Fields& fields, const Place& line, const ModesVariables& variables, Draft& draft) {
  if (fields.size() != kColumns.size()) {
    return draft.faults.add(line, fmt::format("the line of {} has {} instead of 6: mode hms mem cpu dry freq",
                                              fields.front(), util::counted(int64_t(fields.size()), "column")));
  }
  check_numbers(fields, line, variables, draft.faults);
  ConfigurationDraft configuration;
  configuration.place = line;
  const auto put = [&](const char* key, Column column) {
    configuration.places[key] = {line.file, line.line, kColumns[column]};
  };
  put("name", kMode);
  put("mem_node", kMem);
  put("cpu_node", kCpu);
  put("options", fields[kHms] == "1" ? kHms : kFreq);
  Configuration& values = configuration.values;
  values.name = fields[kMode];
  values.is_dry = fields[kDry] == "1";
  if (!values.is_dry) values.options = options_of(fields, variables);
  if (fields[kMem] != "-") values.mem_node = fields[kMem];
  if (fields[kCpu] != "-") values.cpu_node = fields[kCpu];
  draft.configurations.push_back(std::move(configuration));
}

}  // namespace

ModesVariables ModesVariables::of_environment() {
  const auto value = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  return {value("HEIMDALLR_PMEMDIR"), value("HEIMDALLR_PMEMSIZE"), value("HEIMDALLR_READEVENT"),
          value("HEIMDALLR_WRITEEVENT")};
}

void read_modes(const std::string& text, const std::string& file, const ModesVariables& variables, Draft& draft) {
  Place line{file, 0, "mode"};
  bool any = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view content = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    line.line++;
    content = content.substr(0, content.find('#'));
    const Fields fields = util::split(content, " \t\r");
    if (fields.empty()) continue;
    any = true;
    read_line(fields, line, variables, draft);
  }
  if (!any)
    draft.faults.add({file, 0, "mode"}, "the file has no configuration; write lines of mode hms mem cpu dry freq");
}

}  // namespace mlrun::sweep
