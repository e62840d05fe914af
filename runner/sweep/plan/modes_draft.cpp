// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/modes_draft.h"

#include <array>

#include <fmt/format.h>

#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

constexpr std::array<const char*, 6> kColumns = {"mode", "hms", "mem", "cpu", "dry", "freq"};
enum Column { kMode, kHms, kMem, kCpu, kDry, kFreq };

using Fields = std::vector<std::string_view>;

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }
bool is_zero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

void check_numbers(const Fields& fields, const Place& line, Faults& faults) {
  const auto place = [&](Column column) { return Place{line.file, line.line, kColumns[column]}; };
  for (const Column column : {kHms, kDry}) {
    if (fields[column] == "0" || fields[column] == "1") continue;
    faults.add(place(column), fmt::format("'{}' is neither 0 nor 1", fields[column]));
  }
  if (fields[kHms] == "1") {
    faults.add(place(kHms),
               fmt::format("{} asks for memory of a DAX file system, which this mlrun cannot give yet; set hms to 0",
                           fields[kMode]));
  }
  if (!is_number(fields[kFreq])) {
    faults.add(place(kFreq),
               fmt::format("'{}' is no whole number (samples of memory accesses a second)", fields[kFreq]));
  } else if (!is_zero(fields[kFreq])) {
    faults.add(place(kFreq),
               fmt::format("{} asks for {} samples of memory accesses a second, which this mlrun cannot take yet; "
                           "set freq to 0",
                           fields[kMode], fields[kFreq]));
  }
}

void read_line(const Fields& fields, const Place& line, Draft& draft) {
  if (fields.size() != kColumns.size()) {
    return draft.faults.add(line, fmt::format("the line of {} has {} column{} instead of 6: mode hms mem cpu dry freq",
                                              fields.front(), fields.size(), fields.size() == 1 ? "" : "s"));
  }
  check_numbers(fields, line, draft.faults);
  ConfigurationDraft configuration;
  configuration.place = line;
  const auto put = [&](const char* key, Column column) {
    configuration.places[key] = {line.file, line.line, kColumns[column]};
  };
  put("name", kMode);
  put("mem_node", kMem);
  put("cpu_node", kCpu);
  Configuration& values = configuration.values;
  values.name = fields[kMode];
  values.is_dry = fields[kDry] == "1";
  if (fields[kMem] != "-") values.mem_node = fields[kMem];
  if (fields[kCpu] != "-") values.cpu_node = fields[kCpu];
  draft.configurations.push_back(std::move(configuration));
}

}  // namespace

void read_modes(const std::string& text, const std::string& file, Draft& draft) {
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
    read_line(fields, line, draft);
  }
  if (!any)
    draft.faults.add({file, 0, "mode"}, "the file has no configuration; write lines of mode hms mem cpu dry freq");
}

}  // namespace mlrun::sweep
