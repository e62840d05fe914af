// SPDX-License-Identifier: Apache-2.0
#include "kprobes/device_facts.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/util/file_io.h"
#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint32_t kMinorBits = 20;

std::string line_of(const fs::path& path) { return util::escaped_utf8(util::trimmed(util::read_line(path.string()))); }

std::string_view kind_of(const fs::path& folder, std::string_view name) {
  if (fs::exists(folder / "partition")) return "partition";
  if (name.starts_with("nvme") && line_of(folder / "hidden") == "1") return "path";
  for (const auto& [prefix, kind] : {std::pair{"dm-", "dm"}, {"md", "md"}, {"loop", "loop"}, {"nullb", "null"}}) {
    if (name.starts_with(prefix)) return kind;
  }
  return "disk";
}

// The chosen scheduler, which is in brackets: "mq-deadline" in "none [mq-deadline] kyber".
std::string chosen(const std::string& text) {
  const size_t begin = text.find('['), end = text.find(']');
  return begin == std::string::npos || end == std::string::npos ? text : text.substr(begin + 1, end - begin - 1);
}

// The device's folder in /sys; empty: there is none. A hidden disk has no link by its number, only one by its name.
fs::path folder_of(uint32_t device, std::string_view disk) {
  std::error_code error;
  fs::path folder = fs::canonical(
      fmt::format("/sys/dev/block/{}:{}", device >> kMinorBits, device & ((1u << kMinorBits) - 1)), error);
  if (!error) return folder;
  std::string name(disk);
  std::replace(name.begin(), name.end(), '/', '!');  // as sysfs does in names of devices
  if (name.empty()) return {};
  folder = fs::canonical("/sys/block/" + name, error);
  return error ? fs::path() : folder;
}

void add_if_known(json& facts, const char* key, const std::string& text) {
  if (!text.empty()) facts[key] = text;
}

}  // namespace

json device_facts(uint32_t device, std::string_view disk) {
  json facts = {{"device", device}};
  const fs::path folder = folder_of(device, disk);
  if (folder.empty()) return facts;
  std::error_code error;
  const std::string name = folder.filename().string();
  facts["name"] = util::escaped_utf8(name);
  facts["kind"] = kind_of(folder, name);
  add_if_known(facts, "path_name", line_of(folder / "dm/name"));
  add_if_known(facts, "model", line_of(folder / "device/model"));
  add_if_known(facts, "scheduler", chosen(line_of(folder / "queue/scheduler")));
  const std::string rotational = line_of(folder / "queue/rotational");
  if (!rotational.empty()) facts["rotational"] = rotational == "1";
  json below = json::array();
  for (const auto& entry : fs::directory_iterator(folder / "slaves", error)) {
    below.push_back(util::escaped_utf8(entry.path().filename().string()));
  }
  if (!below.empty()) facts["below"] = std::move(below);
  return facts;
}

}  // namespace mlrun::probes
